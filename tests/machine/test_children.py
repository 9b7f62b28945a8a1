"""Real programs that hang, flood, crash or leave children behind."""

from __future__ import annotations

import json
import os
import sys
import time

import pytest

from envsetup.machine import RealHost, children
from envsetup.machine.host import Unreadable

posix = pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell")


def python(code):
    return [sys.executable, "-I", "-S", "-c", code]


def test_a_program_that_never_ends_is_ended_with_its_children():
    began = time.monotonic()
    code = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import time; time.sleep(60)'])"
    done = children.run(python("print('begun', flush=True)\n" + code), timeout=1)
    assert time.monotonic() - began < 5
    assert done == {"code": None, "out": "begun\n", "err": "", "timed_out": True}


@posix
def test_what_a_program_leaves_behind_does_not_hold_the_answer_up(tmp_path):
    mark = tmp_path / "still-here"
    began = time.monotonic()
    done = children.run(["/bin/sh", "-c", f"(sleep 2; touch {mark}) & echo answer"], timeout=1)
    assert (done["out"], done["timed_out"]) == ("answer\n", False)
    assert time.monotonic() - began < 3
    time.sleep(1.5)
    assert not mark.exists()


def test_a_flood_is_cut_off():
    code = "import sys\nwhile True: sys.stdout.write('x' * 65536)"
    began = time.monotonic()
    done = children.run(python(code), timeout=1, limit=1000)
    assert (len(done["out"]), done["timed_out"]) == (1000, True)
    assert time.monotonic() - began < 5


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"plain", "plain"),
        ("Größe".encode(), "Größe"),
        (b"\xef\xbb\xbfmarked", "marked"),
        ("wide".encode("utf-16"), "wide"),
        ("wide".encode("utf-16-le"), "wide"),
        (b"\xff\xd8\xff garbage\0", "\ufffd\ufffd\ufffd garbage\ufffd"),
        (b"", ""),
    ],
)
def test_output_is_text_whatever_it_is(raw, text):
    assert children.decode(raw) == text


def test_a_program_that_is_not_there_is_told_from_one_that_does_not_start(tmp_path):
    assert RealHost().run([str(tmp_path / "missing")], timeout=1) is None
    broken = tmp_path / "broken.exe"
    broken.write_bytes(b"\0garbage")
    broken.chmod(0o755)
    with pytest.raises(Unreadable):
        RealHost().run([str(broken)], timeout=1)


@posix
def test_an_interpreter_is_asked_once_for_as_long_as_it_does_not_change(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    program, count = tmp_path / "program", tmp_path / "count"
    program.write_text(f"#!/bin/sh\necho x >> {count}\necho {{1}}\n")
    program.chmod(0o755)
    for _ in range(3):
        assert RealHost().run([str(program)], timeout=5, remember=True).out == "{1}\n"
    assert count.read_text() == "x\n"
    program.write_text(program.read_text() + "echo more\n")
    assert RealHost().run([str(program)], timeout=5, remember=True).out == "{1}\nmore\n"
    for kept in (tmp_path / "cache").rglob("*"):
        if kept.is_file():
            kept.write_bytes(b"\xffgarbage")
    assert RealHost().run([str(program)], timeout=5, remember=True).out == "{1}\nmore\n"


@posix
def test_a_failing_run_is_not_remembered(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\nexit 3\n")
    program.chmod(0o755)
    RealHost().run([str(program)], timeout=5, remember=True)
    assert not list((tmp_path / "cache").rglob("*"))


def test_native_queries_that_fail_say_why(tmp_path, monkeypatch):
    from envsetup.machine import real

    scripts = {
        "crash": "import os; os.abort()",
        "hang": "import time; time.sleep(60)",
        "garbage": "print('\\0\\xff{')",
        "refused": 'print(\'{"error": "Driver/library version mismatch"}\')',
        "nothing": "print('null')",
        "deep": "print('[' * 100000)",
    }
    for name, code in scripts.items():
        (tmp_path / f"{name}.py").write_text(code)
    monkeypatch.setattr(real.local, "__file__", str(tmp_path / "local.py"))
    host = RealHost()
    for name, why in {
        "crash": "ended with code",
        "hang": "no answer within 1 s",
        "garbage": "ended with code 0",
        "refused": "Driver/library version mismatch",
        "deep": "ended with code 0",
        "missing": "no interpreter",
    }.items():
        with pytest.raises(Unreadable, match=why):
            host.native(name, timeout=1)
    assert host.native("nothing") is None


def test_a_native_query_imports_nothing_of_the_user(tmp_path, monkeypatch):
    (tmp_path / "ctypes.py").write_text("raise SystemExit('the wrong ctypes')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert RealHost().native("cpuid") is None or os.name == "nt"


def test_json_of_a_run_is_what_a_recording_holds():
    done = RealHost().answer("run", json.dumps(python("print(1)")), 5)
    assert json.loads(json.dumps(done)) == {"code": 0, "out": "1\n", "err": "", "timed_out": False}
