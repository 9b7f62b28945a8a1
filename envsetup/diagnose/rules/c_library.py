"""Linux wheels that the system can't use: old glibc, musl, or a pip that does not know their tag."""

from __future__ import annotations

import re
from typing import Iterator, Tuple

from packaging.version import Version

from envsetup.diagnose import releases
from envsetup.diagnose.case import ARM, Case
from envsetup.diagnose.finding import Candidate
from envsetup.diagnose.rules.unsatisfied import TENSORFLOW, failures, supports

# pip's release notes: the first version that knows each tag
_TAGS = (
    (r"manylinux_\d", "20.3", "manylinux_x_y"),
    (r"manylinux2014", "19.3", "manylinux2014"),
    (r"manylinux2010", "19.0", "manylinux2010"),
    (r"macosx_1[1-9]|macosx_2", "20.3", "macosx_11 and later"),
)


def evaluate(case: Case) -> Iterator[Candidate]:
    """Yield findings about the C library and pip's age."""
    yield from _glibc(case)
    yield from _musl(case)
    yield from _old_pip(case)


def _glibc(case: Case) -> Iterator[Candidate]:
    has = releases.version(str(case.value("glibc", "") or ""))
    for seen in case.seen("glibc-missing"):
        wanted = Version(seen.get("version"))
        score = 0.94 if has is None or has < wanted else 0.4
        evidence = [seen.shown] + ([case.evidence("glibc")] if has else [])
        yield Candidate(
            "glibc-too-old", score, tuple(evidence), {"needs": str(wanted), "has": str(has or "an older one")}
        )
        return
    runtime = case.first("glibcxx-missing")
    if runtime:
        conda = re.search(r"conda|/envs/", runtime.get("file")) is not None
        if not conda:
            score = 0.75 if "site-packages" not in runtime.get("file") else 0.5
            yield Candidate(
                "glibc-too-old",
                score,
                (runtime.shown,),
                {"needs": runtime.get("symbol"), "has": "an older libstdc++"},
            )
    if has is None or case.system not in ("linux", "wsl", ""):
        return
    for failure in failures(case):
        needs = _needs(case, failure.package, failure.version)
        if needs and has < Version(needs) and supports(case, failure.package, failure.version) is not False:
            yield Candidate(
                "glibc-too-old",
                0.84,
                (failure.seen.shown, case.evidence("glibc")),
                {"needs": needs, "has": str(has)},
            )
    for seen in case.seen("wheel-refused", "uv-platform", "uv-wheels-for"):
        needs = _oldest_glibc(seen.get("file") or seen.get("list"), case.python_arch or "x86_64")
        if needs and has < Version(needs):
            yield Candidate(
                "glibc-too-old", 0.88, (seen.shown, case.evidence("glibc")), {"needs": needs, "has": str(has)}
            )
    if not case.log:
        for name, version, shown in _wanted(case):
            needs = _needs(case, name, version)
            if needs and has < Version(needs):
                yield Candidate(
                    "glibc-too-old",
                    0.7,
                    (case.evidence("glibc"), shown),
                    {"needs": needs, "has": str(has)},
                )


def _wanted(case: Case) -> Iterator[Tuple[str, Version, str]]:
    """Yield (name, version, evidence) of each release that is installed or asked for by its number."""
    for name, found in (("torch", case.torch), ("tensorflow", case.tensorflow)):
        if found and found.version:
            yield name, found.version, case.shown(found)
    for name, spec in case.asked_of_pip.items():
        version, _ = releases.pinned(spec)
        if version:
            yield name, version, f"wanted: {name}{spec}"


def _oldest_glibc(tags: str, arch: str) -> str:
    """Return the oldest glibc that one of the wheel tags runs on; empty when there is no tag for Linux."""
    found = [f"2.{minor}" for minor in re.findall(rf"manylinux_2_(\d{{1,2}})_{arch}", tags)]
    for name, glibc in (("manylinux1", "2.5"), ("manylinux2010", "2.12"), ("manylinux2014", "2.17")):
        if f"{name}_{arch}" in tags:
            found.append(glibc)
    return str(min(map(Version, found))) if found else ""


def _needs(case: Case, package: str, version: Version | None) -> str:
    if package in ("torch", "torchvision", "torchaudio"):
        if version is None:
            return case.tables.torch_glibc[0][1]
        if package == "torchvision":
            rows = case.tables.torch_for(version)
            version = rows[0].version if rows else version
        return next((glibc for release, glibc in case.tables.torch_glibc if version >= release), "")
    return "2.17" if package in TENSORFLOW else ""


