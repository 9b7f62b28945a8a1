"""Where the dynamic linker of this Linux looks for a shared library, and which ones an environment brings.

The search is that of ld.so(8). It is followed on paper only: no file is loaded.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import os
import re
import stat
import subprocess
from pathlib import Path
from typing import Callable, Dict, Iterator, List, Mapping, Set, Tuple

from envsetup.build.elf import DamagedError, Elf, read

DEFAULT_FOLDERS = ("/lib64", "/usr/lib64", "/lib", "/usr/lib", "/usr/local/lib", "/usr/lib/wsl/lib")
LDCONFIG = ("/sbin/ldconfig", "/usr/sbin/ldconfig")  # outside the PATH of ordinary users on Debian
FILE_LIMIT = 20_000  # shared libraries in one environment; the largest ones known have about a thousand

_SHARED = re.compile(r"\.so(\.\d+)*$")
_CACHE_LINE = re.compile(r"^\s*(\S+) \(([^)]*)\) => (\S.*)$", re.MULTILINE)
_CACHE_MARK = {"x86_64": "x86-64", "aarch64": "AArch64"}


@dataclasses.dataclass(frozen=True)
class Shipped:
    """The shared libraries in an environment.

    Args:
        good: what each says, by path within the folder.
        names: the paths at which a name is found, by file name and by soname.
        damaged: what is wrong, by path within the folder.
    """

    good: Mapping[str, Elf]
    names: Mapping[str, Tuple[str, ...]]
    damaged: Mapping[str, str]


def scan(folder: Path, fits: Callable[[Elf], bool]) -> Shipped:
    """Read all shared libraries under a folder.

    Args:
        folder: site-packages.
        fits: tells whether a library is for the processor in question; others are left out, but for extension
            modules, which are damage.
    """
    good: Dict[str, Elf] = {}
    damaged: Dict[str, str] = {}
    names: Dict[str, List[str]] = {}
    for path in _shared_libraries(folder):
        file = path.relative_to(folder).as_posix()
        try:
            elf = read(path)
        except DamagedError as error:
            if not _is_linker_script(path):
                damaged[file] = str(error)
            continue
        except OSError as error:
            damaged[file] = f"can't be read: {error.strerror}"
            continue
        if fits(elf):
            good[file] = elf
            for name in {path.name, elf.soname or path.name}:
                names.setdefault(name, []).append(file)
        elif ".cpython-" in path.name or ".abi3." in path.name:
            damaged[file] = f"is for another processor ({elf.machine}, {elf.bits} bits)"
    return Shipped(good, {name: tuple(files) for name, files in names.items()}, damaged)


def _shared_libraries(folder: Path) -> Iterator[Path]:
    """Yield each file once, though links may lead to it twice, or in circles."""
    seen: Set[Tuple[int, int]] = set()
    count = 0
    for parent, folders, files in os.walk(folder, followlinks=True):
        try:
            here = Path(parent).stat()
        except OSError:  # gone, meanwhile
            folders.clear()
            continue
        if (here.st_dev, here.st_ino) in seen:
            folders.clear()
            continue
        seen.add((here.st_dev, here.st_ino))
        folders.sort()
        for name in sorted(files):
            if not _SHARED.search(name):
                continue
            path = Path(parent, name)
            try:
                if not stat.S_ISREG(path.stat().st_mode):  # opening a FIFO would wait for ever
                    continue
            except OSError:  # a link to nothing, or to itself
                continue
            count += 1
            if count > FILE_LIMIT:
                return
            yield path


def _is_linker_script(path: Path) -> bool:
    """Say whether it is a text for the linker at compile time, as libc.so is, which programs never load."""
    with path.open("rb") as file:
        return (
            file.read(4096).lstrip().startswith((b"/* GNU ld script", b"INPUT", b"GROUP", b"OUTPUT_FORMAT"))
        )


class Loader:
    """The dynamic linker as it would work for one interpreter.

    Args:
        interpreter: a Python; symbolic links are followed to the program itself.
        environ: for ``LD_LIBRARY_PATH``.
    """

    def __init__(self, interpreter: Path, environ: Mapping[str, str]) -> None:
        self._before = [Path(folder) for folder in environ.get("LD_LIBRARY_PATH", "").split(":") if folder]
        self._after = [Path(folder) for folder in DEFAULT_FOLDERS]
        self._elfs: Dict[Path, Elf | None] = {}
        self._found: Dict[Tuple[str, Tuple[Path, ...]], Path | None] = {}
        self._loaded: Dict[str, Path] = {}
        self._inherited: Tuple[Path, ...] = ()
        self._program: Elf | None = None
        program = Path(os.path.realpath(interpreter))
        with contextlib.suppress(OSError, DamagedError):  # a script that starts Python: less is known then
            self._program = read(program)
            self._inherited = () if self._program.runpath else _expand(self._program.rpath, program)
            self._follow(program, self._program)

    def fits(self, elf: Elf) -> bool:
        """Say whether a library is for the interpreter's processor (or for any, when that is unknown)."""
        program = self._program
        return program is None or (elf.machine, elf.bits) == (program.machine, program.bits)

    def find(self, soname: str, file: Path, elf: Elf) -> Path | None:
        """Return where ``soname`` is found on behalf of ``file``, or None."""
        if soname in self._loaded:
            return self._loaded[soname]
        if "/" in soname:
            return self._usable(Path(soname))
        own = _expand(elf.runpath or elf.rpath, file)
        key = (soname, own)
        if key not in self._found:
            first = own if not elf.runpath else ()
            then = own if elf.runpath else ()
            folders = [*first, *self._inherited, *self._before, *then]
            cached = [Path(path) for path in self._cache.get(soname, ())]
            candidates = [f / soname for f in folders] + cached + [f / soname for f in self._after]
            usable = (self._usable(candidate) for candidate in candidates)
            self._found[key] = next((path for path in usable if path), None)
        return self._found[key]

    def read(self, path: Path) -> Elf:
        """Return what a library says that :meth:`find` found."""
        elf = self._elfs[path]
        assert elf is not None
        return elf

    def _usable(self, path: Path) -> Path | None:
        if path not in self._elfs:
            self._elfs[path] = None
            with contextlib.suppress(OSError, DamagedError):
                if stat.S_ISREG(path.stat().st_mode):
                    elf = read(path)
                    self._elfs[path] = elf if self.fits(elf) else None
        return path if self._elfs[path] else None

    def _follow(self, file: Path, elf: Elf) -> None:
        """Note what the program loads when it starts: libpython, for one, which no later search may find."""
        for soname in elf.needed:
            found = self.find(soname, file, elf)
            if found and soname not in self._loaded:
                self._loaded[soname] = found
                self._follow(found, self.read(found))

    @functools.cached_property
    def _cache(self) -> Mapping[str, List[str]]:
        """The linker's cache: paths by name. Empty on musl, which has none."""
        mark = _CACHE_MARK.get(self._program.machine, "") if self._program else ""
        out: Dict[str, List[str]] = {}
        for program in LDCONFIG:
            try:
                done = subprocess.run(
                    [program, "-p"],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    env={"LC_ALL": "C"},
                    timeout=20,
                )
            except (OSError, subprocess.TimeoutExpired):
                continue
            text = done.stdout.decode("utf-8", "surrogateescape")
            for soname, kind, path in _CACHE_LINE.findall(text):
                if mark in kind:
                    out.setdefault(soname, []).append(path)
            break
        return out


def _expand(folders: Tuple[str, ...], file: Path) -> Tuple[Path, ...]:
    """Return a search path's folders; those that depend on more than the file's own place are left out."""
    origin = str(file.parent)
    expanded = (re.sub(r"\$(ORIGIN\b|\{ORIGIN\})", lambda _: origin, folder) for folder in folders)
    return tuple(Path(folder) for folder in expanded if "$" not in folder)
