"""The short form: machines as reports tell of them."""

from __future__ import annotations

import pytest

from envsetup.machine.short_form import machine
from envsetup.machine.short_words import architectures, cpu_flags, memory, version, windows_build
from tests.machine.fake_host import summary

CASES = [
    (
        {"os": "windows", "os_version": "10 1903 build 18362.900", "wsl": False},
        {"os": "windows", "windows-build": 18362, "os-version": "Windows 10 18362", "wsl": 0},
    ),
    ({"os": "windows", "os_version": "10 21H2"}, {"windows-build": 19044}),
    ({"os": "windows", "os_version": "11 23H2"}, {"windows-build": 22631, "os-version": "Windows 11 22631"}),
    ({"os": "windows", "os_version": "11"}, {"windows-build": 22000, "os-version": "Windows 11"}),
    (
        {
            "os": "windows",
            "os_version": "10 20H2 build 19042.572",
            "wsl": True,
            "gpus": [{"name": "Quadro RTX 3000"}],
        },
        {"os": "linux", "wsl": 2, "windows-build": 19042, "gpu": [(None, "turing")], "directx": None},
    ),
    (
        {"os": "linux", "wsl": False, "os_version": "Pop!_OS 20.04"},
        {"distro": "pop", "os-version": "Pop!_OS 20.04", "directx": None},
    ),
    (
        {"os": "linux", "os_version": "Alpine (python:3.7-alpine)"},
        {"distro": "alpine", "libc": "musl", "glibc": None},
    ),
    (
        {"os": "linux", "extra": {"libc": "glibc 2.12", "kernel": "2.6.32"}},
        {"glibc": "2.12", "kernel": "2.6.32"},
    ),
    ({"extra": {"cpu": "Celeron N4505 (no AVX)"}}, {"cpu": []}),
    (
        {"os": "macos", "os_version": "15 (Darwin 24.4)", "arch": "arm64"},
        {"os": "macos", "arch": "aarch64", "wsl": 0},
    ),
    (
        {"gpus": [{"name": "GeForce RTX 20xx", "vendor": "nvidia", "compute_capability": "7.5"}]},
        {"gpu": [(None, None)]},
    ),
    ({"driver": "450.51.05", "os": "linux"}, {"driver.nvidia": "450.51.05", "cuda.driver": "11.0"}),
    ({"driver": "31.0.15.3623", "os": "windows"}, {"driver.nvidia": "536.23"}),
    ({"driver": "(CUDA 11.0 level)"}, {"cuda.driver": "11.0", "driver.nvidia": "absent"}),
    ({"cuda_toolkits": ["12.4 (nvcc)", "11.2"]}, {"cuda": ["12.4", "11.2"]}),
    ({"cudnn": "8.1.0 installed, 8.0.4 loaded"}, {"cudnn": ["8.1.0", "8.0.4"]}),
    ({"cudnn": "8.x in /usr/local/cuda-12.3/lib64"}, {"cudnn": ["8"]}),
    ({"python": "3.10.14"}, {"python": ["3.10.14"]}),
    ({"env_vars": {"CUDA_VISIBLE_DEVICES": "2"}}, {"env": {"CUDA_VISIBLE_DEVICES": "2"}}),
    (
        {"packages": {"torch": "2.6.0", "pytorch-directml": None}},
        {"packages": {"torch": "2.6.0", "pytorch-directml": None}},
    ),
    (
        {
            "os": 5,
            "os_version": [],
            "gpus": "many",
            "driver": {},
            "cudnn": None,
            "packages": 7,
            "extra": [],
            "arch": 1,
            "python": None,
            "cuda_toolkits": {},
        },
        {"os": "absent", "gpu": "absent", "cudnn": []},
    ),
]


@pytest.mark.parametrize(("facts", "expected"), CASES)
def test_what_a_report_says(facts, expected):
    found = summary(machine(facts))
    assert {name: found.get(name, "absent") for name in expected} == expected


def test_details_of_a_gpu_that_a_report_names():
    row = {"name": "GeForce RTX 3080", "vendor": "nvidia", "compute_capability": "8.6", "vram": "16GB"}
    (gpu,) = machine({"gpus": [row]}).value("gpu")
    assert (gpu["architecture"], gpu["compute_capability"], gpu["memory"]) == ("ampere", "8.6", 16 << 30)
    (gpu,) = machine({"gpus": [{"name": "AMD GPU", "vendor": "amd"}]}).value("gpu")
    assert (gpu["vendor"], gpu["name"], gpu["architecture"]) == ("amd", "AMD GPU", None)


def test_an_interpreter_of_another_architecture_is_told_apart():
    (python,) = machine({"arch": "arm64 host, x86_64 Python", "python": ">=3.10"}).value("python")
    assert (python["version"], python["arch"], python["emulated"], python["source"]) == (
        "3.10",
        "x86_64",
        True,
        ">=3.10",
    )
    (python,) = machine({"arch": "x86 (32-bit interpreter on x64 OS)", "python": "3.7.3"}).value("python")
    assert (python["bits"], python["arch"], python["emulated"]) == (32, "x86", False)


def test_what_the_report_supposes_is_marked_and_what_was_wanted_is_kept():
    found = machine({"arch": "x86_64", "arch_stated": False, "colour": "red"}, wanted="import torch")
    assert found.get("arch").source.startswith("supposed")
    assert found.value("wanted") == "import torch"
    assert found.value("extra") == {"colour": "red"}
    assert not found.get("cuda").known, "absent means unknown"


@pytest.mark.parametrize(
    ("text", "machine_arch", "own", "bits"),
    [
        ("x86_64", "x86_64", None, None),
        ("arm64 host, x86_64 Python", "aarch64", "x86_64", None),
        ("x86 (32-bit interpreter on x64 OS)", "x86_64", "x86", 32),
        ("AMD64", "x86_64", None, None),
        ("aarch64 machine; 32-bit Python", "aarch64", None, 32),
        ("", None, None, None),
    ],
)
def test_architectures_in_words(text, machine_arch, own, bits):
    found, (found_own, found_bits) = architectures(text)
    assert (found, found_bits) == (machine_arch, bits)
    assert found_own == own or (text.startswith("x86 (") and found_own == "x86")


def test_words():
    assert [version(t) for t in ("12.4 (nvcc)", "v1", "3", "cu118", "none")] == [
        "12.4",
        None,
        "3",
        None,
        None,
    ]
    assert [memory(t) for t in ("2GB", "512 MiB", "6.5GB", "much")] == [2 << 30, 512 << 20, 13 << 29, None]
    assert [cpu_flags(t) for t in ("no AVX2", "Core i7", "AVX2 FMA", "without AVX")] == [
        ["avx"],
        None,
        ["avx", "avx2", "fma"],
        [],
    ]
    assert windows_build("10.0.19045.3693") == (19045, True)
    assert windows_build("10") == (None, False)
