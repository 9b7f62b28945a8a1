"""A child process that can be ended with everything that it started."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Callable, Mapping, Optional, Sequence

if sys.platform == "win32":
    from .group_windows import OPTIONS, Group, starting
else:
    from .group_posix import OPTIONS, Group, starting


class Child:
    """A running program: no standard input, its output read by a thread.

    Args:
        argv: the program and its arguments; no shell reads them.
        env: the whole environment.
        cwd: the directory to start in.
        sink: gets output and error together as they come, in that thread.

    Raises:
        OSError: the program could not be started.
    """

    def __init__(
        self, argv: Sequence[str], env: Mapping[str, str], cwd: Path, sink: Callable[[bytes], None]
    ) -> None:
        self._sink = sink
        with starting():
            self._process = subprocess.Popen(
                list(argv),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env=dict(env),
                cwd=str(cwd),
                bufsize=0,
                **OPTIONS,
            )
        try:
            self._group = Group(self._process.pid)
        except BaseException:
            self._process.kill()
            raise
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        while True:
            data = os.read(self._process.stdout.fileno(), 65536)
            if not data:
                return
            self._sink(data)

    def wait(self, seconds: float) -> Optional[int]:
        """Wait for the end; return the exit code, or None if it still runs after ``seconds``."""
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def kill(self) -> None:
        """End the process and all that it started, and read the rest of its output."""
        self._group.kill()
        self._process.wait()
        # A process that left the group could hold the pipe open for ever; the reader is then left behind.
        self._reader.join(5)
        if self._process.stdout is not None and not self._reader.is_alive():
            with contextlib.suppress(OSError):
                self._process.stdout.close()
