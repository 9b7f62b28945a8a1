"""tensorflow-directml-plugin with the wrong TensorFlow: another base package, or another release."""

from __future__ import annotations

import re
from typing import Iterator, List

from packaging.version import Version

from envsetup.diagnose.case import Case
from envsetup.diagnose.finding import Candidate
from envsetup.diagnose.releases import Release

PLUGIN = "tensorflow-directml-plugin"


def evaluate(case: Case) -> Iterator[Candidate]:
    """Yield findings about the plugin."""
    plugin = case.package(PLUGIN)
    load = case.first("tf-plugin-load")
    asked = PLUGIN in case.asked or PLUGIN in case.words
    if plugin is None and load is None and not asked:
        return
    wanted = case.tables.packages[PLUGIN]
    bases = [p for p in (case.package(n) for n in ("tensorflow-cpu", "tensorflow-intel")) if p]
    heavy = [p for p in (case.package(n) for n in ("tensorflow", "tensorflow-gpu", "tf-nightly")) if p]
    failed = load is not None and re.search(
        r"not found|undefined symbol|cannot open|NotFoundError|could not be loaded", load.text
    )
    wrong = [p for p in (*bases, *heavy) if p.version and p.exact and p.version not in wanted.base_version]
    evidence = tuple(case.shown(p) for p in (*wrong, *bases, *heavy)[:2]) + (
        (case.shown(plugin),) if plugin else ()
    )
    values = {"has": _shown(wrong or heavy or bases), "needs": f"{wanted.base}{wanted.base_version}"}
    if failed:
        shown = load.shown if load else ""
        yield Candidate("tf-plugin-version-mismatch", 0.94 if wrong else 0.84, (shown, *evidence), values)
        if not (bases or heavy):
            case.need("packages", "which TensorFlow is installed (python -m pip list)")
        return
    twice = case.first("tf-plugin-twice")
    if wrong:
        trouble = case.first("tf-no-gpu", "dml-adapters", "undefined-symbol", "hresult", "no-module")
        yield Candidate(
            "tf-plugin-version-mismatch",
            0.86 if trouble or not case.log or twice else 0.66,
            (*((trouble.shown,) if trouble else ()), *evidence),
            values,
        )
    if heavy and not bases:
        trouble = case.first(
            "tf-no-gpu",
            "missing-library",
            "tf-plugin-twice",
            "gpu-libraries-missing",
            "no-device",
            "no-driver",
        )
        # `tensorflow` of 2.11 and later is the same as tensorflow-cpu on Windows
        old_base = any(p.version is None or p.version < Version("2.11") for p in heavy) or not case.windows
        score = 0.88 if old_base and (trouble or not case.log) else 0.7 if old_base else 0.4
        yield Candidate(
            "tf-plugin-base-package", score, (*((trouble.shown,) if trouble else ()), *evidence), values
        )
    elif heavy and bases and not wrong:
        yield Candidate("tf-plugin-base-package", 0.72, evidence, values)
    elif twice:
        yield Candidate("tf-plugin-version-mismatch", 0.6, (twice.shown, *evidence), values)
    elif (
        asked
        and not bases
        and not heavy
        and case.says(r"tensorflow(-gpu)? (installed|instead|base)|install tensorflow(-gpu)?\b(?!-)")
    ):
        yield Candidate("tf-plugin-base-package", 0.6, (f"wanted: {case.wanted[:160]}",), values)


def _shown(found: List[Release]) -> str:
    return ", ".join(p.shown for p in found) or "another TensorFlow"
