"""cuDNN: the copy that is loaded is too old, or another copy comes first."""

from __future__ import annotations

import re
from typing import Iterator, List, Tuple

from packaging.version import Version

from envsetup.diagnose import releases
from envsetup.diagnose.case import Case
from envsetup.diagnose.finding import Candidate
from envsetup.diagnose.rules.library_names import soname

OLD, SHADOWED = "cudnn-minor-too-old", "cudnn-shadowed"
_SYSTEM = re.compile(r"/usr/(local|lib)|/opt/cuda|computing toolkit|\\system32", re.IGNORECASE)


def evaluate(case: Case) -> Iterator[Candidate]:
    """Yield findings about cuDNN."""
    if case.system == "macos":
        return
    yield from _loaded(case)
    yield from _mixed(case)
    yield from _missing(case)
    yield from _other_cuda(case)
    yield from _in_the_way(case)
    yield from _by_table(case)


def _version(text: str) -> Version | None:
    text = text.strip(" ()").replace(", ", ".").replace(",", ".").rstrip(".")
    if re.fullmatch(r"\d{4,5}", text):
        number = int(text)
        major, rest = (number // 1000, number % 1000) if number < 90000 else (number // 10000, number % 10000)
        return Version(f"{major}.{rest // 100}.{rest % 100}")
    return releases.version(text)


def _installed(case: Case) -> List[Version]:
    rows = case.value("cudnn", [])
    found = (
        [releases.version(str(row.get("version"))) for row in rows if isinstance(row, dict)]
        if isinstance(rows, list)
        else []
    )
    package = case.package("cudnn", "nvidia-cudnn-cu11", "nvidia-cudnn-cu12")
    return [v for v in [*found, package.version if package else None] if v is not None]


def _loaded(case: Case) -> Iterator[Candidate]:
    for seen in case.seen("loaded-cudnn"):
        loaded, compiled = _version(seen.get("loaded")), _version(seen.get("compiled"))
        if loaded is None or compiled is None:
            continue
        installed = _installed(case)
        values = {"loaded": str(loaded), "compiled": str(compiled)}
        evidence = [seen.shown] + (
            [case.evidence("cudnn", ", ".join(map(str, installed)))]
            if installed and case.machine.get("cudnn").known
            else []
        )
        newer_there = any(_fits(v, compiled) for v in installed) and not any(
            v == loaded for v in installed[:1]
        )
        two = len({v.release[:3] for v in installed}) > 1
        path = "LD_LIBRARY_PATH" in str(case.value("env", {}))
        torch = "pytorch was compiled" in seen.text.lower()
        words = case.says(
            r"upgrad|updat|already (have|installed)|installed (cudnn )?(8|7|9)|two (copies|cudnn)|both"
        )
        if loaded >= compiled and loaded.release[:1] == compiled.release[:1]:
            if "compatibility version" in seen.text:  # old releases want the same minor version
                known = any(_fits(v, compiled) and v != loaded for v in installed)
                yield Candidate(SHADOWED, 0.86 if known else 0.6, tuple(evidence), values)
                return
            continue
        if newer_there or two or torch or path or (words and not installed):
            yield Candidate(SHADOWED, 0.92 if newer_there else 0.84, tuple(evidence), values)
            yield Candidate(OLD, 0.5, tuple(evidence), values)
        else:
            if not installed:
                case.need("cudnn", "which copies of cuDNN are installed (ldconfig -p | grep cudnn)")
            yield Candidate(OLD, 0.88 if installed else 0.74, tuple(evidence), values)
            yield Candidate(SHADOWED, 0.45, tuple(evidence), values)
        return


def _fits(installed: Version, compiled: Version) -> bool:
    """Say whether an installed cuDNN is what the build needs; "5.1" is any 5.1.x."""
    parts = len(installed.release)
    return (
        installed.release[:1] == compiled.release[:1]
        and installed.release >= compiled.release[:parts]
        and parts > 1
    )


def _mixed(case: Case) -> Iterator[Candidate]:
    for seen in case.seen("cudnn-mixed"):
        text = seen.text
        missing = re.search(
            r"cannot open shared object|error code 126|not found|Please make sure", text, re.IGNORECASE
        )
        if re.search(r"libcuda(\.so|_)", text.split("Error:")[-1]) and case.system == "wsl":
            continue
        mixed = re.search(
            r"undefined symbol|version_mismatch|version mismatch|invalid handle"
            r"|cannot load symbol|error code (127|1920|193)|symbol lookup",
            text,
            re.IGNORECASE,
        )
        path = str(case.value("env", {}))
        system = _SYSTEM.search(text) is not None or "LD_LIBRARY_PATH" in path or "cuda" in path.lower()
        values = {"loaded": "another copy", "compiled": "the copy in the wheel"}
        evidence = [seen.shown] + ([case.evidence("env")] if "LD_LIBRARY_PATH" in path else [])
        if mixed:
            yield Candidate(SHADOWED, 0.92 if system else 0.84, tuple(evidence), values)
        elif missing:
            yield Candidate(SHADOWED, 0.6 if case.about("torch") else 0.5, tuple(evidence), values)
        return


def _other_cuda(case: Case) -> Iterator[Candidate]:
    """The same for CUDA's own libraries: a wheel's one loads a relative of it from elsewhere."""
    if case.about("conda"):
        return  # see conda
    for seen in case.observations:
        text = seen.text
        if seen.name not in ("undefined-symbol", "symbol-not-in-file") or "cudnn" in text:
            continue
        if re.search(r"version lib(cu|nv)\w+\.so|lib(cu|nv)\w+\.so[.\d]*: (undefined )?symbol", text):
            values = {"loaded": "another copy", "compiled": "the copy in the wheel"}
            yield Candidate(SHADOWED, 0.52, (seen.shown,), values)
            return


def _in_the_way(case: Case) -> Iterator[Candidate]:
    """No log: a system's cuDNN on LD_LIBRARY_PATH, and a torch that brings its own in parts."""
    torch = case.torch
    env = case.value("env", {})
    path = str(env.get("LD_LIBRARY_PATH", "")) if isinstance(env, dict) else ""
    rows = case.value("cudnn", [])
    copies = [str(r.get("path") or "") for r in rows if isinstance(r, dict)] if isinstance(rows, list) else []
    whole = Version(case.tables.torch_head["cudnn9-from"])
    if case.log or not path or torch is None or (torch.version is not None and torch.version >= whole):
        return
    if any(copy and copy.rstrip("/") in path for copy in copies):
        yield Candidate(
            SHADOWED,
            0.74,
            (case.evidence("env"), case.evidence("cudnn"), case.shown(torch)),
            {"loaded": "the system's copy", "compiled": "the copy in the wheel"},
        )


def _missing(case: Case) -> Iterator[Candidate]:
    """cuDNN of the wanted major version is not found, though CUDA's own libraries are."""
    gone = [s for s in case.seen("missing-library") if soname(s.get("file"))[0] == "cudnn"]
    if not gone or case.no_nvidia:
        return
    others = [s for s in case.seen("missing-library") if soname(s.get("file"))[0] not in ("", "cudnn")]
    wanted = soname(gone[0].get("file"))[1]
    installed = _installed(case)
    values = {"loaded": ", ".join(map(str, installed)) or "none", "compiled": wanted or "another"}
    older = [v for v in installed if wanted and v.release[0] < int(wanted.split(".")[0])]
    if others:
        return
    case.need("cudnn", "which cuDNN is installed")
    yield Candidate(
        OLD,
        0.82 if older else 0.62,
        (gone[0].shown, *([case.evidence("cudnn")] if installed and case.machine.get("cudnn").known else [])),
        values,
    )


def _by_table(case: Case) -> Iterator[Candidate]:
    """The TensorFlow release wants a newer cuDNN than the installed one."""
    found = case.tensorflow
    row = case.tables.tensorflow_release(found.version) if found and found.version else None
    installed = _installed(case)
    if (
        row is None
        or not installed
        or found is None
        or case.seen("loaded-cudnn")
        or (case.about("torch") and not case.about("tensorflow"))
    ):
        return
    wanted = Version(row.cudnn)
    last = Version(case.tables.tensorflow_head["windows-gpu-last"])
    if case.windows and row.version > last:
        return
    same_major = [v for v in installed if v.release[0] == wanted.release[0]]
    if all(v < wanted and len(v.release) > 1 for v in installed):
        trouble = case.first("conv-failed", "tf-no-gpu", "gpu-libraries-missing")
        values = {"loaded": ", ".join(map(str, installed)), "compiled": str(wanted)}
        evidence: Tuple[str, ...] = (
            (case.evidence("cudnn", ", ".join(map(str, installed))), case.shown(found))
            if case.machine.get("cudnn").known
            else (case.shown(found),)
        )
        shown = (trouble.shown,) if trouble else ()
        score = 0.8 if same_major else 0.74
        if case.log and not trouble:
            score = 0.4
        yield Candidate(OLD, score, (*shown, *evidence), values)
