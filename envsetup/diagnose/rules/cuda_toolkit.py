"""TensorFlow loads one exact CUDA version, and another one (or none) is installed."""

from __future__ import annotations

import re
from typing import Iterator, List, Tuple

from packaging.version import Version

from envsetup.diagnose import releases
from envsetup.diagnose.case import Case
from envsetup.diagnose.finding import Candidate
from envsetup.diagnose.patterns import Observation
from envsetup.diagnose.rules.capability import serves
from envsetup.diagnose.rules.library_names import soname
from envsetup.diagnose.rules.needs import tensorflow_cuda
from envsetup.knowledge.hardware import capability, cuda_toolkit

CODE = "tf-cuda-toolkit-mismatch"


def evaluate(case: Case) -> Iterator[Candidate]:
    """Yield the finding for missing CUDA libraries, or for a toolkit of another version."""
    if case.system == "macos":
        return
    missing = _missing(case)
    table, release = tensorflow_cuda(case)
    last = Version(case.tables.tensorflow_head["windows-gpu-last"])
    if case.windows and release is not None and release > last:
        return  # no CUDA of any version serves: tf_windows says so
    wanted = _wanted(missing) or table
    installed = _installed(case)
    evidence = _evidence(case, missing, installed)
    values = {
        "cuda": wanted or table or "another version",
        "found": ", ".join(installed) or "none",
        "release": f"TensorFlow {release}" if release else "this TensorFlow",
        "cudnn": _cudnn(case),
    }
    if missing:
        yield from _from_log(case, missing, wanted, installed, evidence, values)
        return
    if case.no_nvidia or not table or not _gpu_build(case):
        seen = case.first("gpu-libraries-missing")
        if seen and not case.no_nvidia and not case.about("torch"):
            yield Candidate(CODE, 0.55 if case.nvidia else 0.45, (seen.shown,), values)
        return
    mismatch = bool(installed) and not any(_same(v, table) for v in installed)
    none = case.machine.get("cuda").known and not installed and Version(table) < Version("12")
    served = serves(case, table)
    # from 2.1 on CUDA is loaded at run time: a DLL that fails to load is then another one
    linked = release is None or release < Version("2.1")
    trouble = case.first("gpu-libraries-missing", "tf-no-gpu", *(("dll-load-failed",) if linked else ()))
    bundled = release is not None and release >= Version("2.14") and case.system in ("linux", "wsl")
    if served is False:
        return
    if mismatch or none:
        score = 0.84 if trouble or not case.log else 0.5
        if not linked and case.seen("dll-load-failed", "illegal-instruction"):
            score = 0.4
        if bundled:
            score -= 0.2
        yield Candidate(CODE, score, (*((trouble.shown,) if trouble else ()), *evidence), values)
    elif trouble and trouble.name != "dll-load-failed" and case.nvidia:
        case.need("cuda", "which CUDA toolkits are installed (nvcc --version, ls /usr/local)")
        yield Candidate(CODE, 0.5, (trouble.shown, *evidence), values)
    elif (
        trouble
        and trouble.name == "dll-load-failed"
        and release is not None
        and release < Version("2.1")
        and case.about("cuda")
    ):
        yield Candidate(CODE, 0.66, (trouble.shown, *evidence), values)


def _missing(case: Case) -> List[Observation]:
    """Return missing CUDA libraries that TensorFlow would have loaded."""
    opened = {soname(s.get("file")) for s in case.seen("opened-library")}
    out = []
    for seen in case.seen("missing-library", "library-error"):
        for file in (seen.get("file"), seen.get("file2")):
            name, _ = soname(file)
            if name and name != "cudnn" and soname(file) not in opened:
                out.append(seen)
                break
    if not out:
        out = [s for s in case.seen("tf-static-cuda") if s.get("cuda")]
    return out


