"""What a newcomer mistypes is answered with a sentence and a way on, never with a traceback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Dict, List, Tuple

import pytest

from envsetup.cli import common
from envsetup.errors import USAGE

FULL = Path("/dev/full")

# (arguments, what the answer must name)
MISTAKES: List[Tuple[List[str], str]] = [
    (["crate"], "'create'"),
    (["help"], "--help"),
    (["-v"], "-v"),
    (["create", "--as-documentd"], "--as-documented"),
    (["create", "a", "b"], "b"),
    (["create", os.path.abspath(os.sep)], ".venv"),  # noqa: PTH100
    (["create", "--dry-run", "--backend", "dmll"], "dml"),
    (["create", "--dry-run", "--framework", "keras"], "torch"),
    (["create", "--dry-run", "--stack", "nope"], "pytorch-directml"),
    (["create", "--dry-run", "--assume", "foo"], "windows-build="),
    (["create", "--dry-run", "--assume", "gpu=xyz"], "1002:67df"),
    (["create", "--dry-run", "--machine", "no-such-file"], "facts --record"),
    (["create", "--dry-run", "--backend", "cpu", "-r", "no-such-file"], "-r"),
    (["probe", "no-such-folder"], "envsetup create"),
    (["stacks", "nope"], "pytorch-directml"),
]


def envsetup(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    environ: Dict[str, str] = {**os.environ, "PYTHONIOENCODING": "utf-8", **environment}
    command = [sys.executable, "-m", "envsetup", *arguments]
    return subprocess.run(
        command, env=environ, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8"
    )


@pytest.mark.parametrize(("arguments", "named"), MISTAKES, ids=lambda value: "-".join(value)[:40])
def test_a_mistake_is_answered_in_one_form(arguments: List[str], named: str) -> None:
    done = envsetup(*arguments)
    assert done.returncode == USAGE
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    assert "what to do: " in done.stderr
    assert named in done.stderr
    assert "Traceback" not in done.stderr


def test_a_mistake_with_json_is_one_object() -> None:
    done = envsetup("create", "--as-documentd", "--json")
    answer = json.loads(done.stdout)
    assert (answer["ok"], answer["exit_code"]) == (False, USAGE)
    assert "--as-documented" in answer["error"]["message"]


def test_no_arguments_show_the_help_on_stderr() -> None:
    done = envsetup()
    assert (done.returncode, done.stdout) == (USAGE, "")
    assert "create" in done.stderr


@pytest.mark.skipif(not FULL.exists(), reason="no /dev/full here")
@pytest.mark.parametrize("json_option", [[], ["--json"]])
def test_a_full_disk_behind_the_output_is_said(json_option: List[str]) -> None:
    with FULL.open("w") as full:
        command = [sys.executable, "-m", "envsetup", "stacks", *json_option]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, encoding="utf-8")
    assert done.returncode not in (0, 1)
    assert done.stderr.startswith("error: ")
    assert "Traceback" not in done.stderr


def test_a_defect_is_said_and_not_taken_for_a_finding(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> common.Outcome:
        raise KeyError("something")

    monkeypatch.delenv("ENVSETUP_DEBUG", raising=False)
    body = common.command(broken)
    assert body(as_json=True) == common.Defect.exit_code
    out, err = capsys.readouterr()
    assert "KeyError" in json.loads(out)["error"]["message"]
    assert "bug in envsetup" in err
    monkeypatch.setenv("ENVSETUP_DEBUG", "1")
    with pytest.raises(KeyError):
        body(as_json=True)


def test_reading_that_takes_long_is_announced(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import time

    monkeypatch.setattr(common, "_PATIENCE", 0.05)
    with common.patience("reading"):
        pass
    assert capsys.readouterr().err == ""
    with common.patience("reading"):
        time.sleep(0.5)
    assert capsys.readouterr().err == "reading\n"
