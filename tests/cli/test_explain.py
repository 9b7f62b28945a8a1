"""``envsetup explain``: a log in a file, from a pipe, and a program that is run."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Dict, List

import pytest

PROTOBUF = b"TypeError: Descriptors cannot not be created directly.\n"
PYTHON = [sys.executable, "-c"]


def explain(*arguments: object, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "envsetup", "explain", *map(str, arguments)]
    done = subprocess.run(command, input=stdin, capture_output=True, timeout=60)
    assert b"Traceback" not in done.stderr.replace(b"Traceback by the program", b"")
    return done


def data(done: subprocess.CompletedProcess[bytes]) -> Dict[str, Any]:
    found = json.loads(done.stdout)
    assert isinstance(found, dict) and found["schema"] == 1
    return found


def codes(done: subprocess.CompletedProcess[bytes]) -> List[str]:
    return [finding["code"] for finding in data(done)["findings"]]


def test_a_log_in_a_file_and_from_a_pipe(tmp_path: Path) -> None:
    log = tmp_path / "install.log"
    log.write_bytes(PROTOBUF)
    piped = explain("-", "--json", stdin=PROTOBUF), explain("--json", stdin=PROTOBUF)
    for done in (explain(log, "--json"), *piped):
        assert (done.returncode, codes(done)[0]) == (1, "protobuf-too-new")


def test_powershells_utf_16() -> None:
    done = explain("-", "--json", stdin=PROTOBUF.decode().encode("utf-16"))
    assert codes(done)[0] == "protobuf-too-new"


def test_nothing_is_said_plainly() -> None:
    done = explain("-", stdin=b"all is well\n")
    assert done.returncode == 0 and b"Nothing in this is a failure" in done.stdout
    assert data(explain("-", "--json", stdin=b""))["findings"] == []


def test_facts_of_the_machine_where_it_happened(tmp_path: Path) -> None:
    case = tmp_path / "case.json"
    log = b"ImportError: libdxcore.so: cannot open shared object file: No such file or directory\n"
    for facts, code in (
        ({"os": "linux", "wsl": False}, "directml-on-native-linux"),
        ({"os": "windows", "wsl": 2, "os_version": "Windows 10 build 17763"}, "wsl-windows-build-too-old"),
    ):
        case.write_text(json.dumps({"facts": facts}))
        assert codes(explain("-", "--json", "--machine", case, stdin=log))[0] == code


@pytest.mark.parametrize("arguments", [["nowhere.log"], ["--"], ["a.log", "--", "true"]])
def test_mistakes(arguments: List[str]) -> None:
    done = explain(*arguments)
    assert done.returncode == 2 and b"error:" in done.stderr.lower()


def test_a_program_that_fails_is_explained_and_its_code_passed_on() -> None:
    program = f"import sys; print('out'); sys.stderr.write({PROTOBUF.decode()!r}); sys.exit(7)"
    done = explain("--", *PYTHON, program)
    assert done.returncode == 7
    assert done.stdout.startswith(b"out\n") and b"protobuf-too-new" in done.stdout
    assert PROTOBUF in done.stderr


def test_a_program_that_succeeds_is_not_commented() -> None:
    done = explain("--", *PYTHON, "print('out')")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"out\n", b"")


def test_json_keeps_stdout_for_itself() -> None:
    done = explain("--json", "--", *PYTHON, f"print({PROTOBUF.decode()!r}); raise SystemExit(3)")
    assert (done.returncode, data(done)["exit"], codes(done)[0]) == (3, 3, "protobuf-too-new")
    assert PROTOBUF.strip() in done.stderr


def test_what_a_program_says_of_what_was_wanted_counts() -> None:
    """Its words are the command line: a package that has no wheel is named there only."""
    done = explain(
        "--json", "--", *PYTHON, "import sys; sys.exit('No matching distribution found for torch==1.8.0')"
    )
    assert done.returncode == 1 and data(done)["exit"] == 1


@pytest.mark.parametrize(("words", "code"), [(["no-such-program-anywhere"], 127), (["/etc/hostname"], 126)])
@pytest.mark.skipif(sys.platform == "win32", reason="exit codes of POSIX shells")
def test_a_program_that_does_not_start(words: List[str], code: int) -> None:
    assert explain("--", *words).returncode in (code, 127)


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_a_program_that_was_killed() -> None:
    killed = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    assert explain("--", *PYTHON, killed).returncode == 128 + signal.SIGKILL


def test_output_passes_as_it_comes() -> None:
    program = "import sys, time; print('first', flush=True); time.sleep(30)"
    command = [sys.executable, "-m", "envsetup", "explain", "--", *PYTHON, program]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        assert process.stdout and process.stdout.readline() == b"first\n"
        assert process.poll() is None
        began = time.monotonic()
        if sys.platform != "win32":
            os.killpg(process.pid, signal.SIGINT)
            assert process.wait(20) != 0
            assert time.monotonic() - began < 15
    finally:
        process.kill()
        process.communicate()


def test_a_program_that_prints_without_end_is_kept_in_bounds() -> None:
    last = "sys.exit('Descriptors cannot be created directly')"
    program = f"import sys; [print('x' * 1000) for _ in range(30000)]; {last}"
    command = [sys.executable, "-m", "envsetup", "explain", "--json", "--", *PYTHON, program]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=120)
    assert (done.returncode, codes(done)[0]) == (1, "protobuf-too-new")
