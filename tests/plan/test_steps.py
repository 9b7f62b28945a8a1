"""The order of steps, from the one line that says what is replaced."""

from __future__ import annotations

import pytest

from envsetup.knowledge.stacks import stacks
from envsetup.plan.lock import lock_path, read_lock
from envsetup.plan.steps import order

DML = next(r for s in stacks() for r in s.rows if r.name == "pytorch-directml==1.8.0a0.dev220506")
TF = next(r for s in stacks() for r in s.rows if r.name == "tensorflow-gpu==2.3.4")


def _told(steps):
    return [
        (s.action, s.elided, [p.name for p in s.packages if p.name.startswith(("torch", "pyt"))])
        for s in steps
    ]


def test_by_default_the_replaced_distribution_is_left_out():
    lock = read_lock(lock_path(DML, "3.8", "manylinux_x86_64"))
    assert _told(order(DML, lock)) == [
        ("create", False, []),
        ("install", False, ["torchvision"]),
        ("remove", True, ["torch"]),
        ("install", False, ["pytorch-directml"]),
        ("provide", False, []),
        ("probe", False, []),
    ]


def test_as_documented_installs_and_removes_it():
    lock = read_lock(lock_path(DML, "3.8", "manylinux_x86_64"))
    assert _told(order(DML, lock, as_documented=True, provides=False, probe=False)) == [
        ("create", False, []),
        ("install", False, ["torchvision", "torch"]),
        ("remove", False, ["torch"]),
        ("install", False, ["pytorch-directml"]),
    ]


@pytest.mark.parametrize(
    ("platform", "saved"), [("manylinux_x86_64", 735_526_307), ("win_amd64", 190_523_841)]
)
def test_the_plan_tells_the_bytes_that_are_saved(platform, saved):
    steps = order(DML, read_lock(lock_path(DML, "3.8", platform)))
    assert [s.bytes for s in steps if s.elided] == [saved]
    assert [s.to_json()["packages"] for s in steps if s.elided] == [["torch==1.8.0"]]


def test_a_replacement_that_nothing_depends_on_takes_one_install():
    steps = order(TF, read_lock(lock_path(TF, "3.8", "manylinux_x86_64")))
    assert [s.action for s in steps] == ["create", "install", "provide", "probe"]
    assert steps[2].to_json()["packages"] == ["tensorflow==2.3.4+gpu"]
