"""The display adapters of Windows in DXGI's order, which is how ONNX Runtime and others number them."""

import ctypes
import os
import uuid

_IDXGI_FACTORY1 = uuid.UUID("770aae78-f26f-4dba-a829-253c83d1b387")
# Places in the tables of functions (dxgi.h).
_RELEASE, _GET_DESC1, _ENUM_ADAPTERS1 = 2, 10, 12
_NAME = 256  # bytes of Description: 128 characters of UTF-16
_FLAGS = 304  # where Flags is, after five integers, three sizes and a LUID
_SOFTWARE = 2  # DXGI_ADAPTER_FLAG_SOFTWARE
_MOST = 64


def adapters():
    """Return ``[(index, name, software)]``; empty where there is no DXGI."""
    if os.name != "nt":
        return []
    factory = ctypes.c_void_p()
    if ctypes.WinDLL("dxgi").CreateDXGIFactory1(_IDXGI_FACTORY1.bytes_le, ctypes.byref(factory)) < 0:
        return []
    found = []
    for index in range(_MOST):
        adapter = ctypes.c_void_p()
        if _call(factory, _ENUM_ADAPTERS1, ctypes.c_uint(index), ctypes.byref(adapter)) < 0:
            break
        described = ctypes.create_string_buffer(512)
        if _call(adapter, _GET_DESC1, described) >= 0:
            name = described.raw[:_NAME].decode("utf-16-le", "replace").split("\0")[0]
            flags = int.from_bytes(described.raw[_FLAGS : _FLAGS + 4], "little")
            found.append((index, name, bool(flags & _SOFTWARE)))
        _call(adapter, _RELEASE)
    _call(factory, _RELEASE)
    return found


def _call(thing, place, *arguments):
    """Call function number ``place`` of a COM object; return its HRESULT."""
    table = ctypes.cast(thing, ctypes.POINTER(ctypes.POINTER(ctypes.c_void_p)))[0]
    kinds = [ctypes.c_void_p] + [
        type(a) if isinstance(a, ctypes.c_uint) else ctypes.c_void_p for a in arguments
    ]
    function = ctypes.WINFUNCTYPE(ctypes.c_long, *kinds)(table[place])
    return function(thing, *arguments)
