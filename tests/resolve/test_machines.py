"""The resolver over a table of machines."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path

import pytest

from envsetup.machine import Machine
from envsetup.machine.assume import overlay
from envsetup.resolve.gpu import device_of
from envsetup.resolve.resolver import resolve
from envsetup.resolve.wish import Wish

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

CASES = [
    pytest.param(case, id=f"{file.stem}: {case['title']}")
    for file in sorted(Path(__file__).parent.glob("machines*.toml"))
    for case in tomllib.loads(file.read_text(encoding="utf-8"))["machine"]
]


@pytest.mark.parametrize("case", CASES)
def test_each_machine_gets_what_the_table_says(case):
    machine = overlay(Machine.of([]), case["assume"])
    resolution = resolve(machine, Wish(**case.get("wish", {})))
    nearest = [f"{unmet} {unmet.fix}" for verdict in resolution.rejected for unmet in verdict.unmet]
    if "refused" in case:
        assert resolution.chosen is None, f"chose {resolution.chosen and resolution.chosen.row.name}"
        assert any(all(word in text for word in case["refused"]) for text in nearest), nearest
        return
    chosen = resolution.chosen
    assert chosen is not None, nearest
    assert chosen.row.name == case["expect"]
    assert case.get("python") in (None, chosen.python.version)
    assert case.get("platform") in (None, chosen.platform)
    assert chosen.python.fetch == case.get("fetch", False)
    if "adapter" in case:
        assert chosen.gpu["index"] == case["adapter"]
    for word in case.get("unchecked", ()):
        assert any(text.startswith(word) for text in chosen.unknown), chosen.unknown


def test_a_refusal_names_what_would_work_instead():
    machine = overlay(Machine.of([]), ["os=linux", "gpu=1002:67df", "glibc=2.36", "cpu=avx,avx2,fma"])
    resolution = resolve(machine, Wish(backend="dml"))
    families = [v.row.family for v in resolution.alternatives]
    assert families[0] == "pytorch-cpu"  # the same framework first
    assert "tensorflow-cpu" in families


@pytest.mark.parametrize(
    ("wish", "first"),
    [
        (Wish(backend="cuda"), "tensorflow-cuda"),
        (Wish(backend="cuda", framework="tensorflow", python="3.8"), "pytorch-cuda"),
    ],
)
def test_the_same_backend_is_the_first_advice(wish, first):
    assume = ["os=linux", "gpu=GeForce RTX 3060", "driver.nvidia=535.54.03", "cuda=none", "cudnn=none"]
    resolution = resolve(overlay(Machine.of([]), assume), wish)
    assert resolution.chosen is None
    assert resolution.alternatives[0].row.family == first


def test_advice_keeps_the_python_that_was_asked_for_where_it_can():
    assume = ["os=windows", "windows-build=19045", "gpu=1002:67df"]
    resolution = resolve(overlay(Machine.of([]), assume), Wish(backend="dml", python="3.11"))
    assert resolution.chosen is None
    advice = resolution.alternatives[0]
    assert (advice.row.family, advice.python.version) == ("torch-directml", "3.11")


def test_a_refusal_names_the_newest_release_and_the_smallest_step():
    assume = ["os=linux", "glibc=2.36", "gpu=GeForce RTX 3090", "driver.nvidia=440.33.01"]
    resolution = resolve(overlay(Machine.of([]), assume), Wish(backend="cuda", framework="torch"))
    assert resolution.chosen is None
    needs = [v.unmet[0].needs for v in resolution.rejected if [u.fact for u in v.unmet] == ["driver.nvidia"]]
    assert [text.split(" for ")[0] for text in needs] == ["NVIDIA driver >=580", "NVIDIA driver >=450.80.02"]


def test_every_refusal_names_fact_need_finding_and_fix():
    for assume in (["os=macos"], ["os=windows", "gpu=10de:06cd", "windows-build=10240", "cuda=9.0"]):
        for verdict in resolve(overlay(Machine.of([]), assume), Wish(backend="cuda")).rejected:
            assert verdict.unmet
            for unmet in verdict.unmet:
                assert all((unmet.fact, unmet.needs, unmet.found, unmet.fix)), unmet


def test_the_adapter_that_is_chosen_of_several_is_told_and_probed():
    adapters = ["gpu=Intel(R) UHD Graphics 620", "gpu=Radeon RX 550X"]
    assumed = overlay(Machine.of([]), ["os=windows", "windows-build=19045", *adapters])
    read = assumed.with_facts([dataclasses.replace(assumed.get("gpu"), assumed=False)])
    chosen = resolve(read, Wish(backend="dml")).chosen
    assert chosen is not None and chosen.gpu is not None
    assert any("Radeon" in text and "number 1 of 2" in text and "--device" in text for text in chosen.met)
    assert device_of("dml", chosen.gpu, read) == "dml:1"
    assert device_of("cuda", chosen.gpu, read) is None
    assert device_of("dml", chosen.gpu, assumed) is None
