"""Whole machines: the facts that their owners would name, from what such machines answer."""

from __future__ import annotations

import pytest

from tests.machine import machines
from tests.machine.fake_host import read_twice, summary

RX480 = [("1002:67df", "gcn4")]
CASES = {
    "windows 10 with an RX 480": (
        machines.windows_10_rx480,
        {
            "os": "windows",
            "os-version": "Windows 10 19045",
            "windows-build": 19045,
            "wsl": 0,
            "arch": "x86_64",
            "gpu": RX480,
            "directx": "12",
            "driver.nvidia": None,
            "cuda": [],
            "cudnn": [],
            "rocm": None,
            "cpu": ["avx", "avx2", "fma"],
            "glibc": None,
            "python": ["3.8.10", "3.8.10", "3.10.10"],
        },
    ),
    "windows 11 with Intel and NVIDIA": (
        machines.windows_hybrid,
        {
            "os-version": "Windows 11 22631",
            "gpu": [("8086:3e9b", "kabylake"), ("10de:1f91", "turing")],
            "directx": "12",
            "driver.nvidia": "536.23",
            "cuda": ["11.2", "10.1", "10.2"],
            "cudnn": ["8.1.0"],
            "cuda.driver": "12.9",
        },
    ),
    "WSL 2 with NVIDIA": (
        machines.wsl2_nvidia,
        {
            "os": "linux",
            "wsl": 2,
            "dxg": True,
            "windows-build": 19045,
            "distro": "ubuntu",
            "glibc": "2.35",
            "gpu": [("10de:1f91", "turing")],
            "driver.nvidia": "536.23",
            "cuda.driver": "12.2",
            "directx": "12",
            "python": ["3.10.12"],
        },
    ),
    "WSL 1": (
        machines.wsl1,
        {
            "os": "linux",
            "wsl": 1,
            "dxg": False,
            "windows-build": 19044,
            "gpu": RX480,
            "directx": None,
            "driver.nvidia": None,
        },
    ),
    "Debian with a GTX 1080 Ti, CUDA 10.1 and cuDNN 7.6.5": (
        machines.debian_1080ti,
        {
            "os-version": "Debian 10",
            "distro": "debian",
            "kernel": "4.19.0-17-amd64",
            "wsl": 0,
            "libc": "glibc",
            "glibc": "2.28",
            "gpu": [("8086:3e92", "kabylake"), ("10de:1b06", "pascal")],
            "driver.nvidia": "440.33.01",
            "cuda.driver": "10.2",
            "cuda": ["10.1"],
            "cudnn": ["7.6.5"],
            "directx": None,
            "windows-build": None,
            "python": ["3.8.18", "3.7.3"],
        },
    ),
    "Alpine": (
        machines.alpine,
        {
            "distro": "alpine",
            "libc": "musl",
            "glibc": None,
            "musl": "1.2.4",
            "cpu": [],
            "gpu": [],
            "python": ["3.11.6"],
        },
    ),
    "CentOS 7": (
        machines.centos_7,
        {
            "distro": "centos",
            "os-version": "CentOS 7",
            "glibc": "2.17",
            "cpu": ["avx"],
            "gpu": [("102b:0522", None)],
            "python": ["2.7.5", "3.8.5", "3.6.13", "3.12.3"],
        },
    ),
    "an Intel Mac": (
        machines.macos_intel,
        {
            "os": "macos",
            "os-version": "macOS 14.5",
            "arch": "x86_64",
            "cpu": ["avx", "avx2", "fma"],
            "gpu": [("8086:3e9b", "kabylake"), ("1002:7340", "rdna1")],
            "cuda": [],
            "driver.nvidia": None,
            "directx": None,
            "libc": None,
            "python": ["3.11.9"],
        },
    ),
    "a Mac with Apple silicon": (
        machines.macos_apple,
        {"arch": "aarch64", "cpu": [], "python": ["3.10.9", "3.11.9", "3.12.9"]},
    ),
    "a Mac with Apple silicon and everything under Rosetta": (
        lambda: machines.macos_apple("x86_64"),
        {"arch": "aarch64", "cpu": []},
    ),
    "a Jetson": (
        machines.jetson,
        {
            "arch": "aarch64",
            "cpu": [],
            "driver.nvidia": "unknown",
            "cuda.driver": "unknown",
            "python": ["3.8.10", "3.9.1"],
        },
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_facts_of_a_machine(name):
    make, expected = CASES[name]
    found = summary(read_twice(make()))
    assert {fact: found[fact] for fact in expected} == expected


def pythons(host):
    return {entry["path"]: entry for entry in read_twice(host, only=["python"]).value("python")}


def test_a_store_interpreter_and_a_32_bit_one_are_told_apart():
    found = pythons(machines.windows_10_rx480())
    assert {path[-24:]: (p["bits"], p["arch"], p["store"], p["source"]) for path, p in found.items()} == {
        r"C:\Python38\python.exe": (64, "x86_64", False, "PATH"),
        r"C:\Python38-32\python.exe"[-24:]: (32, "x86", False, "registry"),
        r"qbz5n2kfra8p0\python.exe": (64, "x86_64", True, "registry"),
    }


def test_emulated_interpreters_are_told_apart():
    found = pythons(machines.macos_apple())
    assert {path.rsplit("/", 1)[1]: (p["arch"], p["emulated"]) for path, p in found.items()} == {
        "python3.12": ("aarch64", False),
        "python3.11": ("aarch64", False),  # universal: runs as the machine's own
        "python3.10": ("x86_64", True),
    }
    found = pythons(machines.jetson())
    assert found["/usr/local/bin/python3.9"]["bits"] == 32


def test_an_x86_python_on_arm64_windows_is_emulated():
    host = machines.windows_10_rx480()
    host.own["machine"] = "ARM64"  # IsWow64Process2; the environment says what the process is told
    host.variables["PROCESSOR_ARCHITECTURE"] = "AMD64"
    host.keys[machines.ENVIRONMENT] = {"PROCESSOR_ARCHITECTURE": "ARM64"}
    machine = read_twice(host)
    assert machine.value("arch") == "aarch64"
    assert machine.get("arch").others == (("PROCESSOR_ARCHITECTURE", "x86_64"),)
    assert machine.value("python")[0]["emulated"] is True
    assert machine.value("cpu")["flags"] == []


def test_a_virtual_environment_stands_for_its_base():
    found = pythons(machines.debian_1080ti())
    assert list(found) == ["/home/ada/.pyenv/versions/3.8.18/bin/python", "/usr/bin/python3"]
    assert found["/home/ada/.pyenv/versions/3.8.18/bin/python"]["source"] == "PATH"


def test_gpu_details_come_from_all_sources():
    intel, nvidia = read_twice(machines.debian_1080ti(), only=["gpu"]).value("gpu")
    assert (nvidia["name"], nvidia["memory"], nvidia["compute_capability"], nvidia["driver"]) == (
        "GeForce GTX 1080 Ti",
        11 << 30,
        "6.1",
        "440.33.01",
    )
    assert (intel["vendor"], intel["integrated"], intel["driver"]) == ("intel", True, "i915")


def test_only_reads_what_it_is_asked_for():
    host = machines.debian_1080ti()
    machine = read_twice(host, only=["os", "cuda"])
    assert set(machine.facts) == {"os", "cuda"}
    assert not any("python" in question or "pip.conf" in question for question in host.asked)
