"""Running twice does nothing the second time, and says so."""

from __future__ import annotations

import json

from tests.e2e.bench import Bench, tree


def test_create_makes_an_environment_that_works(bench: Bench) -> None:
    done = bench.made()
    assert done.data["stack"] == "tiny==2.0" and done.data["changed"] is True
    assert done.data["probe"]["ok"] is True and done.data["probe"]["device"] == "cpu"
    assert bench.version() == "2.0"
    assert bench.left_over() == []
    receipt = json.loads((bench.target / "envsetup.json").read_text())
    assert receipt["stack"] == "tiny==2.0"
    assert bench.index.count("/files/torch-*.whl") == 0, "the replaced distribution was fetched"


def test_the_second_run_changes_nothing_and_asks_no_network(bench: Bench) -> None:
    bench.made()
    before, asked = tree(bench.target), bench.index.count()
    done = bench.made()
    assert done.data["changed"] is False
    assert "nothing to do" in done.err
    assert tree(bench.target) == before
    assert bench.index.count() == asked
