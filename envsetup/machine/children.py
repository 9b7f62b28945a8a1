"""Run a program that may hang, flood or crash, and come back all the same."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from typing import IO, Any, Dict, Sequence

OUTPUT_LIMIT = 4 << 20  # bytes kept of each of stdout and stderr; the rest is read and dropped


def run(argv: Sequence[str], timeout: float, limit: int = OUTPUT_LIMIT) -> Dict[str, Any]:
    """Return ``{code, out, err, timed_out}``.

    Args:
        argv: the program and its arguments.
        timeout: seconds; then it is killed with the children it started.
        limit: bytes kept of each stream.

    Raises:
        OSError: it could not be started.
    """
    ends = time.monotonic() + timeout
    options: Dict[str, Any] = {"start_new_session": True}
    if sys.platform == "win32":
        options = {"creationflags": subprocess.CREATE_NO_WINDOW}
    process = subprocess.Popen(
        list(argv),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "LC_ALL": "C", "LANGUAGE": "C"},  # the output is parsed
        **options,
    )
    kept = [bytearray(), bytearray()]
    streams = [stream for stream in (process.stdout, process.stderr) if stream is not None]
    drains = [
        threading.Thread(target=_drain, args=(stream, keep, limit), daemon=True)
        for stream, keep in zip(streams, kept)
    ]
    for drain in drains:
        drain.start()
    # Waiting for the streams to close is prompt; Popen.wait with a limit polls every 50 ms.
    for drain in drains:
        drain.join(max(0.0, ends - time.monotonic()))
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(max(0.05, ends - time.monotonic()) if not any(d.is_alive() for d in drains) else 0)
    timed_out = process.poll() is None
    _kill(process)  # also what the program left behind, which would hold the streams open
    for drain in drains:
        drain.join(0.2)
    return {
        "code": None if timed_out else process.returncode,
        "out": decode(bytes(kept[0])),
        "err": decode(bytes(kept[1])),
        "timed_out": timed_out,
    }


def _drain(stream: IO[bytes], keep: bytearray, limit: int) -> None:
    with contextlib.suppress(OSError, ValueError), stream:
        while True:
            chunk = os.read(stream.fileno(), 1 << 16)
            if not chunk:
                return
            keep += chunk[: max(0, limit - len(keep))]


def _kill(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(OSError):
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(1)


def decode(raw: bytes) -> str:
    """Return text: UTF-16 as Windows tools write it, else UTF-8; what is neither becomes U+FFFD."""
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return raw.decode("utf-16", "replace")
    if len(raw) > 3 and raw[1:40:2].count(0) == len(raw[1:40:2]):
        return raw.decode("utf-16-le", "replace")
    return raw.decode("utf-8-sig", "replace").replace("\0", "\ufffd")
