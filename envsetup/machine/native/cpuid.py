"""Print which of AVX, AVX2 and FMA the processor has and Windows lets programs use.

Windows answers for AVX and AVX2 (IsProcessorFeaturePresent) but has no question for FMA, so the processor is
asked itself: a few bytes of machine code run CPUID. Where that is forbidden, ``fma`` is null.
"""

from __future__ import annotations

import ctypes
import json
import os
import struct
from typing import Any, Callable, Dict, Tuple

PF_AVX, PF_AVX2 = 39, 40  # winnt.h

# void cpuid(leaf, subleaf, uint32 out[4]), in the calling conventions of 64-bit and 32-bit Windows
CODE_64 = "53 89c8 89d1 0fa2 418900 41895804 41894808 4189500c 5b c3"
CODE_32 = "53 57 8b44240c 8b4c2410 0fa2 8b7c2414 8907 895f04 894f08 89570c 5f 5b c3"


def cpuid(kernel32: Any) -> Callable[[int, int], Tuple[int, ...]]:
    """Return a function (leaf, subleaf) → (eax, ebx, ecx, edx)."""
    code = bytes.fromhex((CODE_64 if struct.calcsize("P") == 8 else CODE_32).replace(" ", ""))
    kernel32.VirtualAlloc.restype = ctypes.c_void_p
    kernel32.VirtualAlloc.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_ulong, ctypes.c_ulong]
    at = kernel32.VirtualAlloc(None, len(code), 0x3000, 0x40)  # commit and reserve; read, write, execute
    if not at:
        raise OSError("no executable memory")
    ctypes.memmove(at, code, len(code))
    call = ctypes.CFUNCTYPE(None, ctypes.c_uint32, ctypes.c_uint32, ctypes.c_void_p)(at)

    def ask(leaf: int, subleaf: int) -> Tuple[int, ...]:
        out = (ctypes.c_uint32 * 4)()
        call(leaf, subleaf, ctypes.addressof(out))
        return tuple(out)

    return ask


def main() -> Dict[str, Any] | None:
    """Return ``{avx, avx2, fma}``, or None where this is not Windows."""
    if os.name != "nt":
        return None
    kernel32 = getattr(ctypes, "WinDLL")("kernel32")  # noqa: B009 (Windows only)
    present = kernel32.IsProcessorFeaturePresent
    avx, avx2 = bool(present(PF_AVX)), bool(present(PF_AVX2))
    fma: bool | None = None
    try:
        ask = cpuid(kernel32)
        ecx = ask(1, 0)[2]
        leaf7 = ask(7, 0)[1] if ask(0, 0)[0] >= 7 else 0
        # Older Windows knows no question about AVX and says no; OSXSAVE says that it saves the registers.
        avx = avx or bool(ecx >> 27 & 1 and ecx >> 28 & 1)
        avx2 = avx2 or (avx and bool(leaf7 >> 5 & 1))
        fma = avx and bool(ecx >> 12 & 1)
    except OSError:
        pass
    return {"avx": avx, "avx2": avx2, "fma": fma}


if __name__ == "__main__":
    print(json.dumps(main()))
