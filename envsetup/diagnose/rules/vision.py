"""torchvision (or another companion) is built for another torch."""

from __future__ import annotations

from typing import Iterator, Tuple

from envsetup.diagnose import releases
from envsetup.diagnose.case import Case
from envsetup.diagnose.finding import Candidate
from envsetup.diagnose.releases import Release, cuda_of, minor

CODE = "torchvision-mismatch"


def evaluate(case: Case) -> Iterator[Candidate]:
    """Yield the finding from the pair table, or from what the text says."""
    ops = case.first("torch-ops")
    companion = case.first("torch-companion-symbol")
    conflict = next(
        (
            s
            for s in case.seen("pip-conflict", "pip-depends")
            if s.get("package").lower() in ("torchvision", "torchaudio", "torchtext")
            and s.get("needs").lower() == "torch"
        ),
        None,
    )
    pair = mismatched(case)
    fork = case.package("pytorch-directml") is not None or "pytorch-directml" in case.words
    values = {"torchvision": "torchvision", "torch": "torch", "fits": "the matching release"}
    evidence: Tuple[str, ...] = ()
    if pair:
        vision, torch, fits = pair
        values = {"torchvision": vision.shown, "torch": torch.shown, "fits": fits}
        evidence = (case.shown(vision), case.shown(torch))
    part = next((s for s in case.seen("no-module") if s.get("module").startswith("torchvision.")), None)
    said = ops or companion
    if said and said.get("file") == "" and "extension.py" in said.text:
        said = None
    if said:
        yield Candidate(CODE, 0.94 if pair else 0.86, (said.shown, *evidence), values)
    elif conflict and not fork:
        versions = releases.pinned(conflict.get("spec"))
        values = {
            "torchvision": f"{conflict.get('package')} {conflict.get('version')}",
            "torch": f"torch {conflict.get('has')}" if conflict.get("has") else "this torch",
            "fits": _fits(case, conflict.get("has")),
        }
        mixed = bool(versions[0]) and (case.seen("torch-attribute") or case.package("torch-directml"))
        yield Candidate(CODE, 0.45 if mixed else 0.84, (conflict.shown, *evidence), values)
    elif part and not pair:
        yield Candidate(CODE, 0.5, (part.shown,), values)
    elif pair:
        trouble = case.first("undefined-symbol", "torch-import-name", "torchvision-api", "dll-load-failed")
        yield Candidate(
            CODE,
            0.82 if trouble else 0.74 if not case.log else 0.5,
            (*((trouble.shown,) if trouble else ()), *evidence),
            values,
        )


def mismatched(case: Case) -> Tuple[Release, Release, str] | None:
    """Return torchvision, torch and the torchvision that fits, when the installed pair does not."""
    vision, torch = case.package("torchvision"), case.torch
    if vision is None or torch is None or vision.version is None or torch.version is None:
        return None
    fits = case.tables.torchvision_for(torch.version)
    nightly = torch.version.is_prerelease != vision.version.is_prerelease and (
        torch.version.is_devrelease or vision.version.is_devrelease
    )
    labels = (
        vision.local != torch.local
        and bool(vision.local)
        and bool(torch.local)
        and bool(cuda_of(vision.local) or vision.local == "cpu")
    )
    if (fits and minor(vision.version) != fits) or nightly or labels:
        return vision, torch, f"torchvision {fits}" if fits else "the nightly of the same day"
    return None


def _fits(case: Case, torch: str) -> str:
    version = releases.version(torch)
    fits = case.tables.torchvision_for(version) if version else ""
    return f"torchvision {fits}" if fits else "the matching release"
