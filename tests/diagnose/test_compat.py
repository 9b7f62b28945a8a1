"""The compatibility tables agree with themselves, with the hardware tables and with the stacks."""

from __future__ import annotations

import pytest
from packaging.version import Version

from envsetup.diagnose.compat import tables
from envsetup.diagnose.releases import cuda_of, minor
from envsetup.knowledge import hardware
from envsetup.knowledge.stacks import Row, stacks

TABLES = tables()


def test_releases_stand_newest_first_and_once() -> None:
    for rows in (TABLES.tensorflow, TABLES.torch):
        versions = [row.version for row in rows]
        assert versions == sorted(set(versions), reverse=True)


def test_python_ranges_only_move_on() -> None:
    for rows in (TABLES.tensorflow, TABLES.torch):
        for newer, older in zip(rows, rows[1:]):
            assert newer.python[0] >= older.python[0] and newer.python[1] >= older.python[1]


def test_every_cuda_is_known_to_the_hardware_tables() -> None:
    for row in TABLES.tensorflow:
        assert hardware.cuda_toolkit(row.cuda), row
    for label in TABLES.indexes:
        if cuda_of(label):
            assert hardware.cuda_toolkit(cuda_of(label)), label


def test_torch_builds_are_known_indexes_and_within_their_toolkit() -> None:
    for row in TABLES.torch:
        assert set(row.capability) <= set(TABLES.indexes)
        for label, capabilities in row.capability.items():
            toolkit = hardware.cuda_toolkit(cuda_of(label))
            assert toolkit is not None
            for text in capabilities:
                assert hardware.capability(text) >= hardware.capability(toolkit.capability_min), (
                    row.version,
                    label,
                )


def test_pairs_of_torchvision() -> None:
    assert TABLES.torchvision_for(Version("1.8.1")) == "0.9"
    assert TABLES.torchvision_for(Version("2.4.1")) == "0.19"
    assert {str(r.version) for r in TABLES.torch_for(Version("0.4.2"))} == {"1.2", "1.3"}


def rows(*distributions: str) -> list[Row]:
    return [row for stack in stacks() for row in stack.rows if row.distribution in distributions]


@pytest.mark.parametrize(
    "row", rows("tensorflow", "tensorflow-gpu", "tensorflow-cpu"), ids=lambda row: row.name
)
def test_tensorflow_stacks_agree(row: Row) -> None:
    known = TABLES.tensorflow_release(Version(row.version))
    assert known is not None
    for python in row.python:
        assert known.python[0] <= Version(python) <= known.python[1]
    for needs in row.needs.values():
        if needs.cuda and row.backend == "cuda":
            assert minor(Version(needs.cuda)) == known.cuda


def test_torch_stacks_agree() -> None:
    for row in rows("torch"):
        known = TABLES.torch_release(Version(row.version.split("+")[0]))
        for python in row.python if known else ():
            assert known and known.python[0] <= Version(python) <= known.python[1], row.name
