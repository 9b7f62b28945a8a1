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


def test_replace_builds_anew(bench: Bench) -> None:
    bench.made()
    (bench.target / "stray").touch()
    assert bench.made("--replace").data["changed"] is True
    assert not (bench.target / "stray").exists()


def test_a_probe_that_was_left_out_runs_later_and_alone(bench: Bench) -> None:
    assert bench.made("--no-probe").data["probe"] is None
    before = tree(bench.target, lambda name: name == "envsetup.json")
    asked = bench.index.count()
    done = bench.made()
    assert done.data["changed"] is False and done.data["probe"]["ok"] is True
    assert tree(bench.target, lambda name: name == "envsetup.json") == before
    assert bench.index.count() == asked
    whole = tree(bench.target)
    bench.made()
    assert tree(bench.target) == whole


def test_a_failed_probe_leaves_a_new_environment_in_place_and_runs_again(bench: Bench) -> None:
    done = bench.create(FAKE_TORCH="raise")
    assert done.code == 5
    assert done.data["probe"]["stage"] == "import" and done.data["ok"] is False
    assert bench.create(FAKE_TORCH="raise").code == 5
    assert bench.made().data["probe"]["ok"] is True


def test_receipts_are_json_and_name_what_was_done(bench: Bench) -> None:
    bench.made("--stack", "tiny==1")
    receipt = json.loads((bench.target / "envsetup.json").read_text())
    assert receipt["schema"] == 1 and receipt["probe"]["ok"] is True
    assert [p.split("==")[0] for p in receipt["packages"]] == [
        "tiny-torch",
        "tiny-vision",
        "tiny-numbers",
        "pip",
    ]
    assert receipt["replaces"][0]["name"] == "torch"


def test_a_damaged_receipt_counts_as_none(bench: Bench) -> None:
    bench.made()
    (bench.target / "envsetup.json").write_text('{"schema": 1, "key": ')
    done = bench.create()
    assert done.code == 4 and "--replace" in done.message
    for broken in ("{}", "[]", '{"schema": 1, "key": {}}', "\x00"):
        (bench.target / "envsetup.json").write_text(broken)
        assert bench.create().code == 4
    bench.made("--replace")


def test_an_environment_whose_python_is_gone_is_not_taken_as_done(bench: Bench) -> None:
    bench.made()
    (bench.target / "bin" / "python").unlink()
    done = bench.create()
    assert done.code == 4 and "--replace" in done.message
    bench.made("--replace")
    assert bench.version() == "2.0"


def test_a_dry_run_changes_nothing(bench: Bench) -> None:
    done = bench.create("--dry-run")
    assert done.code == 0 and done.data["steps"]
    assert not bench.target.parent.exists()
    assert bench.index.count() == 0
    removed = [step for step in done.data["steps"] if step["action"] == "remove"]
    assert removed[0]["elided"] is True and removed[0]["packages"] == ["torch==2.0"]
    assert done.data["saved_bytes"] == bench.package("torch", "2.0").size
