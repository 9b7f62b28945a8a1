"""What a diagnosis says: findings with evidence and a fix recipe, and the facts that were missing."""

from __future__ import annotations

import dataclasses
from typing import Any, Dict, Mapping, Tuple

SCHEMA = 1
SEVERITIES = ("error", "warning", "info")


@dataclasses.dataclass(frozen=True)
class Fix:
    """A recipe.

    Args:
        steps: commands, or sentences where no command exists, in order.
        admin: True when a step needs administrator rights.
        reboot: True when the machine must be restarted before ``verify``.
        verify: a command or an observation that shows that the fix worked.
    """

    steps: Tuple[str, ...]
    admin: bool
    reboot: bool
    verify: str

    def to_json(self) -> Dict[str, Any]:
        """Return the recipe as scripts read it."""
        return {
            "steps": list(self.steps),
            "admin": self.admin,
            "reboot": self.reboot,
            "verify": self.verify,
        }


@dataclasses.dataclass(frozen=True)
class Finding:
    """One cause that the evidence supports.

    Args:
        code: the stable name, from ``constraints/causes``.
        severity: ``error``, ``warning`` or ``info``.
        evidence: what it rests on: log lines with their number, facts with their source.
        cause: why it happens, with this machine's numbers.
        score: 0 to 1; findings are ranked by it.
    """

    code: str
    severity: str
    title: str
    evidence: Tuple[str, ...]
    cause: str
    fix: Fix
    score: float

    def to_json(self) -> Dict[str, Any]:
        """Return ``{code, severity, title, evidence, cause, fix, score}``."""
        return {
            "code": self.code,
            "severity": self.severity,
            "title": self.title,
            "evidence": list(self.evidence),
            "cause": self.cause,
            "fix": self.fix.to_json(),
            "score": round(self.score, 2),
        }


@dataclasses.dataclass(frozen=True)
class Diagnosis:
    """Findings, best first.

    Args:
        missing_facts: what would help, by fact name: why.
        facts_from: where each fact that was used came from, e.g. ``{"python": "the text, line 3"}``.
        failed_rules: rules that broke, with the error: a diagnosis goes on without them.
    """

    findings: Tuple[Finding, ...]
    missing_facts: Mapping[str, str] = dataclasses.field(default_factory=dict)
    facts_from: Mapping[str, str] = dataclasses.field(default_factory=dict)
    failed_rules: Tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """True when no finding is of severity ``error``."""
        return all(f.severity != "error" for f in self.findings)

    def to_json(self) -> Dict[str, Any]:
        """Return ``{schema, ok, findings, missing_facts, facts_from}``."""
        out: Dict[str, Any] = {
            "schema": SCHEMA,
            "ok": self.ok,
            "findings": [f.to_json() for f in self.findings],
            "missing_facts": [{"fact": name, "why": why} for name, why in self.missing_facts.items()],
            "facts_from": dict(self.facts_from),
        }
        if self.failed_rules:
            out["failed_rules"] = list(self.failed_rules)
        return out


@dataclasses.dataclass(frozen=True)
class Candidate:
    """What a rule proposes; the catalogue turns it into a finding.

    Args:
        score: 0 to 1, how sure the rule is; under :data:`envsetup.diagnose.rank.FLOOR` it is dropped.
        values: this machine's words for the placeholders of the catalogue's texts.
    """

    code: str
    score: float
    evidence: Tuple[str, ...] = ()
    values: Mapping[str, str] = dataclasses.field(default_factory=dict)
