"""Mixed conda channels (or conda and pip) in one environment."""

from __future__ import annotations

import re
from typing import Dict, Iterator, List

from envsetup.diagnose.case import Case
from envsetup.diagnose.finding import Candidate

CODE = "conda-channel-mix"
_FRAMEWORK = re.compile(
    r"^(pytorch|torchvision|tensorflow|tensorflow-base|cudatoolkit|cudnn|numpy|mkl"
    r"|libgcc-ng|libstdcxx-ng|openssl|intel-openmp|llvm-openmp|python)"
)
_CANT_RUN = re.compile(
    r"operating system cannot run|sistema operacional não pode executar|操作系统无法运行"
    r"|betriebssystem kann .{0,6}nicht ausf",
    re.IGNORECASE,
)


def evaluate(case: Case) -> Iterator[Candidate]:
    """Yield the finding from its marks: symbols, two OpenMPs, or a list with several channels."""
    channels = _channels(case)
    mixed = len(channels) > 1
    evidence = tuple(f"{name} from {channel}" for channel, names in channels.items() for name in names[:1])
    about = case.about("conda") or mixed
    words = case.says(r"channel|conda-forge")
    mkl, openmp = case.first("mkl-mix"), case.first("duplicate-openmp")
    library = case.first("glibcxx-missing")
    if mkl:
        yield Candidate(CODE, 0.88, (mkl.shown, *evidence), {})
    elif openmp:
        yield Candidate(CODE, 0.84, (openmp.shown, *evidence), {})
    elif library and re.search(r"conda|/envs/", library.text):
        yield Candidate(CODE, 0.86, (library.shown, *evidence), {})
    clash = next(
        (s for s in case.seen("dll-load-failed") if s.get("number") == "182" or _CANT_RUN.search(s.text)),
        None,
    )
    if clash:
        # a DLL of another package (often OpenMP's) is taken instead of torch's own
        yield Candidate(CODE, 0.72 if about or words else 0.55, (clash.shown, *evidence), {})
    for seen in case.seen("undefined-symbol"):
        # torch's own library finds another release of a CUDA library than the one that it was built with
        if re.search(r"version libcu\w+\.so|lib(cu|nv)\w+\.so[.\d]*: undefined symbol", seen.text) and (
            about or re.search(r"conda|/envs/", seen.text)
        ):
            yield Candidate(CODE, 0.6, (seen.shown, *evidence), {})
            break
    conflict = case.first("conda-unsatisfiable", "conda-not-found")
    if conflict:
        channels_asked = {channel for command in case.commands for channel in command.channels}
        score = 0.8 if len(channels_asked) > 1 or mixed or words else 0.62
        yield Candidate(CODE, score, (conflict.shown, *evidence), {})
    broken = case.first(
        "undefined-symbol",
        "dll-load-failed",
        "library-error",
        "torch-no-cuda",
        "cuda-available",
        "missing-library",
    )
    if mixed and broken and not mkl and not openmp:
        yield Candidate(CODE, 0.72, (broken.shown, *evidence), {})
    elif (
        broken
        and about
        and words
        and case.says(r"(mix|both|defaults|conda-forge).{0,60}(channel|pytorch|defaults|conda-forge|pip)")
    ):
        yield Candidate(CODE, 0.8, (broken.shown,), {})
    elif (mixed and words) or (
        not case.log
        and case.says(
            r"(mix\w* .{0,20}channels?|pytorch channel.{0,60}conda-forge|conda-forge.{0,60}pytorch channel"
            r"|-c conda-forge.{0,40}-c (pytorch|defaults|nvidia"
            r"|anaconda)|-c (pytorch|defaults|nvidia|anaconda).{0,40}-c conda-forge)"
        )
    ):
        yield Candidate(CODE, 0.7, evidence or (f"wanted: {case.wanted[:140]}",), {})


def _channels(case: Case) -> Dict[str, List[str]]:
    """Return channel to framework packages, when conda's list names several that conflict."""
    found: Dict[str, List[str]] = {}
    for seen in case.seen("conda-row", "said-package", "conda-update"):
        channel, name = _channel(seen.get("channel")), seen.get("package")
        if not channel or not _FRAMEWORK.match(name):
            continue
        found.setdefault(channel, []).append(name)
    for name, release in case.packages.items():
        channel = _channel(release.text) if not release.line else ""
        if channel and _FRAMEWORK.match(name):
            found.setdefault(channel, []).append(name)
    found.pop("pypi", None) if len(found) < 2 else None
    if set(found) <= {"pytorch", "nvidia", "defaults"} or set(found) <= {"conda-forge", "nvidia"}:
        return {} if len(found) < 2 or "conda-forge" not in found else found
    return found


def _channel(text: str) -> str:
    text = text.lower()
    for name, words in (
        ("conda-forge", "conda-forge"),
        ("defaults", "pkgs/main|defaults|anaconda$|pkgs/free"),
        ("pytorch", "pytorch"),
        ("nvidia", "nvidia"),
        ("pypi", "pypi"),
        ("intel", "intel"),
    ):
        if re.search(words, text):
            return name
    return ""
