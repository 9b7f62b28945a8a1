"""Judge what is installed on the machine against a row's needs: CUDA, cuDNN, driver, C library, Windows."""

from __future__ import annotations

import dataclasses
import re
from typing import Callable, List, Tuple

from packaging.specifiers import SpecifierSet
from packaging.version import InvalidVersion, Version

from envsetup.knowledge.hardware import cuda_toolkit
from envsetup.knowledge.stacks import Needs
from envsetup.machine.fact import Fact, Machine
from envsetup.resolve.python import minor
from envsetup.resolve.verdict import Unmet

Judgement = Tuple[List[str], List[str], List[Unmet]]  # met, unknown, unmet
NOTHING: Judgement = ([], [], [])


def judge_software(needs: Needs, machine: Machine) -> Judgement:
    """Return what is met, unknown and unmet of every need but the GPU, the system and Python."""
    met: List[str] = []
    unknown: List[str] = []
    unmet: List[Unmet] = []
    for check in _CHECKS:
        one = check(needs, machine)
        met += one[0]
        unknown += one[1]
        unmet += one[2]
    return met, unknown, unmet


def _cuda(needs: Needs, machine: Machine) -> Judgement:
    if needs.cuda is None:
        return NOTHING
    wanted = f"CUDA toolkit {needs.cuda}"
    fact = machine.get("cuda")
    if not fact.known:
        return [], [f"cuda: not known ({fact.source}); needs {wanted}"], []
    for toolkit in fact.value or ():
        if minor(toolkit["version"]) == needs.cuda:
            return [f"CUDA {toolkit['version']}: {toolkit.get('path') or toolkit['source']}"], [], []
    found = ", ".join(t["version"] for t in fact.value or ()) or "none"
    return [], [], [Unmet("cuda", wanted, found, fact.source, f"install CUDA {needs.cuda}")]


def _cudnn(needs: Needs, machine: Machine) -> Judgement:
    if needs.cudnn is None:
        return NOTHING
    wanted = f"cuDNN {_range(needs.cudnn)}" + (f" for CUDA {needs.cuda}" if needs.cuda else "")
    fact = machine.get("cudnn")
    if not fact.known:
        return [], [f"cudnn: not known ({fact.source}); needs {wanted}"], []
    for library in fact.value or ():
        if _within(library["version"], needs.cudnn):
            return [f"cuDNN {library['version']}: {library.get('path') or library['source']}"], [], []
    found = ", ".join(c["version"] for c in fact.value or ()) or "none"
    return [], [], [Unmet("cudnn", wanted, found, fact.source, f"install {wanted}")]


def driver_floor(needs: Needs, system: str | None) -> str | None:
    """Return the lowest NVIDIA driver for the row's CUDA; in WSL the driver is Windows'."""
    toolkit = cuda_toolkit(needs.cuda or needs.runtime or "0")
    if toolkit is None:
        return None
    return toolkit.driver_windows if system in ("windows", "wsl") else toolkit.driver_linux


def _driver(needs: Needs, machine: Machine) -> Judgement:
    floor = driver_floor(needs, machine.system)
    wanted = needs.driver or (SpecifierSet(f">={floor}") if floor else None)
    if wanted is None:
        return NOTHING
    said = f"NVIDIA driver {_range(wanted)}" + (f" for CUDA {needs.cuda or needs.runtime}" if floor else "")
    fact = machine.get("driver.nvidia")
    return _one(fact, said, wanted, "no NVIDIA driver", f"install or update to {said}")


def _windows(needs: Needs, machine: Machine) -> Judgement:
    if needs.windows_build is None or machine.system not in ("windows", "wsl"):
        return NOTHING
    said = f"Windows build {_range(needs.windows_build)}"
    fix = "run Windows Update"
    return _one(machine.get("windows-build"), said, needs.windows_build, "no Windows", fix)


def _macos(needs: Needs, machine: Machine) -> Judgement:
    if needs.macos is None or machine.system != "macos":
        return NOTHING
    said = f"macOS {_range(needs.macos)}"
    fact = machine.get("os-version")
    version = re.search(r"\d+(\.\d+)*", str(fact.value)) if fact.known else None
    if version is None:
        return [], [f"os-version: not known ({fact.source}); needs {said}"], []
    return _one(dataclasses.replace(fact, value=version.group()), said, needs.macos, "none", "update macOS")


def _wsl(needs: Needs, machine: Machine) -> Judgement:
    if needs.wsl is None or machine.system != "wsl":
        return NOTHING
    fact = machine.get("wsl")
    if int(fact.value) >= needs.wsl:
        return [f"WSL {fact.value}"], [], []
    fix = f"in PowerShell: wsl --set-version <distribution> {needs.wsl}"
    return [], [], [Unmet("wsl", f"WSL {needs.wsl}", f"WSL {fact.value}", fact.source, fix)]


def _glibc(needs: Needs, machine: Machine) -> Judgement:
    if needs.glibc is None or machine.system not in ("linux", "wsl"):
        return NOTHING
    said = f"glibc {_range(needs.glibc)}"
    libc = machine.get("libc")
    if libc.known and libc.value == "musl":
        fix = "use a distribution with glibc (Debian, Ubuntu, Fedora …): these wheels do not run on musl"
        return [], [], [Unmet("libc", said, "musl", libc.source, fix)]
    return _one(machine.get("glibc"), said, needs.glibc, "none", "use a newer release of the distribution")


def _cpu(needs: Needs, machine: Machine) -> Judgement:
    if not needs.cpu:
        return NOTHING
    fact = machine.get("cpu")
    said = " and ".join(feature.upper() for feature in needs.cpu)
    if not fact.known or fact.value.get("flags") is None:
        return [], [f"cpu: not known ({fact.source}); needs {said}"], []
    missing = [feature for feature in needs.cpu if feature not in fact.value["flags"]]
    if not missing:
        return [f"CPU with {said}"], [], []
    found = f"{fact.value.get('model') or 'a CPU'} without {', '.join(m.upper() for m in missing)}"
    fix = "use a machine with a newer CPU: these wheels stop with an illegal instruction here"
    return [], [], [Unmet("cpu", f"a CPU with {said}", found, fact.source, fix)]


_CHECKS: Tuple[Callable[[Needs, Machine], Judgement], ...] = (
    _wsl,
    _windows,
    _macos,
    _glibc,
    _cpu,
    _driver,
    _cuda,
    _cudnn,
)


def _one(fact: Fact, said: str, wanted: SpecifierSet, absent: str, fix: str) -> Judgement:
    """Judge a fact that holds one version."""
    if not fact.known:
        return [], [f"{fact.name}: not known ({fact.source}); needs {said}"], []
    if fact.value is None:
        return [], [], [Unmet(fact.name, said, absent, fact.source, fix)]
    if _within(str(fact.value), wanted):
        return [f"{fact.name} {fact.value}"], [], []
    return [], [], [Unmet(fact.name, said, str(fact.value), fact.source, fix)]


def _within(version: str, wanted: SpecifierSet) -> bool:
    try:
        return wanted.contains(Version(version), prereleases=True)
    except InvalidVersion:
        return False


def _range(wanted: SpecifierSet) -> str:
    return ",".join(sorted((str(s) for s in wanted), reverse=True))
