"""A CPU build of torch where a GPU was wanted, or a build for another CUDA than was meant."""

from __future__ import annotations

import re
from typing import Iterator, Tuple
from urllib.parse import unquote

from envsetup.diagnose import releases
from envsetup.diagnose.case import Case
from envsetup.diagnose.commands import index_label
from envsetup.diagnose.finding import Candidate
from envsetup.diagnose.patterns import Observation
from envsetup.diagnose.releases import cuda_of, minor
from envsetup.diagnose.rules.unsatisfied import failures

CPU, VARIANT = "torch-cpu-build-installed", "torch-wrong-cuda-variant"


def evaluate(case: Case) -> Iterator[Candidate]:
    """Yield findings about torch's build."""
    if case.system == "macos":
        return
    yield from _cpu(case)
    yield from _variant(case)


def _fetched(case: Case) -> Iterator[Tuple[str, str, Observation]]:
    """Yield (label, page's label, line) of each torch wheel that was fetched."""
    for seen in case.seen("wheel-fetched"):
        file = unquote(seen.get("file"))
        match = re.match(r"torch-[\d.]+[\w.]*?(?:\+([\w.]+))?-(?:cp|py)", file)
        if match:
            yield match.group(1) or "", index_label(seen.get("url")), seen


def _cpu(case: Case) -> Iterator[Candidate]:
    torch = case.torch
    said = case.first("torch-no-cuda")
    false = next((s for s in case.seen("cuda-available") if s.get("answer").lower() in ("false", "no")), None)
    none = next((s for s in case.seen("said-built-cuda") if not re.match(r"\d", s.get("cuda"))), None)
    fetched = next((f for f in _fetched(case) if f[0] == "cpu" or f[1] == "cpu"), None)
    local_cpu = (
        (torch is not None and torch.local == "cpu")
        or case.package("cpuonly") is not None
        or case.package("pytorch-cpu") is not None
    )
    windows_plain = (
        torch is not None
        and torch.local == ""
        and torch.version is not None
        and case.windows
        and case.package("pytorch") is None
    )
    wants_cuda = (
        case.nvidia
        or case.about("cuda")
        or any(label.startswith("cu") for label in case.index_labels)
        or any("+cu" in s for s in case.asked.values())
    )
    fork = case.about("directml") and not case.nvidia
    evidence = [s.shown for s in (said, none, false) if s]
    if torch and local_cpu:
        evidence.append(case.shown(torch))
    if fetched:
        evidence.append(fetched[2].shown)
    values = {"torch": torch.shown if torch else "torch", "label": _advice(case)}
    if torch is not None and cuda_of(torch.local) and not local_cpu:
        return
    if said:
        yield Candidate(CPU, 0.55 if fork else 0.92, tuple(evidence), values)
    elif (local_cpu or fetched) and wants_cuda:
        other = bool(failures(case))
        yield Candidate(CPU, 0.9 if not other or case.nvidia else 0.6, tuple(evidence), values)
    elif (local_cpu or none) and (false or case.about("gpu")):
        yield Candidate(CPU, 0.86, tuple(evidence), values)
    elif false and windows_plain:
        yield Candidate(CPU, 0.8 if torch and torch.line else 0.72, tuple(evidence), values)
    elif false and case.nvidia and not case.value("driver.nvidia") and torch is None:
        case.need("packages", "torch's version with its label (+cpu or +cuXXX)")
        yield Candidate(CPU, 0.45, tuple(evidence), values)
    elif torch is not None and _plain_arm(case) and case.nvidia and (false or not case.log):
        yield Candidate(CPU, 0.84, (*evidence, case.shown(torch), case.evidence("arch")), values)
    elif _plain_windows_install(case) and case.nvidia and (false or not case.log):
        yield Candidate(CPU, 0.72, tuple(evidence) or (f"wanted: {case.wanted[:120]}",), values)


def _plain_windows_install(case: Case) -> bool:
    """`pip install torch` on Windows without an index gives PyPI's wheel, which is for the CPU."""
    return (
        case.windows
        and "torch" in case.asked
        and not case.index_labels
        and "+" not in case.asked["torch"]
        and (case.torch is None or not case.torch.local)
    )


def _plain_arm(case: Case) -> bool:
    """PyPI's wheels for Arm Linux are for the CPU; those with CUDA are on PyTorch's own indexes."""
    torch = case.torch
    return (
        case.system == "linux"
        and case.arch == "aarch64"
        and torch is not None
        and torch.local == ""
        and torch.version is not None
    )


def _advice(case: Case) -> str:
    row = case.tables.torch[0]
    torch = case.torch
    if torch and torch.version:
        row = case.tables.torch_release(torch.version) or row
    return list(row.capability)[-1]


