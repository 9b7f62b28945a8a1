"""Unknown is never absent: what could not be read has a reason, what was looked for everywhere is known."""

from __future__ import annotations

import pytest

from envsetup.machine.host import Unreadable
from tests.machine import machines
from tests.machine.fake_host import FakeHost, elf, read_twice, unreadable

NVIDIA_TOOLS_GONE_MAD = (0, "\ufffd\x00PNG\r\n" + "\ufffd" * 5000)


def test_gpus_are_unknown_without_sysfs_and_known_absent_with_it():
    bare = read_twice(FakeHost({"release": "6.1"}), only=["gpu"]).get("gpu")
    assert not bare.known and bare.source == "/sys is not mounted"
    empty = read_twice(FakeHost({"release": "6.1"}, files={"/sys/class/net/lo": ""}), only=["gpu"]).get("gpu")
    assert empty.known and empty.value == []
    closed = FakeHost({"release": "6.1"}, files={"/sys/bus/pci/devices": unreadable("/sys/bus/pci/devices")})
    fact = read_twice(closed, only=["gpu"]).get("gpu")
    assert not fact.known and "Permission denied" in fact.source


def test_a_driver_that_does_not_answer_is_named_and_the_gpus_stay():
    host = machines.debian_1080ti()
    host.queries["nvml"] = Unreadable("nvml: Driver/library version mismatch")
    host.programs["/usr/bin/nvidia-smi"] = NVIDIA_TOOLS_GONE_MAD
    machine = read_twice(host)
    assert [gpu["id"] for gpu in machine.value("gpu")] == ["8086:3e92", "10de:1b06"]
    assert machine.value("gpu")[1]["compute_capability"] == "6.1", "from the tables"
    for name in ("gpu", "driver.nvidia"):
        assert "Driver/library version mismatch" in machine.get(name).others[-1][0]
    assert machine.value("driver.nvidia") == "440.33.01"


def test_nvidia_smi_steps_in_for_a_broken_nvml():
    host = machines.debian_1080ti()
    for path in ("/proc/driver/nvidia/version", "/sys/module/nvidia/version"):
        del host.files[path]
    host.queries["nvml"] = Unreadable("nvml: ended with code -11: no output")
    host.programs["/usr/bin/nvidia-smi"] = (
        "0x1B0610DE, 00000000:01:00.0, 440.33.01, 11178, GeForce GTX 1080 Ti\n"
    )
    machine = read_twice(host)
    assert machine.value("gpu")[1]["name"] == "GeForce GTX 1080 Ti"
    assert machine.value("gpu")[1]["memory"] == 11178 << 20
    assert machine.value("driver.nvidia") == "440.33.01"


def test_drivers_that_disagree_are_both_shown():
    host = machines.debian_1080ti()
    host.queries["nvml"] = {**machines.NVML_1080TI, "driver": "450.80.02"}
    fact = read_twice(host).get("driver.nvidia")
    assert fact.value == "440.33.01"
    assert ("NVML", "450.80.02") in fact.others


@pytest.mark.parametrize(
    "answer",
    [
        "nonsense",
        5,
        [],
        {},
        {"driver": 7, "gpus": 3},
        {"driver": "x" * 500, "gpus": [[], {"error": "lost"}, {"vendor": "a"}]},
    ],
)
def test_an_nvml_that_answers_nonsense_is_survived(answer):
    host = machines.debian_1080ti()
    host.queries["nvml"] = answer
    machine = read_twice(host)
    assert machine.value("driver.nvidia") == "440.33.01"
    if isinstance(answer, dict) and answer.get("gpus") != 3:
        assert machine.value("gpu")[1]["id"] == "10de:1b06"


def test_cuda_is_unknown_only_when_nothing_is_found_and_something_is_closed():
    host = FakeHost({"release": "6.1"}, files={"/usr/local": unreadable("/usr/local")})
    fact = read_twice(host, only=["cuda"]).get("cuda")
    assert not fact.known and "Permission denied" in fact.source
    host = machines.debian_1080ti()
    host.files["/opt"] = unreadable("/opt")
    assert [toolkit["version"] for toolkit in read_twice(host).value("cuda")] == ["10.1"]


