"""Native libraries that the environment's modules need and that can't be found; nothing is loaded."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Dict, Iterable, List, Tuple

from envsetup.build import native
from envsetup.build.native import DamagedFile, MissingLibrary, OldLibrary
from envsetup.diagnose.checks import pe
from envsetup.diagnose.checks.check import Problem, Repair, Seen
from envsetup.diagnose.checks.context import Context
from envsetup.diagnose.checks.recognise import imports
from envsetup.diagnose.explain import diagnose
from envsetup.diagnose.finding import Candidate, Fix
from envsetup.diagnose.lines import Line

# What brings a library when no package of the distribution does: the catalogue's rules know the causes.
_BY_RULES = ("driver", "wsl", "toolkit", "libc")


def look(context: Context) -> Seen:
    """Follow ELF's NEEDED entries on Linux and PE's imports on Windows."""
    target = context.target
    assert target is not None
    names = imports(context)
    if sys.platform == "win32":
        return pe.look(context)
    if sys.platform != "linux":
        return Seen(skipped="only Linux and Windows libraries are followed")
    missing: List[MissingLibrary] = []
    old: List[OldLibrary] = []
    damaged: List[Tuple[Path, DamagedFile]] = []
    files = 0
    for folder in target.site:
        report = native.check(folder, packages=names, interpreter=target.python, environ=context.environ)
        broken = {file.path.rpartition("/")[2] for file in report.damaged}
        missing += [m for m in report.missing if m.required and m.soname not in broken]
        old += [library for library in report.old if library.required]
        damaged += [(folder, file) for file in report.damaged]
        files += report.files
    problems = [*_missing(context, missing), *_old(old), *_damaged(context, damaged)]
    return Seen(tuple(problems), detail=f"{files} shared libraries")


def _missing(context: Context, missing: List[MissingLibrary]) -> Iterable[Problem]:
    by_rules = [library for library in missing if library.origin in _BY_RULES]
    yield from _known_causes(context, by_rules)
    rest = [library for library in missing if library not in by_rules and library.origin != "python"]
    if not rest:
        return
    advice = native.advice(rest, context.machine.value("distro"))
    commands = tuple(advice.commands.values())
    fix = Fix(commands + advice.notes, bool(commands), False, "envsetup doctor --only libraries")
    evidence = tuple(f"{library.soname} is not found; {_needed(library.needed_by)}" for library in rest)
    values = {"libraries": ", ".join(library.soname for library in rest)}
    yield Problem(Candidate("missing-native-library", 0.93, evidence, values), fix=fix if fix.steps else None)


def _known_causes(context: Context, libraries: List[MissingLibrary]) -> Iterable[Problem]:
    """Ask the rules as if the loader had said it: a missing libdxcore.so has another cause on each system."""
    if not libraries:
        return
    lines = [
        Line(n, f"ImportError: {library.soname}: cannot open shared object file: No such file or directory")
        for n, library in enumerate(libraries, 1)
    ]
    findings = diagnose(lines, context.facts_in_question, "").findings
    evidence = tuple(f"{library.soname} is not found; {_needed(library.needed_by)}" for library in libraries)
    if findings:
        best = findings[0]
        yield Problem(Candidate(best.code, best.score, evidence), severity=best.severity, fix=best.fix)
        return
    values = {"libraries": ", ".join(library.soname for library in libraries)}
    notes = tuple(dict.fromkeys(f"{library.soname}: {library.note}" for library in libraries if library.note))
    fix = Fix(notes, True, False, "envsetup doctor --only libraries") if notes else None
    yield Problem(Candidate("missing-native-library", 0.8, evidence, values), fix=fix)


def _old(old: List[OldLibrary]) -> Iterable[Problem]:
    for library in old:
        kind, _, version = library.needs.rpartition("_")
        has = (library.has or "").rpartition("_")[2] or "an older one"
        has_not = f"{library.path} has {library.has or 'no ' + kind}; {library.needs} is needed"
        evidence = (f"{has_not}; {_needed(library.needed_by)}",)
        code = "glibc-too-old" if kind == "GLIBC" else "old-native-library"
        values = {"needs": version, "has": has, "library": library.soname}
        yield Problem(Candidate(code, 0.93, evidence, values))


def _damaged(context: Context, damaged: List[Tuple[Path, DamagedFile]]) -> Iterable[Problem]:
    """Report what is damaged although its size is the recorded one; the check of files has the others."""
    evidence: List[str] = []
    owners: Dict[str, None] = {}
    for folder, file in damaged:
        recorded = context.sizes.get(f"{folder}/{file.path}", -1)
        if recorded in (-1, (folder / file.path).stat().st_size):
            evidence.append(f"{file.path} {file.reason}")
            owners.update(
                (d.name, None) for d in context.installed if any(e.path == file.path for e in d.record)
            )
    if evidence:
        values = {"files": f"{len(evidence)} file" + "s" * (len(evidence) > 1), "owners": ", ".join(owners)}
        candidate = Candidate("damaged-file", 0.9, tuple(evidence[:6]), values)
        yield Problem(candidate, repair=Repair(restore=tuple(owners)))


def _needed(files: Tuple[str, ...]) -> str:
    more = f" and {len(files) - 2} more" if len(files) > 2 else ""
    return f"needed by {', '.join(files[:2])}{more}"
