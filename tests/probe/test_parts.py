"""The parts of the runner on their own."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from envsetup.errors import UsageError
from envsetup.probe import snippet, supported
from envsetup.probe.events import SIZE_LIMIT, Progress
from envsetup.probe.evidence import Evidence
from envsetup.probe.exits import describe_exit, sentence
from envsetup.probe.log import BoundedLog, clean
from envsetup.probe.target import judge, network
from envsetup.probe.target.events import Failure
from envsetup.probe.target.interface import Device, Probe, Step, split
from envsetup.probe.verdict import Ending
from envsetup.probe.verdict import judge as judge_all


@pytest.mark.parametrize(
    ("code", "windows", "text"),
    [
        (-4, False, "SIGILL: illegal instruction at stage import"),
        (-11, False, "SIGSEGV: segmentation fault at stage import"),
        (-60, False, "signal 60: ended by a signal at stage import"),
        (0xC0000005, True, "0xC0000005: access violation at stage import"),
        (0xC000001D - (1 << 32), True, "0xC000001D: illegal instruction at stage import"),
        (0xC0000135, True, "0xC0000135: a DLL is missing at stage import"),
        (0xC1234567, True, "0xC1234567: an unknown status at stage import"),
        (3, True, "exit code 3: aborted at stage import"),
    ],
)
def test_a_crash_has_a_name(code: int, windows: bool, text: str) -> None:
    described = describe_exit(code, windows)
    assert described is not None
    assert sentence(described, "import") == text


@pytest.mark.parametrize(("code", "windows"), [(0, False), (1, False), (139, False), (0, True), (1, True)])
def test_an_ordinary_end_is_no_crash(code: int, windows: bool) -> None:
    assert describe_exit(code, windows) is None


@pytest.mark.parametrize("size", [1, 1000, 70_000])
def test_the_log_keeps_both_ends(size: int) -> None:
    log = BoundedLog(1000)
    data = b"HEAD" + b"." * 1_000_000 + b"TAIL"
    for start in range(0, len(data), size):
        log.feed(data[start : start + size])
    text = log.text()
    assert text.startswith("HEAD")
    assert text.endswith("TAIL")
    assert "[... 999008 bytes left out ...]" in text
    assert log.total == len(data)


@pytest.mark.parametrize("limit", [0, 1, 7, 100])
def test_a_short_log_is_kept_whole(limit: int) -> None:
    log = BoundedLog(limit)
    log.feed(b"x" * limit)
    assert log.text() == "x" * limit


def test_control_characters_are_replaced() -> None:
    assert (
        clean(b"a\x1b[31m\x00b\xff\tc\r\nd\re\x7f\xc2\x9b") == "a\ufffd[31m\ufffdb\ufffd\tc\nd\ne\ufffd\ufffd"
    )


def test_events_are_read_as_they_come_and_never_trusted(tmp_path: Path) -> None:
    path = tmp_path / "events"
    progress = Progress(path)
    progress.update()  # not there yet
    good = json.dumps({"event": "start", "stage": "train"}).encode()
    with path.open("wb") as file:
        file.write(
            b"\x00\xff\n3\nnull\n{}\n" + b'{"event": []}\n{"event": "start", "stage": {}}\n' + good[:9]
        )
        file.flush()
        progress.update()
        assert progress.stage == "start"
        file.write(good[9:] + b"\n" + b'{"event": "data", "key": ["k"], "value": 1}\n')
        file.write(b'{"event": "data", "key": "max_error", "value": "big"}\n')
        file.write(b'{"event": "data", "key": "devices", "value": [1, {"id": 2}]}\n')
        file.flush()
        progress.update()
        assert progress.stage == "train"
        assert progress.number("max_error") is None
        assert progress.objects("devices") == [{"id": 2}]
        file.write(b"x" * (2 * SIZE_LIMIT) + b"\n" + json.dumps({"event": "done"}).encode() + b"\n")
        file.flush()
        progress.update()
        progress.update()
        assert not progress.done


KEYS = ("framework", "devices", "device", "placement", "details", "max_error", "strategy", "no_device")


@pytest.mark.parametrize("value", ["7", '"x"', "[7]", "null", "true", '{"ops": 7, "fallbacks": 3}', "1e999"])
def test_any_value_of_any_event_makes_a_report(tmp_path: Path, value: str) -> None:
    lines = [f'{{"event": "data", "key": "{key}", "value": {value}}}' for key in KEYS]
    (tmp_path / "events").write_text("\n".join(lines) + "\n")
    progress = Progress(tmp_path / "events")
    progress.update()
    report = judge_all("dml", progress, Evidence(), BoundedLog(10), Ending(code=0))
    assert not report.ok
    assert report.reason
    json.dumps(report.to_json(), allow_nan=False)


DEVICES = [Device("GPU:0", "A"), Device("GPU:1", "B")]


@pytest.mark.parametrize(
    ("devices", "wanted", "backend", "chosen"),
    [
        ([], None, "cuda", "cpu"),
        ([], "GPU:1", "cuda", "cpu"),
        (DEVICES, None, "cuda", "GPU:0"),
        (DEVICES, "1", "cuda", "GPU:1"),
        (DEVICES, "gpu:1", "cuda", "GPU:1"),
        (DEVICES, "cuda:1", "cuda", "GPU:1"),
        ([Device("cuda:0", "A")], "gpu:0", "rocm", "cuda:0"),
        ([Device("DML:0", "A")], "dml", "dml", "DML:0"),
    ],
)
def test_choice_of_device(devices: list[Any], wanted: str, backend: str, chosen: str) -> None:
    assert judge.choose(devices, wanted, backend) == chosen


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("/job:localhost/replica:0/task:0/device:GPU:1", ("gpu", 1)),
        ("/device:DML:1", ("dml", 1)),
        ("dml", ("dml", 0)),
        ("cpu", ("cpu", 0)),
        ("privateuseone:1", ("privateuseone", 1)),
    ],
)
def test_device_names(text: str, parts: tuple[str, int]) -> None:
    assert split(text) == parts


def test_updates_are_compared_not_weights() -> None:
    start, right = [5.0, 5.0], [4.99, 5.001]
    assert judge.update_error("w", start, start, right) == pytest.approx(1.0)  # no gradient at all
    assert judge.update_error("w", start, right, right) == 0.0
    assert judge.update_error("w", start, [4.99, math.nan], right) == math.inf
    with pytest.raises(Failure, match="2 numbers"):
        judge.update_error("w", [1.0], start, right)


@pytest.mark.parametrize(
    ("ops", "problem"),
    [
        ([("conv2d", "dml:0"), ("linear", "dml:0"), ("cross_entropy", "cpu")], None),
        ([("conv2d", "dml:0"), ("linear", "cpu")], "linear did not run on dml:0"),
        ([("conv2d", "dml:1"), ("linear", "dml:0")], "conv2d did not run on dml:0"),
        ([("_FusedConv2D", "dml:0"), ("MatMul", "dml:0"), ("SGD (conv1/kernel)", "cpu")], None),
        ([("conv2d", "dml:0")], "Nothing proves where the matrix products ran"),
        ([], "Nothing proves where the convolutions ran"),
    ],
)
def test_placement(ops: list[tuple[str, str]], problem: str | None) -> None:
    placement = judge.placement(Probe(), "dml:0", Step((1.0, 1.0), {}, ops, "the fake's word"))
    if problem is None:
        judge.check_placement(placement)
    else:
        with pytest.raises(Failure, match=problem):
            judge.check_placement(placement)


def test_the_network_is_the_same_on_every_run() -> None:
    total = sum(sum(values) for _, _, values in network.weights())
    assert total == pytest.approx(-68.45557048, abs=1e-6)
    pixels, labels = network.batch()
    assert sum(pixels) == pytest.approx(6291.4793442, abs=1e-6)
    assert labels == [5, 1, 6, 2, 1, 5, 7, 7, 6, 2, 9, 8, 7, 4, 5, 3]


@pytest.mark.parametrize(
    ("framework", "backend", "package", "says"),
    [
        ("torch", "dml", "", '"dml"'),
        ("torch", "dml", "torch-directml", "torch_directml.device()"),
        ("torch", "rocm", "", '"cuda:0"'),
        ("tensorflow", "cuda", "", "set_memory_growth"),
        ("tensorflow", "dml", "tensorflow-directml-plugin", "/GPU:0"),
        ("tensorflow1", "cuda", "", "allow_growth"),
    ],
)
def test_snippets_are_programs(framework: str, backend: str, package: str, says: str) -> None:
    lines = snippet(framework, backend, package)
    compile(lines, "snippet", "exec")
    assert says in lines
    assert "{" not in lines


def test_every_pair_that_can_be_probed_has_a_snippet() -> None:
    for framework, backend in supported():
        assert snippet(framework, backend)
    with pytest.raises(UsageError):
        snippet("torch", "tpu")
