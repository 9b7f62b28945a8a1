"""What the CUDA driver itself says of its devices, for frameworks that count none."""

import ctypes
import os


def names():
    """Return the names of the driver's devices in its order; none without a driver or a device."""
    try:
        driver = ctypes.WinDLL("nvcuda.dll") if os.name == "nt" else ctypes.CDLL("libcuda.so.1")
    except OSError:
        return []
    count = ctypes.c_int()
    if driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count)):
        return []
    found = []
    for index in range(count.value):
        device, text = ctypes.c_int(), ctypes.create_string_buffer(256)
        if driver.cuDeviceGet(ctypes.byref(device), index) or driver.cuDeviceGetName(text, 256, device):
            break
        found.append(text.value.decode("utf-8", "replace"))
    return found
