"""Run checks side by side, each within its time limit; one that breaks is a finding about that check."""

from __future__ import annotations

import dataclasses
import threading
import time
import traceback
from pathlib import Path
from typing import Dict, Iterable, List, Sequence, Tuple

from envsetup.diagnose.catalogue import finding
from envsetup.diagnose.checks.check import Check, Problem, Result, Seen
from envsetup.diagnose.checks.context import Context
from envsetup.diagnose.finding import SEVERITIES, Candidate, Finding
from envsetup.errors import EnvsetupError


def run(checks: Sequence[Check], context: Context) -> Tuple[Result, ...]:
    """Run the checks that apply and return their results in order."""
    chosen = [check for check in checks if context.target is not None or check.about == "machine"]
    runs = [_Run(check, context) for check in chosen]
    for one in runs:
        one.thread.start()
    return tuple(one.result() for one in runs)


def together(results: Iterable[Result]) -> Tuple[Finding, ...]:
    """Return the findings of all checks, one for each code, the worst and surest first.

    Several checks may meet the same cause: its evidence is then put together.
    """
    merged: Dict[str, Finding] = {}
    for one in (f for result in results for f in result.findings):
        old = merged.get(one.code)
        if old is None:
            merged[one.code] = one
            continue
        better, other = (one, old) if one.score > old.score else (old, one)
        evidence = tuple(dict.fromkeys((*better.evidence, *other.evidence)))
        severity = min(one.severity, old.severity, key=SEVERITIES.index)
        merged[one.code] = dataclasses.replace(better, evidence=evidence, severity=severity)
    found = list(merged.values())
    if any(f.severity == "error" and f.code not in _CONSEQUENCES for f in found):
        # The cause is known: what follows from it is no error of its own.
        found = [dataclasses.replace(f, severity="info") if f.code in _CONSEQUENCES else f for f in found]
    return tuple(sorted(found, key=lambda f: (SEVERITIES.index(f.severity), -f.score)))


_CONSEQUENCES = frozenset({"probe-failed"})


class _Run:
    """One check in a thread of its own."""

    def __init__(self, check: Check, context: Context) -> None:
        self.check, self.context = check, context
        # A check that hangs must not keep the program alive.
        self.thread = threading.Thread(target=self._look, name=check.name, daemon=True)
        self.began = time.monotonic()
        self.ended = 0.0
        self.seen: Seen | None = None
        self.failure = ""

    def _look(self) -> None:
        self.began = time.monotonic()
        try:
            self.seen = self.check.look(self.context)
        except EnvsetupError as error:
            self.failure = error.message
        except Exception as error:
            frame = traceback.extract_tb(error.__traceback__)[-1]
            self.failure = f"{type(error).__name__}: {error} ({Path(frame.filename).name}:{frame.lineno})"
        self.ended = time.monotonic()

    def result(self) -> Result:
        self.thread.join(max(0.0, self.began + self.check.limit - time.monotonic()))
        if self.thread.is_alive():
            self.failure = f"it took longer than {self.check.limit:.0f} s"
        seconds = (self.ended or time.monotonic()) - self.began
        if self.seen is None:
            words = {"check": self.check.name, "why": self.failure}
            problem = Problem(
                Candidate("check-failed", 0.3, (f"check {self.check.name}: {self.failure}",), words)
            )
            return Result(self.check, None, (_finding(problem, ""),), seconds)
        system = self.context.machine.system or ""
        return Result(self.check, self.seen, _findings(self.seen, system), seconds)


def _findings(seen: Seen, system: str) -> Tuple[Finding, ...]:
    found: List[Finding] = list(seen.findings)
    for problem in seen.problems:
        one = _finding(problem, system)
        if all(one.code != other.code or one.evidence != other.evidence for other in found):
            found.append(one)
    return tuple(found)


def _finding(problem: Problem, system: str) -> Finding:
    """Put a problem into the catalogue's words, with what the check knows better."""
    found = finding(problem.candidate, system)
    return dataclasses.replace(
        found, severity=problem.severity or found.severity, fix=problem.fix or found.fix
    )
