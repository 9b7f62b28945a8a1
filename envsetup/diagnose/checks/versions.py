"""Versions that do not go together: over a ceiling, not a pair, against a pin."""

from __future__ import annotations

import re
from typing import Dict, Iterable, Set

from packaging.version import InvalidVersion, Version

from envsetup.diagnose.case import Case
from envsetup.diagnose.checks.check import Problem, Repair, Seen
from envsetup.diagnose.checks.context import Context, in_question
from envsetup.diagnose.checks.recognise import recognise
from envsetup.diagnose.finding import Candidate
from envsetup.diagnose.rules import ceilings, pins, tf_plugin, vision
from envsetup.machine.fact import Fact

_CEILINGS = {"protobuf": "protobuf-too-new", "numpy": "numpy-too-new", "h5py": "h5py-too-new"}


def look(context: Context) -> Seen:
    """Ask the tables of ceilings, pairs and pins; for a known stack, its own ceilings too."""
    # What is recorded as provided counts here: torchvision belongs to the torch that a fork stands for.
    versions = {d.name: d.version for d in context.installed}
    versions.update((name, d.version) for name, d in context.packages.items())
    packages = Fact("packages", versions, context.facts.get("packages").source)
    case = Case(in_question(context.facts.with_facts([packages])), [], "")
    found: Dict[str, Candidate] = {}
    for rule in (ceilings, vision, pins, tf_plugin):
        for candidate in rule.evaluate(case):
            found.setdefault(candidate.code, candidate)
    for candidate in _of_the_stack(context):
        found.setdefault(candidate.code, candidate)
    problems = tuple(Problem(candidate, repair=_repair(context, candidate)) for candidate in found.values())
    return Seen(problems, detail=f"ceilings, pairs and pins of {len(context.packages)} distributions")


def _of_the_stack(context: Context) -> Iterable[Candidate]:
    kind = recognise(context)
    if kind is None or kind.row is None:
        return
    for ceiling in kind.row.ceilings:
        has = context.packages.get(ceiling.name)
        try:
            if has is None or ceiling.specifier.contains(Version(has.version), prereleases=True):
                continue
        except InvalidVersion:
            continue
        values = {
            "package": ceiling.name,
            "limit": str(ceiling.specifier),
            "has": has.version,
            "consumer": kind.name,
        }
        evidence = (f"{has.shown} is installed", f"{kind.name} needs {ceiling}")
        yield Candidate(_CEILINGS.get(ceiling.name, "dependency-too-new"), 0.75, evidence, values)


def _repair(context: Context, candidate: Candidate) -> Repair:
    """Return the named packages that are not as the receipt has them."""
    words = {
        w for text in (*candidate.evidence, *candidate.values.values()) for w in re.findall(r"[\w.-]+", text)
    }
    named: Set[str] = {re.sub(r"[-_.]+", "-", word).lower() for word in words}
    restore = [name for name in context.locked if name in named and name in context.deviating]
    # Only a distribution that owns an import package of the stack's is too much; others are the user's own.
    replaced = {str(r.get("name")) for r in _replaces(context)}
    remove = [n for n in named if n in context.packages and n not in context.locked and n in replaced]
    return Repair(tuple(remove), tuple(restore)) if context.locked else Repair()


def _replaces(context: Context) -> Iterable[Dict[str, object]]:
    receipt = context.target.receipt if context.target else None
    return receipt.data.get("replaces", ()) if receipt else ()
