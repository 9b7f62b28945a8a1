"""Names for the ways in which a process ends against its will."""

from __future__ import annotations

import signal
from typing import Any, Dict, Optional

# signal(7)
_SIGNALS = {
    "SIGILL": "illegal instruction",
    "SIGABRT": "aborted",
    "SIGBUS": "bus error",
    "SIGFPE": "arithmetic error",
    "SIGKILL": "killed, as the system does when memory runs out",
    "SIGSEGV": "segmentation fault",
    "SIGTERM": "terminated",
    "SIGTRAP": "trap",
    "SIGXCPU": "CPU time limit exceeded",
    "SIGSYS": "forbidden system call",
}

# NTSTATUS values, [MS-ERREF] 2.3.1
_STATUSES = {
    0x80000003: "breakpoint",
    0xC0000005: "access violation",
    0xC0000006: "a page could not be read",
    0xC0000017: "out of memory",
    0xC000001D: "illegal instruction",
    0xC000007B: "a DLL for another processor or word size (32 and 64 bits mixed)",
    0xC0000094: "integer division by zero",
    0xC00000FD: "stack overflow",
    0xC0000135: "a DLL is missing",
    0xC0000139: "a DLL lacks a function that was expected in it",
    0xC000013A: "interrupted",
    0xC0000142: "a DLL failed to initialise",
    0xC0000374: "heap corruption",
    0xC0000409: "stopped by a security check (stack buffer overrun or abort)",
    0xE06D7363: "unhandled C++ exception",
}


def describe_exit(code: int, windows: bool) -> Optional[Dict[str, Any]]:
    """Return how a process ended, or None if it ended by itself.

    Args:
        code: ``Popen.returncode``: minus the signal's number on POSIX, an NTSTATUS on Windows.
        windows: which of the two it is.
    """
    if windows:
        if code == 3:  # the C runtime's abort(); our own script never ends with it
            return {"code": code, "status": "exit code 3", "meaning": "aborted"}
        status = code & 0xFFFFFFFF
        meaning = _STATUSES.get(status)
        if meaning is None and status < 0x80000000:
            return None
        return {"code": code, "status": f"0x{status:08X}", "meaning": meaning or "an unknown status"}
    if code >= 0:
        return None
    try:
        name = signal.Signals(-code).name
    except ValueError:  # real-time signals have no names here
        name = f"signal {-code}"
    return {"code": code, "signal": name, "meaning": _SIGNALS.get(name, "ended by a signal")}


def sentence(exit: Dict[str, Any], stage: str) -> str:
    """Return e.g. ``SIGILL: illegal instruction at stage import``."""
    return f"{exit.get('signal') or exit.get('status')}: {exit['meaning']} at stage {stage}"
