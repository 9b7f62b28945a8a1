from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Callable

import pytest

from envsetup.diagnose.checks.interpreter import look
from envsetup.diagnose.checks.target import open_path, open_python
from envsetup.errors import UsageError
from tests.diagnose.checks.site import Site, codes, problem

posix = pytest.mark.skipif(sys.platform == "win32", reason="scripts stand in for interpreters")


def script(site: Site, text: str) -> None:
    python = site.prefix / "bin" / "python"
    python.write_text(f"#!/bin/sh\n{text}\n")
    python.chmod(0o755)


def answer(**values: object) -> str:
    said = {"version": "3.8.18", "bits": 64, "prefix": "/x", "ssl": True, "paths": ["/x"], **values}
    return (
        f"echo '{said!s}'".replace("'", '"')
        .replace('echo "', "echo '")
        .replace('}"', "}'")
        .replace("True", "true")
        .replace("False", "false")
    )


@posix
@pytest.mark.parametrize(
    ("text", "code"),
    [
        (answer(), ""),
        (answer(version="3.10.1"), "interpreter-broken"),
        (answer(bits=32), "python-32bit"),
        (answer(ssl=False), "python-ssl-broken"),
        ("echo no JSON", "interpreter-broken"),
        ("exit 127", "interpreter-broken"),
        ("kill -SEGV $$", "interpreter-broken"),
    ],
)
def test_what_the_interpreter_says(site: Site, text: str, code: str) -> None:
    script(site, text)
    assert codes(site.seen(look)) == ([code] if code else [])


@posix
def test_an_interpreter_that_was_removed_under_the_environment(site: Site) -> None:
    (site.prefix / "bin" / "python").symlink_to("/nowhere/python3.8")
    assert "/nowhere/python3.8" in problem(site.seen(look), "interpreter-broken").candidate.evidence[0]


@posix
def test_an_interpreter_that_is_none(site: Site) -> None:
    python = site.prefix / "bin" / "python"
    python.write_bytes(b"\0\1\2")
    python.chmod(0o755)
    assert codes(site.seen(look)) == ["interpreter-broken"]


@posix
def test_the_store(tmp_path: Path) -> None:
    site = Site(tmp_path, config=r"home = C:\Users\x\AppData\Local\Microsoft\WindowsApps\python3.8" + "\n")
    script(site, answer())
    assert codes(site.seen(look)) == ["microsoft-store-python"]


@pytest.mark.parametrize("version", ["3.6", "3.8", "3.12"])
def test_real_environments(tmp_path: Path, pythons: Callable[[str], Path], uv: str, version: str) -> None:
    subprocess.run(
        [uv, "venv", "-q", "--no-project", f"--python={pythons(version)}", tmp_path / "env"], check=True
    )
    target = open_path(tmp_path / "env")
    assert (target.kind, target.version, len(target.site)) == ("venv", version, 1)
    assert isinstance(target.answer, dict) and target.answer["version"].startswith(f"{version}.")
    assert target.processor is not None
    assert open_python(target.python).prefix == target.prefix


def test_an_interpreter_without_an_environment(pythons: Callable[[str], Path]) -> None:
    target = open_python(pythons("3.8"))
    assert (target.kind, target.version) == ("system", "3.8")
    assert target.site and all(folder.is_dir() for folder in target.site)


def test_conda(tmp_path: Path) -> None:
    (tmp_path / "lib" / "python3.9" / "site-packages").mkdir(parents=True)
    (tmp_path / "conda-meta").mkdir()
    target = open_path(tmp_path)
    assert (target.kind, target.version) == ("conda", "3.9")


def test_a_folder_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is no environment"):
        open_path(tmp_path)
    with pytest.raises(UsageError, match="There is no interpreter"):
        open_python(tmp_path / "python")
    (tmp_path / "python").write_text("")
    (tmp_path / "python").chmod(0o644)
    with pytest.raises(UsageError, match="can't be started"):
        open_python(tmp_path / "python")
