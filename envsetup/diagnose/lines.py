"""Turn any stream of bytes into a bounded set of readable lines.

A log may be 100 MB, one line of 50 MB, UTF-16 from PowerShell, coloured, or no text at all. The head and
the tail are read whole, the middle only where a line looks like trouble, and every line is cut to a
length at which matching is cheap.
"""

from __future__ import annotations

import codecs
import collections
import dataclasses
import re
from typing import IO, Any, Deque, Dict, Iterator, List, Tuple

HEAD = 3 << 20  # bytes read whole from the start
TAIL = 3 << 20  # and from the end
MIDDLE = 2 << 20  # bytes of suspicious lines kept in between
LINE = 4000  # characters of a line that are kept: its start and its end
CHUNK = 1 << 20
LINES = 60_000  # different lines kept

_ESCAPES = re.compile(r"\x1b(?:\[[0-?]{0,40}[ -/]{0,4}[@-~]|\][^\x07\x1b]{0,400}(?:\x07|\x1b\\)?|[@-Z\\^_])")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_TROUBLE = re.compile(
    rb"rror|ERROR|ould not|annot |not found|No module|rejected|too old|failed|Failed|llegal|SIGILL|exhausted"
    rb"|ncompatible|not compatible|undefined symbol|Killed|version"
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
        skipped: lines that were not looked at closely.
    """

    lines: List[Line]
    size: int = 0
    skipped: int = 0


def read(stream: IO[Any]) -> Text:
    """Read a binary (or text) stream to its end and return its lines, in bounded memory."""
    chunks = _chunks(stream)
    first = next(chunks, b"")
    decoder = _decoder(first)
    text = Text([])
    kept: Dict[str, int] = {}
    tail: Deque[Tuple[int, bytes]] = collections.deque()
    state = {"head": 0, "tail": 0, "middle": 0}

    def keep(number: int, raw: bytes) -> None:
        line = clean(decoder(raw))
        if line and line not in kept and len(kept) < LINES:
            kept[line] = number

    def middle(number: int, raw: bytes) -> None:
        if state["middle"] < MIDDLE and _TROUBLE.search(raw):
            state["middle"] += len(raw)
            keep(number, raw)
        else:
            text.skipped += 1

    for number, raw in enumerate(_lines(first, chunks, text, decoder.newline), 1):
        if state["head"] < HEAD:
            state["head"] += len(raw) + 1
            keep(number, raw)
            continue
        tail.append((number, raw))
        state["tail"] += len(raw) + 1
        while state["tail"] > TAIL:
            old = tail.popleft()
            state["tail"] -= len(old[1]) + 1
            middle(*old)
    for number, raw in tail:
        keep(number, raw)
    text.lines = [Line(number, line) for line, number in kept.items()]
    return text


def clean(line: str) -> str:
    """Return a line without colours, control characters and overwritten progress, cut to length."""
    if "\r" in line:
        line = line.rstrip("\r")
        line = line[line.rfind("\r") + 1 :]
    if len(line) > LINE:
        line = line[: LINE * 3 // 4] + " … " + line[-LINE // 4 :]
    line = line.replace("\u00a0", " ").replace("\u2018", "'").replace("\u2019", "'")
    if "\x1b" in line:
        line = _ESCAPES.sub("", line)
    return _CONTROL.sub("", line).rstrip()


class _decoder:
    """Decode lines of bytes in the encoding that the input's first bytes show.

    Args:
        first: the input's first bytes.
    """

    def __init__(self, first: bytes) -> None:
        self.encoding, self.newline, self.pad = "utf-8", b"\n", b""
        for mark, encoding in ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")):
            if first.startswith(mark):
                self.encoding = encoding
        sample = first[:4096]
        if self.encoding == "utf-8" and len(sample) >= 8:
            even, odd = sample[0::2].count(0), sample[1::2].count(0)
            if odd > len(sample) * 0.35 and even < len(sample) * 0.05:
                self.encoding = "utf-16-le"
            elif even > len(sample) * 0.35 and odd < len(sample) * 0.05:
                self.encoding = "utf-16-be"
        if self.encoding == "utf-16-le":
            self.newline = b"\n\x00"
        elif self.encoding == "utf-16-be":
            self.newline = b"\x00\n"

    def __call__(self, raw: bytes) -> str:
        if self.encoding != "utf-8":
            return raw.decode(self.encoding, "replace").lstrip("\ufeff")
        try:
            return raw.decode("utf-8").lstrip("\ufeff")
        except UnicodeDecodeError:
            return raw.decode("cp1252", "replace")


def _chunks(stream: IO[Any]) -> Iterator[bytes]:
    while True:
        chunk = stream.read(CHUNK)
        if not chunk:
            return
        yield chunk.encode("utf-8", "replace") if isinstance(chunk, str) else chunk


def _lines(first: bytes, chunks: Iterator[bytes], text: Text, newline: bytes) -> Iterator[bytes]:
    """Yield lines without their ends; of a line that is too long, only its start and its end."""
    wide = len(newline)
    limit = LINE * 4 * wide
    rest = b""
    chunk: bytes | None = first
    while chunk is not None:
        text.size += len(chunk)
        rest += chunk
        parts = _split(rest, newline)
        rest = parts.pop()
        for part in parts:
            yield _short(part, limit)
        if len(rest) > 2 * limit:
            rest = _short(rest, limit)
        chunk = next(chunks, None)
    if rest:
        yield rest


def _split(data: bytes, newline: bytes) -> List[bytes]:
    """Split at newlines; two-byte ones only where a character starts."""
    if len(newline) == 1:
        return data.split(newline)
    out, start, at = [], 0, data.find(newline)
    while at >= 0:
        if (at - start) % 2:
            at = data.find(newline, at + 1)
            continue
        out.append(data[start:at])
        start = at + 2
        at = data.find(newline, start)
    out.append(data[start:])
    return out


def _short(data: bytes, limit: int) -> bytes:
    if len(data) <= limit:
        return data
    head, tail = limit // 2 - limit // 2 % 2, limit // 2 - limit // 2 % 2
    cut = len(data) - tail
    return data[:head] + data[cut - cut % 2 :]
