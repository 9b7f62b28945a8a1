"""The receipt: what was put into an environment, for which facts, and what the probe said."""

from __future__ import annotations

import dataclasses
import datetime
import json
import os
from pathlib import Path
from typing import Any, Dict, Mapping

from envsetup import __version__
from envsetup.machine.secrets import mask
from envsetup.plan.steps import Plan

SCHEMA = 1
NAME = "envsetup.json"
LIMIT = 16 << 20  # bytes; a receipt holds a probe's log, which is bounded far below this


@dataclasses.dataclass(frozen=True)
class Receipt:
    """The contents of ``envsetup.json`` in an environment.

    Args:
        key: what must be the same for a second ``create`` to have nothing to do.
        data: everything, as JSON.
    """

    data: Mapping[str, Any]

    @property
    def key(self) -> Mapping[str, Any]:
        """Stack, Python, platform, lock and options."""
        key: Mapping[str, Any] = self.data["key"]
        return key

    @property
    def probe(self) -> Mapping[str, Any] | None:
        """The probe's report; None when none ran."""
        return self.data.get("probe")

    def with_probe(self, report: Mapping[str, Any]) -> Receipt:
        """Return the receipt with another probe's report."""
        return Receipt({**self.data, "probe": dict(report), "probed": _now()})

    def write(self, environment: Path) -> Path:
        """Write it whole or not at all, and return its path."""
        path = environment / NAME
        half = environment / f"{NAME}.{os.getpid()}"
        half.write_text(json.dumps(self.data, indent=1, sort_keys=True), encoding="utf-8")
        os.replace(half, path)  # noqa: PTH105 - as written
        return path


def key_of(plan: Plan, *, as_documented: bool, provides: bool) -> Dict[str, Any]:
    """Return what two runs must share to end with the same environment."""
    return {
        **plan.wish_key,
        "lock": plan.lock.digest,
        "as_documented": as_documented,
        "provides": provides,
    }


def receipt_for(
    plan: Plan, key: Mapping[str, Any], facts: Mapping[str, Any], probe: Mapping[str, Any] | None
) -> Receipt:
    """Return the receipt of a finished environment.

    Args:
        facts: the machine's facts as JSON, without secrets.
        probe: the probe's report as JSON.
    """
    return Receipt(
        {
            "schema": SCHEMA,
            "envsetup": __version__,
            "created": _now(),
            "key": dict(key),
            "given": plan.given,
            "stack": plan.row.name,
            "framework": plan.row.framework,
            "backend": plan.row.backend,
            "python": plan.python.version,
            "packages": [mask(p.line()) for p in plan.lock.packages],
            "replaced": [mask(p.line()) for p in plan.lock.replaced],
            "replaces": [dataclasses.asdict(r) for r in plan.row.replaces],
            "steps": plan.to_json()["steps"],
            "assumed": list(plan.assumed),
            "facts": dict(facts),
            "probe": dict(probe) if probe is not None else None,
        }
    )


def read_receipt(environment: Path) -> Receipt | None:
    """Return the receipt of an environment, or None when it has none that can be read."""
    try:
        path = environment / NAME
        if path.stat().st_size > LIMIT:
            return None
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if not isinstance(data, dict) or data.get("schema") != SCHEMA or not isinstance(data.get("key"), dict):
        return None
    if not all(isinstance(data.get(name), str) for name in ("stack", "framework", "backend")):
        return None
    probe = data.get("probe")
    return Receipt(data) if probe is None or (isinstance(probe, dict) and "ok" in probe) else None


def _now() -> str:
    return datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
