"""Judge every row against the machine, choose the best that fits, and explain."""

from __future__ import annotations

import dataclasses
from typing import Dict, List, Sequence, Tuple

from envsetup.knowledge.stacks import Row, stacks
from envsetup.machine.fact import Machine
from envsetup.resolve.gpu import judge_gpu
from envsetup.resolve.python import choose_platform, choose_python
from envsetup.resolve.software import judge_software
from envsetup.resolve.verdict import Unmet, Verdict
from envsetup.resolve.wish import Wish

NEAREST = 5  # refused rows that an explanation names

_NAMES = {"windows": "Windows", "wsl": "WSL2", "linux": "Linux", "macos": "macOS"}


@dataclasses.dataclass(frozen=True)
class Resolution:
    """The outcome: a row that fits, or the refusals.

    Args:
        chosen: None when no row fits.
        rejected: refused rows, nearest first.
        alternatives: when nothing fits, verdicts of other stacks that would work on this machine.
    """

    chosen: Verdict | None
    rejected: Tuple[Verdict, ...]
    alternatives: Tuple[Verdict, ...] = ()

    @property
    def reasons(self) -> List[str]:
        """Why the chosen row: what it found, and what it could not check."""
        if self.chosen is None:
            return []
        return [*self.chosen.met, *(f"unchecked: {text}" for text in self.chosen.unknown)]


def judge(row: Row, machine: Machine, python: str | None = None) -> Verdict:
    """Return the verdict on one row: each requirement met, unknown or unmet."""
    fact = machine.get("os")
    system = machine.system
    if system is not None and system not in row.systems:
        wanted = " or ".join(_NAMES[s] for s in row.systems)
        found = _NAMES.get(system, system) + (" outside WSL" if system == "linux" else "")
        return Verdict(row, (Unmet("os", wanted, found, fact.source, f"run it on {wanted}"),))
    if system is None:
        return Verdict(row, (Unmet("os", "a known system", "unknown", fact.source, "give --assume os=..."),))
    needs = row.needs[system]
    platform, no_platform = choose_platform(row, machine)
    if no_platform:
        return Verdict(row, (no_platform,))
    chosen, no_python = choose_python(row, machine, platform, python)
    met, unknown, unmet = judge_software(needs, machine)
    gpu, gpu_met, gpu_unknown, gpu_unmet = judge_gpu(needs, machine)
    refused = [*gpu_unmet, *unmet, *([no_python] if no_python else [])]
    return Verdict(
        row,
        tuple(refused),
        (*gpu_met, *met),
        (*gpu_unknown, *unknown),
        chosen,
        platform,
        gpu,
    )


def resolve(machine: Machine, wish: Wish) -> Resolution:
    """Choose the row to build.

    Stacks are tried in their order of preference, their rows newest first; the first that fits wins. One
    whose requirements were all checked wins over one with open questions of the same stack.

    Raises:
        UsageError: when the wish names something that does not exist.
    """
    wish.check()
    rows = [row for stack in stacks() for row in stack.rows]
    wanted = _wanted(rows, machine, wish)
    verdicts = [judge(row, machine, wish.python) for row in wanted]
    fitting = [v for v in verdicts if v.fits]
    refused = tuple(_nearest([v for v in verdicts if not v.fits]))
    if fitting:
        family = [v for v in fitting if v.row.family == fitting[0].row.family]
        return Resolution(min(family, key=lambda v: len(v.unknown)), refused)
    others = [row for row in rows if row not in wanted]
    return Resolution(None, refused, tuple(_advised(others, machine, wish, refused)))


def _wanted(rows: Sequence[Row], machine: Machine, wish: Wish) -> List[Row]:
    """Return the rows that the wish is about.

    A backend alone is the documents' stack for it, the most preferred one that this system has: ``cuda`` is
    TensorFlow GPU and not PyTorch where the toolkit is missing. The others then stand among the alternatives.
    """
    admitted = [row for row in rows if wish.admits(row)]
    if wish.backend in (None, "auto") or wish.framework or wish.stack:
        return admitted
    here = [row for row in admitted if machine.system in row.systems] or admitted
    return [row for row in here if row.family == here[0].family]


def _nearest(refused: List[Verdict]) -> List[Verdict]:
    """Order refusals by how much is amiss; another system or processor is the most.

    Of a stack's rows that are refused over the same facts, the newest stays, and the oldest, which asks for
    the smallest step (a driver of 450 where the newest wants 580).
    """
    groups: Dict[Tuple[str, ...], List[Verdict]] = {}
    for verdict in refused:
        groups.setdefault((verdict.row.family, *(u.fact for u in verdict.unmet)), []).append(verdict)
    kept = []
    for group in groups.values():
        kept += [group[0]] if group[0].unmet == group[-1].unmet else [group[0], group[-1]]
    return sorted(kept, key=lambda v: (v.unmet[0].fact in ("os", "arch"), len(v.unmet)))[:NEAREST]


def _advised(rows: Sequence[Row], machine: Machine, wish: Wish, refused: Sequence[Verdict]) -> List[Verdict]:
    """Return what would work instead, one row a stack: the same backend first, then the same framework.

    Where a stack has nothing for the Python that was asked for, another Python is part of the advice.
    """
    framework = wish.framework or (refused[0].row.framework if refused else None)
    best: Dict[str, Verdict] = {}
    for python in dict.fromkeys((wish.python, None)):
        for verdict in (judge(row, machine, python) for row in rows):
            if verdict.fits:
                best.setdefault(verdict.row.family, verdict)
    return sorted(best.values(), key=lambda v: (v.row.backend != wish.backend, v.row.framework != framework))
