"""Before anything is imported on Linux: which shared libraries do the installed wheels need that aren't here?

Python reports them one at a time, one failed import after the other; the wheels name all of them beforehand.

    report = check(site_packages, packages=["torch"], interpreter=python)
    if not report.ok:
        print(advice(report.missing, distro="ubuntu").commands["debian"])
"""

from __future__ import annotations

import dataclasses
import fnmatch
import functools
import os
import re
import sys
from pathlib import Path
from typing import Any, Dict, Iterable, List, Mapping, Sequence, Set, Tuple

from envsetup.build.elf import Elf
from envsetup.build.loader import Loader, Shipped, scan
from envsetup.knowledge import toml
from envsetup.knowledge.files import constraints

ORIGINS = ("package", "driver", "wsl", "toolkit", "python", "libc")
FAMILIES = ("debian", "fedora", "arch")
SHOWN = 20  # files named in needed_by

_INSTALL = {
    "debian": "apt-get install -y",
    "fedora": "dnf install -y",
    "arch": "pacman -S --needed --noconfirm",
}
_DISTRIBUTIONS = {
    "debian": ("debian", "ubuntu", "linuxmint", "pop", "kali", "raspbian", "elementary", "zorin"),
    "fedora": ("fedora", "rhel", "centos", "rocky", "almalinux", "ol", "amzn"),
    "arch": ("arch", "manjaro", "endeavouros", "archlinux"),
}
# Extension modules: name.cpython-38-x86_64-linux-gnu.so, name.abi3.so, name.so (but not libname.so).
_EXTENSION = re.compile(r"(?:.*\.(?:cpython-[^.]+|abi3)|(?!lib)[^.]+)\.so$")


@dataclasses.dataclass(frozen=True)
class MissingLibrary:
    """A library that installed files need and the machine lacks.

    Args:
        soname: its name, such as ``libomp.so.5``.
        needed_by: paths in site-packages of the files that ask for it, those that matter first (20 at most).
        required: an import fails without it; False when only files need it that are loaded later, if at all.
        origin: what brings it: package, driver, wsl, toolkit, python, libc, or unknown.
        packages: the package of each family of distributions, ``{"debian": "libomp5", …}``.
        note: what a person should know besides, or an empty text.
        note_for: the families for which the note matters.
    """

    soname: str
    needed_by: Tuple[str, ...]
    required: bool
    origin: str
    packages: Mapping[str, str]
    note: str = ""
    note_for: Tuple[str, ...] = FAMILIES


@dataclasses.dataclass(frozen=True)
class OldLibrary:
    """A library that is there, in a version too old for the installed files.

    Args:
        soname: its name, such as ``libc.so.6``.
        needs: the newest symbol version that is asked for and absent, such as ``GLIBC_2.34``.
        has: the newest of the same kind that it has, or None.
        path: the file.
        needed_by: see :class:`MissingLibrary`.
        required: see :class:`MissingLibrary`.
    """

    soname: str
    needs: str
    has: str | None
    path: str
    needed_by: Tuple[str, ...]
    required: bool


@dataclasses.dataclass(frozen=True)
class DamagedFile:
    """A file with the name of a shared library that can't be one: cut off, empty, for another processor."""

    path: str
    reason: str
    required: bool


@dataclasses.dataclass(frozen=True)
class Report:
    """What was found. ``ok``: nothing is wrong that an import would fail for."""

    missing: Tuple[MissingLibrary, ...] = ()
    old: Tuple[OldLibrary, ...] = ()
    damaged: Tuple[DamagedFile, ...] = ()
    files: int = 0

    @property
    def ok(self) -> bool:
        """True when imports find all that they need."""
        missing, old, damaged = self.missing, self.old, self.damaged
        required = [x.required for x in missing] + [x.required for x in old] + [x.required for x in damaged]
        return not any(required)

    def to_json(self) -> Dict[str, Any]:
        """Return ``{missing, old, damaged, files}``."""
        return dataclasses.asdict(self)


