"""Full disks: the target's, the cache's, the temporary folder's."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Callable, Iterator

import pytest

from envsetup.plan.lock import Lock
from tests.e2e.bench import MINOR, Bench, tree

SmallDisk = Callable[[str, int], Path]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[SmallDisk]:
    """Return a function from name and size in KiB to a folder on a file system of that size."""
    if os.geteuid() != 0 or not shutil.which("mount"):
        pytest.skip("needs root to mount a small disk")
    mounted = []

    def make(name: str, size: int) -> Path:
        folder = tmp_path / name
        folder.mkdir()
        command = ["mount", "-t", "tmpfs", "-o", f"size={size}k", "tmpfs", str(folder)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            pytest.skip(f"may not mount: {done.stderr.strip()}")
        mounted.append(folder)
        return folder

    yield make
    for folder in mounted:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def grow(bench: Bench, content: bytes) -> None:
    """Give ``tiny==2`` a big file."""
    files = {"tiny_vision/__init__.py": "__version__ = '2.0'\n", "tiny_vision/big.bin": content}
    bench.index.add("tiny-vision", "2.0", requires=["torch==2.0"], files=files)
    packages = [bench.package("tiny-torch", "2.0"), bench.package("tiny-vision", "2.0")]
    packages += [bench.package("tiny-numbers", "1.0"), bench.package("pip", "20.0")]
    bench.write_lock("2.0", MINOR, Lock(tuple(packages), (bench.package("torch", "2.0"),), "tiny"))


def noise(size: int) -> bytes:
    return os.urandom(size)


@pytest.mark.parametrize("size", [256, 600])
def test_the_targets_disk_is_full_while_packages_are_installed(
    size: int, bench: Bench, small_disk: SmallDisk
) -> None:
    """The packed files would fit; unpacked they don't."""
    grow(bench, b"\0" * (4 << 20))
    bench.target = small_disk("disk", size) / "env"
    done = bench.create()
    assert done.code == 4
    assert "disk is full" in done.message and "UV_CACHE_DIR" in done.message
    assert not bench.target.exists() and bench.left_over() == []


def test_an_earlier_environment_survives_a_full_disk(bench: Bench, small_disk: SmallDisk) -> None:
    bench.target = small_disk("disk", 1600) / "env"
    bench.made("--stack", "tiny==1")
    before = tree(bench.target)
    grow(bench, b"\0" * (4 << 20))
    assert bench.create("--replace").code == 4
    assert tree(bench.target) == before and bench.version() == "1.0"
    assert bench.left_over() == []


def test_what_can_not_fit_is_refused_before_anything_is_fetched(bench: Bench, small_disk: SmallDisk) -> None:
    grow(bench, noise(1 << 20))
    bench.target = small_disk("disk", 512) / "env"
    done = bench.create()
    assert done.code == 4
    assert "MB free" in done.message and str(bench.target.parent) in done.message
    assert bench.index.count() == 0


def test_the_caches_disk_is_full(earlier: Bench, small_disk: SmallDisk) -> None:
    grow(earlier, noise(1 << 20))
    cache = small_disk("cache-disk", 400)
    done = earlier.create("--replace", UV_CACHE_DIR=str(cache))
    assert done.code == 4
    assert "disk is full" in done.message and "UV_CACHE_DIR" in done.message


def test_the_disk_fills_while_the_receipt_is_written(bench: Bench, small_disk: SmallDisk) -> None:
    """Whatever step meets the end of the disk, nothing half-built stays."""
    outcomes = set()
    for size in range(40, 400, 24):
        folder = small_disk(f"disk{size}", size)
        bench.target = folder / "env"
        done = bench.create("--no-probe")
        outcomes.add(done.code)
        if done.code == 0:
            assert bench.version() == "2.0"
            break
        assert done.code == 4
        assert "space" in done.message or "disk" in done.message
        assert not bench.target.exists() and bench.left_over() == []
    assert outcomes == {0, 4}


def test_a_temporary_folder_that_is_full_is_not_used(bench: Bench, small_disk: SmallDisk) -> None:
    temporary = small_disk("temporary", 4)
    (temporary / "filler").write_bytes(b"\0" * 4096)
    bench.made("--with", "tiny-numbers", TMPDIR=str(temporary))
    assert [p.name for p in temporary.iterdir()] == ["filler"]
