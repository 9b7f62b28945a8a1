"""Give Wine's ucrtbase.dll the complex-number functions that it leaves unimplemented and torch 2 calls.

Usage: ucrt.py ucrtbase.dll    Each stub's code is replaced in place; a function that Wine has is left alone.
"""

from __future__ import annotations

import struct
import sys
from pathlib import Path

# Windows' x64 convention: _Fcomplex comes in rcx, _Dcomplex by its address in rcx; the result goes to xmm0.
BODIES = {
    b"crealf": "66 0f 6e c1  c3",  # movd xmm0, ecx; ret
    b"cimagf": "48 c1 e9 20  66 0f 6e c1  c3",  # shr rcx, 32; movd xmm0, ecx; ret
    b"creal": "f2 0f 10 01  c3",  # movsd xmm0, [rcx]; ret
    b"cimag": "f2 0f 10 41 08  c3",  # movsd xmm0, [rcx+8]; ret
}
STUB = bytes.fromhex(
    "48 83 ec 28 48 8d 0d"
)  # sub rsp, 40; lea rcx, [name]; then lea rdx, …; call "unimplemented"
STUB_CALL = 18


class Image:
    """A 64-bit DLL in memory, addressed by relative virtual address as well as by file offset."""

    def __init__(self, data: bytearray) -> None:
        self.data = data
        self.pe = self.u32(0x3C)
        self.optional = self.pe + 24
        sections = struct.unpack_from("<H", data, self.pe + 6)[0]
        table = self.optional + struct.unpack_from("<H", data, self.pe + 20)[0]
        self.sections = [struct.unpack_from("<IIII", data, table + 40 * i + 8) for i in range(sections)]

    def u32(self, at: int) -> int:
        """Return the 32-bit number at a file offset."""
        value: int = struct.unpack_from("<I", self.data, at)[0]
        return value

    def offset(self, rva: int) -> int:
        """Return the file offset of a relative virtual address."""
        for size, start, raw_size, raw in self.sections:
            if start <= rva < start + max(size, raw_size):
                return int(rva - start + raw)
        raise ValueError(f"address {rva:#x} is outside the sections")

    def exports(self) -> dict[bytes, int]:
        """Return the file offset of every exported function's code."""
        directory = self.offset(self.u32(self.optional + 112))
        count, functions, names, ordinals = struct.unpack_from("<4I", self.data, directory + 24)
        out = {}
        for i in range(count):
            start = self.offset(self.u32(self.offset(names) + 4 * i))
            name = bytes(self.data[start : self.data.index(0, start)])
            ordinal = struct.unpack_from("<H", self.data, self.offset(ordinals) + 2 * i)[0]
            out[name] = self.u32(self.offset(functions) + 4 * ordinal)
        return {name: self.offset(rva) for name, rva in out.items() if name in BODIES}


def main(path: Path) -> None:
    """Fill the stubs of the DLL at ``path``."""
    image = Image(bytearray(path.read_bytes()))
    for name, at in image.exports().items():
        if image.data[at : at + len(STUB)] == STUB and image.data[at + STUB_CALL] == 0xE8:
            code = bytes.fromhex(BODIES[name])
            image.data[at : at + len(code)] = code
    path.write_bytes(bytes(image.data))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