@dataclasses.dataclass(frozen=True)
class Advice:
    """How to get what is missing.

    Args:
        commands: one command for each family of distributions, with all packages.
        notes: what no command can install, and what to know besides.
    """

    commands: Mapping[str, str]
    notes: Tuple[str, ...]


def missing(site_packages: Path, **options: Any) -> List[MissingLibrary]:
    """Return :func:`check`'s missing libraries."""
    return list(check(site_packages, **options).missing)


def check(
    site_packages: Path,
    *,
    packages: Iterable[str] = (),
    interpreter: Path | None = None,
    environ: Mapping[str, str] | None = None,
) -> Report:
    """Compare what the shared libraries in an environment need with what is there.

    A library counts as found when the dynamic linker would find it, and also when any file in the environment
    has its name: packages load such files themselves before they need them. Nothing is loaded or executed.

    Args:
        site_packages: the folder to look through.
        packages: import names such as ``torch``; what only other packages need is then not ``required``.
            All packages count by default.
        interpreter: the Python that will import them; what it has loaded itself needs no search. By default
            a program like the one that runs this.
        environ: for ``LD_LIBRARY_PATH``; this process's by default.

    Returns:
        The findings, sorted by name; an empty report when this isn't Linux.
    """
    if sys.platform != "linux":
        return Report()
    loader = Loader(interpreter or Path(sys.executable), os.environ if environ is None else environ)
    shipped = scan(site_packages, loader.fits)
    roots = [file for file in shipped.good if _is_root(file, frozenset(packages))]
    matters = _reachable(roots, shipped)
    asked: Dict[str, List[str]] = {}
    outdated: Dict[Tuple[str, str, str], List[Tuple[str, str]]] = {}
    for file, elf in shipped.good.items():
        for soname in elf.needed:
            if soname not in shipped.names and not loader.find(soname, site_packages / file, elf):
                asked.setdefault(soname, []).append(file)
        for soname, version in elf.wants:
            found = _without_version(soname, version, site_packages / file, elf, shipped, loader)
            if found:
                family = version.rpartition("_")[0]
                outdated.setdefault((soname, family, str(found)), []).append((version, file))

    needed_names = {soname for file in matters for soname in shipped.good[file].needed}
    return Report(
        missing=tuple(_missing(soname, asked[soname], matters) for soname in sorted(asked)),
        old=tuple(_old(*key, outdated[key], matters, loader) for key in sorted(outdated)),
        damaged=tuple(
            DamagedFile(file, why, _is_root(file, frozenset(packages)) or Path(file).name in needed_names)
            for file, why in sorted(shipped.damaged.items())
        ),
        files=len(shipped.good) + len(shipped.damaged),
    )


def advice(libraries: Sequence[MissingLibrary], distro: str | None = None) -> Advice:
    """Return how to install the libraries, all at once.

    Args:
        libraries: of :func:`check`.
        distro: the distribution as ``/etc/os-release`` names it (``ubuntu``); the commands for all families
            are returned when it is None.
    """
    families = [f for f in FAMILIES if distro is None or distro.lower() in _DISTRIBUTIONS[f]]
    sudo = "sudo " if not hasattr(os, "geteuid") or os.geteuid() != 0 else ""
    commands = {}
    for family in families:
        names = sorted({library.packages[family] for library in libraries if family in library.packages})
        if names:
            commands[family] = f"{sudo}{_INSTALL[family]} {' '.join(names)}"
    notes: Dict[str, List[str]] = {}
    for library in libraries:
        text = library.note if not families or set(families) & set(library.note_for) else ""
        if library.origin == "unknown":
            text = "No package is known to this program: search your distribution for the file."
        elif library.origin == "package" and not any(family in library.packages for family in families):
            text = f"Your distribution's package isn't known to this program. {text}".strip()
        if text:
            notes.setdefault(text, []).append(library.soname)
    return Advice(commands, tuple(f"{', '.join(sonames)}: {text}" for text, sonames in notes.items()))


