"""What the environment is, and whether it still is what its receipt says."""

from __future__ import annotations

from typing import List

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
    gone = tuple(name for name in context.locked if name in context.deviating and name not in packages)
    missing = [f"{context.locked[name].requirement} is not installed" for name in gone]
    other = [
        f"{packages[name].shown} is installed; the receipt has {locked.version}"
        for name, locked in context.locked.items()
        if name in context.deviating and name in packages
    ]
    problems: List[Problem] = []
    if missing:
        candidate = Candidate("distribution-missing", 0.9, tuple(missing[:8]), {"names": ", ".join(gone)})
        problems.append(Problem(candidate, repair=Repair(restore=gone)))
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
