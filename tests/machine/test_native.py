"""The queries of system libraries, in real child processes, against small fake libraries."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from envsetup.machine import RealHost, nvidia, read
from envsetup.machine.gpus import from_native
from envsetup.machine.host import Unreadable

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or not shutil.which("gcc"), reason="needs gcc on Linux"
)
HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def libraries(tmp_path_factory):
    folder = tmp_path_factory.mktemp("libraries")
    for source, name in (("fake_nvml.c", "libnvidia-ml.so.1"), ("fake_dxcore.c", "libdxcore.so")):
        subprocess.run(["gcc", "-shared", "-fPIC", "-o", folder / name, HERE / source], check=True)
    return folder


@pytest.fixture
def library_path(libraries, monkeypatch):
    monkeypatch.setenv("LD_LIBRARY_PATH", str(libraries))
    return libraries


def test_nvml_tells_driver_cuda_and_gpus(library_path):
    got = RealHost().native("nvml")
    assert (got["driver"], got["cuda"]) == ("440.33.01", "10.2")
    first, second, third = got["gpus"]
    assert first == {
        "name": "GeForce GTX 1080 Ti",
        "vendor": 0x10DE,
        "device": 0x1B06,
        "bus": "0000:01:00.0",
        "memory": 11 << 30,
        "compute_capability": "6.1",
    }
    assert (second["compute_capability"], second.get("memory")) == ("3.7", None)
    assert third == {"error": "NVML error 15"}


def test_nvml_alone_makes_facts(library_path):
    machine = read(only=["gpu", "driver.nvidia", "cuda.driver"])
    found = [gpu for gpu in machine.value("gpu") if "NVML" in gpu["source"]]
    assert [(gpu["id"], gpu["architecture"]) for gpu in found] == [
        ("10de:1b06", "pascal"),
        ("10de:102d", "kepler"),
    ]
    assert machine.value("driver.nvidia") == "440.33.01" and machine.value("cuda.driver") == "10.2"


@pytest.mark.parametrize(
    ("mode", "why"),
    [("mismatch", "Driver/library version mismatch"), ("crash", "code -11"), ("hang", "no answer within")],
)
def test_nvml_that_fails_says_why(library_path, monkeypatch, mode, why):
    monkeypatch.setenv("FAKE_NVML", mode)
    with pytest.raises(Unreadable, match=why):
        RealHost().native("nvml", timeout=1)


def test_an_nvml_that_is_no_library_says_so(tmp_path, monkeypatch):
    (tmp_path / "libnvidia-ml.so.1").write_bytes(b"\x89PNG garbage" * 100)
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))
    with pytest.raises(Unreadable, match="can't be loaded"):
        RealHost().native("nvml")
    machine = read(only=["gpu", "driver.nvidia"])
    assert not machine.get("driver.nvidia").known and "can't be loaded" in machine.get("driver.nvidia").source


def test_without_nvml_no_process_is_started_for_it():
    if nvidia._libraries(RealHost()):
        pytest.skip("this machine has NVIDIA's driver")
    assert nvidia.nvml(RealHost()) is None
    assert RealHost().native("nvml") is None


def test_dxcore_lists_its_adapters(library_path):
    hardware, software = from_native(RealHost().native("dxcore"), "DXCore")
    assert (hardware.id, hardware.name, hardware.memory, hardware.driver, hardware.integrated) == (
        "1002:67df",
        "Radeon RX 480",
        8 << 30,
        "31.0.21912.14",
        False,
    )
    assert not hardware.is_software and software.is_software


def test_a_dxcore_without_adapters_is_an_answer(wsl_libraries, monkeypatch):
    monkeypatch.setenv("LD_LIBRARY_PATH", str(wsl_libraries))
    try:
        assert RealHost().native("dxcore") == []
    except Unreadable as error:
        assert "adapter list" in str(error) or "DXCore" in str(error)


def test_windows_queries_are_silent_elsewhere():
    for name in ("dxgi", "display_devices", "cpuid"):
        assert RealHost().native(name) is None
