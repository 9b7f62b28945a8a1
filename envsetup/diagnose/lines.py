"""Turn any stream of bytes into a bounded set of readable lines.

A log may be 100 MB, one line of 50 MB, UTF-16 from PowerShell, coloured, or no text at all. The head and
the tail are read whole, the middle only where a line looks like trouble, and every line is cut to a
length at which matching is cheap. Of lines that differ in their digits only (progress, steps), a few stay.
"""

from __future__ import annotations

import codecs
import collections
import dataclasses
import re
from typing import IO, Any, Deque, Dict, Iterator, List

HEAD = 2 << 20  # bytes read whole from the start
TAIL = 2 << 20  # and from the end
MIDDLE = 1 << 20  # bytes of suspicious lines kept in between
LINE = 4000  # characters of a line that are kept: its start and its end
CHUNK = 1 << 20
LINES = 60_000  # different lines kept
ALIKE = 40  # lines kept of those that differ in digits only

_DIGITS = b"0123456789"
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]{0,40}[ -/]{0,4}[@-~]|\][^\x07\x1b]{0,400}(?:\x07|\x1b\\)?|[@-Z\\^_])")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
# what a line in the middle must hold to be kept; matching is case-sensitive, for speed
_TROUBLE = (
    "rror",
    "ERROR",
    "ailed",
    "No module",
    "xhausted",
    "llegal",
    "undefined symbol",
    "too old",
    "not ",
)


@dataclasses.dataclass(frozen=True)
class Line:
    """A line of the input.

    Args:
        number: 1-based, counted over the whole input; of the first of equal lines.
    """

    number: int
    text: str


@dataclasses.dataclass
class Text:
    """The lines that were kept.

    Args:
        size: bytes of the whole input.
        whole: False when only parts of the middle were kept.
    """

    lines: List[Line]
    size: int = 0
    whole: bool = True


@dataclasses.dataclass(frozen=True)
class _Block:
    """Whole lines of the input, and the number of the first."""

    number: int
    data: bytes


def read(stream: IO[Any]) -> Text:
    """Read a binary (or text) stream to its end and return its lines, in bounded memory and time."""
    chunks = _chunks(stream)
    first = next(chunks, b"")
    encoding = _Encoding(first)
    text = Text([])
    kept = _Kept(encoding)
    tail: Deque[_Block] = collections.deque()
    head = waiting = 0
    budget = MIDDLE
    for block in _blocks(first, chunks, text, encoding):
        if head < HEAD:
            head += len(block.data)
            kept.block(block)
            continue
        tail.append(block)
        waiting += len(block.data)
        while waiting - len(tail[0].data) >= TAIL:
            old = tail.popleft()
            waiting -= len(old.data)
            text.whole = False
            budget = kept.trouble(old, budget)
    for block in tail:
        kept.block(block)
    text.lines = kept.lines()
    return text


