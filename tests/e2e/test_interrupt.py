"""Runs that are killed, stopped or interrupted, and two runs at once."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import threading
import time
from typing import Callable, Dict, List

import pytest

from tests.e2e.bench import Bench, end, processes_below, tree, wait_for

# Where a run is when the signal comes: what holds it there, and how to see that it is there.
Stage = Callable[[Bench], "subprocess.Popen[str]"]


def downloading(bench: Bench) -> subprocess.Popen[str]:
    bench.index.fail("hang", "*.whl")
    asked = bench.index.count("*.whl")
    process = bench.start("--replace", UV_CACHE_DIR=str(bench.folder / "empty"), UV_HTTP_TIMEOUT="60")
    wait_for(lambda: bench.index.count("*.whl") > asked)
    return process


def asking_the_index(bench: Bench) -> subprocess.Popen[str]:
    bench.index.fail("hang", "/simple/*")
    asked = bench.index.count()
    process = bench.start(
        "--replace", "--with", "tiny-numbers==1.0", UV_CACHE_DIR=str(bench.folder / "empty")
    )
    wait_for(lambda: bench.index.count() > asked)
    return process


def probing(bench: Bench) -> subprocess.Popen[str]:
    process = bench.start("--replace", FAKE_TORCH="hang")
    wait_for(lambda: any("main.py" in str(p["line"]) for p in processes_below(bench.target.parent)))
    return process


def paused(where: str) -> Stage:
    def start(bench: Bench) -> subprocess.Popen[str]:
        mark = bench.folder / "paused"
        process = bench.start("--replace", PAUSE=where, PAUSED=str(mark))
        wait_for(mark.exists)
        return process

    return start


STAGES: Dict[str, Stage] = {
    "asking the index": asking_the_index,
    "downloading": downloading,
    "probing": probing,
    "before the new one is moved in": paused("move-in"),
}


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("how", ["SIGTERM", "Ctrl-C"])
def test_a_stopped_run_cleans_up_at_once(stage: str, how: str, earlier: Bench) -> None:
    process = STAGES[stage](earlier)
    number = signal.SIGTERM if how == "SIGTERM" else signal.SIGINT
    done = end(process, number, group=how == "Ctrl-C")
    assert done.code == 130
    assert "Traceback" not in done.err
    assert done.data["exit_code"] == 130 and "as it was" in done.message
    assert processes_below(earlier.folder) == []
    # the fixture looks at the rest: the earlier environment is there, works, and nothing is beside it


@pytest.mark.parametrize("delay", [0.0, 0.01, 0.02, 0.05, 0.1])
def test_an_interruption_just_as_uv_starts_ends_the_run(delay: float, earlier: Bench) -> None:
    """Wherever it comes: Python forgets exceptions in what it runs before and after a fork."""
    earlier.index.fail("hang")
    process = earlier.start("--replace", UV_CACHE_DIR=str(earlier.folder / "empty"), UV_HTTP_TIMEOUT="60")
    wait_for(earlier.left_over)
    time.sleep(delay)
    assert end(process, signal.SIGINT, group=True).code == 130
    wait_for(lambda: processes_below(earlier.folder) == [], 5)


@pytest.mark.parametrize("stage", STAGES)
def test_after_a_kill_the_next_run_finds_the_earlier_environment(stage: str, earlier: Bench) -> None:
    before = tree(earlier.target)
    done = end(STAGES[stage](earlier), signal.SIGKILL)
    assert done.code == -signal.SIGKILL
    wait_for(lambda: processes_below(earlier.folder) == [], 5)
    if stage != "before the new one is moved in":
        assert tree(earlier.target) == before
    earlier.index.heal()
    again = earlier.made("--stack", "tiny==1")
    assert again.data["changed"] is False


def test_after_a_kill_during_the_clean_up_the_new_one_is_there(bench: Bench) -> None:
    bench.made("--stack", "tiny==1")
    end(paused("clean-up")(bench), signal.SIGKILL)
    assert bench.version() == "2.0" and bench.left_over() != []
    assert bench.made().data["changed"] is False
    assert bench.left_over() == []


def test_a_killed_first_run_leaves_nothing_that_the_next_one_minds(bench: Bench) -> None:
    bench.index.fail("hang", "*.whl")
    process = bench.start()
    wait_for(lambda: bench.index.count("*.whl"))
    end(process, signal.SIGKILL)
    assert not bench.target.exists()
    bench.index.heal()
    assert bench.made().data["changed"] is True
    assert bench.left_over() == []


def test_two_runs_at_once_wait_for_each_other(bench: Bench) -> None:
    go_on = bench.folder / "go on"
    first = bench.start(FAKE_TORCH=str(go_on))
    wait_for(lambda: any("main.py" in str(p["line"]) for p in processes_below(bench.target.parent)))
    second = bench.start()
    assert second.stderr is not None
    while "another run is working" not in second.stderr.readline():
        assert second.poll() is None
    go_on.touch()
    out, err = second.communicate(timeout=60)
    assert "nothing to do" in err
    assert json.loads(out)["changed"] is False
    assert first.wait(60) == 0 and second.returncode == 0
    assert bench.left_over() == []
    first.communicate()


def test_two_names_of_one_place_are_one_place(bench: Bench) -> None:
    link = bench.folder / "link"
    bench.target.parent.mkdir()
    link.symlink_to(bench.target.parent)
    bench.index.fail("hang", "*.whl")
    process = bench.start()
    wait_for(lambda: bench.index.count("*.whl"))
    said: List[str] = []
    other = subprocess.Popen(
        bench.command("create", link / "env", "--stack", "tiny"),
        env=bench.env,
        cwd=bench.folder,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    )
    reader = threading.Thread(target=lambda: said.extend(other.stderr or ()))
    reader.start()
    wait_for(lambda: any("another run is working" in line for line in said))
    bench.index.heal()
    end(process, signal.SIGTERM)
    assert other.wait(60) == 0
    reader.join()
    assert bench.version() == "2.0"


def test_a_waiting_run_can_be_interrupted(bench: Bench) -> None:
    bench.index.fail("hang", "*.whl")
    first = bench.start()
    wait_for(lambda: bench.index.count("*.whl"))
    second = bench.start()
    assert second.stderr is not None
    while "another run" not in second.stderr.readline():
        pass
    assert end(second, signal.SIGINT, group=True).code == 130
    assert first.poll() is None
    assert end(first, signal.SIGINT, group=True).code == 130
    assert bench.left_over() == []


def test_an_environment_that_a_person_removed_is_made_anew(bench: Bench) -> None:
    bench.made()
    shutil.rmtree(bench.target)
    assert bench.made().data["changed"] is True
