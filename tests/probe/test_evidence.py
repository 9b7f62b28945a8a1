"""What a log gives away, in the spellings of old and new releases, on Linux and Windows."""

from __future__ import annotations

import pytest

from envsetup.probe.evidence import ITEM_LIMIT, Evidence
from envsetup.probe.stream import LINE_LIMIT, Lines

MISSING = [
    (
        "W dso_loader.cc:59] Could not load dynamic library 'libcudart.so.10.1'; dlerror: libcudart.so.10.1: "
        "cannot open shared object file: No such file or directory",
        ["libcudart.so.10.1"],
    ),
    (
        "Could not load dynamic library 'cudart64_101.dll'; dlerror: cudart64_101.dll not found",
        ["cudart64_101.dll"],
    ),
    ("Could not dlopen library 'libcudnn.so.7'; dlerror: libcudnn.so.7: cannot open", ["libcudnn.so.7"]),
    (
        "I dso_loader.cc:142] Couldn't open CUDA library libcupti.so.9.0. LD_LIBRARY_PATH:",
        ["libcupti.so.9.0"],
    ),
    ("I dso_loader.cc:142] Couldn't open CUDA library cupti64_90.dll", ["cupti64_90.dll"]),
    ("ImportError: Could not find 'cudart64_100.dll'. TensorFlow requires that", ["cudart64_100.dll"]),
    ("OSError: libomp.so.5: cannot open shared object file: No such file or directory", ["libomp.so.5"]),
    (
        "ImportError: libd3d12.so: cannot open shared object file: No such file or directory",
        ["libd3d12.so"],
    ),
    (
        "python: error while loading shared libraries: libpython3.8.so.1.0: cannot open shared object file",
        ["libpython3.8.so.1.0"],
    ),
    (
        "Could not load library libcudnn_cnn_infer.so.8. Error: libnvrtc.so: cannot open shared object file",
        ["libnvrtc.so", "libcudnn_cnn_infer.so.8"],
    ),
    (r"FileNotFoundError: Could not find module 'C:\envs\e\fbgemm.dll' (or one of", ["fbgemm.dll"]),
    ("Library not loaded: @rpath/libomp.dylib", ["libomp.dylib"]),
    ("Could not load dynamic library 'libnvinfer.so.7'; dlerror: libnvinfer.so.7: cannot open", []),
    ("Successfully opened dynamic library libcudart.so.10.1", []),
]


@pytest.mark.parametrize(("line", "names"), MISSING)
def test_missing_libraries_by_name(line: str, names: list[str]) -> None:
    evidence = Evidence()
    evidence.line(line.encode() + b"\n")
    evidence.line(line.encode() + b"\n")
    assert evidence.missing == names


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (
            "2020-01-01 00:00:00.0: E cuda_driver.cc:351] failed call to cuInit: UNKNOWN ERROR (303)",
            "failed call to cuInit: UNKNOWN ERROR (303)",
        ),
        (
            "I gpu_device.cc:1700] Ignoring visible gpu device (device: 0, name: Quadro K2000M) with Cuda "
            "compute capability 3.0. The minimum required Cuda capability is 3.5.",
            "Ignoring visible gpu device (device: 0, name: Quadro K2000M) with Cuda compute capability 3.0. "
            "The minimum required Cuda capability is 3.5.",
        ),
        (
            "DirectML device enumeration: found 0 compatible adapters.",
            "DirectML device enumeration: found 0 compatible adapters.",
        ),
    ],
)
def test_why_there_is_no_device(line: str, why: str) -> None:
    evidence = Evidence()
    evidence.line(line.encode())
    assert evidence.why_no_device == [why]


PLACED = [
    # 1.13, 1.15, 2.x eager, 2.x functions
    ("conv1/kernel: (VariableV2)/job:localhost/replica:0/task:0/device:GPU:0", "VariableV2", "GPU:0"),
    (
        "I placer.cc:54] x: (Conv2D): /job:localhost/replica:0/task:0/device:DML:1",
        "Conv2D",
        "DML:1",
    ),
    (
        "I execute.cc:611] Executing op MatMul in device /job:localhost/replica:0/task:0/device:CPU:0",
        "MatMul",
        "CPU:0",
    ),
]


@pytest.mark.parametrize(("line", "op", "device"), PLACED)
def test_placement_counts_only_while_the_device_is_trained(line: str, op: str, device: str) -> None:
    evidence = Evidence()
    marks = ("stage train", "train on cpu", "train on GPU:0", "trained")
    seen = []
    for mark in marks:
        evidence.line(b"envsetup-probe: %s\n" % mark.encode())
        assert not evidence.line(line.encode() + b"\n")  # not for the log
        seen.append({k: set(v) for k, v in evidence.placed.items()})
    assert seen == [{}, {}, {op: {device}}, {op: {device}}]


def test_lists_are_bounded() -> None:
    evidence = Evidence()
    for number in range(1000):
        evidence.line(b"Could not load dynamic library 'lib%d.so'" % number)
    assert len(evidence.missing) == ITEM_LIMIT


def test_last_words_are_not_a_traceback() -> None:
    evidence = Evidence()
    for line in (
        "Fatal Python error: Aborted",
        "",
        "Current thread 0x1 (most recent call first):",
        '  File "x"',
    ):
        evidence.line(line.encode() + b"\n")
    assert evidence.last() == "Fatal Python error: Aborted"


@pytest.mark.parametrize("size", [1, 3, 7, 10_000])
def test_lines_come_whole_however_they_are_cut(size: int) -> None:
    data = b"one\ntwo\r\n\nthree" + b"x" * (3 * LINE_LIMIT) + b"\nend"
    got: list[bytes] = []
    lines = Lines(got.append)
    for start in range(0, len(data), size):
        lines.feed(data[start : start + size])
    lines.end()
    assert b"".join(got) == data
    assert got[:3] == [b"one\n", b"two\r\n", b"\n"]
    assert got[-1] == b"end"
    assert max(map(len, got)) <= LINE_LIMIT + 1
