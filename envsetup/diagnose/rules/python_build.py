"""The interpreter's own build: 32 bits, no ssl module, or from the Microsoft Store."""

from __future__ import annotations

from typing import Iterator

from envsetup.diagnose.case import Case
from envsetup.diagnose.finding import Candidate
from envsetup.diagnose.rules.unsatisfied import failures


def evaluate(case: Case) -> Iterator[Candidate]:
    """Yield findings about the interpreter's build."""
    yield from _bits(case)
    yield from _ssl(case)
    yield from _store(case)


def _bits(case: Case) -> Iterator[Candidate]:
    said = case.seen("python-32bit")
    thirty_two = case.python_bits == 32
    evidence = tuple(s.shown for s in said[:2])
    if thirty_two and not said:
        evidence = (case.evidence("python", "32-bit"),)
    failed = failures(case) or case.seen("wheel-refused", "uv-no-wheel-here")
    if thirty_two and failed:
        yield Candidate("python-32bit", 0.94, (*evidence, *_first(case)), {})
    elif thirty_two:
        about = case.about("tensorflow") or case.about("torch") or case.about("directml")
        yield Candidate("python-32bit", 0.75 if about else 0.45, evidence, {})
    for seen in case.seen("dll-load-failed"):
        if (
            seen.get("number") == "193"
            or "not a valid win32" in (seen.get("text") + seen.get("text2")).lower()
        ):
            score = 0.8 if thirty_two else 0.5
            yield Candidate("python-32bit", score, (seen.shown, *evidence), {})
            case.need("python", "whether the interpreter is a 32-bit one")


def _first(case: Case) -> tuple[str, ...]:
    found = failures(case)
    return (found[0].seen.shown,) if found else ()


def _ssl(case: Case) -> Iterator[Candidate]:
    seen = case.first("ssl-module-missing")
    if seen:
        yield Candidate("python-ssl-broken", 0.96, (seen.shown, *_first(case)), {})


def _store(case: Case) -> Iterator[Candidate]:
    seen = case.first("store-python")
    store = (
        bool(case.interpreter.get("store")) or seen is not None or case.says(r"(microsoft|windows|ms) store")
    )
    if not store or case.system not in ("windows", ""):
        return
    evidence = (seen.shown,) if seen else (case.evidence("python", "from the Microsoft Store"),)
    failed = case.first("dll-load-failed", "library-error", "missing-library")
    if failed:
        yield Candidate("microsoft-store-python", 0.9, (*evidence, failed.shown), {})
    elif case.seen("path-not-found", "long-path-hint") or case.seen("no-module"):
        yield Candidate("microsoft-store-python", 0.5, evidence, {})
    else:
        about = case.about("tensorflow") or case.about("torch")
        yield Candidate("microsoft-store-python", 0.55 if about else 0.4, evidence, {})
