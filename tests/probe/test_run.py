"""The probe with fake frameworks: whatever they do is a report, and nothing is left running."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Callable, Dict

import pytest

from envsetup.errors import UsageError
from envsetup.probe import run
from envsetup.probe.target import judge

from .conftest import VERSIONS, Target

ONE = {"devices": ["Fake Radeon é"]}
TWO = {"devices": ["Fake Radeon", "Fake GeForce"]}
posix_only = pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")


def alive(pid: int) -> bool:
    """Tell whether a process runs (a zombie does not)."""
    if sys.platform == "win32":
        import ctypes

        kernel32 = ctypes.WinDLL("kernel32")
        handle = kernel32.OpenProcess(0x00100000, False, pid)  # SYNCHRONIZE
        return bool(handle) and kernel32.WaitForSingleObject(handle, 0) == 0x102  # WAIT_TIMEOUT
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state != "Z"


def wait_until(condition: Callable[[], bool], seconds: float = 10) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return condition()


@pytest.mark.parametrize("version", VERSIONS)
def test_trains_with_every_python(target_of: Callable[[str], Target], version: str) -> None:
    report = run(target_of(version).install(**ONE), "torch", "dml")
    assert (report.ok, report.stage, report.reason) == (True, "placement", "")
    assert [(d.id, d.name) for d in report.devices] == [("dml:0", "Fake Radeon é")]
    assert report.device == "dml:0"
    assert report.max_error == 0.0
    assert set(report.stages) == {"import", "enumerate", "train", "compare", "placement"}
    assert report.framework["version"] == "0.0+fake"
    assert "fake torch says: é中" in report.log
    json.dumps(report.to_json(), allow_nan=False)


FAILURES: Dict[str, Dict[str, Any]] = {
    "raises": {
        "fake": {"on_import": "raise", "text": "libfake.so.5: cannot open shared object file: No such file"},
        "stage": "import",
        "reason": "ImportError: libfake.so.5: cannot open shared object file",
        "missing": ("libfake.so.5",),
    },
    "ends quietly": {
        "fake": {"on_import": "exit", "code": 0},
        "stage": "import",
        "reason": "ended with code 0 at stage import",
    },
    "no adapter": {
        "fake": {"devices": []},
        "stage": "enumerate",
        "reason": "No dml device was found: DirectML found no adapter",
        "device": "cpu",
    },
    "adapter without a driver": {
        "fake": {"enumerate": "raise"},
        "stage": "enumerate",
        "reason": "No dml device was found: CHECK failed",
        "device": "cpu",
    },
    "silent fallback": {
        "fake": {**ONE, "silent": True},
        "stage": "placement",
        "reason": "Silent fallback: conv2d",
        "device": "dml:0",
    },
    "fallback of a heavy operation": {
        "fake": {**ONE, "fallbacks": ["aten::convolution_overrideable"]},
        "stage": "placement",
        "reason": "Silent fallback: aten::convolution_overrideable did not run on dml:0",
        "device": "dml:0",
    },
    "wrong numbers": {
        "fake": {**ONE, "wrong": "value"},
        "stage": "compare",
        "reason": "Wrong numbers: the update of dense1/kernel differs from the CPU's by 1 of its size",
        "device": "dml:0",
    },
    "not a number": {
        "fake": {**ONE, "wrong": "nan"},
        "stage": "compare",
        "reason": "Wrong numbers: the update of dense1/kernel differs from the CPU's by inf",
        "device": "dml:0",
    },
    "nothing trained": {
        "fake": {**ONE, "untrained": True},
        "stage": "compare",
        "reason": "The training step did not change conv1/kernel",
        "device": "dml:0",
    },
    "a CPU that computes wrongly": {
        "fake": {**ONE, "losses": [2.7, 4.4]},
        "stage": "compare",
        "reason": "The CPU itself computes wrongly",
        "device": "dml:0",
    },
}


@pytest.mark.parametrize("name", FAILURES)
def test_failure_names_stage_and_reason(target: Target, name: str) -> None:
    case = FAILURES[name]
    report = run(target.install(**case["fake"]), "torch", "dml")
    assert not report.ok
    assert report.stage == case["stage"]
    assert case["reason"] in report.reason
    assert report.missing_libraries == case.get("missing", ())
    assert report.device == case.get("device")
    json.dumps(report.to_json(), allow_nan=False)


def test_without_a_device_the_cpu_is_trained(target: Target) -> None:
    report = run(target.install(devices=[]), "torch", "dml")
    assert {"train", "compare", "placement"} <= set(report.stages)
    assert report.placement is not None
    assert report.placement["device"] == "cpu"


def test_wanted_cpu_is_enough(target: Target) -> None:
    report = run(target.install(devices=[]), "torch", "cpu")
    assert report.ok
    assert report.device == "cpu"
    assert report.devices[0].id == "cpu"
    assert report.devices[0].name


def test_a_light_fallback_is_named_and_allowed(target: Target) -> None:
    report = run(target.install(**ONE, fallbacks=["aten::_index_put_impl_"]), "torch", "dml")
    assert report.ok
    assert report.placement is not None
    assert report.placement["fallbacks"] == ["aten::_index_put_impl_"]


@pytest.mark.parametrize(
    ("wanted", "got"),
    [("dml:1", "dml:1"), ("1", "dml:1"), ("dml", "dml:0"), ("DML:0", "dml:0"), (None, "dml:0")],
)
def test_a_device_is_chosen_by_id_or_number(target: Target, wanted: str, got: str) -> None:
    report = run(target.install(**TWO), "torch", "dml", wanted)
    assert report.ok
    assert report.device == got
    assert {op["device"] for op in report.placement["ops"]} == {got}  # type: ignore[index]


@pytest.mark.parametrize("wanted", ["dml:1", "7", "cuda:0", "nonsense"])
def test_a_device_that_is_not_there_is_answered_with_the_list(target: Target, wanted: str) -> None:
    report = run(target.install(**ONE), "torch", "dml", wanted)  # the fake's to("dml:1") hangs
    assert (report.ok, report.stage, report.device) == (False, "enumerate", None)
    assert f"There is no device {wanted} here; there is dml:0 (Fake Radeon é)" in report.reason
    assert [d.id for d in report.devices] == ["dml:0"]


def test_an_early_release_without_a_count_still_trains(target: Target) -> None:
    report = run(target.install(**ONE, without_dml_functions=True), "torch", "dml")
    assert report.ok
    assert report.device == "dml:0"


@posix_only
@pytest.mark.parametrize(
    ("name", "meaning"),
    [
        ("SIGSEGV", "segmentation fault"),
        ("SIGILL", "illegal instruction"),
        ("SIGKILL", "killed"),
        ("SIGABRT", "aborted"),
    ],
)
def test_a_signal_is_named(target: Target, name: str, meaning: str) -> None:
    report = run(target.install(on_import="signal", signal=name), "torch", "dml")
    assert (report.ok, report.stage) == (False, "import")
    assert report.reason.startswith(f"{name}: {meaning}")
    assert report.reason.endswith("at stage import")
    assert report.exit is not None
    assert report.exit["signal"] == name


def test_a_crash_in_native_code_is_named(target: Target) -> None:
    report = run(target.install(on_import="crash"), "torch", "dml")
    name = "0xC0000005: access violation" if sys.platform == "win32" else "SIGSEGV: segmentation fault"
    assert report.reason == f"{name} at stage import"
    assert "in on_import" in report.log


def test_a_hang_ends_with_its_children_and_says_where(target: Target, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    python = target.install(on_import="hang", pids=str(pids))
    began = time.monotonic()
    report = run(python, "torch", "dml", limits={"import": 1})
    assert time.monotonic() - began < 6
    assert (report.ok, report.stage) == (False, "import")
    assert report.reason == "No answer within 1 s at stage import; it was ended"
    assert "in hang" in report.log  # the trace of where it stood
    assert not any(alive(int(pid)) for pid in pids.read_text().split())


def test_a_hang_in_training_is_told_as_training(target: Target) -> None:
    report = run(target.install(**ONE, backward="hang"), "torch", "dml", limits={"train": 3})
    assert (report.ok, report.stage, report.device) == (False, "train", "dml:0")


def test_a_flood_of_binary_output_is_bounded_and_still_read(target: Target) -> None:
    report = run(target.install(**ONE, on_import="flood", megabytes=25), "torch", "dml", log_limit=10_000)
    assert report.ok
    assert report.log_bytes > 50 << 20
    assert len(report.log) < 11_000
    assert "the last line" in report.log
    assert report.missing_libraries == ("libfake.so.1",)
    assert not set(map(chr, range(32))) & set(report.log) - {"\n", "\t"}


def test_garbage_among_the_events_does_no_harm(target: Target) -> None:
    report = run(target.install(**ONE, on_import="garbage"), "torch", "dml")
    assert report.ok
    assert report.strategy is None
    json.dumps(report.to_json(), allow_nan=False)


def test_nothing_of_our_environment_leaks_into_the_target(
    target: Target, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "torch.py").write_text("raise ImportError('the wrong torch')")
    (tmp_path / "sitecustomize.py").write_text("raise SystemExit('leaked')")
    (tmp_path / "json.py").write_text("raise SystemExit('leaked')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("PYTHONHOME", str(tmp_path))
    monkeypatch.setenv("PYTHONWARNINGS", "error")
    monkeypatch.chdir(tmp_path)
    assert run(target.install(**ONE), "torch", "dml").ok


def test_a_relative_interpreter_is_found(target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    python = target.install(**ONE)
    monkeypatch.chdir(python.parent)
    assert run(Path(python.name) if sys.platform == "win32" else Path() / "python", "torch", "dml").ok


def test_probing_writes_nothing_beside_our_own_files(target: Target) -> None:
    package = Path(judge.__file__).parent
    before = {p for p in package.rglob("*") if p.suffix == ".pyc"}
    run(target.install(**ONE), "torch", "dml")
    assert {p for p in package.rglob("*") if p.suffix == ".pyc"} == before


@pytest.mark.parametrize("kind", ["absent", "a directory", "not a program", "not an interpreter"])
def test_what_is_no_interpreter_is_a_report(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "python"
    if kind == "a directory":
        path.mkdir()
    elif kind == "not a program":
        path.write_text("text")
    elif kind == "not an interpreter":
        if sys.platform == "win32":
            pytest.skip("a shell script is no program on Windows")
        path.write_text("#!/bin/sh\necho this is no Python; exit 7\n")
        path.chmod(0o755)
    report = run(path, "torch", "dml")
    assert (report.ok, report.stage) == (False, "start")
    assert report.reason
    if kind == "not an interpreter":
        assert "code 7" in report.reason
        assert "this is no Python" in report.reason


def test_an_unknown_pair_is_a_usage_error(target: Target) -> None:
    with pytest.raises(UsageError, match="torch with tpu"):
        run(target.python, "torch", "tpu")


PARENT = """
import sys
from pathlib import Path
from envsetup.probe import run
run(Path(sys.argv[1]), "torch", "dml")
"""


@pytest.mark.parametrize("how", ["interrupted", "killed"])
def test_nothing_survives_when_we_are_ended(target: Target, tmp_path: Path, how: str) -> None:
    if how == "interrupted" and sys.platform == "win32":
        pytest.skip("Ctrl-C needs a console of its own there")
    if how == "killed" and sys.platform == "darwin":
        pytest.skip("there the stage's limit ends the child")
    pids = tmp_path / "pids"
    python = target.install(on_import="hang", pids=str(pids))
    root = Path(judge.__file__).resolve().parents[3]
    env = {**os.environ, "PYTHONPATH": str(root), "TMPDIR": str(tmp_path)}
    ours = getattr(sys, "_base_executable", sys.executable)  # on Windows a venv's is a launcher
    parent = subprocess.Popen([ours, "-c", PARENT, str(python)], env=env, stderr=subprocess.DEVNULL)
    assert wait_until(lambda: pids.exists() and len(pids.read_text().split()) == 2)
    child, grandchild = map(int, pids.read_text().split())
    if how == "killed":
        parent.kill()
    else:
        parent.send_signal(signal.SIGINT)
    parent.wait(15)
    assert wait_until(lambda: not alive(child))
    if how == "killed" and sys.platform != "win32":
        os.kill(grandchild, signal.SIGKILL)  # only the child itself knows that we are gone
    assert wait_until(lambda: not alive(grandchild))
    if how == "interrupted":
        assert not list(tmp_path.glob("envsetup-probe-*"))
