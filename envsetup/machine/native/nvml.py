"""Print what NVIDIA's management library says: driver, the newest CUDA it supports, and the GPUs."""

from __future__ import annotations

import ctypes
import json
import os
from typing import Any, Dict, List

MOST = 64
TEXT = 96  # bytes; the longest text of NVML


class Pci(ctypes.Structure):
    """nvmlPciInfo_t, as of version 3; older drivers fill its beginning."""

    _fields_ = (
        ("old_bus_id", ctypes.c_char * 16),
        ("domain", ctypes.c_uint),
        ("bus", ctypes.c_uint),
        ("device", ctypes.c_uint),
        ("ids", ctypes.c_uint),  # device << 16 | vendor
        ("subsystem", ctypes.c_uint),
        ("bus_id", ctypes.c_char * 32),
    )


class Memory(ctypes.Structure):
    """nvmlMemory_t, in bytes."""

    _fields_ = (("total", ctypes.c_ulonglong), ("free", ctypes.c_ulonglong), ("used", ctypes.c_ulonglong))


def candidates() -> List[str]:
    """Return where the library may be."""
    if os.name == "nt":
        system = os.path.join(os.environ.get("SYSTEMROOT", r"C:\Windows"), "System32", "nvml.dll")  # noqa: PTH118
        programs = os.environ.get("PROGRAMW6432", r"C:\Program Files")
        return [system, os.path.join(programs, "NVIDIA Corporation", "NVSMI", "nvml.dll")]  # noqa: PTH118
    name = "libnvidia-ml.so.1"
    return [
        name,
        *(
            f"{folder}/{name}"
            for folder in ("/usr/lib/wsl/lib", "/run/opengl-driver/lib", "/usr/lib64/nvidia")
        ),
    ]


def load() -> Any:
    """Return the library, None where it is not there; OSError when it is broken."""
    broken: OSError | None = None
    for path in candidates():
        if os.path.isabs(path) and not os.path.exists(path):  # noqa: PTH110, PTH117
            continue
        try:
            return ctypes.CDLL(path)
        except OSError as error:
            if "No such file" not in str(error):
                broken = broken or error
    if broken:
        raise broken
    return None


def text(function: Any, *args: Any) -> str | None:
    """Call a function that writes a text; None when it fails."""
    buffer = ctypes.create_string_buffer(TEXT)
    if function(*args, buffer, ctypes.c_uint(TEXT)):
        return None
    return buffer.value.decode("utf-8", "replace")


def gpu(library: Any, index: int) -> Dict[str, Any]:
    """Return one GPU."""
    handle = ctypes.c_void_p()
    code = library.nvmlDeviceGetHandleByIndex_v2(ctypes.c_uint(index), ctypes.byref(handle))
    if code:
        return {"error": f"NVML error {code}"}
    out: Dict[str, Any] = {"name": text(library.nvmlDeviceGetName, handle)}
    pci, memory = Pci(), Memory()
    get_pci = getattr(library, "nvmlDeviceGetPciInfo_v3", None) or library.nvmlDeviceGetPciInfo_v2
    if not get_pci(handle, ctypes.byref(pci)):
        out["vendor"], out["device"] = pci.ids & 0xFFFF, pci.ids >> 16
        out["bus"] = f"{pci.domain:04x}:{pci.bus:02x}:{pci.device:02x}.0"
    if not library.nvmlDeviceGetMemoryInfo(handle, ctypes.byref(memory)):
        out["memory"] = memory.total
    major, minor = ctypes.c_int(), ctypes.c_int()
    capability = getattr(library, "nvmlDeviceGetCudaComputeCapability", None)
    if capability and not capability(handle, ctypes.byref(major), ctypes.byref(minor)):
        out["compute_capability"] = f"{major.value}.{minor.value}"
    return out


def main() -> Any:
    """Return ``{driver, cuda, gpus}``."""
    try:
        library = load()
    except OSError as error:
        return {"error": f"the library can't be loaded: {error}"}
    if library is None:
        return None
    library.nvmlErrorString.restype = ctypes.c_char_p
    code = library.nvmlInit_v2()
    if code:
        return {"error": library.nvmlErrorString(code).decode("utf-8", "replace")}
    number = ctypes.c_int()
    cuda = getattr(library, "nvmlSystemGetCudaDriverVersion_v2", None) or getattr(
        library, "nvmlSystemGetCudaDriverVersion", None
    )
    version = number.value if cuda and not cuda(ctypes.byref(number)) else 0
    count = ctypes.c_uint()
    code = library.nvmlDeviceGetCount_v2(ctypes.byref(count))
    return {
        "driver": text(library.nvmlSystemGetDriverVersion),
        "cuda": f"{version // 1000}.{version % 1000 // 10}" if version else None,
        "gpus": [gpu(library, index) for index in range(min(count.value, MOST))] if not code else [],
    }


if __name__ == "__main__":
    print(json.dumps(main()))
