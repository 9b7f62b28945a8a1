"""Cuts a program's output into lines of bounded length, whatever it prints."""

from __future__ import annotations

from typing import Callable

LINE_LIMIT = 4096


class Lines:
    """Passes on each line as it is completed.

    Args:
        take: gets one line with its end. A line longer than ``LINE_LIMIT`` comes in several pieces.
    """

    def __init__(self, take: Callable[[bytes], None]) -> None:
        self._take = take
        self._rest = b""

    def feed(self, data: bytes) -> None:
        """Add bytes, cut anywhere."""
        lines = (self._rest + data).split(b"\n")
        self._rest = lines.pop()
        for line in lines:
            self._pieces(line + b"\n")
        if len(self._rest) > LINE_LIMIT:
            self._pieces(self._rest)
            self._rest = b""

    def end(self) -> None:
        """Pass on what is left without an end of line."""
        rest, self._rest = self._rest, b""
        if rest:
            self._take(rest)

    def _pieces(self, line: bytes) -> None:
        for start in range(0, len(line), LINE_LIMIT):
            self._take(line[start : start + LINE_LIMIT])
