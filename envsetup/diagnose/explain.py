"""Explain a log, or a machine's facts: observations, then rules, then ranked findings."""

from __future__ import annotations

import re
from typing import IO, Any, Dict, List

from envsetup.diagnose import lines
from envsetup.diagnose.case import Case
from envsetup.diagnose.catalogue import causes, finding
from envsetup.diagnose.finding import Candidate, Diagnosis
from envsetup.diagnose.lines import Line
from envsetup.diagnose.patterns import observe
from envsetup.diagnose.rank import rank
from envsetup.diagnose.rules import RULES
from envsetup.machine.fact import Machine

WANTED = 2000  # characters of what was wanted that are read
_QUESTION = re.compile(
    r"(?P<torch>cuda\.(?:is_available|device_count))|list_physical_devices|is_gpu_available|gpu_device_name"
)
_BARE = re.compile(r"^[\W\d]{0,12}(?:False|\[\]|0|None|'')\W{0,3}$")
_TORCH_NO, _TENSORFLOW_NO = "torch.cuda.is_available() False", "list_physical_devices('GPU') []"


def explain(text_stream: IO[Any], machine: Machine | None = None, wanted: str | None = None) -> Diagnosis:
    """Return the causes that a text and the facts support, best first.

    Args:
        text_stream: the log, opened in binary mode (a text stream works too); read to its end.
        machine: the facts; None when only the text is known. They win over what the text says of the machine.
        wanted: what the user ran or wanted; the fact ``wanted`` is used where it is None.

    Returns:
        Findings, and when there are none or weak ones, which facts would help.
    """
    text = lines.read(text_stream)
    return diagnose(text.lines, machine, wanted)


def diagnose_facts(machine: Machine, wanted: str | None = None) -> Diagnosis:
    """Return the causes that facts alone support, as ``doctor --machine`` shows them."""
    return diagnose([], machine, wanted)


def diagnose(log: List[Line], machine: Machine | None, wanted: str | None) -> Diagnosis:
    """Return the diagnosis of lines that were already read."""
    machine = machine or Machine.of([])
    goal = (wanted if wanted is not None else str(machine.value("wanted", "") or ""))[:WANTED]
    first = [Line(0, " ".join(goal.split()))] if goal.strip() else []
    case = Case(machine, observe([*first, *_answered(goal, log)]), goal)
    candidates: List[Candidate] = []
    failed: List[str] = []
    for rule in RULES:
        try:
            candidates.extend(rule(case))
        except Exception as error:  # a broken rule is a result: the others still speak
            failed.append(f"{rule.__module__.rsplit('.', 1)[-1]}: {type(error).__name__}: {error}")
    ranked = rank(candidates)
    return Diagnosis(
        findings=tuple(finding(candidate, case.system) for candidate in ranked),
        missing_facts=_missing(case, ranked),
        facts_from=dict(sorted(case.used.items())),
        failed_rules=tuple(failed),
    )


def _answered(goal: str, log: List[Line]) -> List[Line]:
    """Put the question before a bare answer: a log of ``False`` alone says something by what was asked."""
    question = _QUESTION.search(goal)
    if question is None:
        return log
    words = _TORCH_NO if question.group("torch") else _TENSORFLOW_NO
    return [Line(line.number, words) if _BARE.match(line.text) else line for line in log]


def _missing(case: Case, ranked: List[Candidate]) -> Dict[str, str]:
    """Return which facts would help: none when the best finding is sure."""
    if ranked and ranked[0].score >= 0.8:
        return {}
    missing = dict(case.asked_facts)
    for candidate in ranked[:3]:
        for name in causes()[candidate.code].helps:
            if not case.machine.get(name).known and not (name == "packages" and case.packages):
                missing.setdefault(name, f"it decides whether this is {candidate.code}")
    if not ranked:
        for name, why in (
            ("os", "the system (Windows, WSL, Linux, macOS) and its version"),
            ("python", "the version and kind of the interpreter"),
            ("packages", "what is installed (python -m pip list)"),
            ("gpu", "the GPU's model"),
        ):
            if not case.machine.get(name).known and not (name == "packages" and case.packages):
                missing.setdefault(name, why)
    return missing
