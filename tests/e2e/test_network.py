"""A network or an index that fails: the earlier environment stays, and the message says what to do."""

from __future__ import annotations

import dataclasses
import socket
from pathlib import Path

import pytest

from envsetup.plan.lock import Lock, read_lock
from tests.e2e.bench import MINOR, PLATFORM, Bench


def dead_port() -> int:
    """Return a port on which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.mark.parametrize(
    "fault, match, says",
    [
        ("404", "*.whl", "404"),
        ("500", "*", "answered with an error of its own"),
        ("503", "*.whl", "answered with an error of its own"),
        ("garbage", "/simple/*", "its answer can't be read"),
        ("garbage", "*.whl", "not the one that is expected"),
        ("tampered", "*.whl", "not the one that is expected"),
        ("truncated", "*.whl", "can't be read"),
        ("truncated", "/simple/*", "can't be read"),
        ("cut", "*", "can't be reached"),
        ("cut", "*.whl", "can't be reached"),
        ("hang", "/simple/*", "can't be reached"),
        ("hang", "*.whl", "can't be reached"),
    ],
)
def test_a_failing_index_leaves_the_earlier_environment(
    fault: str, match: str, says: str, earlier: Bench
) -> None:
    earlier.index.fail(fault, match)
    done = earlier.create("--replace", UV_CACHE_DIR=str(earlier.folder / "empty"))
    assert done.code == 4, done.err
    assert says in done.message, done.message
    assert done.data["error"]["hint"], done.message


def test_after_the_fault_the_same_command_works(bench: Bench) -> None:
    bench.index.fail("truncated", "*.whl")
    assert bench.create().code == 4
    assert not bench.target.exists() and bench.left_over() == []
    bench.index.heal()
    bench.made()
    assert bench.version() == "2.0"


def test_a_slow_answer_is_waited_for_as_long_as_something_comes(bench: Bench) -> None:
    bench.index.pause = 0.02
    bench.index.fail("slow", "/files/tiny_numbers*")
    bench.made(UV_HTTP_TIMEOUT="1")


def test_no_network_at_all(earlier: Bench) -> None:
    url = f"http://127.0.0.1:{dead_port()}/simple/"
    done = earlier.create("--replace", PIP_INDEX_URL=url, UV_CACHE_DIR=str(earlier.folder / "empty"))
    assert done.code == 4
    assert "can't be reached" in done.message and "HTTPS_PROXY" in done.message


def test_a_name_that_does_not_resolve(earlier: Bench) -> None:
    url = "http://index.invalid/simple/"
    done = earlier.create("--replace", PIP_INDEX_URL=url, UV_CACHE_DIR=str(earlier.folder / "empty"))
    assert done.code == 4
    assert "can't be reached" in done.message


def test_no_network_is_needed_for_what_the_cache_has(bench: Bench) -> None:
    bench.made()
    asked = bench.index.count()
    bench.made("--replace", UV_OFFLINE="1")
    assert bench.index.count() == asked


def test_a_network_that_fails_while_requirements_are_resolved_is_no_missing_stack(earlier: Bench) -> None:
    earlier.index.fail("500")
    done = earlier.create("--replace", "--with", "tiny-numbers", UV_CACHE_DIR=str(earlier.folder / "empty"))
    assert done.code == 4, done.message
    assert "error of its own" in done.message


def test_access_refused(earlier: Bench) -> None:
    earlier.index.credentials = ("someone", "s3cr3t")
    empty = str(earlier.folder / "empty")
    done = earlier.create("--replace", UV_CACHE_DIR=empty)
    assert done.code == 4
    assert "refused access" in done.message and "token" in done.message
    wrong = earlier.index.url.replace("://", "://someone:wr0ng@")
    done = earlier.create("--replace", UV_CACHE_DIR=empty, PIP_INDEX_URL=wrong)
    assert done.code == 4
    assert "refused access" in done.message
    assert "wr0ng" not in done.out + done.err


def test_an_index_that_lacks_the_file_is_named(earlier: Bench) -> None:
    for wheel in earlier.index.folder.glob("tiny_vision-2*"):
        wheel.unlink()
    done = earlier.create("--replace", UV_CACHE_DIR=str(earlier.folder / "empty"))
    assert done.code == 4
    assert "tiny-vision" in done.message


def test_a_lock_with_another_hash_installs_nothing(earlier: Bench) -> None:
    path = earlier.constraints / "locks" / "tiny" / "2.0" / f"py{MINOR}-{PLATFORM}.txt"
    lock = read_lock(path)
    packages = [dataclasses.replace(p, sha256="0" * 64) for p in lock.packages]
    earlier.write_lock("2.0", MINOR, Lock(tuple(packages), lock.replaced, "tiny"))
    done = earlier.create("--replace")
    assert done.code == 4
    assert "not the one that is expected" in done.message


def test_a_damaged_lock_is_named(earlier: Bench) -> None:
    path: Path = earlier.constraints / "locks" / "tiny" / "2.0" / f"py{MINOR}-{PLATFORM}.txt"
    path.write_text("tiny-torch 2.0\n")
    done = earlier.create("--replace")
    assert done.code == 4
    assert f"{path}:1" in done.message
    path.unlink()
    done = earlier.create("--replace")
    assert done.code == 4
    assert str(path) in done.message