def _musl(case: Case) -> Iterator[Candidate]:
    said = [s for s in case.seen("said-glibc") if s.get("musl")]
    loader = case.first("musl-loader")
    if loader and case.system not in ("windows", "macos"):
        yield Candidate("musl-alpine", 0.93, (loader.shown,), {})
        return
    musl = case.value("libc") == "musl" or bool(said) or case.says(r"\balpine|\bmusl")
    if not musl or case.system in ("windows", "macos"):
        return
    evidence = (
        said[0].shown
        if said
        else (case.evidence("libc") if case.machine.get("libc").known else f"words: {case.words[:80]}")
    )
    trouble = case.first(
        "no-version",
        "no-matching",
        "wheel-refused",
        "uv-no-wheel-here",
        "uv-no-matching-platform",
        "uv-platform",
        "sdist-fetched",
        "stub",
        "uv-no-version",
    )
    missing = case.first("missing-library", "undefined-symbol")
    if trouble:
        yield Candidate("musl-alpine", 0.95, (trouble.shown, evidence), {})
    elif missing:
        yield Candidate("musl-alpine", 0.85, (missing.shown, evidence), {})
    elif case.about("torch") or case.about("tensorflow"):
        yield Candidate("musl-alpine", 0.75 if not case.log else 0.6, (evidence,), {})


def _old_pip(case: Case) -> Iterator[Candidate]:
    pip = case.package("pip")
    has = pip.version if pip else None
    files = [(s, s.get("file")) for s in case.seen("wheel-refused", "wheel-named")]
    tags = [(s, known, name) for s, file in files for regex, known, name in _TAGS if re.search(regex, file)]
    if has is None:
        if case.seen("wheel-refused") and tags and case.system != "macos":
            case.need("packages", "pip's version (pip --version)")
            refused = [t for t in tags if t[0].name == "wheel-refused"]
            if refused and _platform_fits(case, refused[0][0].get("file")):
                yield Candidate(
                    "pip-too-old-for-manylinux",
                    0.6,
                    (refused[0][0].shown,),
                    {"needs": refused[0][1], "tag": refused[0][2], "has": "unknown"},
                )
        return
    evidence = case.shown(pip) if pip else ""
    for seen, known, name in tags:
        if has < Version(known) and _platform_fits(case, seen.get("file")):
            yield Candidate(
                "pip-too-old-for-manylinux",
                0.9,
                (seen.shown, evidence),
                {"needs": known, "tag": name, "has": str(has)},
            )
            return
    for package, version, shown in _wanted(case) if not case.log and case.asked_of_pip else ():
        known, name = _pip_for(case, package, version)
        if known and has < Version(known) and supports(case, package, version) is not False:
            yield Candidate(
                "pip-too-old-for-manylinux",
                0.72,
                (shown, evidence),
                {"needs": known, "tag": name, "has": str(has)},
            )
    for failure in failures(case):
        known, name = _pip_for(case, failure.package, failure.version)
        if known and has < Version(known):
            good = supports(case, failure.package, failure.version)
            score = 0.84 if good else 0.6 if good is None else 0.35
            yield Candidate(
                "pip-too-old-for-manylinux",
                score,
                (failure.seen.shown, evidence),
                {"needs": known, "tag": name, "has": str(has)},
            )


def _platform_fits(case: Case, file: str) -> bool:
    """The wheel's system and Python are this machine's, so that only pip can be what refuses it."""
    if ("linux" in file) != (case.system in ("linux", "wsl", "")) and "macosx" not in file:
        return False
    match = re.search(r"-cp(\d)(\d{1,2})-", file)
    python = Version(f"{match.group(1)}.{match.group(2)}") if match else None
    if python and case.python and python != case.python:
        return False
    return not ("x86_64" in file and case.python_arch in ARM)


def _pip_for(case: Case, package: str, version: Version | None) -> Tuple[str, str]:
    """Return the oldest pip that can install a release on Linux, and the tag that it must know."""
    if case.system not in ("linux", "wsl", ""):
        return "", ""
    if package in TENSORFLOW:
        if version is None or version >= Version("2.6"):
            return (
                "19.0" if version is None else "19.3",
                "manylinux2010" if version is None else "manylinux2014",
            )
        return ("19.0", "manylinux2010") if version >= Version("1.15") else ("", "")
    if package in ("torch", "torchvision", "torchaudio") and (
        version is None or version >= Version("2.6") or package != "torch"
    ):
        return (
            ("20.3", "manylinux_2_28")
            if version is None or (version >= Version("2.6") and package == "torch")
            else ("", "")
        )
    if package in ("tensorflow-directml-plugin", "torch-directml", "pytorch-directml"):
        return "19.3", "manylinux2014"
    return "", ""
