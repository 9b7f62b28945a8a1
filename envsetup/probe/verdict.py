"""Turns what was observed into a report."""

from __future__ import annotations

import dataclasses
import math
import sys
from typing import Any, Dict, List, Optional, Tuple

from .events import Progress, items, text
from .evidence import Evidence
from .exits import describe_exit, sentence
from .log import BoundedLog
from .report import Device, ProbeReport
from .target.interface import split
from .target.judge import strayed

DEVICE_LIMIT = 64


@dataclasses.dataclass
class Ending:
    """How the child ended.

    Args:
        code: its exit code as ``Popen.returncode`` gives it; None if it was killed or never started.
        limit: the seconds that its last stage was allowed.
        not_started: why it could not be started.
    """

    code: Optional[int] = None
    limit: float = 0.0
    not_started: str = ""


def judge(
    backend: str, progress: Progress, evidence: Evidence, log: BoundedLog, ending: Ending
) -> ProbeReport:
    """Return the report of a child that has ended."""
    crash = None if ending.code is None else describe_exit(ending.code, sys.platform == "win32")
    stage, reason = _trouble(progress, evidence, ending, crash)
    evidence.read(reason)
    devices = _devices(progress)
    device = text(progress.data["device"]) if progress.data.get("device") else None
    placement = _placement(progress, evidence, device)
    strategy = progress.data.get("strategy")
    if progress.proven and stage == "distribute" and reason:
        # One device is proven to work; several at once are a further matter, and said as one.
        strategy, reason = {"ok": False, "reason": reason}, ""
    if not reason and placement:
        elsewhere = strayed(placement["fallbacks"])
        if elsewhere and device != "cpu":
            stage, reason = "placement", f"Silent fallback: {elsewhere} did not run on {device}"
    if "no_device" in progress.data:
        nothing = _why_no_device(backend, text(progress.data["no_device"]), evidence)
        reason = f"{nothing}. Nor does it work on the CPU: {reason}" if reason else nothing
        stage = "enumerate"
    error = progress.number("max_error")
    ok = progress.proven and not reason
    return ProbeReport(
        ok=ok,
        stage=stage,
        reason=reason,
        framework=progress.mapping("framework"),
        backend=backend,
        devices=devices,
        device=device,
        max_error=error if error is not None and math.isfinite(error) else None,
        tolerance=progress.number("tolerance"),
        placement=placement,
        # A build for GPUs misses their libraries on every CPU machine; that is no lack there.
        missing_libraries=() if ok and backend == "cpu" else tuple(evidence.missing),
        stages=dict(progress.seconds),
        exit=crash,
        strategy=strategy if isinstance(strategy, dict) else None,
        details=progress.mapping("details"),
        log=log.text(),
        log_bytes=log.total,
    )


def _trouble(
    progress: Progress, evidence: Evidence, ending: Ending, crash: Optional[Dict[str, Any]]
) -> Tuple[str, str]:
    """Return the stage where it ended, and why if it ended badly."""
    stage = progress.stage
    if ending.not_started:
        return stage, ending.not_started
    if progress.failure:
        return progress.failure
    if ending.code is None or evidence.ran_out_of_time:
        return stage, f"No answer within {ending.limit:g} s at stage {stage}; it was ended"
    if crash:
        return stage, sentence(crash, stage)
    if not progress.done or not progress.proven:
        last = evidence.last()
        said = f"; its last words: {last}" if last else ""
        return stage, f"The interpreter ended with code {ending.code} at stage {stage}{said}"
    return stage, ""


def _devices(progress: Progress) -> Tuple[Device, ...]:
    told = progress.objects("devices")[:DEVICE_LIMIT]
    return tuple(Device(text(item.get("id")), text(item.get("name"))) for item in told)


def _placement(progress: Progress, evidence: Evidence, device: Optional[str]) -> Optional[Dict[str, Any]]:
    """Return the probe's own account of placement, with what the log adds to it."""
    told = progress.mapping("placement")
    if not told or device is None:
        return None
    ops: List[Dict[str, str]] = [
        {"op": text(item.get("op")), "device": text(item.get("device"))}
        for item in items(told.get("ops"))
        if isinstance(item, dict)
    ]
    fallbacks = [text(op) for op in items(told.get("fallbacks"))]
    fallbacks += evidence.fallbacks
    for op, places in sorted(evidence.placed.items()):
        ops += [{"op": op, "device": place} for place in sorted(places)]
        if any(split(place) != split(device) for place in places):
            fallbacks.append(op)
    return {
        "device": device,
        "how": text(told.get("how")),
        "ops": ops,
        "fallbacks": list(dict.fromkeys(fallbacks)),
    }


def _why_no_device(backend: str, said: str, evidence: Evidence) -> str:
    """Return why no device was found, from what the framework said and what its log shows."""
    reasons = [said.rstrip(" .:")] if said else []
    if evidence.missing:
        reasons.append("missing " + ", ".join(evidence.missing))
    reasons += evidence.why_no_device[:3]
    return f"No {backend} device was found" + (": " + "; ".join(reasons) if reasons else "")
