"""Fixtures of the whole runs: a bench (see :mod:`tests.e2e.bench`), empty or with an environment in place."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Iterator

import pytest

from tests.e2e.bench import Bench, tree
from tests.support.index import Index


@pytest.fixture
def bench(tmp_path: Path, index: Index) -> Bench:
    if sys.platform != "linux":
        pytest.skip("runs on Linux; the Windows lab has tests of its own")
    return Bench(tmp_path, index)


@pytest.fixture(scope="session")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with ``tiny==1``: it can be moved, so each test takes a copy."""
    folder = tmp_path_factory.mktemp("made-once")
    with Index(folder / "wheels") as index:
        bench = Bench(folder, index)
        bench.made("--stack", "tiny==1")
    return bench.target


@pytest.fixture
def earlier(bench: Bench, made_once: Path) -> Iterator[Bench]:
    """A bench with ``tiny==1`` in place; at the end it must be there as it was, with nothing beside it."""
    shutil.copytree(made_once, bench.target, symlinks=True)
    before = tree(bench.target)
    yield bench
    assert tree(bench.target) == before
    assert bench.left_over() == []
    assert bench.version() == "1.0"
