"""The ROCm build has no code for this AMD GPU."""

from __future__ import annotations

import re
from typing import Iterator, List, Tuple

from packaging.version import Version

from envsetup.diagnose.case import Case
from envsetup.diagnose.finding import Candidate

CODE = "rocm-gfx-unsupported"


def evaluate(case: Case) -> Iterator[Candidate]:
    """Yield the finding from the table of targets, and from HIP's messages."""
    if case.system in ("windows", "macos") and not case.seen("rocm-no-code"):
        return
    gfx = _gfx(case)
    rocm, served = _served(case)
    amd = bool(case.of_vendor("amd")) or bool(gfx)
    no_code = next(
        (
            s
            for s in case.seen("rocm-no-code")
            if "hip" in s.text.lower()
            or "rocblas" in s.text.lower()
            or "tensile" in s.text.lower()
            or "code object" in s.text.lower()
            or amd
        ),
        None,
    )
    if (
        no_code is not None
        and case.nvidia
        and not amd
        and "hip" not in no_code.text.lower()
        and "rocblas" not in no_code.text.lower()
    ):
        return
    unserved = bool(gfx) and bool(served) and gfx not in served
    values = {
        "gfx": gfx or "this GPU",
        "rocm": rocm or "this build",
        "override": case.tables.overrides.get(gfx, ""),
        "served": ", ".join(served),
    }
    evidence: Tuple[str, ...] = ()
    if gfx:
        evidence += (f"GPU target {gfx}",)
    if rocm and case.torch:
        evidence += (case.shown(case.torch),)
    override = (
        str(case.value("env", {}).get("HSA_OVERRIDE_GFX_VERSION", ""))
        if isinstance(case.value("env", {}), dict)
        else ""
    )
    if no_code:
        yield Candidate(CODE, 0.94 if unserved or not served else 0.72, (no_code.shown, *evidence), values)
    elif unserved and (case.about("rocm") or bool(rocm)):
        crash = case.first("rocm-crash", "illegal-instruction", "cuda-available", "no-device")
        yield Candidate(
            CODE,
            0.8 if crash or not case.log else 0.55,
            (*((crash.shown,) if crash else ()), *evidence),
            values,
        )
    elif (
        not case.log
        and gfx
        and case.about("rocm")
        and not override
        and not any(gfx in targets for targets in case.tables.rocm.values())
    ):
        yield Candidate(CODE, 0.76, evidence, values)
    elif case.seen("rocm-crash") and amd:
        yield Candidate(
            CODE, 0.55 if override or not gfx else 0.66, (case.seen("rocm-crash")[0].shown, *evidence), values
        )


def _gfx(case: Case) -> str:
    for gpu in case.of_vendor("amd"):
        if gpu.get("gfx"):
            return str(gpu["gfx"])
    named: List[str] = [s.get("gfx") for s in case.seen("rocm-no-code", "gfx-named") if s.get("gfx")]
    match = re.search(r"\bgfx[0-9a-f]{3,4}\b", case.words)
    if match:
        return match.group(0)
    return named[0].lower() if named else ""


def _served(case: Case) -> Tuple[str, Tuple[str, ...]]:
    """Return the ROCm release of the torch build and the targets that it has code for."""
    labels = [case.torch.local] if case.torch and case.torch.local.startswith("rocm") else []
    labels += [label for label in case.index_labels if label.startswith("rocm")]
    label = labels[0][4:] if labels else ""
    if not label:
        return "", ()
    best: Tuple[str, ...] = ()
    for release, targets in case.tables.rocm.items():
        if Version(release) <= Version(re.sub(r"[^\d.].*$", "", label) or "0"):
            best = targets
    return label, best