@dataclasses.dataclass(frozen=True)
class _Library:
    sonames: Tuple[str, ...] = ()
    origin: str = "unknown"
    packages: Mapping[str, str] = dataclasses.field(default_factory=dict)
    note: str = ""
    note_for: Tuple[str, ...] = FAMILIES


@dataclasses.dataclass(frozen=True)
class _Knowledge:
    libraries: Tuple[_Library, ...]
    optional: Tuple[str, ...]
    loaded: Tuple[str, ...]


@functools.lru_cache(maxsize=None)
def _knowledge() -> _Knowledge:
    root = toml.load(constraints() / "native.toml")
    root.integer("schema")
    libraries = []
    for table in root.tables("library"):
        packages = {family: table.text(family) for family in FAMILIES if family in table}
        origin = table.choice("from", ORIGINS)
        if (origin == "package") != bool(packages):
            table.fail("a library from a package names it, and no other does", "from")
        note_for = table.texts("note-for", FAMILIES)
        libraries.append(_Library(table.texts("sonames"), origin, packages, table.text("note", ""), note_for))
        table.text("source")
        table.end()
    paths: Dict[str, List[str]] = {"optional": [], "loaded": []}
    for kind, patterns in paths.items():
        for table in root.tables(kind):
            patterns += table.texts("paths")
            table.text("why")
            table.text("source")
            table.end()
    root.end()
    return _Knowledge(tuple(libraries), tuple(paths["optional"]), tuple(paths["loaded"]))


def _matches(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def _is_root(file: str, packages: frozenset[str]) -> bool:
    """Say whether an import of one of the packages loads the file itself."""
    top = file.split("/", 1)[0].split(".", 1)[0]
    if packages and top not in packages and top.split("-")[0] not in packages:  # tensorflow-plugins
        return False
    if _matches(file, _knowledge().loaded):
        return True
    return bool(_EXTENSION.match(file.rsplit("/", 1)[-1])) and not _matches(file, _knowledge().optional)


def _reachable(roots: Iterable[str], shipped: Shipped) -> Set[str]:
    seen: Set[str] = set()
    todo = list(roots)
    while todo:
        file = todo.pop()
        if file in seen:
            continue
        seen.add(file)
        for soname in shipped.good[file].needed:
            todo += shipped.names.get(soname, ())
    return seen


def _without_version(
    soname: str, version: str, file: Path, elf: Elf, shipped: Shipped, loader: Loader
) -> Path | None:
    """Return the library that is too old to have the version; None when one has it, or when there is none."""
    if any(version in shipped.good[name].defines for name in shipped.names.get(soname, ())):
        return None
    found = loader.find(soname, file, elf)
    if found is None:
        return None
    defines = loader.read(found).defines
    # the dynamic linker only warns about a library that has no versions at all
    return None if not defines or version in defines else found


def _order(files: Iterable[str], matters: Set[str]) -> Tuple[str, ...]:
    return tuple(sorted(set(files), key=lambda file: (file not in matters, file)))[:SHOWN]


def _missing(soname: str, files: Sequence[str], matters: Set[str]) -> MissingLibrary:
    known = next((e for e in _knowledge().libraries if _matches(soname, e.sonames)), _Library())
    return MissingLibrary(
        soname=soname,
        needed_by=_order(files, matters),
        required=any(file in matters for file in files),
        origin=known.origin,
        packages=known.packages,
        note=known.note,
        note_for=known.note_for,
    )


def _old(
    soname: str, family: str, path: str, wants: Sequence[Tuple[str, str]], matters: Set[str], loader: Loader
) -> OldLibrary:
    required = [(version, file) for version, file in wants if file in matters]
    needs = max((version for version, _ in required or wants), key=_numbers)
    have = [v for v in loader.read(Path(path)).defines if v.rpartition("_")[0] == family]
    return OldLibrary(
        soname=soname,
        needs=needs,
        has=max(have, key=_numbers) if have else None,
        path=path,
        needed_by=_order((file for _, file in wants), matters),
        required=bool(required),
    )


def _numbers(version: str) -> Tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version))
