"""The real host's answers, and how "not there" differs from "can't be read"."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from envsetup.machine import RealHost, read
from envsetup.machine.host import Host, RecordingHost, ReplayHost, Unreadable


def test_files_that_are_there_missing_huge_or_no_files(tmp_path):
    host = RealHost()
    (tmp_path / "file").write_text("x" * 5000)
    assert host.read_text(str(tmp_path / "file")) == "x" * 5000
    assert host.read_text(str(tmp_path / "file"), limit=10) == "x" * 10
    assert host.read_text(str(tmp_path / "missing")) is None
    assert host.read_text(str(tmp_path / "file" / "below")) is None
    assert host.list(str(tmp_path)) == ["file"]
    assert host.list(str(tmp_path), "*.so", "f*") == ["file"]
    assert host.list(str(tmp_path / "missing")) is None
    assert host.stat(str(tmp_path)).kind == "dir"
    assert host.real_path(str(tmp_path / "missing")) is None
    with pytest.raises(Unreadable):
        host.read_text(str(tmp_path))
    with pytest.raises(Unreadable):
        host.read_text("nul\0byte")


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such pipes")
def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(Unreadable, match="no regular file"):
        RealHost().read_text(str(tmp_path / "pipe"))


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX rights")
def test_a_file_without_permission_is_unreadable_not_absent(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("x")
    secret.chmod(0)
    tmp_path.chmod(0o755)
    code = (
        "import sys; from envsetup.machine import RealHost; from envsetup.machine.host import Unreadable\n"
        "import os; os.setuid(65534) if os.getuid() == 0 else None\n"
        "try: print(RealHost().read_text(sys.argv[1]))\n"
        "except Unreadable as error: print('unreadable:', error)\n"
    )
    parent = tmp_path.parent
    modes = []
    while str(parent) not in ("/", "/tmp"):
        modes.append((parent, parent.stat().st_mode))
        parent.chmod(0o755)
        parent = parent.parent
    try:
        done = subprocess.run([sys.executable, "-c", code, str(secret)], capture_output=True, text=True)
    finally:
        for folder, mode in modes:
            folder.chmod(mode)
    assert done.stdout.startswith("unreadable:") and "Permission denied" in done.stdout, done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="reads the Linux linker's cache")
def test_the_linkers_cache_is_searched_by_name():
    found = RealHost().libraries("libc.so.6") or []
    if not Path("/etc/ld.so.cache").exists():
        pytest.skip("no linker cache (musl)")
    assert found and all(path.endswith("/libc.so.6") for path in found)
    assert RealHost().libraries("libnothing-*.so") == []


def test_this_machine_is_read_whole_and_quickly(tmp_path):
    host = RecordingHost(RealHost())
    machine = read(host)
    assert machine.value("os") in ("linux", "windows", "macos")
    assert machine.get("arch").known and machine.get("python").known and machine.get("gpu").known
    assert machine.value("python"), "at least the one that runs this"


class SlowHost(Host):
    """A fake host on which one file never answers."""

    def answer(self, kind, key, bound):
        if key == "/proc/cpuinfo":
            threading.Event().wait(60)
        return {"value": {"system": "linux", "machine": "x86_64"}} if key == "platform" else None


def test_a_source_that_hangs_makes_one_fact_unknown():
    machine = read(SlowHost(), only=["os", "cpu", "arch"], limit=0.5)
    assert machine.value("os") == "linux" and machine.value("arch") == "x86_64"
    assert not machine.get("cpu").known and machine.get("cpu").source == "no answer within 0.5 s"


class CountingHost(Host):
    """A fake host that counts questions."""

    def __init__(self):
        self.asked = []

    def answer(self, kind, key, bound):
        self.asked.append(key)
        return "text"


def test_a_question_of_many_threads_is_asked_once():
    inner = CountingHost()
    host = RecordingHost(inner)
    threads = [threading.Thread(target=host.read_text, args=("/same",)) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert inner.asked == ["/same"]
    assert host.recorded() == {"text": {"/same": "text"}}


@pytest.mark.parametrize(
    ("ask", "recorded"),
    [
        (lambda host: host.read_text("k"), {"text": {"k": 5}}),
        (lambda host: host.read_bytes("k"), {"bytes": {"k": "no base64!"}}),
        (lambda host: host.list("k"), {"list": {"k": "abc"}}),
        (lambda host: host.stat("k"), {"stat": {"k": ["file"]}}),
        (lambda host: host.stat("k"), {"stat": {"k": ["file", "big", "old"]}}),
        (lambda host: host.disk_free("k"), {"disk": {"k": True}}),
        (lambda host: host.run(["k"], 1), {"run": {'["k"]': {"code": "0", "out": "", "err": ""}}}),
        (lambda host: host.run(["k"], 1), {"run": {'["k"]': {"code": 0, "out": ["x"], "err": ""}}}),
        (lambda host: host.registry("k"), {"registry": {"k": {"values": [], "keys": {}}}}),
        (lambda host: host.native("k"), {"native": {"k": [1]}}),
        (lambda host: host.read_text("k"), {"text": {"k": {"error": "Permission denied"}}}),
        (lambda host: host.read_text("k"), {"text": ["k"]}),
        (lambda host: host.read_text("k"), {}),
    ],
)
def test_a_recording_of_the_wrong_shape_is_unreadable(ask, recorded):
    with pytest.raises(Unreadable):
        ask(ReplayHost(recorded))


def test_what_a_complete_recording_lacks_is_not_there():
    assert ReplayHost({}, complete=True).read_text("/missing") is None
