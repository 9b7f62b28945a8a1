"""The GPU is outside what the build's CUDA can serve: too old for it, or too new."""

from __future__ import annotations

import re
from typing import Iterator, Sequence, Tuple

from packaging.version import Version

from envsetup.diagnose.case import Case
from envsetup.diagnose.finding import Candidate
from envsetup.diagnose.patterns import Observation
from envsetup.diagnose.rules.benign import AMD_NAME
from envsetup.diagnose.rules.library_names import soname
from envsetup.diagnose.rules.needs import capabilities, cuda_needed
from envsetup.knowledge.hardware import capability, cuda_toolkit, cuda_toolkits, runs

LOW, NEW = "compute-capability-too-low", "gpu-too-new-for-cuda"


def evaluate(case: Case) -> Iterator[Candidate]:
    """Yield findings about compute capability."""
    if case.system == "macos" or (case.about("rocm") and not case.nvidia):
        return
    yield from _tensorflow_ignored(case)
    yield from _torch_said(case)
    yield from _kernel_image(case)
    yield from _by_table(case)


def _values(case: Case, gpu: str, has: str, low: str, high: str) -> dict[str, str]:
    return {
        "gpu": gpu or case.gpu_name("nvidia"),
        "has": has,
        "min": low,
        "max": high,
        "cuda": first_cuda(has) or "a newer one",
        "label": _label(case, has),
    }


def first_cuda(has: str) -> str:
    """Return the first CUDA with native code for a capability; empty when unknown."""
    if not has:
        return ""
    wanted = capability(has)
    return next((t.version for t in cuda_toolkits() if capability(t.capability_max) >= wanted), "")


def _label(case: Case, has: str) -> str:
    """Return the torch index whose newest wheels have code for a capability, e.g. ``cu128``."""
    if not has:
        return "cu128"
    for row in case.tables.torch:
        fits = [label for label, caps in row.capability.items() if runs(has, caps)]
        if fits:
            return fits[0]
    return "a build from source"


def _tensorflow_ignored(case: Case) -> Iterator[Candidate]:
    for seen in case.seen("capability-too-low"):
        yield Candidate(
            LOW, 0.95, (seen.shown,), _values(case, seen.get("gpu"), seen.get("has"), seen.get("min"), "")
        )
        return
    for seen in case.seen("not-built-for-capability"):
        # only a warning: PTX is compiled at the first start, which takes long
        yield Candidate(NEW, 0.62, (seen.shown,), _values(case, "", seen.get("has"), "", ""))
        return


def _torch_said(case: Case) -> Iterator[Candidate]:
    for seen in case.seen("torch-gpu-unsupported"):
        has = _dotted(seen.get("sm"))
        listed = case.first("torch-arch-list")
        caps = _list(listed) if listed else capabilities(case)[0]
        low, high = _bounds(caps)
        old = capability(has) < capability(low) if low else capability(has) < (7, 0)
        yield Candidate(
            LOW if old else NEW,
            0.95,
            (seen.shown, *((listed.shown,) if listed else ())),
            _values(case, seen.get("gpu"), has, low, high),
        )
        return
    for seen in case.seen("torch-gpu-old"):
        has = seen.get("has")
        if AMD_NAME.search(seen.get("gpu")):
            continue
        bounds = case.first("capability-range")
        minimum = next((s.get("min") for s in case.seen("torch-gpu-old-words") if s.get("min")), "")
        low, high = (bounds.get("min"), bounds.get("max")) if bounds else (minimum, "")
        too_new = bool(high) and capability(has) > capability(high)
        words = case.first("torch-gpu-old-words")
        yield Candidate(
            NEW if too_new else LOW,
            0.94,
            (seen.shown, *((words.shown,) if words else ())),
            _values(case, seen.get("gpu"), has, low or "3.5", high),
        )
        return
    for seen in case.seen("torch-gpu-old-words"):
        if "too old" in seen.text or seen.get("min"):
            low = seen.get("min") or "3.5"
            yield Candidate(LOW, 0.86, (seen.shown,), _values(case, "", case.capability, low, ""))
            return


