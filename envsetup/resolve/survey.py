"""Every stack judged against a machine."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping

from envsetup.errors import UsageError
from envsetup.knowledge.files import constraints
from envsetup.knowledge.stacks import Row, stacks
from envsetup.knowledge.verified import Key, Seen, read_verified
from envsetup.machine.fact import Machine
from envsetup.resolve.resolver import judge


def survey(machine: Machine, name: str | None = None) -> List[Dict[str, Any]]:
    """Return one entry a stack with all its rows, as JSON.

    Args:
        name: only this stack.

    Raises:
        UsageError: when there is no such stack.
    """
    chosen = [s for s in stacks() if name in (None, s.name)]
    if not chosen:
        raise UsageError(f"There is no stack {name!r}.", f"Known: {', '.join(s.name for s in stacks())}.")
    seen = read_verified(constraints() / "verified.toml")
    return [
        {
            "name": stack.name,
            "title": stack.title,
            "framework": stack.framework,
            "backend": stack.backend,
            "summary": stack.summary,
            "source": stack.source,
            "rows": [_row(row, machine, seen) for row in stack.rows],
        }
        for stack in chosen
    ]


def _row(row: Row, machine: Machine, seen: Mapping[Key, Seen]) -> Dict[str, Any]:
    verdict = judge(row, machine)
    return {
        "stack": row.name,
        "version": row.version,
        "fits": verdict.fits,
        "gpu": verdict.gpu["name"] if verdict.gpu else None,
        "python": list(row.python),
        "platforms": list(row.platforms),
        "verified": [
            f"Python {python} {platform}: {one}"
            for (name, python, platform), one in seen.items()
            if name == row.name and platform in row.platforms
        ],
        "source": row.source,
        "unmet": [u.to_json() for u in verdict.unmet],
        "unknown": list(verdict.unknown),
    }