def _variant(case: Case) -> Iterator[Candidate]:
    mismatch = case.first("cuda-mismatch-build")
    if mismatch:
        yield Candidate(
            VARIANT,
            0.88,
            (mismatch.shown,),
            {"got": f"CUDA {mismatch.get('built') or '?'}", "meant": f"CUDA {mismatch.get('found')}"},
        )
    asked_labels = [label for label in case.index_labels if label != "cpu"]
    asked_local = _asked_local(case)
    links = any("torch_stable" in url for url in case.indexes)
    for label, page, seen in _fetched(case):
        got = label or page
        if got in ("", "cpu"):
            continue
        meant = asked_local or (asked_labels[0] if len(asked_labels) == 1 else "")
        values = {"got": got, "meant": meant or "the default build"}
        if meant and got != meant:
            yield Candidate(VARIANT, 0.9, (seen.shown,), values)
        elif links and not asked_local:
            # labels sort above the bare version: a page of all builds picks one by its label
            yield Candidate(VARIANT, 0.88, (seen.shown,), values)
        elif (got.startswith("rocm") and case.nvidia) or (
            got.startswith("cu") and case.of_vendor("amd") and not case.nvidia
        ):
            score = 0.6 if failures(case) else 0.86
            yield Candidate(VARIANT, score, (seen.shown,), {**values, "meant": "one for this GPU"})
    yield from _label_missing(case)
    yield from _label_unavailable(case)
    torch = case.torch
    if torch is None:
        return
    wrong_vendor = (torch.local.startswith("rocm") and case.nvidia and not case.of_vendor("amd")) or (
        cuda_of(torch.local) and case.of_vendor("amd") and case.no_nvidia
    )
    if wrong_vendor:
        trouble = case.first("cuda-available", "no-device", "no-driver", "torch-no-cuda", "driver-old")
        yield Candidate(
            VARIANT,
            0.82 if trouble or not case.log else 0.6,
            (
                *((trouble.shown,) if trouble else ()),
                case.shown(torch),
                case.evidence("gpu", case.gpu_name()),
            ),
            {"got": torch.local, "meant": "a build for this GPU"},
        )
    meant_labels = [label for label in asked_labels if cuda_of(label) or label.startswith("rocm")]
    if (
        meant_labels
        and torch.local
        and torch.local != "cpu"
        and torch.local not in meant_labels
        and torch.exact
    ):
        yield Candidate(
            VARIANT,
            0.78,
            (case.shown(torch), f"index {meant_labels[0]}"),
            {"got": torch.local, "meant": meant_labels[0]},
        )
    if links and not case.log and torch.version is not None and torch.local and not asked_local:
        yield Candidate(
            VARIANT, 0.76, (case.shown(torch),), {"got": torch.local, "meant": "the default build"}
        )


def _label_missing(case: Case) -> Iterator[Candidate]:
    """The release is offered, but not under the label that was asked for; or the index is of another CUDA."""
    for failure in failures(case):
        labels = set(re.findall(r"\+(cu\d{2,3})", failure.seen.get("versions")))
        row = case.tables.torch_release(failure.version) if failure.version else None
        if failure.package == "torch" and not failure.local and row and len(labels) == 1:
            only = labels.pop()
            if only not in row.capability and failure.version not in (failure.offered or ()):
                yield Candidate(
                    VARIANT,
                    0.78,
                    (failure.seen.shown,),
                    {
                        "got": f"torch {minor(row.version)} has no {only} build",
                        "meant": ", ".join(row.capability),
                    },
                )
        if failure.package == "torch" and failure.local and failure.version is not None:
            row = case.tables.torch_release(failure.version)
            same = [v for v in failure.offered or () if v == failure.version]
            if same and failure.local in case.tables.indexes:
                # the release is there under other labels, or (the default build) under none
                yield Candidate(
                    VARIANT,
                    0.84,
                    (failure.seen.shown,),
                    {"got": f"no {failure.local} under that label", "meant": failure.local},
                )
            elif (
                row is not None
                and cuda_of(failure.local)
                and failure.local not in row.capability
                and failure.local in case.tables.indexes
            ):
                yield Candidate(
                    VARIANT,
                    0.8,
                    (failure.seen.shown,),
                    {
                        "got": f"torch {minor(failure.version)} has no {failure.local} build",
                        "meant": ", ".join(row.capability),
                    },
                )


def _label_unavailable(case: Case) -> Iterator[Candidate]:
    """No log, but the index that was asked has no build of the release that was asked."""
    spec = case.asked_of_pip.get("torch", "")
    version, local = releases.pinned(spec)
    labels = [label for label in case.index_labels if cuda_of(label) and label in case.tables.indexes]
    row = case.tables.torch_release(version) if version else None
    if case.log or row is None or len(labels) != 1 or (local and local != labels[0]):
        return
    if labels[0] not in row.capability:
        yield Candidate(
            VARIANT,
            0.76,
            (f"wanted: torch{spec} from {labels[0]}",),
            {
                "got": f"torch {minor(row.version)} has no {labels[0]} build",
                "meant": ", ".join(row.capability),
            },
        )


def _asked_local(case: Case) -> str:
    match = re.search(r"\+((?:cu|rocm)[\d.]+)", case.asked.get("torch", ""))
    return match.group(1) if match else ""