def _kernel_image(case: Case) -> Iterator[Candidate]:
    for seen in case.seen("arch-undefined"):
        has = seen.get("cc") or _dotted(seen.get("sm", "sm2"))
        old = capability(has) < (5, 3) or (case.capability and _gone(has, case))
        yield Candidate(LOW if old else NEW, 0.88, (seen.shown,), _values(case, "", has, "", ""))
        return
    image = next((s for s in case.seen("no-kernel-image") if "hip" not in s.text.lower()), None)
    if image is None or case.seen("torch-gpu-unsupported", "torch-gpu-old", "capability-too-low"):
        return
    has = case.capability
    if not has:
        case.need("gpu", "which NVIDIA GPU it is (nvidia-smi -L)")
        case.need("packages", "which build of the framework it is (its version with +cuXXX)")
        # builds of CUDA 12.8 and later left old GPUs behind, earlier ones don't know Blackwell
        needed, why = cuda_needed(case)
        recent = bool(needed) and Version(needed) >= Version("12.8")
        shown = (image.shown, *((why,) if why else ()))
        yield Candidate(NEW, 0.38 if recent else 0.42, shown, _values(case, "", "", "", ""))
        yield Candidate(LOW, 0.46 if recent else 0.4, shown, _values(case, "", "", "", ""))
        return
    side, evidence, low, high = _side(case, has)
    if not side:
        side = LOW if capability(has) <= (6, 1) else NEW
        yield Candidate(side, 0.6, (image.shown, f"capability {has}"), _values(case, "", has, low, high))
        return
    yield Candidate(
        side, 0.93, (image.shown, f"capability {has}", evidence), _values(case, "", has, low, high)
    )


def _by_table(case: Case) -> Iterator[Candidate]:
    """The GPU and the build are known, and the tables say that they don't fit."""
    has = case.capability
    if not has or case.seen(
        "torch-gpu-unsupported", "torch-gpu-old", "capability-too-low", "no-kernel-image"
    ):
        return
    side, evidence, low, high = _side(case, has)
    if not side:
        return
    missing = next((s for s in case.seen("missing-library") if soname(s.get("file"))[0] == "cudart"), None)
    trouble: Observation | None = missing or case.first(
        "gpu-call-failed",
        "conv-failed",
        "cudnn-mixed",
        "tf-no-gpu",
        "gpu-libraries-missing",
        "no-device",
        "cuda-available",
        "not-built-for-capability",
    )
    shown = (trouble.shown,) if trouble else ()
    score = 0.92 if missing else 0.86 if not case.log else 0.72 if trouble else 0.5
    if trouble is None and case.log and not case.seen("illegal-instruction"):
        score = 0.5
    yield Candidate(
        side,
        score,
        (
            *shown,
            case.evidence("gpu", f"{case.gpu_name('nvidia')} ({has})")
            if case.gpus_known
            else f"capability {has}",
            evidence,
        ),
        _values(case, "", has, low, high),
    )


def _side(case: Case, has: str) -> Tuple[str, str, str, str]:
    """Return (code, evidence, lowest, highest) when the build can't serve the GPU; else an empty code."""
    device = capability(has)
    torch_asked = case.torch is not None or (case.about("torch") and not case.about("tensorflow"))
    if torch_asked:
        caps, why = capabilities(case)
        if caps:
            low, high = _bounds(caps)
            failed = bool(case.seen("gpu-call-failed")) and device > capability(high)
            if not runs(has, caps) or failed:
                return (LOW if device < capability(low) else NEW), why, low, high
            return "", "", low, high
    cuda, why = cuda_needed(case)
    row = (
        case.tables.tensorflow_release(case.tensorflow.version)
        if case.tensorflow and case.tensorflow.version
        else None
    )
    if row is not None and not torch_asked:
        cuda = cuda or row.cuda
        if device < capability(row.compute) and case.tensorflow is not None:
            return LOW, case.shown(case.tensorflow), row.compute, ""
    toolkit = cuda_toolkit(cuda if "." in cuda else f"{cuda}.0") if cuda else None
    if toolkit is None:
        return "", "", "", ""
    # code of an older minor version runs on a newer GPU of the same major version
    top = capability(toolkit.capability_max)
    failed = bool(case.seen("gpu-call-failed")) and device > top
    if device[0] > top[0] or failed:
        return NEW, why, toolkit.capability_min, toolkit.capability_max
    if device < capability(toolkit.capability_min):
        return LOW, why, toolkit.capability_min, toolkit.capability_max
    return "", "", toolkit.capability_min, toolkit.capability_max


def serves(case: Case, cuda: str) -> bool | None:
    """Say whether a CUDA toolkit has code for this GPU; None when the GPU or the toolkit is unknown."""
    toolkit = cuda_toolkit(cuda)
    if toolkit is None or not case.capability:
        return None
    device = capability(case.capability)
    return capability(toolkit.capability_min) <= device and device[0] <= capability(toolkit.capability_max)[0]


def _gone(has: str, case: Case) -> bool:
    needed, _ = cuda_needed(case)
    toolkit = cuda_toolkit(needed) if needed else None
    return toolkit is not None and capability(has) < capability(toolkit.capability_min)


def _dotted(sm: str) -> str:
    digits = re.sub(r"\D", "", sm)
    return f"{digits[:-1]}.{digits[-1]}" if len(digits) > 1 else "0.0"


def _list(seen: Observation) -> Tuple[str, ...]:
    return tuple(_dotted(sm) for sm in re.findall(r"sm_(\d{2,3})", seen.get("list")))


def _bounds(caps: Sequence[str]) -> Tuple[str, str]:
    ordered = sorted(caps, key=capability)
    return (ordered[0], ordered[-1]) if ordered else ("", "")
