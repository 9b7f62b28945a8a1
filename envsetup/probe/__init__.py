"""The judge of an environment: one real training step on the device, in the environment's own interpreter.

>>> report = run(Path(".venv/bin/python"), "torch", "dml")     # doctest: +SKIP
>>> report.ok, report.stage, report.device                     # doctest: +SKIP
(True, 'placement', 'dml:0')
"""

from __future__ import annotations

from .report import Device, ProbeReport
from .run import LIMITS, run, supported
from .snippet import snippet

__all__ = ["LIMITS", "Device", "ProbeReport", "run", "snippet", "supported"]
