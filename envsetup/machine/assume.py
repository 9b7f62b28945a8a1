"""Facts that the user states with ``--assume KEY=VALUE``, laid over those that were read."""

from __future__ import annotations

import re
from typing import Any, Callable, Dict, Iterable, List, Mapping, Sequence

from envsetup.errors import UsageError
from envsetup.machine import directx, gpus, nvidia
from envsetup.machine.cpu import FLAGS
from envsetup.machine.fact import Fact, Machine, unknown
from envsetup.machine.system import architecture, windows_name

SOURCE = "--assume"
KEYS: Dict[str, str] = {
    "os": "windows, linux or macos: starts from an empty machine",
    "windows-build": "such as 19045",
    "wsl": "0, 1 or 2; with os=windows or on Windows: Linux in its WSL",
    "arch": "x86_64, aarch64 or x86",
    "gpu": "1002:67df or a marketing name; repeatable, in adapter order; or none",
    "driver.nvidia": "such as 440.33, or none",
    "cuda": "such as 10.1; repeatable; or none",
    "cudnn": "such as 7.6.5; repeatable; or none",
    "python": "such as 3.8, or 3.8-32 for a 32-bit one; repeatable; or none",
    "glibc": "such as 2.31",
    "libc": "glibc or musl",
    "rocm": "such as 6.2, or none",
    "cpu": "those of avx,avx2,fma that it has, or none",
}
_NONE = "none"
_VERSION = r"\d{1,3}(\.\d{1,5}){0,3}"
# What a Windows machine and the Linux in its WSL have in common.
_SHARED_WITH_WSL = ("windows-build", "arch", "cpu", "gpu", "driver.nvidia", "cuda.driver")


def overlay(machine: Machine, assumptions: Sequence[str]) -> Machine:
    """Return the machine with the assumed facts in place of those that were read.

    ``os=`` starts from an empty machine, of which only what is assumed is known: the architecture is x86_64
    and it is not WSL unless stated otherwise. ``wsl=1`` or ``wsl=2`` on a Windows machine (read or assumed)
    means Linux in that machine's WSL: build, processor, GPUs and driver stay, everything else is unknown.
    Each GPU, toolkit, cuDNN or interpreter assumed replaces all that were read; directx and cuda.driver are
    derived anew.

    Args:
        machine: the facts read.
        assumptions: texts such as ``cuda=10.1``; see :data:`KEYS`.

    Raises:
        UsageError: an unknown key, or a value that the key can't have.

    Example:
        >>> machine = overlay(Machine.of([]), ["os=windows", "windows-build=19045", "gpu=1002:67df"])
        >>> machine.value("gpu")[0]["architecture"], machine.value("directx")["level"]
        ('gcn4', '12')
    """
    if not assumptions:
        return machine
    stated = _parse(assumptions)
    if stated.get("libc") == ["musl"] and "glibc" in stated:
        raise UsageError("--assume: libc=musl and glibc= contradict each other.", "Leave one of them out.")
    machine = _base(machine, stated)
    facts: Dict[str, Fact] = {}
    for key, make in _FACTS.items():
        if key in stated:
            for fact in make(stated[key], machine):
                facts[fact.name] = fact
    machine = machine.with_facts(facts.values())
    return machine.with_facts(_derived(machine, stated))


def _parse(assumptions: Iterable[str]) -> Dict[str, List[str]]:
    stated: Dict[str, List[str]] = {}
    for text in assumptions:
        key, equals, value = (part.strip() for part in text.partition("="))
        if key not in KEYS or not equals:
            known = "\n".join(f"  {name}=  {meaning}" for name, meaning in KEYS.items())
            what = f"{key!r} can't be assumed" if equals else f"{text!r} is no KEY=VALUE"
            raise UsageError(f"--assume: {what}.", f"The keys:\n{known}")
        if stated.get(key) and key not in ("gpu", "cuda", "cudnn", "python"):
            raise UsageError(
                f"--assume: {key} is given twice.", "Only gpu, cuda, cudnn and python can be repeated."
            )
        stated.setdefault(key, []).append(value)
    return stated


def _bad(key: str, value: str) -> UsageError:
    known = ", ".join(KEYS)
    return UsageError(f"--assume: {key} can't be {value!r}.", f"{key}= takes {KEYS[key]}. The keys: {known}.")


def _base(machine: Machine, stated: Mapping[str, List[str]]) -> Machine:
    """Return what the assumptions are laid over."""
    wsl = stated.get("wsl", ["0"])[0]
    if wsl not in ("0", "1", "2"):
        raise _bad("wsl", wsl)
    os = stated.get("os", [""])[0].lower()
    if "os" in stated:
        if os not in ("windows", "linux", "macos") or (os == "macos" and wsl != "0"):
            raise _bad("os", os)
        machine = Machine.of([_fact("arch", "x86_64"), _fact("wsl", 0)])
    below = os or machine.value("os")
    if wsl != "0" and below == "macos":
        raise _bad("wsl", wsl)
    if wsl != "0" and below == "windows":
        kept = [machine.get(name) for name in _SHARED_WITH_WSL if name in machine.facts]
        machine, os = Machine.of(kept), "linux"
    if os or wsl != "0":
        os = os or "linux"
        machine = machine.with_facts([_fact("os", os), _fact("wsl", int(wsl))])
        if wsl != "0" and machine.value("windows-build") is None:
            # Read on a Linux without a Windows below it: nothing is known of the Windows that is assumed.
            why = "not stated with wsl="
            machine = machine.with_facts([unknown("windows-build", why), unknown("dxg", why)])
        if os != "windows" and wsl == "0":
            machine = machine.with_facts([_fact("windows-build", None)])
    return machine


