"""The processor lacks AVX, AVX2 or FMA that the wheel's code uses."""

from __future__ import annotations

import re
from typing import Iterator

from packaging.version import Version

from envsetup.diagnose.case import Case
from envsetup.diagnose.finding import Candidate
from envsetup.diagnose.releases import minor


def evaluate(case: Case) -> Iterator[Candidate]:
    """Yield the finding for a crash on an instruction, or for a processor that can't run the wheel."""
    if case.system == "macos" and "aarch64" in (case.arch, case.python_arch):
        return  # an Apple processor: see processor_arch
    flags = case.cpu_flags
    evidence = (
        [case.evidence("cpu", case.cpu_model)] if case.cpu_model and case.machine.get("cpu").known else []
    )
    if case.cpu_model and not evidence:
        evidence = [f"processor: {case.cpu_model}"]
    values = {"cpu": case.cpu_model or "the processor", "package": _package(case)}
    said = case.first("cpu-lacks")
    if said:
        yield Candidate(
            "cpu-no-avx", 0.95, (said.shown, *evidence), {**values, "features": said.get("features")}
        )
        return
    values["features"] = "AVX"
    crash = case.first("illegal-instruction")
    initialise = next(
        (s for s in case.seen("dll-load-failed") if _initialise(s.get("text", "text2"), s.get("number"))),
        None,
    )
    if crash:
        if flags is None:
            case.need("cpu", "whether the processor has AVX, AVX2 and FMA")
        yield Candidate("cpu-no-avx", _score(flags, 0.93, 0.72, 0.4), (crash.shown, *evidence), values)
    elif initialise:
        gpu_library = re.search(
            r"c10_cuda|cudart|cudnn|cublas|shm\.dll|torch_python|caffe2|c10\.dll", initialise.text
        )
        base = 0.45 if gpu_library or (case.about("torch") and not case.about("tensorflow")) else 0.72
        yield Candidate("cpu-no-avx", _score(flags, 0.92, base, 0.2), (initialise.shown, *evidence), values)
        if flags is None:
            case.need("cpu", "whether the processor has AVX, AVX2 and FMA")
    elif flags is not None and "avx" not in flags and _uses_avx(case):
        failed = case.first("dll-load-failed")
        score = 0.82 if failed else 0.7 if not case.log else 0.45
        yield Candidate("cpu-no-avx", score, tuple(([failed.shown] if failed else []) + evidence), values)


def _initialise(text: str, number: str) -> bool:
    words = (
        r"initialization routine failed|initialisierungsroutine|初始化例程失败|初期化ルーチン"
        r"|подпрограмме инициализации|routine d'initialisation|инициализации"
    )
    return number == "1114" or re.search(words, text, re.IGNORECASE) is not None


def _score(flags: tuple[str, ...] | None, lacks: float, unknown: float, has: float) -> float:
    if flags is None:
        return unknown
    return has if {"avx", "avx2", "fma"} <= set(flags) else lacks


def _uses_avx(case: Case) -> bool:
    tensorflow = case.tensorflow
    first = Version(case.tables.tensorflow_head["avx-from"])
    if tensorflow is not None and tensorflow.version is not None:
        return Version(minor(tensorflow.version)) >= first
    return case.about("tensorflow")


def _package(case: Case) -> str:
    if case.tensorflow:
        return case.tensorflow.shown
    return case.torch.shown if case.torch else "the wheel"
