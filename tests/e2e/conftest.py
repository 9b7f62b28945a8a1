"""Fixtures of the whole runs: a bench (see :mod:`tests.e2e.bench`), empty or with an environment in place."""

from __future__ import annotations

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


@pytest.fixture
def earlier(bench: Bench) -> Iterator[Bench]:
    """A bench with ``tiny==1`` in place; at the end it must be there as it was, with nothing beside it."""
    bench.made("--stack", "tiny==1")
    before = tree(bench.target)
    yield bench
    assert tree(bench.target) == before
    assert bench.left_over() == []
    assert bench.version() == "1.0"
