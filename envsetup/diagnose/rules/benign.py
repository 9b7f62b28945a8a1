"""Messages that do no harm: an answer only where nothing else explains the trouble."""

from __future__ import annotations

import re
from typing import Iterator

from envsetup.diagnose.case import Case
from envsetup.diagnose.finding import Candidate
from envsetup.diagnose.rules.library_names import soname

AMD_NAME = re.compile(r"radeon|\bgfx\d|\bamd\b|ellesmere|\bvega\b|\bnavi\b|instinct", re.IGNORECASE)
_REAL = (
    *("no-version", "no-matching", "missing-library", "dll-load-failed", "illegal-instruction", "cpu-lacks"),
    *(
        "conv-failed",
        "driver-old",
        "driver-insufficient",
        "no-device",
        "bad-ordinal",
        "torch-no-cuda",
        "tf-no-gpu",
    ),
    *("protobuf-new", "numpy-abi", "out-of-memory", "no-module", "undefined-symbol", "torch-attribute"),
    *("capability-too-low", "torch-gpu-unsupported", "torch-gpu-old", "loaded-cudnn", "tls-error"),
    *("ssl-module-missing", "no-kernel-image", "container-refused", "arch-undefined"),
)


def evaluate(case: Case) -> Iterator[Candidate]:
    """Yield the finding for harmless messages."""
    harmless = case.in_log("benign", "allocator-warning")
    cuda_missing = [
        s
        for s in case.seen("missing-library")
        if soname(s.get("file"))[0] or "nvcuda" in s.get("file") or "libcuda" in s.get("file")
    ]
    driver = case.first("no-driver")
    works = bool(case.seen("tf-gpu-used")) or case.says(
        r"works?\b|correct|fine|warning|harmless|noise|message|ignore|can i ignore"
        r"|what does .{0,40} mean|safe to ignore|runs? (ok|fine|normally|correctly)"
    )
    if case.no_nvidia and (cuda_missing or driver) and not case.about("cuda") and case.system != "wsl":
        # TensorFlow looks for CUDA on every machine, and says that it did not find it
        seen = cuda_missing[0] if cuda_missing else driver
        if seen:
            yield Candidate(
                "benign-message",
                0.84,
                (seen.shown, case.evidence("gpu", case.gpu_name())),
                {"message": seen.text.strip()[:120]},
            )
            return
    radeon = case.first("torch-gpu-old")
    if radeon and AMD_NAME.search(radeon.get("gpu")) and not case.in_log("no-kernel-image"):
        # builds before 1.7 compare a Radeon's number with NVIDIA's capabilities
        yield Candidate("benign-message", 0.84, (radeon.shown,), {"message": radeon.text.strip()[:120]})
        return
    if not harmless:
        return
    first = harmless[0]
    if first.fields.get("what", "").lower().startswith("80004002"):
        old = case.build is None or case.build < case.tables.directx.dxcore_build
        yield Candidate("benign-message", 0.9 if old else 0.7, (first.shown,), {"message": first.get("what")})
        return
    real = [s for s in case.in_log(*_REAL) if not _part_of(s.text)]
    score = 0.86 if not real else 0.4
    if not real and works:
        score = 0.9
    yield Candidate(
        "benign-message",
        score,
        tuple(s.shown for s in harmless[:3]),
        {"message": first.get("what") or first.text.strip()[:120]},
    )


def _part_of(text: str) -> bool:
    """The line itself is one of the harmless ones (a missing TensorRT, an allocator that tries again)."""
    lower = text.lower()
    return (
        "nvinfer" in lower
        or "tensorrt" in lower
        or "not a failure" in lower
        or ("trying to allocate" in lower and "ran out of memory" in lower)
    )
