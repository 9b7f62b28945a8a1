"""Print the instance ids of the display devices that are present, from Windows' configuration manager."""

from __future__ import annotations

import ctypes
import json
import os
from typing import Any

DISPLAY = "{4d36e968-e325-11ce-bfc1-08002be10318}"  # the display device class
CLASS_AND_PRESENT = 0x200 | 0x100  # CM_GETIDLIST_FILTER_CLASS, _PRESENT


def main() -> Any:
    r"""Return a list such as ``["PCI\VEN_1002&DEV_67DF&…"]``; None where this is not Windows."""
    if os.name != "nt":
        return None
    library = getattr(ctypes, "WinDLL")("cfgmgr32")  # noqa: B009 (Windows only)
    size = ctypes.c_ulong()
    code = library.CM_Get_Device_ID_List_SizeW(ctypes.byref(size), DISPLAY, CLASS_AND_PRESENT)
    if code or size.value > 1 << 20:
        return {"error": f"CM_Get_Device_ID_List_Size failed with {code}"}
    buffer = ctypes.create_unicode_buffer(size.value + 1)
    code = library.CM_Get_Device_ID_ListW(DISPLAY, buffer, size.value, CLASS_AND_PRESENT)
    if code:
        return {"error": f"CM_Get_Device_ID_List failed with {code}"}
    return [name for name in str(buffer[: size.value]).split("\0") if name]


if __name__ == "__main__":
    print(json.dumps(main()))
