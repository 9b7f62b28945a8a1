"""An unpinned dependency moved on: protobuf, NumPy or h5py is newer than the framework bears."""

from __future__ import annotations

from typing import Iterator, Tuple

from packaging.utils import canonicalize_name
from packaging.version import Version

from envsetup.diagnose import releases
from envsetup.diagnose.case import Case
from envsetup.diagnose.compat import Ceiling
from envsetup.diagnose.finding import Candidate
from envsetup.diagnose.patterns import Observation
from envsetup.diagnose.releases import Release

_SIGNS = {
    "protobuf-too-new": ("protobuf-new",),
    "numpy-too-new": ("numpy-abi", "numpy-abi-numbers", "numpy-alias", "numpy-symbolic", "numpy-dtype-size"),
    "h5py-too-new": ("h5py-decode",),
}
_PACKAGES = {"protobuf-too-new": "protobuf", "numpy-too-new": "numpy", "h5py-too-new": "h5py"}


def evaluate(case: Case) -> Iterator[Candidate]:
    """Yield the finding for each package over its ceiling."""
    for code, names in _SIGNS.items():
        yield from _one(case, code, [s for s in case.seen(*names) if _counts(case, s)])


def _one(case: Case, code: str, signs: list[Observation]) -> Iterator[Candidate]:
    name = _PACKAGES[code]
    has = case.package(name)
    ceiling, consumer = _ceiling(case, code, has)
    conflict = next(
        (
            s
            for s in case.seen("pip-conflict")
            if canonicalize_name(s.get("needs")) == name
            and "<" in s.get("spec")
            and _newer(s.get("spec"), s.get("has"))
        ),
        None,
    )
    over = (
        ceiling is not None
        and has is not None
        and has.version is not None
        and not ceiling.limit.contains(has.version, prereleases=True)
    )
    evidence: Tuple[str, ...] = tuple(s.shown for s in signs[:2])
    if has and has.version:
        evidence += (case.shown(has),)
    if consumer:
        evidence += (case.shown(consumer),)
    limit = (
        str(ceiling.limit)
        if ceiling
        else {"protobuf-too-new": "<3.21", "numpy-too-new": "<2", "h5py-too-new": "<3"}[code]
    )
    values = {
        "package": name,
        "limit": limit,
        "has": str(has.version) if has and has.version else "a newer one",
        "consumer": consumer.shown if consumer else "the framework",
    }
    if signs:
        fits = has is not None and has.exact and ceiling is not None and has.version is not None and not over
        yield Candidate(code, 0.5 if fits else 0.95 if over else 0.9, evidence, values)
    elif conflict:
        yield Candidate(
            code, 0.78, (conflict.shown, *evidence), {**values, "limit": conflict.get("spec").strip()}
        )
    elif over and has is not None and has.exact:
        yield Candidate(code, 0.76 if not case.log else 0.4, evidence, values)


def _counts(case: Case, seen: Observation) -> bool:
    if seen.name == "numpy-dtype-size":
        return int(seen.get("expected") or 0) > int(seen.get("got") or 0) and seen.get("expected") == "96"
    numbers = case.first("numpy-abi-numbers")
    if seen.name in ("numpy-abi", "numpy-abi-numbers") and numbers and "compiled using" not in seen.text:
        # NumPy 2 raised the interface's number to 0x2000000; a lower number than compiled is an old NumPy
        return int(numbers.get("has"), 16) > int(numbers.get("compiled"), 16)
    if seen.name == "h5py-decode":
        keras = case.seen("keras-h5") or case.about("tensorflow") or case.package("h5py", "keras")
        return bool(keras)
    if seen.name == "numpy-abi" and "is not available" in seen.text and case.package("numpy") is None:
        # also what torch says when NumPy is missing
        return not any(s.get("module") == "numpy" for s in case.seen("no-module"))
    return True


def _ceiling(case: Case, code: str, has: Release | None) -> Tuple[Ceiling | None, Release | None]:
    """Return the tightest ceiling that a package of the case needs, and that package."""
    hits = []
    for ceiling in case.tables.ceilings:
        if ceiling.code != code:
            continue
        names = (
            ("tensorflow", "tensorflow-gpu", "tensorflow-cpu", "tensorflow-intel")
            if ceiling.consumer == "tensorflow"
            else (ceiling.consumer,)
        )
        for name in names:
            found = case.package(name)
            if (
                found is not None
                and found.version is not None
                and ceiling.versions.contains(found.version, prereleases=True)
            ):
                hits.append((ceiling, found))
    broken = [
        h
        for h in hits
        if has is not None
        and has.version is not None
        and not h[0].limit.contains(has.version, prereleases=True)
    ]
    best = broken or hits
    return best[0] if best else (None, None)


def _newer(spec: str, has: str) -> bool:

    limit, found = releases.specifier(spec), releases.version(has)
    if limit is None or found is None:
        return False
    upper = [Version(s.version) for s in limit if s.operator in ("<", "<=")]
    return any(found >= bound for bound in upper)
