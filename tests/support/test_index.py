"""The test index is itself a tool that others rely on: uv must see what real indexes show it."""

from __future__ import annotations

import functools
import os
import subprocess
from pathlib import Path
from typing import Callable

import pytest

from tests.support.index import Index


def install(uv: str, index_url: str, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [uv, "pip", "install", "--no-cache", "--index-url", index_url, "--target", str(folder / "into")]
    environ = {k: v for k, v in os.environ.items() if not k.startswith(("UV_", "PIP_"))}
    environ.update(UV_HTTP_TIMEOUT="3", UV_HTTP_RETRIES="0", NO_PROXY="127.0.0.1")
    return subprocess.run([*command, *arguments], capture_output=True, text=True, env=environ)


def test_uv_installs_a_wheel_and_what_it_requires(uv: str, index: Index, tmp_path: Path) -> None:
    index.add("hello-world", "1.2", requires=["greeting>=1"])
    index.add("greeting", "1.0")
    done = install(uv, index.url, tmp_path, "hello_world")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "into/hello_world/__init__.py").is_file()
    assert (tmp_path / "into/greeting/__init__.py").is_file()
    assert index.count("/files/*.whl") == 2


@pytest.mark.parametrize(
    "fault, match, says",
    [
        ("404", "/simple/hello/", "not found"),
        ("500", "/simple/hello/", "500"),
        ("503", "*.whl", "503"),
        ("garbage", "*.whl", ""),
        ("truncated", "*.whl", ""),
        ("cut", "/simple/*", ""),
        ("tampered", "*.whl", ""),
        ("wrong-hash", "/simple/hello/", "hash"),
        ("hang", "*.whl", "time"),
    ],
)
def test_each_fault_is_one_that_uv_stumbles_over(
    fault: str, match: str, says: str, uv: str, index: Index, tmp_path: Path
) -> None:
    index.add("hello", "1.0")
    index.fail(fault, match)
    done = install(uv, index.url, tmp_path, "hello")
    assert done.returncode != 0
    assert says in done.stderr.lower()
    index.heal()
    assert install(uv, index.url, tmp_path, "hello").returncode == 0


def test_a_fault_with_times_ends(uv: str, index: Index, tmp_path: Path) -> None:
    index.add("hello", "1.0")
    index.fail("500", "/simple/hello/", times=1)
    assert install(uv, index.url, tmp_path, "hello").returncode != 0
    assert install(uv, index.url, tmp_path, "hello").returncode == 0


def test_a_slow_answer_arrives_whole(uv: str, index: Index, tmp_path: Path) -> None:
    index.add("hello", "1.0")
    index.pause = 0.01
    index.fail("slow", "*.whl")
    assert install(uv, index.url, tmp_path, "hello").returncode == 0


def test_credentials_are_demanded(uv: str, index: Index, tmp_path: Path) -> None:
    index.add("hello", "1.0")
    index.credentials = ("someone", "secret")
    assert install(uv, index.url, tmp_path, "hello").returncode != 0
    assert {request.status for request in index.requests} == {401}
    assert install(uv, index.url_with_credentials, tmp_path, "hello").returncode == 0


def test_yanked_files_and_later_ones_are_told_apart(uv: str, index: Index, tmp_path: Path) -> None:
    index.add("hello", "1.0")
    index.uploaded[index.add("hello", "1.1").name] = "2026-01-01T00:00:00Z"
    index.yanked[index.add("hello", "1.2").name] = "broken"
    assert "hello==1.1" in install(uv, index.url, tmp_path, "hello").stderr
    done = install(uv, index.url, tmp_path, "--exclude-newer", "2025-01-01", "--reinstall", "hello")
    assert "hello==1.0" in done.stderr, done.stderr


def test_pip_reads_the_html_form(pythons: Callable[[str], Path], index: Index, tmp_path: Path) -> None:
    index.add("hello", "1.0")
    pip = [str(pythons("3.8")), "-m", "pip", "--isolated", "--no-cache-dir"]
    command = [*pip, "download", "--index-url", index.url, "-d", str(tmp_path), "hello"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "hello-1.0-py3-none-any.whl").is_file()


def test_the_same_arguments_make_the_same_wheel(tiny_wheel: Callable[..., Path]) -> None:
    make = functools.partial(tiny_wheel, "hello", "1.0", scripts={"hello": "hello:main"})
    assert make().read_bytes() == make().read_bytes()
