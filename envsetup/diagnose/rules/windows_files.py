"""Windows itself: paths that are too long, and a missing Visual C++ runtime."""

from __future__ import annotations

import re
from typing import Iterator, List

from packaging.version import Version

from envsetup.diagnose.case import Case
from envsetup.diagnose.finding import Candidate
from envsetup.diagnose.patterns import Observation
from envsetup.diagnose.releases import minor

MAX_PATH = 260
_CUDA_FILE = re.compile(
    r"cudart|cublas|cudnn|cufft|curand|cusolver|cusparse|nvcuda|nvrtc|cupti", re.IGNORECASE
)
_NOT_FOUND = re.compile(
    r"specified module could not be found|angegebene modul wurde nicht gefunden|找不到指定的模块"
    r"|找不到指定的模組"
    r"|не найден указанный модуль|指定されたモジュールが見つかりません|module spécifié est introuvable"
    r"|no se puede encontrar el módulo|지정된 모듈을 찾을 수 없|não foi possível encontrar o módulo"
    r"|impossibile trovare il modulo|nie można odnaleźć określonego modułu"
    r"|belirtilen modül bulunamadı",
    re.IGNORECASE,
)


def evaluate(case: Case) -> Iterator[Candidate]:
    """Yield findings about Windows' files."""
    if case.system in ("linux", "macos", "wsl") and not case.seen("msvc-missing"):
        return
    yield from _long_path(case)
    yield from _runtime(case)


def _long_path(case: Case) -> Iterator[Candidate]:
    hint = case.first("long-path-hint")
    for seen in case.seen("path-not-found"):
        path = seen.get("path").replace("\\\\", "\\")
        windows = re.match(r"^[A-Za-z]:\\", path) or "\\" in path
        said = seen.get("winerror") == "206" or "too long" in seen.text.lower()
        if not windows and not said:
            continue
        long = len(path) >= MAX_PATH - 20
        shortened = re.search(r"\.\.\.|…|<", path) is not None
        installing = re.search(r"could not install packages|errno 2|winerror", seen.text, re.IGNORECASE)
        score = (
            0.93
            if said or hint or long
            else 0.8
            if shortened
            else 0.72
            if installing and _inside_package(path)
            else 0.3
        )
        evidence = [seen.shown] + ([hint.shown] if hint else [])
        yield Candidate(
            "windows-long-path", score, tuple(evidence), {"length": str(len(path)) if long else "over 260"}
        )
        return
    if hint:
        yield Candidate("windows-long-path", 0.85, (hint.shown,), {"length": "over 260"})


def _inside_package(path: str) -> bool:
    return (
        re.search(r"site-packages|\.(h|hpp|cuh|pyc|zip|json\.gz|cpp|py|pb\.h|tcl)$|include\\", path)
        is not None
    )


def _runtime(case: Case) -> Iterator[Candidate]:
    named: List[Observation] = [s for s in case.seen("msvc-missing") if not _downloads_only(s)]
    values = {"file": next((s.get("file") for s in named if s.get("file")), "msvcp140_1.dll")}
    if named and case.system in ("windows", ""):
        yield Candidate("msvc-redist-missing", 0.9, tuple(s.shown for s in named[:2]), values)
        return
    for seen in case.seen("dll-load-failed"):
        text = seen.get("text", "text2")
        if not (seen.get("number") == "126" or _NOT_FOUND.search(text)):
            continue
        files = [s for s in case.seen("missing-library", "library-error") if s.get("file")]
        cuda = [s for s in files if _CUDA_FILE.search(s.get("file"))]
        if cuda:
            continue
        yield Candidate(
            "msvc-redist-missing", _score(case, seen), (seen.shown, *(s.shown for s in files[:1])), values
        )
        return
    weak = case.first("tf-runtime-failed")
    if weak and case.windows and not case.seen("dll-load-failed", "missing-library", "illegal-instruction"):
        yield Candidate("msvc-redist-missing", 0.5 * _score(case, weak) / 0.8, (weak.shown,), values)
    seen_error = case.first("library-error")
    if seen_error and re.search(
        r"(fbgemm|c10|torch_cpu|torch_python|shm|asmjit)\.dll", seen_error.get("file")
    ):
        yield Candidate("msvc-redist-missing", 0.7, (seen_error.shown,), values)


def _downloads_only(seen: Observation) -> bool:
    """The address of the installer alone says nothing; torch prints it with the warning."""
    return (
        not seen.get("file")
        and "not installed" not in seen.text.lower()
        and "install" not in seen.text.lower()
    )


def _score(case: Case, seen: Observation) -> float:
    """How likely a module that is not found is the C++ runtime: by release of the framework."""
    tensorflow = case.tensorflow
    if tensorflow is not None and tensorflow.version is not None:
        since = Version(case.tables.tensorflow_head["windows-msvc-from"])
        if Version(minor(tensorflow.version)) >= since:
            return 0.8
        return 0.45  # before 2.1 the CUDA libraries are linked: see cuda_toolkit
    if case.about("torch"):
        return 0.72
    return 0.6
