"""TensorFlow after 2.10 has no GPU on native Windows."""

from __future__ import annotations

from typing import Iterator

from packaging.version import Version

from envsetup.diagnose import releases
from envsetup.diagnose.case import Case
from envsetup.diagnose.finding import Candidate
from envsetup.diagnose.releases import minor


def evaluate(case: Case) -> Iterator[Candidate]:
    """Yield the finding when a GPU is wanted of such a release."""
    if not case.windows:
        return
    last = Version(case.tables.tensorflow_head["windows-gpu-last"])
    found = case.tensorflow
    version = found.version if found else None
    evidence = [case.shown(found)] if found and version else []
    if version is None:
        for name in ("tensorflow", "tensorflow-gpu"):
            asked, _ = releases.pinned(case.asked.get(name, ""))
            if asked:
                version, evidence = asked, [f"wanted: {name}=={asked}"]
    trouble = case.first("tf-no-gpu", "gpu-libraries-missing")
    extra = any("and-cuda" in str(r) for command in case.commands for r in command.requirements)
    if version is None:
        if extra and case.windows:
            yield Candidate(
                "tf-windows-native-gpu-dropped",
                0.85,
                (f"wanted: {case.wanted[:120]}", case.evidence("os")),
                {"release": "2.11 and later"},
            )
        elif trouble and case.nvidia:
            case.need("packages", "TensorFlow's version: from 2.11 on it has no GPU on native Windows")
            yield Candidate(
                "tf-windows-native-gpu-dropped",
                0.5,
                (trouble.shown, case.evidence("os")),
                {"release": "this release"},
            )
        return
    if Version(minor(version)) <= last or case.package("tensorflow-directml-plugin", "tensorflow-directml"):
        return
    wants = case.nvidia or case.about("gpu") or case.about("cuda") or bool(case.value("cuda"))
    other = case.seen(
        "dll-load-failed",
        "illegal-instruction",
        "protobuf-new",
        "numpy-abi",
        "no-module",
        "path-not-found",
        "msvc-missing",
        "no-version",
        "no-matching",
    )
    values = {"release": str(version)}
    if trouble:
        yield Candidate(
            "tf-windows-native-gpu-dropped", 0.94, (trouble.shown, *evidence, case.evidence("os")), values
        )
    elif wants and not other:
        yield Candidate(
            "tf-windows-native-gpu-dropped",
            0.9 if not case.log else 0.7,
            (*evidence, case.evidence("os")),
            values,
        )
