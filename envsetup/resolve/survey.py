"""Every stack judged against a machine."""

from __future__ import annotations

from typing import Any, Dict, List

from envsetup.errors import UsageError
from envsetup.knowledge.stacks import Row, stacks
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
    return [
        {
            "name": stack.name,
            "title": stack.title,
            "framework": stack.framework,
            "backend": stack.backend,
            "summary": stack.summary,
            "source": stack.source,
            "rows": [_row(row, machine) for row in stack.rows],
        }
        for stack in chosen
    ]


def _row(row: Row, machine: Machine) -> Dict[str, Any]:
    verdict = judge(row, machine)
    return {
        "stack": row.name,
        "version": row.version,
        "fits": verdict.fits,
        "python": list(row.python),
        "platforms": list(row.platforms),
        "verified": list(row.verified),
        "source": row.source,
        "unmet": [u.to_json() for u in verdict.unmet],
        "unknown": list(verdict.unknown),
    }
