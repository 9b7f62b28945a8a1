"""What a check is, what it sees, and what it returns."""

from __future__ import annotations

import dataclasses
from typing import Callable, Tuple

from envsetup.diagnose.checks.context import Context
from envsetup.diagnose.finding import Candidate, Finding, Fix


@dataclasses.dataclass(frozen=True)
class Repair:
    """What puts an environment right that envsetup made.

    Args:
        remove: distributions that are too much, by normalised name.
        restore: distributions that must be again as the receipt has them.
    """

    remove: Tuple[str, ...] = ()
    restore: Tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.remove or self.restore)

    def __add__(self, other: Repair) -> Repair:
        return Repair(
            tuple(dict.fromkeys((*self.remove, *other.remove))),
            tuple(dict.fromkeys((*self.restore, *other.restore))),
        )


@dataclasses.dataclass(frozen=True)
class Problem:
    """Something that a check found.

    Args:
        candidate: code, evidence and words for the catalogue; its score is how sure the check is.
        severity: over the catalogue's, where the case decides it.
        fix: over the catalogue's, where the check knows the very commands.
        repair: what would put it right in an environment that envsetup made.
    """

    candidate: Candidate
    severity: str = ""
    fix: Fix | None = None
    repair: Repair = Repair()


@dataclasses.dataclass(frozen=True)
class Seen:
    """What a check returns.

    Args:
        problems: empty when all is well.
        findings: what already is in the catalogue's words.
        detail: one line that says what was looked at and found.
        skipped: why there was nothing to look at; empty otherwise.
        data: more, as JSON, for the report.
    """

    problems: Tuple[Problem, ...] = ()
    findings: Tuple[Finding, ...] = ()
    detail: str = ""
    skipped: str = ""
    data: object = None


@dataclasses.dataclass(frozen=True)
class Check:
    """One check.

    Args:
        name: for ``--only``.
        title: for the report.
        about: ``machine``, ``environment`` or ``probe`` (which runs the environment's code).
        look: does it.
        limit: seconds; a check that takes longer is a finding about the check.
    """

    name: str
    title: str
    about: str
    look: Callable[[Context], Seen]
    limit: float = 30.0


@dataclasses.dataclass(frozen=True)
class Result:
    """One check's outcome.

    Args:
        seen: None when the check itself failed.
        findings: as the report shows them.
        seconds: how long it took.
    """

    check: Check
    seen: Seen | None
    findings: Tuple[Finding, ...]
    seconds: float

    @property
    def repair(self) -> Repair:
        """What would put everything right that it found."""
        return sum((p.repair for p in self.seen.problems), Repair()) if self.seen else Repair()

    @property
    def status(self) -> str:
        """``error``, ``warning``, ``info``, ``skipped`` or ``ok``."""
        severities = {finding.severity for finding in self.findings}
        worst = next((s for s in ("error", "warning", "info") if s in severities), "")
        return worst or ("skipped" if self.seen and self.seen.skipped else "ok")
