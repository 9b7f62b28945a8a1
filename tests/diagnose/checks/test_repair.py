"""What a repair would do; that it does it is tested in tests/e2e/test_doctor.py."""

from __future__ import annotations

from typing import List, Sequence

import pytest

from envsetup.diagnose.checks import files, repair
from envsetup.diagnose.checks.check import Check
from envsetup.diagnose.checks.run import run
from envsetup.errors import BuildError
from envsetup.knowledge.stacks import Replacement
from tests.diagnose.checks.site import Site

LOCK = ["torchvision==0.9.0", "pytorch-directml==1.8.0", "numpy==1.20", "local @ file:///somewhere/local"]
PROVIDED = Replacement("torch", "1.8.0", "pytorch-directml", "directml")
FORK = {"torch/__init__.py": "fork", "torch/more.py": "fork"}
FILES = Check("files", "files", "environment", files.look)


@pytest.fixture
def broken(site: Site) -> Site:
    site.add("pytorch-directml", "1.8.0", files=FORK).add("torchvision", "0.9.0").add("numpy", "1.20")
    site.add("torch", "1.8.1", files={"torch/__init__.py": "torch"})
    return site


def test_the_replacement_has_the_last_word(broken: Site) -> None:
    broken.receipt(LOCK, [PROVIDED])
    broken.write("torchvision/__init__.py", b"")
    context = broken.context()
    plan = repair.plan(run([FILES], context), context)
    assert plan is not None
    assert [p.name for p in plan.first] == ["torchvision"]
    assert [p.name for p in plan.second] == ["pytorch-directml"]
    assert plan.uninstalled(context) == ("torch", "torchvision", "pytorch-directml")
    assert plan.provides == (PROVIDED,)
    assert set(plan.codes) == {"torch-clobber", "damaged-file"} and plan.checks == ("files",)
    commands = plan.commands(context)
    assert [c.split()[2] for c in commands[:3]] == ["uninstall", "install", "install"]
    assert commands[1].endswith("torchvision==0.9.0") and commands[2].endswith("pytorch-directml==1.8.0")


def test_no_record_where_none_was_made(broken: Site) -> None:
    broken.receipt(LOCK, [PROVIDED], key={"provides": False})
    context = broken.context()
    plan = repair.plan(run([FILES], context), context)
    assert plan is not None and plan.provides == ()


def test_a_package_from_a_folder_is_named_by_its_place(broken: Site) -> None:
    broken.add("local", "1").receipt(LOCK, [PROVIDED])
    (broken.packages / "local" / "__init__.py").unlink()
    context = broken.context()
    plan = repair.plan(run([FILES], context), context)
    assert plan is not None
    assert any('"local @ file:///somewhere/local"' in command for command in plan.commands(context))


def test_nothing_is_planned_without_a_receipt_or_a_need(broken: Site, site: Site) -> None:
    context = broken.context()
    assert repair.plan(run([FILES], context), context) is None
    (broken.packages / "torch" / "__init__.py").write_text("fork")
    broken.receipt(LOCK[1:2])
    context = broken.context()
    assert repair.plan([r for r in run([FILES], context) if not r.findings], context) is None


class FakeUv:
    """Stands in for :func:`envsetup.uv.run`: notes what is asked, and fails or is interrupted at one command.

    ``--target`` installs write the right files, as uv does from its cache.
    """

    def __init__(self, fail_at: str = "", error: BaseException | None = None) -> None:
        self.asked: List[str] = []
        self.fail_at, self.error = fail_at, error or BuildError("the disk is full", "Free some space.")

    def __call__(self, arguments: Sequence[str], *_: object, **__: object) -> str:
        target = any(word.startswith("--target=") for word in arguments)
        what = "fetch" if target else arguments[1]
        self.asked.append(what)
        if what == self.fail_at:
            raise self.error
        return ""


@pytest.mark.parametrize(
    ("fail_at", "half"), [("fetch", False), ("uninstall", True), ("install", True), ("", False)]
)
@pytest.mark.parametrize("error", [None, KeyboardInterrupt()], ids=["error", "interrupted"])
def test_everything_is_fetched_first_and_a_half_done_repair_says_so(
    broken: Site, monkeypatch: pytest.MonkeyPatch, fail_at: str, half: bool, error: BaseException | None
) -> None:
    broken.receipt(LOCK, [PROVIDED])
    context = broken.context()
    plan = repair.plan(run([FILES], context), context)
    assert plan is not None
    fake = FakeUv(fail_at, error)
    monkeypatch.setattr(repair.uv, "run", fake)
    if not fail_at:
        repair.carry_out(plan, context, {}, lambda line: None)
        assert fake.asked == ["fetch", "uninstall", "install"]
    elif half:
        with pytest.raises(repair.HalfRepairedError) as failure:
            repair.carry_out(plan, context, {}, lambda line: None)
        assert "half repaired" in failure.value.hint
    else:
        with pytest.raises(type(fake.error)):
            repair.carry_out(plan, context, {}, lambda line: None)
        assert fake.asked == ["fetch"]
    assert [p.name for p in broken.folder.iterdir() if "envsetup-fix" in p.name] == []
