"""What the probe found, in the form that scripts rely on."""

from __future__ import annotations

import dataclasses
from typing import Any, Dict, Mapping, Optional, Tuple

SCHEMA = 1


@dataclasses.dataclass(frozen=True)
class Device:
    """An adapter: the id that programs use (``dml:0``, ``cuda:0``, ``GPU:0``) and its name."""

    id: str
    name: str


@dataclasses.dataclass(frozen=True)
class ProbeReport:
    """The verdict on an environment.

    Args:
        ok: the training step ran on a device of the wanted backend, with the CPU's numbers.
        stage: where it ended: the stage that failed, or the last one. The stages are ``start`` (the
            interpreter itself), ``import``, ``enumerate``, ``train``, ``compare``, ``placement`` and, with
            several devices, ``distribute``.
        reason: why ``ok`` is False, in one or two sentences; "" when it is True.
        framework: ``{"name", "version"}`` and what else tells builds apart; empty if it was not imported.
        backend: what was wanted.
        devices: every device of the backend that the framework lists.
        device: the id of the one trained on; "cpu" when there was none; None when it came to no training.
        max_error: the largest difference of a weight's update from the CPU's, as a share of the largest
            update in that tensor. For the CPU: its loss's relative difference from float64's.
        tolerance: the largest ``max_error`` allowed.
        placement: ``{"device", "how", "ops": [{"op", "device"}], "fallbacks": [op]}``.
        missing_libraries: shared libraries that could not be found, by name, from errors and the log.
        stages: seconds that each finished stage took.
        exit: how the interpreter ended if not by itself: ``{"code", "signal" or "status", "meaning"}``.
        strategy: the result of training over all devices; None if there were not several.
        details: the framework's own facts: ``memory_growth``, ``visible_devices``, ``memory_used``.
        log: standard output and error together, bounded; ``log_bytes`` says how long it was.
    """

    ok: bool
    stage: str
    reason: str
    framework: Mapping[str, Any]
    backend: str
    devices: Tuple[Device, ...] = ()
    device: Optional[str] = None
    max_error: Optional[float] = None
    tolerance: Optional[float] = None
    placement: Optional[Mapping[str, Any]] = None
    missing_libraries: Tuple[str, ...] = ()
    stages: Mapping[str, float] = dataclasses.field(default_factory=dict)
    exit: Optional[Mapping[str, Any]] = None
    strategy: Optional[Mapping[str, Any]] = None
    details: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    log: str = ""
    log_bytes: int = 0

    def to_json(self) -> Dict[str, Any]:
        """Return the report as ``envsetup probe --json`` prints it."""
        out: Dict[str, Any] = {"schema": SCHEMA}
        out.update({f.name: getattr(self, f.name) for f in dataclasses.fields(self)})
        out.update(
            devices=[dataclasses.asdict(d) for d in self.devices],
            missing_libraries=list(self.missing_libraries),
            framework=dict(self.framework),
            stages=dict(self.stages),
            details=dict(self.details),
        )
        return out
