"""Run a program, pass its output through as it comes, and keep a copy."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
from typing import IO, Tuple

from envsetup.probe.log import BoundedLog

LIMIT = 8 << 20  # bytes kept, half from the beginning and half from the end
NOT_FOUND, NOT_STARTED = 127, 126  # as shells have them


def run(words: Tuple[str, ...], quiet: bool = False) -> Tuple[int, bytes]:
    """Return the program's exit code and what it printed on both streams together.

    Args:
        quiet: keep stdout free: what the program prints there goes to stderr.
    """
    log, lock = BoundedLog(LIMIT), threading.Lock()
    program = shutil.which(words[0])
    if program is None:
        message = f"{words[0]}: command not found\n".encode("utf-8", "replace")
        sys.stderr.buffer.write(message)
        return NOT_FOUND, message
    try:
        process = subprocess.Popen([program, *words[1:]], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    except OSError as error:
        message = f"{words[0]}: {error.strerror or error}\n".encode("utf-8", "replace")
        sys.stderr.buffer.write(message)
        return NOT_STARTED, message

    def copy(source: IO[bytes], target: IO[bytes]) -> None:
        read = getattr(source, "read1", source.read)
        for block in iter(lambda: read(65536), b""):
            with lock:
                log.feed(block)
            target.write(block)
            target.flush()

    assert process.stdout and process.stderr
    first = sys.stderr.buffer if quiet else sys.stdout.buffer
    threads = [
        threading.Thread(target=copy, args=(process.stdout, first), daemon=True),
        threading.Thread(target=copy, args=(process.stderr, sys.stderr.buffer), daemon=True),
    ]
    for thread in threads:
        thread.start()
    try:
        code = process.wait()
    except KeyboardInterrupt:
        # The terminal sent it to the program too: its own end is what counts.
        code = process.wait()
    for thread in threads:
        thread.join(5)  # a child left behind may hold the pipe open
    return (128 - code if code < 0 else code), log.text().encode("utf-8", "replace")
