"""Windows: DLLs that modules import and that can't be found, by the import tables of the files."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Dict, Iterable, List, Mapping, Set, Tuple

from envsetup.diagnose.checks.check import Problem, Repair, Seen
from envsetup.diagnose.checks.context import Context
from envsetup.diagnose.checks.recognise import imports
from envsetup.diagnose.finding import Candidate

_MODULE = re.compile(r"\.(pyd|dll)$", re.IGNORECASE)
# Names that Windows resolves itself, without a file of that name.
_VIRTUAL = re.compile(r"^(api-ms-|ext-ms-)", re.IGNORECASE)
_RUNTIME = re.compile(r"^(msvcp|vcruntime|concrt|vcomp)\d+(_\w+)?\.dll$", re.IGNORECASE)


def look(context: Context) -> Seen:
    """Compare what modules import with what is in the environment, beside Python, in Windows and on PATH."""
    target = context.target
    assert target is not None
    try:
        import pefile  # type: ignore[import-untyped]  # noqa: F401
    except ImportError:
        return Seen(skipped="the package pefile is not installed")
    system = [Path(context.environ.get("SystemRoot", r"C:\Windows")) / "System32"]
    home = Path(target.config.get("home") or target.prefix)
    places = [home, home / "DLLs", home / "Library" / "bin", target.python.parent, *system]
    places += [Path(p) for p in context.environ.get("PATH", "").split(os.pathsep) if p]
    names = frozenset(imports(context))
    files = [file for folder in target.site for file in modules(folder)]
    return judge(files, target.site, names, places)


def judge(files: List[Path], site: Iterable[Path], names: frozenset[str], places: Iterable[Path]) -> Seen:
    """Return what the modules miss.

    Args:
        files: every module and DLL of the environment.
        site: the folders that they are in.
        names: import packages that matter; what only others need is left out.
        places: folders outside that Windows searches.
    """
    here = {file.name.lower() for file in files}
    outside = _listing(places)
    missing: Dict[str, List[str]] = {}
    damaged: Dict[str, str] = {}
    for file in files:
        path = next(file.relative_to(folder).as_posix() for folder in site if folder in file.parents)
        if names and path.split("/", 1)[0].split(".", 1)[0] not in names:
            continue
        found = imported(file)
        if isinstance(found, str):
            damaged[path] = found
            continue
        for name in found:
            lower = name.lower()
            if lower not in here and lower not in outside and not _VIRTUAL.match(lower):
                missing.setdefault(lower, []).append(path)
    problems = [*_problems(missing)]
    if damaged:
        evidence = tuple(f"{path} {why}" for path, why in list(damaged.items())[:6])
        problems.append(
            Problem(
                Candidate("damaged-file", 0.9, evidence, {"files": f"{len(damaged)} files"}), repair=Repair()
            )
        )
    return Seen(tuple(problems), detail=f"{len(files)} DLLs and modules")


def modules(folder: Path) -> Iterable[Path]:
    """Yield the modules and DLLs under a folder."""
    for parent, _, files in os.walk(folder):
        for name in files:
            if _MODULE.search(name):
                yield Path(parent, name)


def imported(file: Path) -> Tuple[str, ...] | str:
    """Return the names of the DLLs that a file imports when it is loaded, or why it can't be read."""
    import pefile

    try:
        image = pefile.PE(str(file), fast_load=True)
        try:
            image.parse_data_directories(
                [pefile.DIRECTORY_ENTRY["IMAGE_DIRECTORY_ENTRY_IMPORT"]], import_dllnames_only=True
            )
            entries = getattr(image, "DIRECTORY_ENTRY_IMPORT", ())
            end = max((s.PointerToRawData + s.SizeOfRawData for s in image.sections), default=0)
        finally:
            image.close()
    except (pefile.PEFormatError, OSError, ValueError) as error:
        return f"can't be read: {error}"
    size = file.stat().st_size
    if end > size:
        return f"ends after {size} of {end} bytes"
    return tuple(entry.dll.decode("ascii", "replace") for entry in entries if entry.dll)


def _listing(places: Iterable[Path]) -> Set[str]:
    found: Set[str] = set()
    for place in places:
        try:
            found.update(
                entry.name.lower() for entry in os.scandir(place) if entry.name.lower().endswith(".dll")
            )
        except OSError:
            continue
    return found


def _problems(missing: Mapping[str, List[str]]) -> Iterable[Problem]:
    for runtime in (True, False):
        group = {name: files for name, files in missing.items() if bool(_RUNTIME.match(name)) == runtime}
        if not group:
            continue
        evidence = tuple(
            f"{name} is not found; needed by {files[0]}" for name, files in sorted(group.items())
        )
        values = {
            "libraries": ", ".join(sorted(group)),
            "file": sorted(group)[0],
            "files": ", ".join(sorted(group)),
        }
        code = "msvc-redist-missing" if runtime else "missing-native-library"
        yield Problem(Candidate(code, 0.85, evidence[:8], values))
