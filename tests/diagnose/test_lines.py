"""Any input becomes a bounded number of readable lines, in bounded time and memory."""

from __future__ import annotations

import io
import time
import tracemalloc
from typing import IO, Iterator

import pytest

from envsetup.diagnose import explain
from envsetup.diagnose.lines import LINE, clean, read

ERROR = "TypeError: Descriptors cannot be created directly."


class Endless(io.RawIOBase):
    """A stream that makes its content as it is read, so that the test holds none of it."""

    def __init__(self, size: int, line: bytes, last: bytes) -> None:
        self._left, self._line, self._last, self._count = size, line, last, 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        if self._left <= 0:
            last, self._last = self._last, b""
            return last
        self._count += 1
        out = (self._line % self._count) * (size // len(self._line))
        self._left -= len(out)
        return out


def codes(data: bytes) -> Iterator[str]:
    return (finding.code for finding in explain(io.BytesIO(data)).findings)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252"])
def test_encodings(encoding: str) -> None:
    text = f"première ligne\r\n{ERROR}\r\nend\r\n"
    assert "protobuf-too-new" in codes(text.encode(encoding))


@pytest.mark.parametrize(
    "data",
    [
        b"\x1b[31m\x1b[1mTypeError:\x1b[0m Descriptors \x1b[4mcannot\x1b[24m be created directly."
        b"\x1b]0;t\x07",
        b"\x00\x01\x02\xff\xfe\n" * 50 + ERROR.encode() + b"\n\x80\x81",
        b" 10%\r 20%\r100%\r" + ERROR.encode(),
        b"x" * 3_000_000 + b" " + ERROR.encode(),
        ERROR.encode() + b" " + b"y" * 3_000_000,
    ],
    ids=["colours", "binary", "progress", "end of a long line", "start of a long line"],
)
def test_noise_does_not_hide_the_line(data: bytes) -> None:
    assert "protobuf-too-new" in codes(data)


@pytest.mark.parametrize(
    "data", [b"", b"\n", b"\x00" * 100_000, bytes(range(256)) * 2000, b"\xff\xfe", b"\xfe\xff\n"]
)
def test_rubbish_gives_nothing(data: bytes) -> None:
    assert list(codes(data)) == []


def test_hundred_megabytes_take_seconds_and_little_memory() -> None:
    line = b"2024-01-01 12:00:00 step %08d loss 0.123 and some more words to fill the line with\n"
    stream: IO[bytes] = Endless(100 << 20, line, ERROR.encode())  # type: ignore[assignment]
    explain(io.BytesIO(b"load the tables first"))
    tracemalloc.start()
    start = time.monotonic()
    found = explain(stream)
    took = time.monotonic() - start
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.findings[0].code == "protobuf-too-new"
    assert took < 15  # about 2 s untraced
    assert peak < 64 << 20


def test_trouble_in_the_middle_is_found() -> None:
    filler = b"all is well here, nothing to see, step after step goes by\n" * 200_000
    data = filler + b"RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB\n" + filler
    found = explain(io.BytesIO(data)).findings[0]
    assert found.code == "out-of-memory"
    assert found.evidence[0].startswith("line 200001:")


def test_line_numbers_count_the_whole_input() -> None:
    data = b"a\n" * 5 + b"b\n"
    assert [(line.number, line.text) for line in read(io.BytesIO(data)).lines] == [(1, "a"), (6, "b")]


def test_lines_are_cut_to_length() -> None:
    assert len(clean("x" * 100_000)) <= LINE + 3


def test_lines_that_differ_in_digits_only_are_kept_in_part() -> None:
    data = b"".join(b"epoch %d\n" % n for n in range(5000))
    assert len(read(io.BytesIO(data)).lines) < 100
