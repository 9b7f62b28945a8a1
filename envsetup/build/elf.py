"""What a shared library for Linux says about itself: its name, the libraries and symbol versions it needs.

Only headers and the dynamic section are read, some kilobytes of a file however large. Nothing in it is
trusted: every offset is checked and every list has an end. The layout is that of elf(5).
"""

from __future__ import annotations

import dataclasses
import os
import struct
from pathlib import Path
from typing import BinaryIO, Dict, FrozenSet, Iterator, List, Tuple

MACHINES = {3: "x86", 40: "arm", 62: "x86_64", 183: "aarch64", 21: "ppc64", 22: "s390x", 243: "riscv64"}

_LOAD, _DYNAMIC = 1, 2  # kinds of segments
_NEEDED, _STRTAB, _SONAME, _RPATH, _RUNPATH = 1, 5, 14, 15, 29  # tags of the dynamic section
_VERDEF, _VERNEED = 0x6FFFFFFC, 0x6FFFFFFE
_WEAK = 2  # a symbol version that may be absent

_DYNAMIC_LIMIT = 1 << 20  # bytes; real ones have about a kilobyte
_TEXT_LIMIT = 4096  # bytes of one name or search path
_LIST_LIMIT = 4096  # entries of a list in one file; libstdc++ has about 150 symbol versions

_Segment = Tuple[int, int, int, int]  # kind, file offset, address, bytes in the file


class DamagedError(Exception):
    """The file can't be a shared library; the text says why, to complete the sentence "FILE …"."""


@dataclasses.dataclass(frozen=True)
class Elf:
    """One library's own account.

    Args:
        machine: ``x86_64``, ``aarch64``, … or ``machine 0x…``.
        bits: 32 or 64.
        soname: the name that others ask for, or None.
        needed: the names that it asks for.
        rpath: its search path of the old kind, which its dependencies inherit; not expanded.
        runpath: its search path of the new kind, which overrules the old; not expanded.
        wants: symbol versions that must be there: ``("libc.so.6", "GLIBC_2.34")``, …
        defines: symbol versions that it has.
    """

    machine: str
    bits: int
    soname: str | None = None
    needed: Tuple[str, ...] = ()
    rpath: Tuple[str, ...] = ()
    runpath: Tuple[str, ...] = ()
    wants: Tuple[Tuple[str, str], ...] = ()
    defines: FrozenSet[str] = frozenset()


def read(path: Path) -> Elf:
    """Read a library.

    Raises:
        DamagedError: it is empty, cut off, or something else than ELF.
        OSError: it can't be read.
    """
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size == 0:
            raise DamagedError("is empty")
        return _Reader(file, size).elf()


