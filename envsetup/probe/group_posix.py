"""A process and all that it starts, ended together: process groups (Linux, macOS)."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from typing import Any, Dict, Iterator

assert sys.platform != "win32"

# A session of its own: the terminal's Ctrl-C reaches only us, and its number is the group's.
OPTIONS: Dict[str, Any] = {"start_new_session": True}


class Group:
    """The group of a process started with OPTIONS."""

    def __init__(self, pid: int) -> None:
        self._pid = pid

    def kill(self) -> None:
        """End every process of the group that is left."""
        with contextlib.suppress(ProcessLookupError, PermissionError):  # macOS: EPERM for zombies
            os.killpg(self._pid, signal.SIGKILL)


@contextlib.contextmanager
def starting() -> Iterator[None]:
    """Nothing needs to be set while a process starts."""
    yield
