"""What the environment is, and whether it still is what its receipt says."""

from __future__ import annotations

from typing import List

from packaging.version import InvalidVersion, Version

from envsetup.diagnose.checks.check import Problem, Repair, Seen
from envsetup.diagnose.checks.context import Context
from envsetup.diagnose.checks.recognise import recognise
from envsetup.diagnose.finding import Candidate


def look(context: Context) -> Seen:
    """Name the stack; in an environment that envsetup made, compare the versions with the receipt's."""
    kind = recognise(context)
    if kind is None:
        return Seen(detail=f"no framework that is known among {len(context.packages)} distributions")
    packages = context.packages
    missing, other = [], []
    for name, locked in context.locked.items():
        found = packages.get(name)
        if found is None:
            missing.append(f"{locked.requirement} is not installed")
        elif locked.version and not _same(found.version, locked.version):
            other.append(f"{name} {found.version} is installed; the receipt has {locked.version}")
    problems: List[Problem] = []
    if missing:
        names = tuple(n for n in context.locked if n not in packages)
        values = {"names": ", ".join(names)}
        problems.append(
            Problem(
                Candidate("distribution-missing", 0.9, tuple(missing[:8]), values),
                repair=Repair(restore=names),
            )
        )
    if other:
        problems.append(
            Problem(Candidate("differs-from-receipt", 0.4, tuple(other[:8]), {"count": str(len(other))}))
        )
    source = "by its receipt" if kind.how == "receipt" else "by what is installed"
    detail = f"{kind.name} ({kind.framework} on {kind.backend}), {source}; {len(packages)} distributions"
    return Seen(
        tuple(problems),
        detail=detail,
        data={"stack": kind.name, "framework": kind.framework, "backend": kind.backend, "how": kind.how},
    )


def _same(one: str, other: str) -> bool:
    try:
        return Version(one) == Version(other)
    except InvalidVersion:
        return one == other
