"""--assume: facts that the user states."""

from __future__ import annotations

import pytest

from envsetup.errors import UsageError
from envsetup.machine import Fact, Machine, read
from envsetup.machine.assume import KEYS, overlay
from tests.machine import machines
from tests.machine.fake_host import summary

EMPTY = Machine.of([])

VALUES = {
    "os=windows": {"os": "windows", "wsl": 0, "arch": "x86_64"},
    "os=linux": {"os": "linux", "wsl": 0, "arch": "x86_64", "windows-build": None, "directx": None},
    "os=macos": {"os": "macos", "wsl": 0, "directx": None},
    "os=windows windows-build=19045": {"windows-build": 19045, "os-version": "Windows 10 19045"},
    "os=windows windows-build=22631": {"os-version": "Windows 11 22631"},
    "os=windows arch=AMD64": {"arch": "x86_64"},
    "os=linux arch=arm64": {"arch": "aarch64"},
    "os=windows windows-build=19045 gpu=1002:67df": {"gpu": [("1002:67df", "gcn4")], "directx": "12"},
    "os=windows windows-build=15063 gpu=1002:67df": {"directx": None},
    "os=windows windows-build=19045 gpu=10de:06cd": {"gpu": [("10de:06cd", "fermi")]},
    "os=windows gpu=8086:3e9b gpu=10de:1f91": {"gpu": [("8086:3e9b", "kabylake"), ("10de:1f91", "turing")]},
    "os=linux gpu=none": {"gpu": []},
    "os=windows windows-build=19045 gpu=none": {"gpu": [], "directx": None},
    "os=linux driver.nvidia=440.33": {"driver.nvidia": "440.33", "cuda.driver": "10.2"},
    "os=windows driver.nvidia=440.33": {"cuda.driver": "10.1"},
    "os=linux driver.nvidia=none": {"driver.nvidia": None, "cuda.driver": None},
    "cuda=10.1 cuda=11.2": {"cuda": ["10.1", "11.2"]},
    "cuda=none": {"cuda": []},
    "cudnn=7.6.5": {"cudnn": ["7.6.5"]},
    "python=3.8 python=3.10.4": {"python": ["3.8", "3.10.4"]},
    "glibc=2.31": {"libc": "glibc", "glibc": "2.31", "musl": None},
    "rocm=6.2": {"rocm": "6.2"},
    "cpu=avx,avx2,fma": {"cpu": ["avx", "avx2", "fma"]},
    "cpu=avx": {"cpu": ["avx"]},
    "cpu=none": {"cpu": []},
    "wsl=2": {"os": "linux", "wsl": 2, "dxg": True},
    "os=windows wsl=2 windows-build=19045 gpu=1002:67df": {"os": "linux", "wsl": 2, "directx": "12"},
    "os=windows wsl=2 windows-build=19042 gpu=1002:67df": {
        "os": "linux",
        "windows-build": 19042,
        "directx": None,
    },
    "os=linux wsl=2 windows-build=22631 gpu=1002:67df": {"wsl": 2, "directx": "12"},
    "os=linux wsl=1 windows-build=22631 gpu=1002:67df": {"wsl": 1, "directx": None},
}


@pytest.mark.parametrize("text", VALUES)
def test_what_an_assumption_says(text):
    machine = overlay(EMPTY, text.split())
    found = summary(machine)
    assert {name: found[name] for name in VALUES[text]} == VALUES[text]
    assert all(machine.get(name).assumed for name in VALUES[text])
    assert {key.split("=")[0] for key in text.split()} <= set(machine.assumed)


@pytest.mark.parametrize(
    "text",
    [
        "cuda",
        "=1",
        "colour=red",
        "libc=bionic",
        "python=3.8-64",
        "CUDA=10.1",
        "cuda=ten",
        "cuda=",
        "gpu=",
        "gpu=zzzz",
        "gpu=10de:xyz",
        "gpu=Voodoo 9000 Ultra",
        "os=beos",
        "wsl=3",
        "wsl=two",
        "windows-build=ten",
        "windows-build=1",
        "arch=sparc",
        "python=4",
        "python=3",
        "python=3.8;rm",
        "glibc=none",
        "glibc=two",
        "driver.nvidia=new",
        "cpu=avx,avx9",
        "rocm=six",
        "cudnn=7.6.5.4.3",
    ],
)
def test_a_wrong_assumption_is_a_usage_error_that_lists_the_keys(text):
    with pytest.raises(UsageError) as error:
        overlay(EMPTY, [text])
    said = f"{error.value.message} {error.value.hint}"
    assert all(key in said for key in KEYS), said
    assert error.value.exit_code == 2


@pytest.mark.parametrize(
    "pair",
    [
        ["os=linux", "os=windows"],
        ["glibc=2.31", "glibc=2.17"],
        ["os=macos", "wsl=2"],
        ["libc=musl", "glibc=2.31"],
    ],
)
def test_assumptions_that_contradict_each_other_are_refused(pair):
    with pytest.raises(UsageError):
        overlay(EMPTY, pair)


def test_assuming_the_os_lets_nothing_of_this_machine_in():
    here = read(machines.debian_1080ti())
    machine = overlay(here, ["os=windows"])
    assert {fact.name for fact in machine if not fact.assumed and fact.known} == set()
    assert not machine.get("cuda").known and not machine.get("python").known


def test_other_assumptions_keep_what_was_read():
    here = read(machines.debian_1080ti())
    machine = overlay(here, ["cuda=11.2", "gpu=GeForce RTX 3080"])
    assert machine.value("kernel") == "4.19.0-17-amd64" and not machine.get("kernel").assumed
    assert [toolkit["version"] for toolkit in machine.value("cuda")] == ["11.2"]
    (gpu,) = machine.value("gpu")
    assert (gpu["vendor"], gpu["architecture"], gpu["compute_capability"]) == ("nvidia", "ampere", "8.6")
    assert machine.assumed == ["cuda", "gpu"]
    assert overlay(here, []) is here


def test_wsl_on_a_windows_machine_is_the_linux_inside_it():
    here = read(machines.windows_hybrid())
    machine = overlay(here, ["wsl=2"])
    assert (machine.system, machine.value("windows-build")) == ("wsl", 22631)
    assert machine.value("gpu") == here.value("gpu") and machine.value("driver.nvidia") == "536.23"
    assert not machine.get("python").known and not machine.get("cuda").known, (
        "those of Windows are no use there"
    )
    assert machine.value("directx")["level"] == "12"


def test_wsl_on_a_linux_machine_keeps_what_was_read():
    here = read(machines.debian_1080ti())
    machine = overlay(here, ["wsl=2", "windows-build=22631"])
    assert (machine.system, machine.value("glibc")) == ("wsl", "2.28")
    assert machine.value("directx")["level"] == "12"


def test_a_dxg_that_was_found_missing_is_not_assumed_back():
    here = read(machines.wsl2_nvidia()).with_facts([Fact("dxg", False, "/dev/dxg is missing")])
    assert overlay(here, ["wsl=2"]).value("directx")["level"] is None
