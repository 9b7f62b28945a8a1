"""Two distributions wrote the same ``torch`` package, or one removed the other's files."""

from __future__ import annotations

import re
from typing import Iterator, List

from envsetup.diagnose.case import Case
from envsetup.diagnose.finding import Candidate

OWNERS = (
    "torch",
    "pytorch",
    "pytorch-directml",
    "pytorch-nightly",
    "torch-nightly",
    "pytorch-cpu",
    "pytorch-gpu",
)
# fmt: off
_BASIC = frozenset((
    "tensor", "Tensor", "nn", "device", "float32", "cuda", "__version__", "no_grad", "manual_seed",
    "save", "load", "zeros", "ones", "randn", "FloatTensor", "LongTensor", "Size", "int64",
    "float16", "bool", "long", "float", "utils", "version", "backends", "jit", "_C", "ops",
    "distributed", "autograd", "optim",
))
# fmt: on


def evaluate(case: Case) -> Iterator[Candidate]:
    """Yield the finding when torch's files are mixed or gone."""
    code = "torch-clobber"
    owners = _owners(case)
    fork = (
        case.package("pytorch-directml") is not None
        or "pytorch-directml" in case.words
        or "pytorch-directml" in case.asked
    )
    both = len(owners) > 1
    evidence = (f"distributions that own torch: {', '.join(owners)}",) if both else ()
    values = {"owners": ", ".join(owners) or "torch and another", "keep": _keep(case, owners)}
    for seen in case.seen("torch-attribute"):
        name = seen.get("name", "name2")
        if name == "dml":
            continue
        own_file = seen.get("partial") or seen.get("circular")
        if own_file and not both:
            continue
        if name in _BASIC or "unknown location" in seen.text:
            yield Candidate(code, 0.92 if both or fork else 0.78, (seen.shown, *evidence), values)
            return
    for seen in case.seen("torch-import-name"):
        if "unknown location" in seen.text or seen.get("sub") in (
            "_C",
            "version",
            "autograd",
            "nn",
            "utils",
            "cuda",
        ):
            yield Candidate(code, 0.9 if both or fork else 0.7, (seen.shown, *evidence), values)
            return
    for seen in case.seen("undefined-symbol"):
        file = seen.get("file").replace("\\", "/")
        inside = re.search(r"torch/(lib/)?(lib(torch|c10|caffe2|shm|ATen|TH)|_C)", file)
        if re.search(r"cudnn|cublas|cusparse|nvJit|iJIT|nccl|mkl", seen.text) or not inside:
            continue
        yield Candidate(code, 0.93 if both else 0.66, (seen.shown, *evidence), values)
        return
    for seen in case.seen("dml-device-string"):
        if "dml" in seen.text and fork:
            # stock torch answers where the fork was installed
            yield Candidate(code, 0.86, (seen.shown, *evidence), values)
            return
    gone = next((s for s in case.seen("no-module") if re.match(r"torch(\._C)?$", s.get("module"))), None)
    if both and gone:
        # one of the two was installed over the other's files, or removed with them
        yield Candidate(code, 0.88, (gone.shown, *evidence), values)
        return
    if both and fork:
        trouble = case.first("torch-no-cuda", "dml-api", "torch-ops", "library-error")
        if trouble or not case.log:
            yield Candidate(code, 0.82, (*((trouble.shown,) if trouble else ()), *evidence), values)
    elif both and not case.log and "pytorch-nightly" in owners:
        yield Candidate(code, 0.7, evidence, values)
    if (
        fork
        and not case.log
        and case.says(r"uninstall torch|after installing pytorch-directml|pip install torch\b")
    ):
        yield Candidate(code, 0.6, (f"wanted: {case.wanted[:160]}",), values)


def _owners(case: Case) -> List[str]:
    found = [name for name in OWNERS if name in case.packages]
    if (
        "torch" in found
        and "pytorch" in found
        and case.packages["torch"].line == case.packages["pytorch"].line
    ):
        same = case.packages["torch"].version == case.packages["pytorch"].version
        if same and "torch" not in case.value("packages", {}):
            found.remove("torch")
    for one in ("pytorch-nightly", "pytorch-directml", "pytorch-cpu", "pytorch-gpu"):
        # conda's name for the very package that torch was inferred from
        if (
            one in found
            and "torch" in found
            and case.packages["torch"].text == case.packages[one].text
            and one in ("pytorch-cpu", "pytorch-gpu")
        ):
            found.remove("torch")
    return found


def _keep(case: Case, owners: List[str]) -> str:
    if "pytorch-directml" in owners or "pytorch-directml" in case.words:
        return "pytorch-directml"
    return "torch"
