"""Requirements of what is installed that nothing installed meets."""

from __future__ import annotations

from typing import Dict, List, Set

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from envsetup.diagnose.checks.check import Problem, Repair, Seen
from envsetup.diagnose.checks.context import Context
from envsetup.diagnose.checks.installed import Distribution
from envsetup.diagnose.checks.recognise import IMPORTS
from envsetup.diagnose.finding import Candidate

_PLATFORM = {"windows": ("win32", "Windows", "nt"), "macos": ("darwin", "Darwin", "posix")}


def look(context: Context) -> Seen:
    """Compare each requirement with what is installed, for the environment's own Python."""
    versions: Dict[str, List[str]] = {}
    for distribution in context.installed:
        versions.setdefault(distribution.name, []).append(distribution.version)
    markers = _markers(context)
    absent: List[str] = []
    other: List[str] = []
    missing: Set[str] = set()
    named: Set[str] = set()
    fatal = False
    for distribution in context.packages.values():
        for requirement in _requirements(distribution, markers):
            name = canonicalize_name(requirement.name)
            if name not in versions:
                absent.append(
                    f"{distribution.shown} requires {requirement.name}{requirement.specifier}: not installed"
                )
                missing.add(name)
                fatal = fatal or distribution.name in IMPORTS
            elif not any(_meets(requirement, version) for version in versions[name]):
                wants = f"{distribution.shown} requires {requirement.name}{requirement.specifier}"
                other.append(f"{wants}: {' and '.join(versions[name])} is installed")
                named |= {name, distribution.name}
    problems = []
    if absent:
        values = {"names": ", ".join(sorted(missing))}
        candidate = Candidate("dependency-missing", 0.7, tuple(absent[:8]), values)
        restore = tuple(sorted(missing & set(context.locked)))
        problems.append(
            Problem(candidate, severity="" if fatal else "warning", repair=Repair(restore=restore))
        )
    if other:
        candidate = Candidate("dependency-conflict", 0.5, tuple(other[:8]), {"count": str(len(other))})
        problems.append(Problem(candidate, repair=Repair(restore=tuple(sorted(named & context.deviating)))))
    return Seen(tuple(problems), detail=f"requirements of {len(context.packages)} distributions")


def _requirements(distribution: Distribution, markers: Dict[str, str]) -> List[Requirement]:
    found = []
    for text in distribution.requires:
        try:
            requirement = Requirement(text)
            if requirement.marker is None or requirement.marker.evaluate(markers):
                found.append(requirement)
        except (InvalidRequirement, ValueError):  # old metadata: pip does not understand it either
            continue
    return found


def _meets(requirement: Requirement, version: str) -> bool:
    try:
        return requirement.specifier.contains(Version(version), prereleases=True)
    except InvalidVersion:
        return True


def _markers(context: Context) -> Dict[str, str]:
    """Return the environment for markers as the interpreter would see it."""
    target = context.target
    version = (target.version if target else "") or "3.8"
    sys_platform, system, os_name = _PLATFORM.get(context.machine.system or "", ("linux", "Linux", "posix"))
    arch = (
        target.processor[0] if target and target.processor else str(context.machine.value("arch") or "x86_64")
    )
    if system == "Windows":
        arch = {"x86_64": "AMD64", "aarch64": "ARM64"}.get(arch, arch)
    full = str((target.config.get("version") or target.config.get("version_info") or "") if target else "")
    return {
        "extra": "",
        "python_version": version,
        "python_full_version": full if full.startswith(version + ".") else f"{version}.99",
        "sys_platform": sys_platform,
        "platform_system": system,
        "os_name": os_name,
        "platform_machine": arch,
        "implementation_name": "cpython",
        "platform_python_implementation": "CPython",
        "implementation_version": f"{version}.0",
        "platform_release": "",
        "platform_version": "",
    }
