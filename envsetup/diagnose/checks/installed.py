"""The distributions in a folder, by their own metadata; files are read up to a limit, none is executed."""

from __future__ import annotations

import contextlib
import csv
import dataclasses
import functools
import io
import os
import re
from pathlib import Path
from typing import Iterable, List, NamedTuple, Tuple

from packaging.utils import canonicalize_name

_INFO = re.compile(r"^(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*?)-(?P<version>[^-]+)\.dist-info$")
_EGG = re.compile(r"^(?P<name>[A-Za-z0-9][A-Za-z0-9._]*?)-(?P<version>[^-]+)(?:-py[\d.]+.*)?\.egg-info$")
_RECORD_LIMIT = 64 << 20  # bytes; the largest known has 3 MB
_TEXT_LIMIT = 1 << 20


class Entry(NamedTuple):
    """One line of a RECORD: the path below the folder, ``sha256=…`` or empty, and the size or -1."""

    path: str
    hash: str
    size: int


@dataclasses.dataclass(frozen=True)
class Distribution:
    """What is installed under one name.

    Args:
        name: normalised.
        version: as its folder's name says.
        info: its ``.dist-info`` or ``.egg-info``.
        folder: the folder of packages that it is in.
    """

    name: str
    version: str
    info: Path
    folder: Path

    @property
    def shown(self) -> str:
        """``name version``, for people."""
        return f"{self.name} {self.version}"

    @functools.cached_property
    def provided(self) -> bool:
        """Whether it is envsetup's record that a replaced distribution is provided, without files."""
        return "+" in self.version and _read(self.info / "INSTALLER", 100).strip() == "envsetup"

    @functools.cached_property
    def record(self) -> Tuple[Entry, ...]:
        """The files that it installed; empty when it keeps no list."""
        # A path can't hold a NUL, and csv raises for one before Python 3.11.
        text = _read(self.info / "RECORD", _RECORD_LIMIT).replace("\0", "\ufffd")
        out = []
        with contextlib.suppress(csv.Error):  # what comes after a line of 128 KiB is no record any more
            for row in csv.reader(io.StringIO(text, newline="")):
                if len(row) >= 3 and row[0]:
                    size = int(row[2]) if row[2].isdecimal() else -1
                    out.append(Entry(row[0].replace("\\", "/"), row[1], size))
        return tuple(out)

    @functools.cached_property
    def tags(self) -> Tuple[str, ...]:
        """The wheel's tags, such as ``cp38-cp38-manylinux2014_x86_64``."""
        return tuple(re.findall(r"^Tag:\s*(\S+)\s*$", _read(self.info / "WHEEL", _TEXT_LIMIT), re.MULTILINE))

    @functools.cached_property
    def requires(self) -> Tuple[str, ...]:
        """Its requirements, as its metadata has them."""
        headers = _read(self.info / "METADATA", _TEXT_LIMIT).replace("\r\n", "\n").partition("\n\n")[0]
        return tuple(re.findall(r"^Requires-Dist:[ \t]*(\S.*)$", headers, re.MULTILINE))


def distributions(folders: Iterable[Path]) -> Tuple[Distribution, ...]:
    """Return what is installed in the folders, sorted by name."""
    found: List[Distribution] = []
    for folder in folders:
        try:
            names = [entry.name for entry in os.scandir(folder)]
        except OSError:
            continue
        for name in names:
            match = _INFO.match(name) or _EGG.match(name)
            if match:
                found.append(
                    Distribution(canonicalize_name(match["name"]), match["version"], folder / name, folder)
                )
    return tuple(sorted(found, key=lambda d: (d.name, d.version)))


def leftovers(folder: Path) -> Tuple[str, ...]:
    """Return what an interrupted pip left: folders that begin with ``~``."""
    try:
        return tuple(sorted(e.name for e in os.scandir(folder) if e.name.startswith("~") and e.is_dir()))
    except OSError:
        return ()


def _read(path: Path, limit: int) -> str:
    try:
        with path.open("rb") as file:
            return file.read(limit).decode("utf-8", "replace")
    except OSError:
        return ""
