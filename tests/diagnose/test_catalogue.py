"""The catalogue: complete, and every text can be filled in."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from envsetup.diagnose import catalogue
from envsetup.diagnose.catalogue import SYSTEMS, causes, finding
from envsetup.diagnose.finding import Candidate
from envsetup.knowledge.toml import KnowledgeError
from tests.diagnose.cases import load

CODES = sorted(causes())
# the codes of the published list of cases
# fmt: off
PUBLISHED = (
    "python-version-unsupported", "python-32bit", "python-ssl-broken", "microsoft-store-python",
    "wrong-interpreter", "jupyter-kernel-wrong-env", "arch-rosetta-x86-python",
    "arch-unsupported-arm64", "arch-unsupported-macos-intel", "cuda-on-macos", "cpu-no-avx",
    "glibc-too-old", "musl-alpine", "pip-too-old-for-manylinux", "windows-build-too-old",
    "windows-long-path", "msvc-redist-missing", "directml-on-native-linux", "gpu-too-old-directx",
    "multi-gpu-wrong-adapter", "wsl-windows-build-too-old", "wsl-kernel-too-old", "wsl-libcuda-path",
    "wsl-linux-driver-installed", "driver-too-old-for-wsl-directx", "driver-too-old",
    "compute-capability-too-low", "gpu-too-new-for-cuda", "tf-cuda-toolkit-mismatch",
    "cudnn-minor-too-old", "cudnn-shadowed", "cuda-visible-devices", "container-no-gpu",
    "gpu-memory-growth", "out-of-memory", "tf-windows-native-gpu-dropped", "tf-plugin-base-package",
    "tf-plugin-version-mismatch", "torch-clobber", "torch-cpu-build-installed",
    "torch-wrong-cuda-variant", "torchvision-mismatch", "version-pin-conflict", "package-superseded",
    "package-removed-stub", "wrong-api-for-package", "protobuf-too-new", "numpy-too-new",
    "h5py-too-new", "index-url-nonexistent", "index-missing-dependency", "tls-proxy", "yanked-noise",
    "conda-channel-mix", "rocm-gfx-unsupported", "benign-message",
)
# fmt: on


def test_every_published_code_is_there() -> None:
    assert set(PUBLISHED) <= set(CODES)
    assert len(set(PUBLISHED)) == 56
    assert {case["code"] for case in load("cases.jsonl")} <= set(CODES)


@pytest.mark.parametrize("system", ["", *SYSTEMS])
@pytest.mark.parametrize("code", CODES)
def test_texts_are_filled_in_everywhere(code: str, system: str) -> None:
    found = finding(Candidate(code, 0.9, ("line 1: x",)), system)
    for text in (found.cause, found.fix.verify, *found.fix.steps):
        assert text and not re.search(r"\{[a-z]+\}", text)
    assert found.fix.steps and found.title and found.cause.endswith((".", ": "))


@pytest.mark.parametrize("code", PUBLISHED)
def test_an_entry_says_what_speaks_for_and_against_it(code: str) -> None:
    cause = causes()[code]
    assert cause.evidence and cause.contradicts and cause.source


def test_only_info_has_nothing_to_do() -> None:
    assert {code for code in PUBLISHED if causes()[code].severity == "info"} == {
        "benign-message",
        "yanked-noise",
    }


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ('severity = "bad"', "'severity' must be one of"),
        ('severity = "error"\nsurplus = 1', "unknown key 'surplus'"),
        ('severity = "error"\n[cause.fix]\nsteps = ["{nobody}"]\nverify = "x"', "has no default"),
    ],
)
def test_a_wrong_entry_names_file_and_line(
    entry: str, problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fix = "" if "[cause.fix]" in entry else '[cause.fix]\nsteps = ["a"]\nverify = "b"\n'
    text = (
        '[[cause]]\ncode = "x"\ntitle = "t"\ncause = "c"\n'
        'evidence = ["e"]\ncontradicts = ["n"]\nsource = "s"\n'
        f"{entry}\n{fix}"
    )
    (tmp_path / "causes").mkdir()
    (tmp_path / "causes" / "x.toml").write_text(text, encoding="utf-8")
    monkeypatch.setattr(catalogue, "constraints", lambda: tmp_path)
    causes.cache_clear()
    try:
        with pytest.raises(KnowledgeError, match=problem) as error:
            causes()
        assert re.search(r"x\.toml:\d+:", str(error.value))
    finally:
        causes.cache_clear()
