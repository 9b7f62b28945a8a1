"""Read one key of the real Windows registry."""

from __future__ import annotations

import sys
from typing import Any, Dict, List

VALUES_LIMIT = 4096  # values or subkeys of one key
BINARY_LIMIT = 256  # bytes of one binary value


def read(key: str) -> Dict[str, Any] | None:
    r"""Return ``{values, keys}`` of a key such as ``HKLM\SOFTWARE\Python``; None outside Windows.

    Raises:
        FileNotFoundError: it is not there.
        OSError: it can't be read.
    """
    if sys.platform == "win32":
        import winreg

        hives = {"HKLM": winreg.HKEY_LOCAL_MACHINE, "HKCU": winreg.HKEY_CURRENT_USER}
        hive, _, path = key.partition("\\")
        # A 32-bit interpreter would otherwise be shown the 32-bit programs' registry.
        access = winreg.KEY_READ | winreg.KEY_WOW64_64KEY
        with winreg.OpenKey(hives[hive], path, 0, access) as handle:
            subkeys, values, _changed = winreg.QueryInfoKey(handle)
            found: Dict[str, Any] = {}
            for index in range(min(values, VALUES_LIMIT)):
                name, data, _kind = winreg.EnumValue(handle, index)
                found[name] = _plain(data)
            names: List[str] = [winreg.EnumKey(handle, index) for index in range(min(subkeys, VALUES_LIMIT))]
            return {"values": found, "keys": names}
    return None


def _plain(data: Any) -> Any:
    if isinstance(data, bytes):
        return "hex:" + data[:BINARY_LIMIT].hex()
    if isinstance(data, list):
        return [str(item) for item in data]
    return data if isinstance(data, int) else str(data or "")
