"""Read from a program's first bytes which processor it was built for."""

from __future__ import annotations

import struct
from typing import List, Tuple

_ELF = {
    0x03: "x86",
    0x3E: "x86_64",
    0xB7: "aarch64",
    0x28: "armv7",
    0xF3: "riscv64",
    0x15: "ppc64",
    0x16: "s390x",
}
_PE = {0x014C: "x86", 0x8664: "x86_64", 0xAA64: "aarch64", 0x01C4: "armv7"}
_MACHO = {0x01000007: "x86_64", 0x0100000C: "aarch64", 0x00000007: "x86"}


def architectures(head: bytes) -> List[Tuple[str, int]]:
    """Return ``(architecture, bits)`` of each program in a file: a universal one has several, a script none.

    Args:
        head: the file's first kilobyte.
    """
    try:
        if head[:4] == b"\x7fELF":
            order = "<" if head[5] == 1 else ">"
            (machine,) = struct.unpack_from(order + "H", head, 18)
            return [(_ELF.get(machine, f"elf-{machine:#x}"), 64 if head[4] == 2 else 32)]
        if head[:2] == b"MZ":
            (at,) = struct.unpack_from("<I", head, 0x3C)
            signature, machine = struct.unpack_from("<4sH", head, at)
            if signature == b"PE\0\0":
                (magic,) = struct.unpack_from("<H", head, at + 24)
                return [(_PE.get(machine, f"pe-{machine:#x}"), 64 if magic == 0x20B else 32)]
        if head[:4] in (b"\xcf\xfa\xed\xfe", b"\xce\xfa\xed\xfe"):
            return [_macho(struct.unpack_from("<I", head, 4)[0])]
        if head[:4] == b"\xca\xfe\xba\xbe":  # also Java's; its second number is no small count
            (count,) = struct.unpack_from(">I", head, 4)
            return (
                [_macho(struct.unpack_from(">I", head, 8 + 20 * n)[0]) for n in range(count)]
                if count < 8
                else []
            )
    except (struct.error, IndexError):  # cut off, or only looks like one
        pass
    return []


def _macho(kind: int) -> Tuple[str, int]:
    return _MACHO.get(kind, f"macho-{kind:#x}"), 64 if kind & 0x01000000 else 32
