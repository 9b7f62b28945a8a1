"""The stack files: what is shipped is whole, and a mistake is named with its file and line."""

from __future__ import annotations

import pytest

from envsetup.knowledge.files import constraints
from envsetup.knowledge.gpu_table import vendor_table
from envsetup.knowledge.hardware import architecture, capability, cuda_toolkit
from envsetup.knowledge.stacks import load_stack, stacks
from envsetup.knowledge.toml import KnowledgeError, load
from envsetup.plan.lock import lock_path, read_lock

ROWS = [row for stack in stacks() for row in stack.rows]
AMD_GFX = {chip.gfx for chip in vendor_table("amd").by_id.values()}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.name}-{row.platforms[0]}")
def test_every_row_has_a_lock_for_each_python_and_platform_that_holds_its_pins(row):
    if row.index:
        assert not lock_path(row, row.python[0], row.platforms[0]).exists()
        return
    for python in row.python:
        for platform in row.platforms:
            lock = read_lock(lock_path(row, python, platform))
            locked = {p.name: p for p in lock.packages}
            for requirement in row.install:
                assert locked[requirement.name.lower()].version in requirement.specifier
            for ceiling in row.ceilings:
                if ceiling.name in locked:
                    assert locked[ceiling.name].version in ceiling.specifier
            assert all(p.sha256 and p.size and p.file for p in lock.packages)
            assert "pip" in locked
            assert not {r.name for r in row.replaces} & set(locked)


def test_every_lock_belongs_to_a_row():
    wanted = {
        lock_path(r, python, p) for r in ROWS if not r.index for python in r.python for p in r.platforms
    }
    assert set((constraints() / "locks").rglob("*.txt")) == wanted


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.name}-{row.platforms[0]}")
def test_what_a_row_needs_is_in_the_hardware_tables(row):
    assert row.systems
    for needs in row.needs.values():
        for vendor, floor in needs.gpu.items():
            assert floor == "*" or architecture(vendor, floor) is not None
        for toolkit in (needs.cuda, needs.runtime):
            assert toolkit is None or cuda_toolkit(toolkit) is not None
        assert all(capability(code) >= (3, 5) for code in (*needs.sm, *needs.ptx))
        assert set(needs.gfx) <= AMD_GFX
        assert not needs.sm or needs.cuda or needs.runtime


def test_a_row_of_another_index_pins_its_label_so_that_the_default_index_can_not_serve():
    for row in (row for row in ROWS if row.index.startswith("pytorch/")):
        label = row.index.rpartition("/")[2]
        pins = {r.name: r.specifier for r in row.install}
        for name in ("torch", "torchvision"):
            (pin,) = pins[name]
            assert pin.version.endswith(f"+{label}"), row.name


def test_no_two_rows_are_the_same_for_one_system_and_platform():
    seen = [(row.name, row.index, system, p) for row in ROWS for system in row.systems for p in row.platforms]
    assert len(seen) == len(set(seen))


def test_builds_of_one_release_keep_the_order_of_the_file(tmp_path):
    file = tmp_path / "x.toml"
    row = '[[row]]\nversion = "{0}"\npython = ["3.8"]\ninstall = ["x=={0}"]\ncut-off = "2022-01-01"\n'
    rows = "".join(row.format(version) for version in ("2.0", "2.0+cu2", "2.0+cu1", "2.1+cu1"))
    file.write_text(GOOD + rows, "utf-8")
    assert [r.version for r in load_stack(load(file)).rows] == [
        "2.1+cu1", "2.0", "2.0", "2.0+cu2", "2.0+cu1", "1.0"
    ]  # fmt: skip


GOOD = """name = "x"
title = "X"
summary = "x"
framework = "torch"
backend = "cpu"
preference = 1
systems = ["linux"]
platforms = ["manylinux_x86_64"]
source = "here"

[[row]]
version = "1.0"
python = ["3.8"]
install = ["x==1.0"]
cut-off = "2022-01-01"

[[row]]
version = "2.0"
python = ["3.8"]
install = ["x==2.0"]
cut-off = "2022-01-01"
"""


@pytest.mark.parametrize(
    ("old", "new", "line", "word"),
    [
        ('backend = "cpu"', 'backend = "cpuu"', 5, "cpuu"),
        ("preference = 1", 'preference = "1"', 6, "whole number"),
        ('systems = ["linux"]', 'systems = ["linus"]', 7, "linus"),
        ('install = ["x==2.0"]', 'install = ["x>=2.0"]', 20, "pin exactly"),
        ('install = ["x==2.0"]', 'install = ["x=="]', 20, "no requirement"),
        ('version = "2.0"', 'version = "two"', 18, "a version"),
        ('version = "2.0"', 'verison = "2.0"', 17, "'version' is missing"),
        ('version = "2.0"', 'version = "2.0"\nneeds = { cudda = "1" }', 19, "cudda"),
        ('version = "1.0"', 'version = "1.0"\nplatforms = ["win32"]', 13, "win32"),
        ('python = ["3.8"]', 'python = ["3"]', 13, "minor versions"),
        ('title = "X"', "title = X", 2, "not TOML"),
        ('summary = "x"\n', "", 1, "'summary' is missing"),
        ('source = "here"', 'source = "here"\nhomepage = "x"', 10, "unknown key 'homepage'"),
    ],
)
def test_a_mistake_is_named_with_file_and_line(tmp_path, old, new, line, word):
    file = tmp_path / "x.toml"
    file.write_text(GOOD.replace(old, new, 1) if "x==2.0" not in old else GOOD.replace(old, new), "utf-8")
    with pytest.raises(KnowledgeError) as caught:
        load_stack(load(file))
    assert caught.value.path == file
    assert caught.value.line == line
    assert word in str(caught.value)


def test_the_file_without_a_mistake_loads_with_its_rows_newest_first(tmp_path):
    file = tmp_path / "x.toml"
    file.write_text(GOOD, "utf-8")
    assert [row.version for row in load_stack(load(file)).rows] == ["2.0", "1.0"]


@pytest.mark.parametrize(
    ("content", "word"), [(b"\xff\xfe", "UTF-8"), (b"a = ", "TOML"), (None, "can't be read")]
)
def test_a_file_that_is_no_toml_is_named(tmp_path, content, word):
    file = tmp_path / "x.toml"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(KnowledgeError, match=word):
        load(file)
