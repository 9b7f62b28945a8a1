"""Memory: TensorFlow that takes all of it, and work that needs more than there is."""

from __future__ import annotations

import re
from typing import Iterator

from envsetup.diagnose.case import Case
from envsetup.diagnose.finding import Candidate


def evaluate(case: Case) -> Iterator[Candidate]:
    """Yield findings about memory."""
    conv = case.first("conv-failed")
    oom = [s for s in case.seen("out-of-memory") if not _only_warning(s.text)]
    if conv:
        yield from _growth(case)
    if oom:
        seen = oom[0]
        startup = (
            re.search(r"failed to allocate|cuda_error_out_of_memory", seen.text, re.IGNORECASE) is not None
        )
        score = 0.9 if not conv else 0.55
        if seen.get("what").lower() == "killed":
            score = 0.45
        yield Candidate(
            "out-of-memory",
            score,
            tuple(s.shown for s in oom[:2]),
            {"kind": "host" if _host(seen.text) else "GPU"},
        )
        if (
            startup
            and case.about("tensorflow")
            and not any("oom when allocating" in s.text.lower() for s in oom)
        ):
            yield Candidate("gpu-memory-growth", 0.6, (seen.shown,), {})
        return
    removed = case.first("device-removed")
    if removed and not conv:
        case.need("gpu", "the GPU's memory, and whether its driver was reset meanwhile")
        yield Candidate("out-of-memory", 0.48, (removed.shown,), {"kind": "GPU"})
    if not case.log and case.says(
        r"allow_growth|memory growth|takes all (the )?(gpu )?memory|all of the (gpu )?memory|allocates all"
    ):
        yield Candidate("gpu-memory-growth", 0.7, (f"wanted: {case.wanted[:120]}",), {})


def _growth(case: Case) -> Iterator[Candidate]:
    seen = case.seen("conv-failed")
    torch = case.about("torch") and not case.about("tensorflow")
    status = " ".join(s.text for s in seen)
    internal = re.search(
        r"INTERNAL_ERROR|ALLOC_FAILED|NOT_INITIALIZED|convolution algorithm"
        r"|No algorithm worked|DNN library|cublas handle|BLAS|GEMM",
        status,
        re.IGNORECASE,
    )
    score = 0.84 if internal else 0.6
    if torch:
        score = 0.5
        yield Candidate("out-of-memory", 0.52, (seen[0].shown,), {"kind": "GPU"})
    yield Candidate("gpu-memory-growth", score, tuple(s.shown for s in seen[:2]), {})
    if case.tensorflow is None:
        case.need("packages", "the framework's version")
    case.need("cudnn", "cuDNN's version, to rule out one that does not fit")


def _only_warning(text: str) -> bool:
    return (
        re.search(
            r"not a failure|could be performance gains|ran out of memory trying to allocate",
            text,
            re.IGNORECASE,
        )
        is not None
    )


def _host(text: str) -> bool:
    return (
        re.search(
            r"paging file|auslagerungsdatei|CPUAllocator|unable to allocate|^killed|oom-kill",
            text,
            re.IGNORECASE,
        )
        is not None
    )
