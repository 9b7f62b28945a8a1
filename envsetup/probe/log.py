"""A log of bounded size, whatever a program prints."""

from __future__ import annotations

import re

# Everything that would move a terminal's cursor or end a JSON reader's patience; tabs and line ends stay.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ufffe\uffff]")


def clean(data: bytes) -> str:
    """Return text that is safe to print: UTF-8, with what is not text replaced."""
    text = data.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
    return _CONTROL.sub("\ufffd", text)


class BoundedLog:
    """Keeps the first and the last bytes fed to it.

    Args:
        limit: bytes kept in all: half from the beginning, where libraries say what they miss, and half
            from the end, where a program says why it stopped.
    """

    def __init__(self, limit: int) -> None:
        self._head_size = limit // 2
        self._tail_size = limit - self._head_size
        self._head = bytearray()
        self._tail = bytearray()
        self.total = 0

    def feed(self, data: bytes) -> None:
        """Add bytes."""
        self.total += len(data)
        room = self._head_size - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        self._tail += data
        if len(self._tail) > 2 * self._tail_size + 65536:  # trimmed in big steps: moving bytes is not free
            del self._tail[: len(self._tail) - self._tail_size]

    def text(self) -> str:
        """Return what was kept, with a line that says how much was left out."""
        tail = bytes(self._tail[-self._tail_size :]) if self._tail_size else b""
        left_out = self.total - len(self._head) - len(tail)
        if left_out <= 0:
            return clean(bytes(self._head) + tail)
        return f"{clean(bytes(self._head))}\n[... {left_out} bytes left out ...]\n{clean(tail)}"
