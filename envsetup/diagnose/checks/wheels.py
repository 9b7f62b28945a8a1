"""Wheels that were made for another Python, system or processor."""

from __future__ import annotations

import re
from typing import List, Tuple

from packaging.tags import Tag, parse_tag
from packaging.version import Version

from envsetup.diagnose.checks.check import Problem, Repair, Seen
from envsetup.diagnose.checks.context import Context
from envsetup.diagnose.checks.installed import Distribution
from envsetup.diagnose.finding import Candidate

_ARCHS = {
    "amd64": "x86_64",
    "x86_64": "x86_64",
    "win32": "x86",
    "i686": "x86",
    "aarch64": "aarch64",
    "arm64": "aarch64",
}


def look(context: Context) -> Seen:
    """Compare each wheel's tags with the interpreter and the system."""
    target = context.target
    assert target is not None
    if not target.version:
        return Seen(skipped="the interpreter's version is not known")
    system = {"wsl": "linux"}.get(context.machine.system or "", context.machine.system or "")
    arch = target.processor[0] if target.processor else str(context.machine.value("arch") or "")
    glibc = context.machine.value("glibc")
    wrong: List[Tuple[Distribution, str]] = []
    old: List[str] = []
    needs = Version("2.0")
    count = 0
    for distribution in context.packages.values():
        if not distribution.tags:
            continue
        count += 1
        tags = [tag for text in distribution.tags for tag in parse_tag(text)]
        fitting = [tag for tag in tags if _fits(tag, target.version, system, arch)]
        if not fitting:
            wrong.append((distribution, ", ".join(distribution.tags[:3])))
            continue
        floor = min(_glibc(tag) for tag in fitting)
        if glibc and floor > Version(str(glibc)):
            old.append(f"{distribution.shown}: {', '.join(distribution.tags[:2])}")
            needs = max(needs, floor)
    problems = []
    if wrong:
        have = f"Python {target.version} on {system or 'this system'} {arch}".strip()
        names = tuple(d.name for d, _ in wrong)
        evidence = tuple(f"{d.shown}: made for {tags}" for d, tags in wrong[:6])
        values = {"names": ", ".join(names[:6]), "python": have}
        problems.append(
            Problem(Candidate("wrong-wheel", 0.9, evidence, values), repair=Repair(restore=names))
        )
    if old:
        values = {"needs": str(needs), "has": str(glibc)}
        problems.append(Problem(Candidate("glibc-too-old", 0.85, tuple(old[:6]), values)))
    return Seen(
        tuple(problems),
        detail=f"{count} wheels fit Python {target.version}" if not wrong else f"{count} wheels",
    )


def _fits(tag: Tag, version: str, system: str, arch: str) -> bool:
    return _fits_python(tag, version) and _fits_platform(tag.platform, system, arch)


def _fits_python(tag: Tag, version: str) -> bool:
    match = re.fullmatch(r"(cp|py)(\d)(\d*)", tag.interpreter)
    if match is None:  # PyPy's and others: not ours to judge
        return not tag.interpreter.startswith("pp")
    major, minor = (int(part) for part in version.split("."))
    kind, wheel_major, wheel_minor = match.group(1), int(match.group(2)), match.group(3)
    if wheel_major != major:
        return False
    if kind == "py" or tag.abi == "abi3" or (tag.abi == "none" and not wheel_minor):
        return not wheel_minor or int(wheel_minor) <= minor
    return int(wheel_minor or minor) == minor


def _fits_platform(platform: str, system: str, arch: str) -> bool:
    if platform == "any":
        return True
    wheel_system = (
        "windows"
        if platform.startswith("win")
        else "macos"
        if platform.startswith("macosx")
        else "linux"
        if "linux" in platform
        else ""
    )
    if system and wheel_system and wheel_system != system:
        return False
    if platform.endswith(("universal2", "universal", "intel", "fat64")):
        return True
    named = next((known for name, known in _ARCHS.items() if platform.endswith(name)), "")
    return not arch or not named or named == arch


def _glibc(tag: Tag) -> Version:
    match = re.match(r"manylinux_(\d+_\d+)", tag.platform)
    return Version(match.group(1).replace("_", ".")) if match else Version("2.0")
