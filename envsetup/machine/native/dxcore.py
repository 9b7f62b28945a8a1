"""Print the adapters that DXCore lists, on Windows and in WSL, where it knows the GPUs of every vendor."""

from __future__ import annotations

import ctypes
import json
import sys
import uuid
from typing import Any, Dict, List

FACTORY = "78ee5945-c36e-4b13-a669-005dd11c0f06"  # IDXCoreAdapterFactory
LIST = "526c7776-40e9-459b-b711-f32ad76dfc28"  # IDXCoreAdapterList
ADAPTER = "f0db4c7f-fe5a-42a2-bd62-f2a6cf6fc83e"  # IDXCoreAdapter
CORE_COMPUTE = "248e2800-a793-4724-abaa-23a6de1be090"  # DXCORE_ADAPTER_ATTRIBUTE_D3D12_CORE_COMPUTE
CREATE_LIST, GET_ADAPTER, GET_COUNT, GET_PROPERTY, GET_SIZE = 3, 3, 4, 6, 7  # slots of the method tables
DRIVER_VERSION, DESCRIPTION, HARDWARE_ID, DEDICATED_MEMORY, IS_HARDWARE, IS_INTEGRATED = 1, 2, 3, 7, 11, 12
LIBRARIES = ("dxcore.dll",) if sys.platform == "win32" else ("libdxcore.so", "/usr/lib/wsl/lib/libdxcore.so")
MOST = 64


def guid(text: str) -> Any:
    """Return a GUID as the calls want it."""
    return ctypes.create_string_buffer(uuid.UUID(text).bytes_le, 16)


def call(this: ctypes.c_void_p, slot: int, *args: Any) -> int:
    """Call a COM method and return its 32-bit result. A whole number is passed as 32 bits."""
    table = ctypes.cast(this, ctypes.POINTER(ctypes.POINTER(ctypes.c_void_p))).contents
    kinds = [ctypes.c_uint32 if isinstance(arg, int) else ctypes.c_void_p for arg in args]
    kind = getattr(ctypes, "WINFUNCTYPE", ctypes.CFUNCTYPE)(ctypes.c_uint32, ctypes.c_void_p, *kinds)
    return int(
        kind(table[slot])(this, *(arg if isinstance(arg, int) else ctypes.addressof(arg) for arg in args))
    )


def prop(adapter: ctypes.c_void_p, which: int, size: int = 0) -> bytes | None:
    """Return a property's bytes; its own size is asked for when none is given."""
    if not size:
        wanted = ctypes.c_size_t()
        if call(adapter, GET_SIZE, which, wanted) or not 0 < wanted.value < 4096:
            return None
        size = wanted.value
    buffer = ctypes.create_string_buffer(size)
    kind = getattr(ctypes, "WINFUNCTYPE", ctypes.CFUNCTYPE)(
        ctypes.c_uint32, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_size_t, ctypes.c_void_p
    )
    table = ctypes.cast(adapter, ctypes.POINTER(ctypes.POINTER(ctypes.c_void_p))).contents
    failed = kind(table[GET_PROPERTY])(adapter, which, size, ctypes.addressof(buffer))
    return None if failed else buffer.raw


def number(raw: bytes | None) -> int | None:
    """Return little-endian bytes as a number."""
    return None if raw is None else int.from_bytes(raw, "little")


def describe(adapter: ctypes.c_void_p) -> Dict[str, Any]:
    """Return one adapter; what it does not say is None."""
    ids = prop(adapter, HARDWARE_ID, 16) or bytes(16)
    version = number(prop(adapter, DRIVER_VERSION, 8))
    integrated, hardware = prop(adapter, IS_INTEGRATED, 1), prop(adapter, IS_HARDWARE, 1)
    return {
        "name": (prop(adapter, DESCRIPTION) or b"").split(b"\0")[0].decode("utf-8", "replace") or None,
        "vendor": int.from_bytes(ids[:4], "little"),
        "device": int.from_bytes(ids[4:8], "little"),
        "memory": number(prop(adapter, DEDICATED_MEMORY, 8)),
        "driver": ".".join(str(version >> shift & 0xFFFF) for shift in (48, 32, 16, 0)) if version else None,
        "integrated": None if integrated is None else bool(integrated[0]),
        "software": hardware is not None and not hardware[0],
    }


def main() -> Any:
    """Return a list of adapters; None where there is no DXCore."""
    library: Any = None
    for name in LIBRARIES:
        try:
            library = ctypes.CDLL(name)  # plain C functions: the same in both conventions on 64 bits
            break
        except OSError as error:
            if "No such file" not in str(error) and sys.platform != "win32":
                return {"error": str(error)}
    if library is None:
        return None
    factory, adapters = ctypes.c_void_p(), ctypes.c_void_p()
    code = library.DXCoreCreateAdapterFactory(guid(FACTORY), ctypes.byref(factory)) & 0xFFFFFFFF
    code = code or call(factory, CREATE_LIST, 1, guid(CORE_COMPUTE), guid(LIST), adapters)
    if code:
        return {"error": f"DXCore gives no adapter list ({code:#010x})"}
    found: List[Dict[str, Any]] = []
    for index in range(min(MOST, call(adapters, GET_COUNT))):
        adapter = ctypes.c_void_p()
        if not call(adapters, GET_ADAPTER, index, guid(ADAPTER), adapter):
            found.append(describe(adapter))
    return found


if __name__ == "__main__":
    print(json.dumps(main()))
