"""A process and all that it starts, ended together: job objects (Windows), through ctypes."""

from __future__ import annotations

import contextlib
import ctypes
import sys
from ctypes import wintypes
from typing import Any, Dict, Iterator

assert sys.platform == "win32"

_SUSPENDED = 0x00000004
_NEW_PROCESS_GROUP = 0x00000200  # Ctrl-C reaches only us
_NO_WINDOW = 0x08000000
# Suspended until it belongs to the job: a venv's python.exe starts the real one at once.
OPTIONS: Dict[str, Any] = {"creationflags": _SUSPENDED | _NEW_PROCESS_GROUP | _NO_WINDOW}

_EXTENDED_LIMITS = 9  # JobObjectExtendedLimitInformation
_KILL_ON_JOB_CLOSE = 0x2000
_PROCESS_ALL_ACCESS = 0x1FFFFF


class _Basic(ctypes.Structure):
    _fields_ = [
        ("PerProcessUserTimeLimit", ctypes.c_int64),
        ("PerJobUserTimeLimit", ctypes.c_int64),
        ("LimitFlags", wintypes.DWORD),
        ("MinimumWorkingSetSize", ctypes.c_size_t),
        ("MaximumWorkingSetSize", ctypes.c_size_t),
        ("ActiveProcessLimit", wintypes.DWORD),
        ("Affinity", ctypes.c_size_t),
        ("PriorityClass", wintypes.DWORD),
        ("SchedulingClass", wintypes.DWORD),
    ]


class _Extended(ctypes.Structure):
    _fields_ = [
        ("Basic", _Basic),
        ("IoInfo", ctypes.c_uint64 * 6),
        ("ProcessMemoryLimit", ctypes.c_size_t),
        ("JobMemoryLimit", ctypes.c_size_t),
        ("PeakProcessMemoryUsed", ctypes.c_size_t),
        ("PeakJobMemoryUsed", ctypes.c_size_t),
    ]


_kernel32 = ctypes.WinDLL("kernel32", use_last_error=True)
_kernel32.CreateJobObjectW.restype = wintypes.HANDLE
_kernel32.CreateJobObjectW.argtypes = [wintypes.LPVOID, wintypes.LPCWSTR]
_kernel32.SetInformationJobObject.argtypes = [wintypes.HANDLE, ctypes.c_int, wintypes.LPVOID, wintypes.DWORD]
_kernel32.AssignProcessToJobObject.argtypes = [wintypes.HANDLE, wintypes.HANDLE]
_kernel32.TerminateJobObject.argtypes = [wintypes.HANDLE, wintypes.UINT]
_kernel32.OpenProcess.restype = wintypes.HANDLE
_kernel32.OpenProcess.argtypes = [wintypes.DWORD, wintypes.BOOL, wintypes.DWORD]
_kernel32.CloseHandle.argtypes = [wintypes.HANDLE]
_ntdll = ctypes.WinDLL("ntdll")
_ntdll.NtResumeProcess.argtypes = [wintypes.HANDLE]


class Group:
    """The job of a process started with OPTIONS; making it lets the process run.

    Windows ends the job with its last handle, so also when this process dies.

    Raises:
        OSError: Windows refused.
    """

    def __init__(self, pid: int) -> None:
        self._job = _check(_kernel32.CreateJobObjectW(None, None))
        limits = _Extended()
        limits.Basic.LimitFlags = _KILL_ON_JOB_CLOSE
        size = ctypes.sizeof(limits)
        _check(_kernel32.SetInformationJobObject(self._job, _EXTENDED_LIMITS, ctypes.byref(limits), size))
        process = _check(_kernel32.OpenProcess(_PROCESS_ALL_ACCESS, False, pid))
        try:
            _check(_kernel32.AssignProcessToJobObject(self._job, process))
            _ntdll.NtResumeProcess(process)
        finally:
            _kernel32.CloseHandle(process)

    def kill(self) -> None:
        """End every process of the job that is left."""
        if self._job:
            _kernel32.TerminateJobObject(self._job, 1)
            _kernel32.CloseHandle(self._job)
            self._job = 0


def _check(result: int) -> int:
    if not result:
        raise ctypes.WinError(ctypes.get_last_error())
    return result


@contextlib.contextmanager
def starting() -> Iterator[None]:
    """Keep Windows from asking somebody to press OK when a program crashes; children inherit this."""
    kernel32 = ctypes.WinDLL("kernel32")
    # SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX | SEM_NOOPENFILEERRORBOX
    before = kernel32.SetErrorMode(0x0001 | 0x0002 | 0x8000)
    try:
        yield
    finally:
        kernel32.SetErrorMode(before)
