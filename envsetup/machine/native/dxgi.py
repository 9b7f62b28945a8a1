"""Print the adapters that DXGI lists, in its order: the order in which pytorch-directml counts them."""

from __future__ import annotations

import ctypes
import json
import os
import uuid
from typing import Any, Dict, List

FACTORY = "770aae78-f26f-4dba-a829-253c83d1b387"  # IDXGIFactory1
DEVICE = "54ec77fa-1377-44e6-8c32-88fd5f44c84c"  # IDXGIDevice
NOT_FOUND = 0x887A0002
SOFTWARE = 2  # DXGI_ADAPTER_FLAG_SOFTWARE
RELEASE, GET_DESC1, CHECK_INTERFACE_SUPPORT, ENUM_ADAPTERS1 = 2, 10, 9, 12  # slots of the method tables
MOST = 64


class Description(ctypes.Structure):
    """DXGI_ADAPTER_DESC1; sizes in bytes."""

    _fields_ = (
        ("name", ctypes.c_uint16 * 128),
        ("vendor", ctypes.c_uint32),
        ("device", ctypes.c_uint32),
        ("subsystem", ctypes.c_uint32),
        ("revision", ctypes.c_uint32),
        ("dedicated", ctypes.c_size_t),
        ("system", ctypes.c_size_t),
        ("shared", ctypes.c_size_t),
        ("luid", ctypes.c_uint32 * 2),
        ("flags", ctypes.c_uint32),
    )


def guid(text: str) -> Any:
    """Return a GUID as the calls want it."""
    return ctypes.create_string_buffer(uuid.UUID(text).bytes_le, 16)


def call(this: ctypes.c_void_p, slot: int, *args: Any) -> int:
    """Call a COM method and return its HRESULT."""
    table = ctypes.cast(this, ctypes.POINTER(ctypes.POINTER(ctypes.c_void_p))).contents
    kinds = [ctypes.c_uint32 if isinstance(arg, int) else ctypes.c_void_p for arg in args]
    method = getattr(ctypes, "WINFUNCTYPE")(ctypes.c_uint32, ctypes.c_void_p, *kinds)(table[slot])  # noqa: B009
    return int(method(this, *(arg if isinstance(arg, int) else ctypes.addressof(arg) for arg in args)))


def driver(adapter: ctypes.c_void_p) -> str | None:
    """Return the version of the adapter's user-mode driver, such as 31.0.15.3623."""
    version = ctypes.c_uint64()
    if call(adapter, CHECK_INTERFACE_SUPPORT, guid(DEVICE), version):
        return None
    return ".".join(str(version.value >> shift & 0xFFFF) for shift in (48, 32, 16, 0))


def main() -> Any:
    """Return a list of adapters; None where there is no DXGI."""
    if os.name != "nt":
        return None
    try:
        create = getattr(ctypes, "WinDLL")("dxgi").CreateDXGIFactory1  # noqa: B009 (Windows only)
    except (OSError, AttributeError):
        return None
    factory = ctypes.c_void_p()
    code = create(guid(FACTORY), ctypes.byref(factory)) & 0xFFFFFFFF
    if code:
        return {"error": f"CreateDXGIFactory1 failed with {code:#010x}"}
    found: List[Dict[str, Any]] = []
    for index in range(MOST):
        adapter, desc = ctypes.c_void_p(), Description()
        code = call(factory, ENUM_ADAPTERS1, index, adapter)
        if code == NOT_FOUND:
            break
        if code or call(adapter, GET_DESC1, desc):
            return {"error": f"adapter {index} does not say what it is ({code:#010x})"}
        found.append(
            {
                "name": bytes(desc.name).decode("utf-16-le", "replace").split("\0")[0],
                "vendor": desc.vendor,
                "device": desc.device,
                "memory": desc.dedicated,
                "driver": driver(adapter),
                "software": bool(desc.flags & SOFTWARE),
            }
        )
        call(adapter, RELEASE)
    return found


if __name__ == "__main__":
    print(json.dumps(main()))
