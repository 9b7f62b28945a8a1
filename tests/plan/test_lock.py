"""Lock files are read back as they were written, and nothing else is taken for one."""

from __future__ import annotations

from pathlib import Path

import pytest

from envsetup.errors import BuildError
from envsetup.plan.lock import Lock, Package, parse_lock, read_lock

HASH = "a" * 64
LOCK = Lock(
    (
        Package("numpy", "1.18.5", "numpy-1.18.5-cp38-cp38-win_amd64.whl", 12, HASH),
        Package("plain", "1.0"),
        Package("mine", "", url="file:///tmp/x"),
    ),
    (Package("torch", "1.8.0", "torch-1.8.0-cp38-cp38-win_amd64.whl", 99, HASH),),
    "x",
)


def test_a_lock_is_read_as_it_was_written():
    assert parse_lock(LOCK.text(["made by hand"]).splitlines(), Path("x.txt")) == LOCK


def test_a_header_does_not_change_the_digest_and_a_package_does():
    again = parse_lock(LOCK.text(["another"]).splitlines(), Path("x.txt"))
    assert again.digest == LOCK.digest
    assert Lock(LOCK.packages[:1], LOCK.replaced, "x").digest != LOCK.digest


@pytest.mark.parametrize(
    "line",
    [
        "numpy",
        "numpy>=1",
        "-r other.txt",
        "--index-url http://x",
        f"numpy==1 --hash=md5:{HASH}",
        "numpy==1 ; x",
    ],
)
def test_a_line_that_is_no_lock_line_is_named(line):
    with pytest.raises(BuildError, match=r"x\.txt:2"):
        parse_lock(["a==1", line], Path("x.txt"))


def test_a_missing_lock_says_what_to_do(tmp_path):
    with pytest.raises(BuildError) as caught:
        read_lock(tmp_path / "x.txt")
    assert "Install envsetup again" in caught.value.hint
