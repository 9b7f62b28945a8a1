"""Which stacks fit the machine. What does not fit is no error as long as nobody wants it."""

from __future__ import annotations

from typing import Any, Dict, List

from envsetup.diagnose.checks.check import Problem, Seen
from envsetup.diagnose.checks.context import Context
from envsetup.diagnose.finding import Candidate
from envsetup.resolve.survey import survey

USABLE = ("nvidia", "amd", "intel", "qualcomm", "apple")


def look(context: Context) -> Seen:
    """List the newest fitting row of each stack; a GPU that no stack can use is worth a word."""
    machine = context.machine
    if not machine.get("os").known:
        return Seen(skipped="the system is not known")
    fits: List[Dict[str, Any]] = []
    refused: List[str] = []
    used = False
    for entry in survey(machine):
        used = used or any(row["fits"] and row["gpu"] for row in entry["rows"])
        row = next((row for row in entry["rows"] if row["fits"]), None)
        if row is not None:
            fits.append({"stack": row["stack"], "backend": entry["backend"], "framework": entry["framework"]})
        elif entry["backend"] != "cpu":
            nearest = min(entry["rows"], key=lambda r: len(r["unmet"]))
            refused += [
                f"{nearest['stack']}: {u['fact']}: needs {u['needs']}, found {u['found']}"
                for u in nearest["unmet"]
            ]
    gpus = [gpu for gpu in machine.value("gpu") or () if gpu.get("vendor") in USABLE]
    problems = []
    nobody_asked = context.target is None and not context.backend and not context.replayed
    if gpus and nobody_asked and not used:
        values = {"gpus": ", ".join(str(gpu.get("name")) for gpu in gpus)}
        problems.append(Problem(Candidate("gpu-without-stack", 0.6, tuple(refused[:8]), values)))
    shown = ", ".join(f"{one['stack']} ({one['backend']})" for one in fits) or "none"
    return Seen(tuple(problems), detail=f"fit here: {shown}", data=fits)
