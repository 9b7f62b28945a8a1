"""Choose the Python for a row: one that is at hand, or one that can be fetched."""

from __future__ import annotations

from typing import Any, Dict, List, Sequence, Tuple

from envsetup.knowledge.pythons import pythons
from envsetup.knowledge.stacks import PLATFORMS, Row
from envsetup.machine.fact import Machine
from envsetup.resolve.verdict import Python, Unmet


def choose_platform(row: Row, machine: Machine) -> Tuple[str, Unmet | None]:
    """Return the row's platform for the machine, or why there is none.

    Without a known processor, the row's first platform for the system is taken.
    """
    system = machine.system
    offered = [p for p in row.platforms if system in PLATFORMS[p].systems]
    fact = machine.get("arch")
    # x86-64 Windows programs run on ARM64 Windows 11, and Intel ones on Apple silicon; GPUs don't work there.
    fitting = [p for p in offered if not fact.known or PLATFORMS[p].arch == fact.value]
    if fitting:
        return fitting[0], None
    wanted = ", ".join(sorted({PLATFORMS[p].arch for p in offered})) or "another system"
    fix = "use a machine with such a processor"
    return "", Unmet("arch", f"a {wanted} processor", str(fact.value), fact.source, fix)


def choose_python(
    row: Row, machine: Machine, platform: str, wanted: str | None
) -> Tuple[Python | None, Unmet | None]:
    """Return the interpreter for a row, or why none will do.

    The newest of the row's versions that is at hand wins; if none is, the newest that can be fetched.

    Args:
        wanted: a minor version or the path of an interpreter that the user named.
    """
    fact = machine.get("python")
    usable = _usable(fact.value or (), PLATFORMS[platform].arch)
    by_path = [p for p in usable if wanted and p["path"] == wanted]
    versions = list(reversed(row.python))
    needs = f"Python {' or '.join(row.python)}, 64-bit"
    if by_path:
        version = minor(by_path[0]["version"])
        if version in versions:
            return Python(version, wanted or ""), None
        fix = f"give --python {versions[0]}"
        return None, Unmet("python", needs, f"{by_path[0]['version']} ({wanted})", fact.source, fix)
    if wanted:
        versions = [v for v in versions if v == wanted]
        if not versions:
            fix = f"leave --python out, or give one of {', '.join(row.python)}"
            return None, Unmet("python", needs, f"--python {wanted}", "command line", fix)
    if not fact.known:
        return Python(versions[0]), None
    for version in versions:
        for interpreter in usable:
            if minor(interpreter["version"]) == version:
                return Python(version, interpreter["path"]), None
    known = pythons()
    for version in versions:
        if version in known.fetchable:
            return Python(version, fetch=True), None
    found = ", ".join(sorted({f"{p['version']}{_oddity(p)}" for p in fact.value})) or "none"
    fix = f"install Python {versions[0]} with {known.elsewhere.format(version=versions[0])}"
    return None, Unmet("python", needs, found, fact.source, fix)


def _usable(interpreters: Sequence[Dict[str, Any]], arch: str) -> List[Dict[str, Any]]:
    """Return the 64-bit CPythons of the processor ``arch``, those of the Microsoft Store last."""
    fitting = [
        p
        for p in interpreters
        if p.get("implementation", "cpython") == "cpython"
        and p.get("bits", 64) == 64
        and p.get("arch", arch) in (arch, None)
    ]
    return sorted(fitting, key=lambda p: bool(p.get("store")))


def _oddity(interpreter: Dict[str, Any]) -> str:
    return f" ({interpreter['bits']}-bit)" if interpreter.get("bits", 64) != 64 else ""


def minor(version: str) -> str:
    """Return the first two numbers of a version."""
    return ".".join(version.split(".")[:2])
