"""What this process knows of the machine without calling anything that could hang."""

from __future__ import annotations

import os
import struct
import sys
from typing import Any, Dict, List

_SYSTEMS = {"linux": "linux", "win32": "windows", "cygwin": "windows", "darwin": "macos"}


def platform() -> Dict[str, Any]:
    """Return system, kernel, processor architecture and our own interpreter, as plain JSON."""
    out: Dict[str, Any] = {
        "system": _SYSTEMS.get(sys.platform, sys.platform),
        "python": {
            "executable": sys.executable or None,
            "base": getattr(sys, "_base_executable", None) or sys.executable or None,
            "version": "{}.{}.{}".format(*sys.version_info[:3]),
            "bits": struct.calcsize("P") * 8,
            "implementation": sys.implementation.name,
        },
    }
    if sys.platform == "win32":
        version = sys.getwindowsversion()
        numbers: List[int] = list(version.platform_version or version[:3])  # not what a manifest pretends
        out["release"] = ".".join(str(n) for n in numbers)
        out["machine"] = _windows_machine()
    else:
        system = os.uname()
        out["release"], out["version"], out["machine"] = system.release, system.version, system.machine
        try:
            out["libc"] = os.confstr("CS_GNU_LIBC_VERSION")
        except (ValueError, OSError, AttributeError):  # not glibc
            out["libc"] = None
    return out


# Image file machine numbers of the PE format.
_MACHINES = {0x014C: "x86", 0x8664: "AMD64", 0xAA64: "ARM64", 0x01C4: "ARM"}


def _windows_machine() -> Any:
    """Ask for the machine's own architecture, which an emulated process is not told otherwise."""
    import ctypes

    try:
        kernel32 = getattr(ctypes, "WinDLL")("kernel32")  # noqa: B009 (Windows only)
        process, native = ctypes.c_ushort(), ctypes.c_ushort()
        kernel32.GetCurrentProcess.restype = ctypes.c_void_p
        kernel32.IsWow64Process2.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
        if kernel32.IsWow64Process2(
            kernel32.GetCurrentProcess(), ctypes.byref(process), ctypes.byref(native)
        ):
            return _MACHINES.get(native.value)
    except (OSError, AttributeError, ValueError):  # before Windows 10 1511
        pass
    return None