def _wanted(missing: List[Observation]) -> str:
    """Return the CUDA version that the missing files name; cudart's is exact."""
    versions = [soname(s.get("file")) for s in missing]
    for name, version in versions:
        if name == "cudart" and version:
            return version
    dotted = [version for _, version in versions if "." in version]
    if dotted:
        return dotted[0]
    stated = [s.get("cuda") for s in missing if s.get("cuda")]
    return stated[0] if stated else next((version for _, version in versions if version), "")


def _installed(case: Case) -> List[str]:
    rows = case.value("cuda", [])
    found = (
        [str(row.get("version")) for row in rows if isinstance(row, dict) and row.get("version")]
        if isinstance(rows, list)
        else []
    )
    conda = case.package("cudatoolkit")
    if conda and conda.version:
        found.append(releases.minor(conda.version))
    return list(dict.fromkeys(found))


def _same(installed: str, wanted: str) -> bool:
    """Say whether a toolkit provides what is wanted: exact before 11.1, same major after."""
    has, needs = Version(installed), Version(wanted)
    if "." not in wanted or needs.release[0] >= 11:
        return has.release[0] == needs.release[0]
    return has.release[:2] == needs.release[:2]


def _evidence(case: Case, missing: List[Observation], installed: List[str]) -> Tuple[str, ...]:
    out = [s.shown for s in missing[:3]]
    if installed:
        out.append(
            case.evidence("cuda", ", ".join(installed))
            if case.machine.get("cuda").known
            else f"cudatoolkit {', '.join(installed)}"
        )
    elif case.machine.get("cuda").known:
        out.append(case.evidence("cuda", "none found"))
    if case.tensorflow:
        out.append(case.shown(case.tensorflow))
    return tuple(out)


def _from_log(
    case: Case,
    missing: List[Observation],
    wanted: str,
    installed: List[str],
    evidence: Tuple[str, ...],
    values: dict[str, str],
) -> Iterator[Candidate]:
    if case.no_nvidia:
        return  # harmless there: benign says so
    if (
        case.about("torch")
        and not case.about("tensorflow")
        and not re.search(r"dynamic library|dlopen|tensorflow", missing[0].text, re.IGNORECASE)
    ):
        yield Candidate(CODE, 0.4, evidence, values)
        return
    table, _ = tensorflow_cuda(case)
    exact = wanted if "." in wanted else table or wanted
    served = serves(case, exact) if exact and "." in exact else None
    if served is False and _too_new(case, exact):
        yield Candidate(CODE, 0.5, evidence, values)
        return
    if not installed:
        case.need("cuda", "which CUDA toolkits are installed (nvcc --version, ls /usr/local)")
    if not case.gpus_known:
        case.need("gpu", "whether there is an NVIDIA GPU")
    other = bool(installed) and not any(_same(v, wanted) for v in installed if wanted)
    ignorable = any("ignore above cudart dlerror" in s.text.lower() for s in case.seen("benign"))
    wants_gpu = (
        case.nvidia
        or bool(installed)
        or case.about("gpu")
        or case.about("cuda")
        or bool(case.seen("tf-no-gpu"))
    )
    score = 0.9 if other else 0.84 if wants_gpu else 0.5 if ignorable else 0.66
    if installed and not other:
        score = 0.6  # the right toolkit is there: its folder is not where libraries are looked for
    yield Candidate(CODE, score, evidence, values)


def _too_new(case: Case, cuda: str) -> bool:

    toolkit = cuda_toolkit(cuda)
    return toolkit is not None and capability(case.capability)[0] > capability(toolkit.capability_max)[0]


def _gpu_build(case: Case) -> bool:
    found = case.tensorflow
    if found is None or found.local == "cpu" or found.name in ("tensorflow-cpu", "tensorflow-intel"):
        return False
    return not (case.about("directml") or case.about("rocm"))


def _cudnn(case: Case) -> str:
    found = case.tensorflow
    row = case.tables.tensorflow_release(found.version) if found and found.version else None
    return row.cudnn if row else "the matching one"
