"""The resolver over a table of machines."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from envsetup.machine import Machine
from envsetup.machine.assume import overlay
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
    assert [v.row.family for v in resolution.alternatives] == ["pytorch-cpu", "tensorflow-cpu"]


def test_every_refusal_names_fact_need_finding_and_fix():
    for assume in (["os=macos"], ["os=windows", "gpu=10de:06cd", "windows-build=10240", "cuda=9.0"]):
        for verdict in resolve(overlay(Machine.of([]), assume), Wish(backend="cuda")).rejected:
            assert verdict.unmet
            for unmet in verdict.unmet:
                assert all((unmet.fact, unmet.needs, unmet.found, unmet.fix)), unmet