def _fact(name: str, value: Any) -> Fact:
    return Fact(name, value, SOURCE, assumed=True)


def _matching(key: str, value: str, pattern: str) -> str:
    if not re.fullmatch(pattern, value):
        raise _bad(key, value)
    return value


def _wsl(values: List[str], machine: Machine) -> List[Fact]:
    if values[0] == "2" and machine.value("dxg") is not None:
        return [_fact("wsl", 2)]
    # Support for GPUs is taken as there, as on a WSL that is up to date.
    return [
        _fact("wsl", int(values[0])),
        _fact("dxg", True if values[0] == "2" else False if values[0] == "1" else None),
    ]


def _build(values: List[str], machine: Machine) -> List[Fact]:
    build = int(_matching("windows-build", values[0], r"\d{4,6}"))
    facts = [_fact("windows-build", build)]
    if machine.value("os") == "windows":
        facts.append(_fact("os-version", windows_name("", build)))
    return facts


def _arch(values: List[str], machine: Machine) -> List[Fact]:
    arch = architecture(values[0])
    if arch not in ("x86_64", "aarch64", "x86"):
        raise _bad("arch", values[0])
    return [_fact("arch", arch)]


def _gpu(values: List[str], machine: Machine) -> List[Fact]:
    from envsetup.knowledge import hardware

    found = []
    for value in [] if values == [_NONE] else values:
        match = re.fullmatch(r"([0-9a-f]{4}|[0-9a-f]{8}):([0-9a-f]{4}|[0-9a-f]{8})", value.lower())
        if match:
            adapter = gpus.Adapter(vendor_id=match.group(1), device_id=match.group(2), source=SOURCE)
        else:
            known = hardware.find_gpu_by_name(value)
            if known is None:
                raise _bad("gpu", value)
            vendor, device = known.id.split(":") if known.id else (None, None)
            adapter = gpus.Adapter(vendor, device, known.name, vendor=known.vendor, source=SOURCE)
        found.append(gpus.describe(adapter))
    return [_fact("gpu", found)]


def _versions(key: str) -> Callable[[List[str], Machine], List[Fact]]:
    def make(values: List[str], machine: Machine) -> List[Fact]:
        listed = [] if values == [_NONE] else [_matching(key, value, _VERSION) for value in values]
        return [_fact(key, [{"version": version, "path": None, "source": SOURCE} for version in listed])]

    return make


def _pythons(values: List[str], machine: Machine) -> List[Fact]:
    native = machine.value("arch", "x86_64")
    listed = []
    for value in [] if values == [_NONE] else values:
        version, _, bits = _matching("python", value, r"[23]\.\d{1,2}(\.\d{1,3})?(-32)?").partition("-")
        arch = "x86" if bits else native
        listed.append(
            {"version": version, "path": None, "bits": 32 if arch == "x86" else 64, "arch": arch,
             "emulated": False, "implementation": "cpython", "store": False, "source": SOURCE}
        )  # fmt: skip
    return [_fact("python", listed)]


def _one(key: str, pattern: str = _VERSION) -> Callable[[List[str], Machine], List[Fact]]:
    def make(values: List[str], machine: Machine) -> List[Fact]:
        return [_fact(key, None if values[0] == _NONE else _matching(key, values[0], pattern))]

    return make


def _glibc(values: List[str], machine: Machine) -> List[Fact]:
    version = _matching("glibc", values[0], r"\d\.\d{1,3}(\.\d+)?")
    return [_fact("libc", "glibc"), _fact("glibc", version), _fact("musl", None)]


def _libc(values: List[str], machine: Machine) -> List[Fact]:
    if values[0] not in ("glibc", "musl"):
        raise _bad("libc", values[0])
    facts = [_fact("libc", values[0])]
    return facts if values[0] == "glibc" else [*facts, _fact("glibc", None)]


def _cpu(values: List[str], machine: Machine) -> List[Fact]:
    flags = [] if values[0] in (_NONE, "") else [flag.strip().lower() for flag in values[0].split(",")]
    if set(flags) - set(FLAGS):
        raise _bad("cpu", values[0])
    return [_fact("cpu", {"model": None, "flags": [flag for flag in FLAGS if flag in flags]})]


# In this order: later ones look at the facts of earlier ones in the machine below.
_FACTS: Dict[str, Callable[[List[str], Machine], List[Fact]]] = {
    "wsl": _wsl,
    "windows-build": _build,
    "arch": _arch,
    "gpu": _gpu,
    "driver.nvidia": _one("driver.nvidia", r"\d{2,4}(\.\d{1,4}){1,2}"),
    "cuda": _versions("cuda"),
    "cudnn": _versions("cudnn"),
    "python": _pythons,
    "libc": _libc,
    "glibc": _glibc,
    "rocm": _one("rocm"),
    "cpu": _cpu,
}


def _derived(machine: Machine, stated: Mapping[str, List[str]]) -> List[Fact]:
    facts = []
    if {"os", "wsl", "windows-build", "gpu"} & set(stated):
        facts.append(directx.derive(machine.get))
    if "driver.nvidia" in stated:
        facts.append(nvidia.cuda_of(machine.get("driver.nvidia"), None, machine.system))
    return facts
