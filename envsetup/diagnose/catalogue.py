"""The catalogue of causes: the words and the recipe for every code. ``constraints/causes`` holds it."""

from __future__ import annotations

import dataclasses
import functools
import re
import string
from typing import Dict, Mapping, Tuple

from envsetup.diagnose.finding import SEVERITIES, Candidate, Finding, Fix
from envsetup.knowledge.files import constraints
from envsetup.knowledge.toml import Table, load

SYSTEMS = ("windows", "wsl", "linux", "macos")
_PLAIN = re.compile(r"[^\w .,+=<>~!*:/@()\[\]#%'-]")
_COMMAND = re.compile(r"[^\w.,+=<>~!*-]")


@dataclasses.dataclass(frozen=True)
class Recipe:
    """A fix with placeholders."""

    steps: Tuple[str, ...]
    admin: bool
    reboot: bool
    verify: str


@dataclasses.dataclass(frozen=True)
class Cause:
    """One entry of the catalogue.

    Args:
        cause: text with ``{placeholders}``.
        evidence: what speaks for it, in words.
        contradicts: what speaks against it, in words.
        helps: facts that decide it.
        defaults: what stands for a placeholder that a case doesn't fill.
        fixes: recipe by system; the empty name is for all others.
        line: where in its file it stands.
    """

    code: str
    title: str
    severity: str
    cause: str
    evidence: Tuple[str, ...]
    contradicts: Tuple[str, ...]
    helps: Tuple[str, ...]
    source: str
    defaults: Mapping[str, str]
    fixes: Mapping[str, Recipe]


@functools.lru_cache(maxsize=1)
def causes() -> Dict[str, Cause]:
    """Return the catalogue by code.

    Raises:
        KnowledgeError: when an entry is wrong, with file and line.
    """
    out: Dict[str, Cause] = {}
    for path in sorted((constraints() / "causes").glob("*.toml")):
        root = load(path)
        for table in root.tables("cause"):
            cause = _cause(table)
            if cause.code in out:
                table.fail(f"{cause.code!r} is there twice", "code")
            out[cause.code] = cause
        root.end()
    return out


def _cause(table: Table) -> Cause:
    fixes = {"": _recipe(table.table("fix"), None)}
    for system in SYSTEMS:
        if system in table:
            fixes[system] = _recipe(table.table(system), fixes[""])
    cause = Cause(
        code=table.text("code"),
        title=table.text("title"),
        severity=table.choice("severity", SEVERITIES),
        cause=table.text("cause"),
        evidence=table.texts("evidence"),
        contradicts=table.texts("contradicts"),
        helps=table.texts("helps", ()),
        source=table.text("source"),
        defaults=table.text_map("defaults"),
        fixes=fixes,
    )
    for text in (cause.cause, *(t for recipe in fixes.values() for t in (*recipe.steps, recipe.verify))):
        try:
            names = {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}
        except ValueError as error:
            table.fail(f"{text!r} is no template: {error}")
        for name in names - set(cause.defaults):
            table.fail(f"{{{name}}} has no default", "defaults")
    table.end()
    return cause


def _recipe(table: Table, base: Recipe | None) -> Recipe:
    recipe = Recipe(
        steps=table.texts("steps", base.steps if base else None),
        admin=table.flag("admin", base.admin if base else False),
        reboot=table.flag("reboot", base.reboot if base else False),
        verify=table.text("verify", base.verify if base else None),
    )
    table.end()
    return recipe


def finding(candidate: Candidate, system: str) -> Finding:
    """Return the finding that a candidate makes, in the catalogue's words for that system."""
    cause = causes()[candidate.code]
    recipe = (
        cause.fixes.get(system) or cause.fixes["linux" if system == "wsl" and "linux" in cause.fixes else ""]
    )
    words = {**cause.defaults, **{k: v for k, v in candidate.values.items() if v}}
    # Values come from logs: what ends in a command must not be able to say more than a name or a version.
    plain = {name: _PLAIN.sub("", value)[:200] for name, value in words.items()}
    command = {
        name: _COMMAND.sub("", value.replace(" to ", "-").replace(", ", ","))[:80]
        for name, value in words.items()
    }
    return Finding(
        code=cause.code,
        severity=cause.severity,
        title=cause.title,
        evidence=tuple(dict.fromkeys(e for e in candidate.evidence if e)),
        cause=cause.cause.format(**plain),
        fix=Fix(
            tuple(step.format(**(command if _is_command(step) else plain)) for step in recipe.steps),
            recipe.admin,
            recipe.reboot,
            recipe.verify.format(**plain),
        ),
        score=candidate.score,
    )


def _is_command(step: str) -> bool:
    return re.search(r"\b(pip|uv|conda|python|export|set|unset|docker|apt-get|wsl)\b", step) is not None
