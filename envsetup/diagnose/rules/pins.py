"""Exact pins: a package that allows one version only, and another that needs another."""

from __future__ import annotations

from typing import Iterator

from packaging.utils import canonicalize_name

from envsetup.diagnose import releases
from envsetup.diagnose.case import Case
from envsetup.diagnose.finding import Candidate
from envsetup.diagnose.patterns import Observation

CODE = "version-pin-conflict"
_OTHERS = {"protobuf", "numpy", "h5py"}
# any release of these conflicts with a torch that none of their rows allows
_ONE_ROW_IS_ENOUGH = ("torch-directml", "pytorch-directml")
_COMPANIONS = ("torchvision", "torchaudio", "torchtext")


def evaluate(case: Case) -> Iterator[Candidate]:
    """Yield the finding from the table of pins, and from what pip or uv says."""
    yield from _table(case)
    yield from _plugin(case)
    replaced = _replaced(case)
    for seen in case.seen("pip-conflict", "pip-depends"):
        needs, package = canonicalize_name(seen.get("needs")), canonicalize_name(seen.get("package"))
        pair = package in _COMPANIONS and needs == "torch" and "torch-directml" not in case.packages
        if (pair or needs in _OTHERS) and not case.seen("resolution-impossible", "cannot-install"):
            continue  # vision and ceilings say more of these
        exact = "==" in seen.get("spec")
        impossible = case.first("resolution-impossible", "cannot-install", "user-requested")
        score = 0.86 if exact or impossible else 0.74
        if needs in _OTHERS:
            score = 0.6
        if package in ("torchvision", "torchaudio") and not (
            impossible and impossible.name == "cannot-install"
        ):
            score = 0.66
        yield Candidate(
            CODE,
            score,
            tuple(s.shown for s in (seen, impossible) if s and s is not None),
            {
                "package": f"{package} {seen.get('version')}",
                "needs": f"{needs}{seen.get('spec').strip()}",
                "has": seen.get("has") or "another version",
            },
        )
        return
    impossible = case.first("resolution-impossible", "cannot-install", "conda-unsatisfiable")
    if (
        impossible
        and not case.seen("pip-conflict", "pip-depends")
        and not case.seen(
            "uv-no-matching-python",
            "uv-no-matching-platform",
            "uv-platform",
            "uv-python",
            "uv-requires-python",
            "uv-no-version",
        )
    ):
        lines = case.seen("conda-depends")
        score = 0.76 if lines else 0.6
        yield Candidate(
            CODE,
            score,
            (impossible.shown, *(s.shown for s in lines[:2])),
            {"package": "one package", "needs": "another version", "has": "what is asked for"},
        )
    elif replaced:
        yield Candidate(
            CODE,
            0.62,
            (replaced.shown,),
            {"package": "a package that pins torch", "needs": "its torch", "has": replaced.get("version")},
        )


def _table(case: Case) -> Iterator[Candidate]:
    for name, versions, needs in case.tables.pins:
        found = case.package(name)
        asked = name in case.asked
        if found is None and not asked:
            continue
        wanted, _ = releases.pinned(case.asked.get(name, ""))
        version = found.version if found is not None and found.version is not None else wanted
        if version is not None and version not in versions:
            continue
        if version is None and name not in _ONE_ROW_IS_ENOUGH:
            continue
        other = case.package(needs.name)
        if other is None or other.version is None or other.version in needs.specifier:
            continue
        if name == "pytorch-directml" and other.name == "torchvision" and other.version.release[:2] == (0, 9):
            continue
        if found is not None and found.version is None and not asked:
            continue
        trouble = _trouble(case)
        yield Candidate(
            CODE,
            0.88 if trouble else 0.84 if not case.log else 0.5,
            (
                *((trouble.shown,) if trouble else ()),
                *((case.shown(found),) if found else ()),
                case.shown(other),
            ),
            {"package": found.shown if found else name, "needs": str(needs), "has": other.shown},
        )
        return
    for name, spec in case.asked.items():
        pinned = next((n for p, v, n in case.tables.pins if p == name and _in(spec, v)), None)
        other_spec = case.asked.get(pinned.name, "") if pinned else ""
        version, _ = releases.pinned(other_spec)
        if pinned and version and version not in pinned.specifier:
            yield Candidate(
                CODE,
                0.84,
                (f"wanted: {name}{spec} and {pinned.name}{other_spec}",),
                {"package": name, "needs": str(pinned), "has": str(version)},
            )


def _plugin(case: Case) -> Iterator[Candidate]:
    """The TensorFlow plugin pins its base as well, and pip goes back to it."""
    plugin = case.tables.packages["tensorflow-directml-plugin"]
    base = case.package("tensorflow-cpu", "tensorflow", "tensorflow-intel")
    about = plugin.name in case.words or plugin.name in case.asked
    goes_back = case.says(r"downgrad|forces|replaces?\b|over an existing|goes back|back to 2\.10|uninstalls")
    if about and goes_back and base and base.version and base.version not in plugin.base_version:
        yield Candidate(
            CODE,
            0.9 if not case.log else 0.6,
            (f"wanted: {case.wanted[:160]}", case.shown(base)),
            {"package": plugin.name, "needs": f"{plugin.base}{plugin.base_version}", "has": base.shown},
        )


def _in(spec: str, versions: object) -> bool:
    version, _ = releases.pinned(spec)
    return version is not None and version in versions  # type: ignore[operator]


def _trouble(case: Case) -> Observation | None:
    return case.first(
        "pip-conflict",
        "pip-depends",
        "resolution-impossible",
        "cannot-install",
        "uninstalling",
        "library-error",
        "dll-load-failed",
        "undefined-symbol",
    )


def _replaced(case: Case) -> Observation | None:
    """torch was uninstalled by an installation that did not ask for torch."""
    for seen in case.seen("uninstalling"):
        if (
            canonicalize_name(seen.get("package")) == "torch"
            and "torch" not in case.asked
            and any("directml" in n for n in (*case.asked, *case.packages))
        ):
            return seen
    return None