def clean(line: str) -> str:
    """Return a line without colours, control characters and overwritten progress, cut to length."""
    if "\r" in line:
        line = line.rstrip("\r")
        line = line[line.rfind("\r") + 1 :]
    if len(line) > LINE:
        line = line[: LINE * 3 // 4] + " … " + line[-LINE // 4 :]
    if "\x1b" in line:
        line = _ESCAPES.sub("", line)
    line = line.replace("\u00a0", " ").replace("\u2018", "'").replace("\u2019", "'")
    return _CONTROL.sub("", line).rstrip()


class _Kept:
    """Collects different lines.

    Args:
        encoding: of the input.
    """

    def __init__(self, encoding: _Encoding) -> None:
        self._encoding = encoding
        self._lines: Dict[str, int] = {}
        self._alike: Dict[bytes, int] = {}

    def block(self, block: _Block) -> None:
        """Keep the lines of a block."""
        for number, raw in enumerate(self._encoding.split(block.data), block.number):
            self._line(number, raw)

    def trouble(self, block: _Block, budget: int) -> int:
        """Keep the lines of a block that look like trouble; return what is left of ``budget`` bytes."""
        newline, data = self._encoding.newline, block.data
        starts = set()
        for sign in self._encoding.signs:
            at = data.find(sign)
            while at >= 0 and budget > 0:
                start = data.rfind(newline, 0, at)
                start = start + len(newline) if start >= 0 else 0
                end = data.find(newline, at)
                end = end if end >= 0 else len(data)
                if start not in starts:
                    starts.add(start)
                    budget -= end - start + 64
                    self._line(block.number + data.count(newline, 0, start), data[start:end])
                at = data.find(sign, end)
        return budget

    def _line(self, number: int, raw: bytes) -> None:
        if not raw or len(self._lines) >= LINES:
            return
        raw = _short(raw, 4 * LINE * self._encoding.width)
        shape = raw.translate(None, _DIGITS)
        count = self._alike.get(shape, 0)
        if count >= ALIKE:
            return
        self._alike[shape] = count + 1
        line = clean(self._encoding.decode(raw))
        if line:
            self._lines.setdefault(line, number)

    def lines(self) -> List[Line]:
        """Return what was kept, in order."""
        return sorted(
            (Line(number, text) for text, number in self._lines.items()), key=lambda line: line.number
        )


class _Encoding:
    """How the input's bytes are text, told by its first bytes.

    Args:
        first: the input's first bytes.
    """

    def __init__(self, first: bytes) -> None:
        self.name, self.newline = "utf-8", b"\n"
        for mark, encoding in ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")):
            if first.startswith(mark):
                self.name = encoding
        sample = first[:4096]
        if self.name == "utf-8" and len(sample) >= 8:
            even, odd = sample[0::2].count(0), sample[1::2].count(0)
            if odd > len(sample) * 0.35 and even < len(sample) * 0.05:
                self.name = "utf-16-le"
            elif even > len(sample) * 0.35 and odd < len(sample) * 0.05:
                self.name = "utf-16-be"
        if self.name != "utf-8":
            self.newline = "\n".encode(self.name)
        self.width = len(self.newline)
        self.signs = tuple(sign.encode(self.name) for sign in _TROUBLE)

    def decode(self, raw: bytes) -> str:
        """Return the text; bytes that are no UTF-8 are read as Windows' Western code page."""
        if self.width == 2:
            return raw.decode(self.name, "replace").lstrip("\ufeff")
        try:
            return raw.decode("utf-8").lstrip("\ufeff")
        except UnicodeDecodeError:
            return raw.decode("cp1252", "replace")

    def split(self, data: bytes) -> List[bytes]:
        """Split at newlines; two-byte ones only where a character starts."""
        if self.width == 1:
            return data.split(b"\n")
        out, start, at = [], 0, data.find(self.newline)
        while at >= 0:
            if (at - start) % 2:
                at = data.find(self.newline, at + 1)
                continue
            out.append(data[start:at])
            start = at + 2
            at = data.find(self.newline, start)
        out.append(data[start:])
        return out

    def cut(self, data: bytes) -> int:
        """Return where the last whole line of ``data`` ends, or -1 when it holds none."""
        at = data.rfind(self.newline)
        while at >= 0 and at % self.width:
            at = data.rfind(self.newline, 0, at + 1)
        return at


def _chunks(stream: IO[Any]) -> Iterator[bytes]:
    while True:
        chunk = stream.read(CHUNK)
        if not chunk:
            return
        yield chunk.encode("utf-8", "replace") if isinstance(chunk, str) else chunk


def _blocks(first: bytes, chunks: Iterator[bytes], text: Text, encoding: _Encoding) -> Iterator[_Block]:
    """Yield blocks of whole lines; of a line that is too long, only its start and its end."""
    limit = LINE * 4 * encoding.width
    rest, number = b"", 1
    chunk: bytes | None = first
    while chunk is not None:
        text.size += len(chunk)
        rest += chunk
        cut = encoding.cut(rest)
        if cut >= 0:
            block, rest = rest[:cut], rest[cut + encoding.width :]
            yield _Block(number, block)
            number += block.count(encoding.newline) + 1
        if len(rest) > 2 * limit:
            rest = _short(rest, limit)
        chunk = next(chunks, None)
    if rest:
        yield _Block(number, _short(rest, limit))


def _short(data: bytes, limit: int) -> bytes:
    if len(data) <= limit:
        return data
    half = limit // 4 * 2
    cut = len(data) - half
    return data[:half] + data[cut - cut % 2 :]