def test_interpreters_that_do_not_start_are_left_out_and_named():
    host = FakeHost(
        {"release": "6.1"},
        files={"/usr/bin/python3.9": elf(), "/usr/bin/python3.8": elf(), "/usr/bin/python3": "#!/bin/sh\n"},
        env={"PATH": "/usr/bin"},
        run={"/usr/bin/python3.8": (None, ""), "/usr/bin/python3.9": "3.9.2 64 cpython"},
    )
    fact = read_twice(host, only=["python"]).get("python")
    assert [entry["version"] for entry in fact.value] == ["3.9.2"]
    assert fact.others == (("/usr/bin/python3.8: did not answer in time", None),)


WINDOWS_FAILURES = {
    "DXGI broken: the present devices' registry entries": (
        {"dxgi": Unreadable("dxgi: no answer within 10 s")},
        {},
        "registry display class",
    ),
    "only WMI is left": (
        {"dxgi": Unreadable("dxgi: crashed")},
        {machines.DISPLAY: Unreadable("Access is denied")},
        "Win32_VideoController",
    ),
}


@pytest.mark.parametrize("name", WINDOWS_FAILURES)
def test_windows_gpus_fall_back_in_order(name):
    native, registry, source = WINDOWS_FAILURES[name]
    host = machines.windows_10_rx480()
    host.queries.update(native)
    host.keys.update(registry)
    host.programs[r"C:\Windows\System32\wbem\WMIC.exe"] = (
        "\r\r\nNode,AdapterRAM,DriverVersion,Name,PNPDeviceID\r\r\n"
        "PC,4293918720,31.0.21912.14,Radeon RX 480 Graphics,PCI\\VEN_1002&amp;DEV_67DF\\4\r\r\n".replace(
            "&amp;", "&"
        )
    )
    fact = read_twice(host).get("gpu")
    assert (fact.source, [gpu["id"] for gpu in fact.value]) == (source, ["1002:67df"])
    assert "dxgi" in fact.others[-1][0] or "denied" in fact.others[-1][0]


def test_windows_without_any_source_does_not_know_its_gpus():
    host = machines.windows_10_rx480()
    host.queries["dxgi"] = Unreadable("dxgi: crashed")
    host.keys[machines.DISPLAY] = Unreadable("Access is denied")
    machine = read_twice(host)
    assert not machine.get("gpu").known
    assert not machine.get("driver.nvidia").known
    assert not machine.get("directx").known
    assert all(word in machine.get("gpu").source for word in ("crashed", "denied", "Win32_VideoController"))


def test_windows_sources_that_disagree_are_both_shown():
    host = machines.windows_hybrid()
    host.queries["dxgi"] = [machines.UHD630]
    fact = read_twice(host).get("gpu")
    assert [gpu["id"] for gpu in fact.value] == ["8086:3e9b"]
    assert fact.others == (("registry display class", ["8086:3e9b", "10de:1f91"]),)


def test_drivers_of_gpus_that_are_gone_do_not_count():
    host = machines.windows_10_rx480()
    host.keys[machines.DISPLAY + r"\0001"] = {
        "DriverDesc": "GeForce GTX 970",
        "MatchingDeviceId": r"PCI\VEN_10DE&DEV_13C2",
    }
    assert read_twice(host).get("gpu").others == ()


def test_wsl_build_is_unknown_when_windows_programs_cannot_run():
    host = machines.wsl2_nvidia()
    del host.files["/proc/sys/fs/binfmt_misc/WSLInterop"]
    machine = read_twice(host)
    assert not machine.get("windows-build").known and "interop" in machine.get("windows-build").source
    assert machine.value("directx")["level"] == "12", "/dev/dxg is there"


def test_wsl_gpus_without_dxg_come_from_the_windows_below():
    host = machines.wsl1()
    host.own["release"] = "5.10.16.3-microsoft-standard-WSL2"
    machine = read_twice(host)
    assert [gpu["id"] for gpu in machine.value("gpu")] == ["1002:67df"]
    assert machine.value("directx") == {"level": None, "why": "/dev/dxg is missing"}


def test_macos_profiler_garbage_leaves_gpus_unknown():
    for answer in ((0, "no json"), (0, "[]"), (1, ""), (None, ""), (0, '{"SPDisplaysDataType": 5}')):
        host = machines.macos_intel()
        host.programs["/usr/sbin/system_profiler"] = answer
        assert not read_twice(host).get("gpu").known


def test_a_reader_that_fails_is_a_result(monkeypatch):
    from envsetup import machine

    def broken(sight):
        raise KeyError("surprise")

    monkeypatch.setitem(machine.READERS, ("cpu",), broken)
    fact = read_twice(machines.alpine()).get("cpu")
    assert not fact.known and "KeyError" in fact.source