class _Reader:
    def __init__(self, file: BinaryIO, size: int) -> None:
        self.file, self.size, self.left = file, size, _LIST_LIMIT
        head = self.at(0, min(size, 20))
        if head[:4] != b"\x7fELF":
            raise DamagedError("is no shared library")
        if len(head) < 20 or head[4] not in (1, 2) or head[5] not in (1, 2):
            raise DamagedError("has a header that makes no sense")
        self.bits = 32 * head[4]
        self.order = "<" if head[5] == 1 else ">"
        (number,) = struct.unpack_from(self.order + "H", head, 18)
        self.machine = MACHINES.get(number, f"machine {number:#x}")

    def elf(self) -> Elf:
        segments = self.segments()
        for _, offset, _, length in segments:
            if offset + length > self.size:
                raise DamagedError(f"ends after {self.size} of {offset + length} bytes")
        dynamic = next((s for s in segments if s[0] == _DYNAMIC), None)
        if dynamic is None:
            return Elf(self.machine, self.bits)
        tags = self.tags(dynamic)
        text = _first(tags, _STRTAB)
        if text is None:
            raise DamagedError("has no names in its dynamic section")
        names = self.offset(segments, text)

        def texts(tag: int) -> List[str]:
            return [self.text(names + value) for value in tags.get(tag, ())[:_LIST_LIMIT]]

        wants: List[Tuple[str, str]] = []
        defines: List[str] = []
        verneed, verdef = _first(tags, _VERNEED), _first(tags, _VERDEF)
        if verneed is not None:
            wants = list(self.wants(self.offset(segments, verneed), names))
        if verdef is not None:
            defines = list(self.defines(self.offset(segments, verdef), names))
        return Elf(
            machine=self.machine,
            bits=self.bits,
            soname=next(iter(texts(_SONAME)), None),
            needed=tuple(texts(_NEEDED)),
            rpath=_folders(texts(_RPATH)),
            runpath=_folders(texts(_RUNPATH)),
            wants=tuple(dict.fromkeys(wants)),
            defines=frozenset(defines),
        )

    def at(self, offset: int, length: int) -> bytes:
        if offset < 0 or offset + length > self.size:
            raise DamagedError(f"points outside itself (byte {offset} of {self.size})")
        self.file.seek(offset)
        return self.file.read(length)

    def unpack(self, layout: str, offset: int) -> Tuple[int, ...]:
        layout = self.order + layout
        data = self.at(offset, struct.calcsize(layout))
        if len(data) < struct.calcsize(layout):  # it shrank while being read
            raise DamagedError("ends too early")
        return struct.unpack(layout, data)

    def text(self, offset: int) -> str:
        data = self.at(offset, min(_TEXT_LIMIT, max(0, self.size - offset)))
        end = data.find(b"\0")
        if end < 0:
            raise DamagedError("has a name without an end")
        return data[:end].decode("utf-8", "backslashreplace")

    def segments(self) -> List[_Segment]:
        wide = self.bits == 64
        table = self.unpack("Q" if wide else "I", 32 if wide else 28)[0]
        entry, count = self.unpack("HH", 54 if wide else 42)
        out = []
        for index in range(count):
            where = table + index * entry
            if wide:
                kind, _, offset, address, _, length = self.unpack("IIQQQQ", where)
            else:
                kind, offset, address, _, length = self.unpack("IIIII", where)
            if kind in (_LOAD, _DYNAMIC):
                out.append((kind, offset, address, length))
        return out

    def offset(self, segments: List[_Segment], address: int) -> int:
        for kind, offset, start, length in segments:
            if kind == _LOAD and start <= address < start + length:
                return address - start + offset
        raise DamagedError(f"points outside itself (address {address:#x})")

    def tags(self, dynamic: _Segment) -> Dict[int, List[int]]:
        _, offset, _, length = dynamic
        pair = struct.Struct(self.order + ("QQ" if self.bits == 64 else "II"))
        data = self.at(offset, min(length, _DYNAMIC_LIMIT))
        out: Dict[int, List[int]] = {}
        for start in range(0, len(data) - pair.size + 1, pair.size):
            tag, value = pair.unpack_from(data, start)
            if tag == 0:
                break
            out.setdefault(tag, []).append(value)
        return out

    def wants(self, offset: int, names: int) -> Iterator[Tuple[str, str]]:
        for library in self.chain(offset, "HHIII", 4):
            _, _, name, first, _ = self.unpack("HHIII", library)
            for version in self.chain(library + first, "IHHII", 4):
                _, flags, _, label, _ = self.unpack("IHHII", version)
                if not flags & _WEAK:
                    yield self.text(names + name), self.text(names + label)

    def defines(self, offset: int, names: int) -> Iterator[str]:
        for definition in self.chain(offset, "HHHHIII", 6):
            first = self.unpack("HHHHIII", definition)[5]
            yield self.text(names + self.unpack("I", definition + first)[0])

    def chain(self, offset: int, layout: str, following: int) -> Iterator[int]:
        """Yield the offsets of records; field ``following`` of each says how far the next one is."""
        while self.left > 0:
            self.left -= 1
            yield offset
            distance = self.unpack(layout, offset)[following]
            if distance == 0:
                return
            offset += distance
        raise DamagedError("has a list without an end")


def _first(tags: Dict[int, List[int]], tag: int) -> int | None:
    return tags[tag][0] if tag in tags else None


def _folders(texts: List[str]) -> Tuple[str, ...]:
    return tuple(folder for text in texts for folder in text.split(":") if folder)
