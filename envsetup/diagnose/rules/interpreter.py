"""Another interpreter ran than the one that was installed into: the wrong one, or a notebook's."""

from __future__ import annotations

import re
from typing import Iterator, Set

from envsetup.diagnose.case import Case
from envsetup.diagnose.finding import Candidate
from envsetup.diagnose.patterns import Observation

_FRAMEWORKS = re.compile(
    r"^(torch|torchvision|torchaudio|tensorflow|keras|torch_directml|tensorflow_directml"
    r"|onnxruntime|pytorch|numpy)(\.|$)"
)


# the user says that it works, or where else
_ELSEWHERE = (
    r"terminal|console|shell|command line|prompt|works in|(?:python3?|ipython) (?:works?|shows?|sees?)"
)


def evaluate(case: Case) -> Iterator[Candidate]:
    """Yield a finding when a framework that is installed somewhere can't be imported."""
    missing = next((s for s in case.seen("no-module") if _FRAMEWORKS.match(s.get("module"))), None)
    if missing is None or re.match(
        r"torch\.(_C|version)|torch\.dml|tensorflow\.(contrib|examples)", missing.get("module")
    ):
        yield from _kernel_without_gpu(case)
        return
    name = missing.get("module").split(".")[0]
    if name in ("torchvision", "torchaudio") and "." in missing.get("module"):
        return  # the package was found: a part of it is not in this release (see vision)
    elsewhere = _elsewhere(case)
    notebook = case.first("notebook")
    values = {"module": name}
    if notebook is not None or case.about("jupyter"):
        evidence = [missing.shown]
        if notebook and notebook.line:
            evidence.append(notebook.shown)
        yield Candidate("jupyter-kernel-wrong-env", 0.86 if not elsewhere else 0.8, tuple(evidence), values)
        yield Candidate("wrong-interpreter", 0.5, (missing.shown,), values)
        return
    if case.seen("isolated-build", "setup-failed"):
        yield Candidate("wrong-interpreter", 0.2, (missing.shown,), values)
        return
    two = list(_two_pythons(case, missing))
    if two:
        yield from two
        return
    installed = _installed(case, name)
    if installed:
        yield Candidate("wrong-interpreter", 0.82, (missing.shown, installed), values)
    else:
        case.need("packages", f"whether {name} is installed in any environment (python -m pip list)")
        case.need("python", "which interpreter ran (python -c 'import sys; print(sys.executable)')")
        yield Candidate("wrong-interpreter", 0.5, (missing.shown,), values)


def _kernel_without_gpu(case: Case) -> Iterator[Candidate]:
    """The same code finds the GPU in a terminal and not in a notebook: two environments."""
    trouble = case.first("tf-no-gpu", "cuda-available", "torch-no-cuda")
    if trouble is None or not case.about("jupyter") or not case.says(_ELSEWHERE):
        return
    yield Candidate(
        "jupyter-kernel-wrong-env",
        0.8,
        (trouble.shown, f"wanted: {case.wanted[:160]}"),
        {"module": "the package"},
    )


def _installed(case: Case, module: str) -> str:
    """Return evidence that the module was installed somewhere, or an empty string."""
    names = {
        "torch": ("torch", "pytorch-directml", "torch-directml"),
        "torch_directml": ("torch-directml",),
        "tensorflow": ("tensorflow", "tensorflow-gpu", "tensorflow-cpu", "tensorflow-directml"),
        "pytorch": ("torch", "pytorch"),
    }.get(module, (module,))
    for name in names:
        found = case.package(name)
        if found is not None:
            return case.shown(found)
    for seen in case.seen("installed-now", "already-satisfied"):
        if any(name in seen.text.lower() for name in names):
            return seen.shown
    words = case.words
    if re.search(r"(terminal|console|shell|pip list|pip3|another|works|installed)", words):
        return f"wanted: {case.wanted[:160]}"
    return ""


def _elsewhere(case: Case) -> bool:
    return bool(case.seen("installed-now", "already-satisfied"))


def _two_pythons(case: Case, missing: Observation) -> Iterator[Candidate]:
    """pip's folder and the folder of the traceback belong to different Pythons."""
    into = _versions(case, ("already-satisfied", "installed-now", "said-pip"))
    ran: Set[str] = set()
    for seen in case.seen("python-path", "said-python"):
        if "requirement already" in seen.text.lower() or "location:" in seen.text.lower():
            continue
        ran |= {v for v in (_short(seen.get("version", "version2", "version3")),) if v}
    only = {v for v in into if v not in ran}
    if into and ran and only and not into & ran:
        yield Candidate(
            "wrong-interpreter",
            0.9,
            (
                missing.shown,
                f"installed into Python {', '.join(sorted(into))}, ran in Python {', '.join(sorted(ran))}",
            ),
            {"module": missing.get("module").split(".")[0]},
        )


def _versions(case: Case, names: tuple[str, ...]) -> Set[str]:
    found: Set[str] = set()
    for seen in case.seen(*names):
        for text in re.findall(r"[Pp]ython\s?(\d\.\d{1,2}|\d{2,3})\b", seen.get("path") or seen.text):
            short = _short(text)
            if short:
                found.add(short)
        if seen.get("python"):
            found.add(seen.get("python"))
    return found


def _short(text: str) -> str:
    digits = text.replace(".", "")
    if len(digits) < 2:
        return ""
    parts = text.split(".")
    return f"{parts[0]}.{parts[1]}" if len(parts) > 1 else f"{digits[0]}.{digits[1:]}"
