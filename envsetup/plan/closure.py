"""Resolve a stack's packages, and the user's with them, through ``uv pip compile``."""

from __future__ import annotations

import contextlib
import re
import sys
import tempfile
from pathlib import Path
from typing import AbstractSet, Any, Dict, List, Mapping, Sequence
from urllib.parse import unquote, urlsplit

from packaging.utils import canonicalize_name

from envsetup import uv
from envsetup.errors import NO_STACK, EnvsetupError, UsageError
from envsetup.knowledge.stacks import Row
from envsetup.plan.additions import stated_hashes
from envsetup.plan.limits import constraint_files
from envsetup.plan.lock import Lock, Package
from envsetup.plan.provides import stub_wheel
from envsetup.plan.tags import best_wheel, ranked

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

# uv's name of each platform; glibc 2.17 and 2.28 are the floors that these packages' wheels are tagged with.
_UV_PLATFORM = {
    "win_amd64": "x86_64-pc-windows-msvc",
    "manylinux_x86_64": "x86_64-manylinux_2_{glibc}",
    "manylinux_aarch64": "aarch64-manylinux_2_{glibc}",
    "macosx_arm64": "aarch64-apple-darwin",
    "macosx_x86_64": "x86_64-apple-darwin",
}


class ClosureError(EnvsetupError):
    """No set of packages satisfies the stack and the user's requirements together."""

    exit_code = NO_STACK


def glibc_minor(row: Row) -> int:
    """Return the minor version of glibc 2 that the row's wheels may ask for: 17 or 28."""
    floors = [needs.glibc for needs in row.needs.values() if needs.glibc]
    return 17 if all("2.17" in floor for floor in floors) else 28


def macos_version(row: Row) -> str:
    """Return the macOS that the row's wheels may ask for, e.g. ``14.0``: the row's floor, or 13.0."""
    needs = row.needs.get("macos")
    floors = [s.version for s in needs.macos if s.operator == ">="] if needs and needs.macos else []
    return floors[0] if floors else "13.0"


def resolve_packages(
    row: Row,
    python: str,
    platform: str,
    env: Mapping[str, str],
    requirements: Sequence[str] = (),
    files: Sequence[Path] = (),
    prefer: Sequence[Package] = (),
    interpreter: str = "",
    report: uv.Report = lambda line: None,
) -> Lock:
    """Return the exact packages of a row with the user's ``requirements`` and requirement ``files``.

    Every dependency on a replaced distribution is satisfied by a stand-in of the version that the
    replacement provides, so the replaced one is never fetched and a requirement for another version of
    it is a conflict that uv explains.

    Args:
        env: from :func:`envsetup.uv.settings`.
        prefer: packages of the row's lock: taken as they are where nothing speaks against it.
        interpreter: a Python to run the build scripts of source distributions with (default: uv's choice).

    Raises:
        ClosureError: with uv's explanation of the conflict.
    """
    with tempfile.TemporaryDirectory(prefix="envsetup-") as folder:
        resolver = _Resolver(row, python, platform, env, Path(folder), interpreter, report)
        resolver.hashes = stated_hashes(files)  # uv checks them when it installs, not when it resolves
        wanted = [str(r) for r in row.install] + list(requirements)
        lock = None
        if prefer:
            # The lock's exact versions may be in the way of the user's wish: then resolve freely below.
            with contextlib.suppress(ClosureError):
                lock = resolver.run(wanted, files, [p.requirement for p in prefer if not p.url])
        lock = lock or resolver.run(wanted, files, [])
        if not any(p.name == "pip" for p in lock):
            # The last pip for this Python is wanted, whatever the row's date.
            lock += resolver.run(
                ["pip"], (), [p.requirement for p in prefer if p.name == "pip"], cut_off=False
            )
        needed = [r for r in row.replaces if r.name in resolver.stood_in]
        replaced = [
            p
            for r in needed
            for p in resolver.run([f"{r.name}=={r.version}"], (), [], deps=False, stubs=False)
        ]
        return Lock(tuple(lock), tuple(replaced), row.name)


class _Resolver:
    """One row on one Python and platform; ``folder`` holds the files that uv reads."""

    def __init__(
        self,
        row: Row,
        python: str,
        platform: str,
        env: Mapping[str, str],
        folder: Path,
        interpreter: str,
        report: uv.Report,
    ) -> None:
        self.row, self.folder, self.report = row, folder, report
        self.stood_in: set[str] = set()
        self.hashes: Mapping[str, AbstractSet[str]] = {}
        glibc, macos = glibc_minor(row), macos_version(row)
        self.env = {**env, "MACOSX_DEPLOYMENT_TARGET": macos}  # uv's word for the oldest macOS to serve
        self.accepted = ranked(python, platform, glibc, int(macos.split(".")[0]))
        (folder / "stubs").mkdir()
        for replacement in row.replaces:
            stub_wheel(folder / "stubs", replacement)
        self.target = [
            f"--python-version={python}.99",  # the last patch release: many wheels exclude the first ones
            *([f"--python={interpreter}"] if interpreter else []),
            f"--python-platform={_UV_PLATFORM[platform].format(glibc=glibc)}",
        ]

    def run(
        self,
        requirements: Sequence[str],
        files: Sequence[Path],
        pins: Sequence[str],
        cut_off: bool = True,
        deps: bool = True,
        stubs: bool = True,
    ) -> List[Package]:
        limits = self.folder / "constraints.txt"
        provided = [r.provided for r in self.row.replaces] if stubs else []
        limited = "\n".join([*map(str, self.row.ceilings), *provided, *pins])
        limits.write_text(limited, encoding="utf-8")
        arguments = ["pip", "compile", "-", *map(str, files), *self.target]
        arguments += ["--format=pylock.toml", "--no-header"]
        arguments += [f"--constraints={limits}"] if limited else []  # uv warns of an empty file
        arguments += [f"--constraints={file}" for file in constraint_files(self.env)]
        arguments += [f"--find-links={self.folder / 'stubs'}"] if provided else []
        arguments += [] if deps else ["--no-deps"]
        dated = [f"--exclude-newer={self.row.cut_off}"] if cut_off else []
        text = "\n".join(requirements)
        try:
            out = uv.run([*arguments, *dated], self.env, self.report, text, ClosureError)
        except ClosureError as error:
            if re.search(
                r"couldn't parse requirement|expected '-c'|unsupported require", error.message, re.I
            ):
                raise UsageError(error.message, "Correct what --with or the file for -r says.") from None
            # An index that tells no upload dates has nothing before any date: its ceilings must do.
            if not (dated and "upload" in error.message):
                raise
            out = uv.run(arguments, self.env, self.report, text, ClosureError)
        packages = [self._package(entry) for entry in tomllib.loads(out).get("packages", [])]
        self.stood_in |= {p.name for p in packages} & {r.name for r in self.row.replaces} if stubs else set()
        return [p for p in packages if not (stubs and p.name in self.stood_in)]

    def _package(self, entry: Dict[str, Any]) -> Package:
        name, version = canonicalize_name(entry["name"]), entry.get("version", "")
        for kind in ("vcs", "directory", "archive"):
            if kind in entry:
                source = entry[kind]
                url = source.get("url") or Path(source.get("path", "")).resolve().as_uri()
                commit = f"@{source['commit-id']}" if "commit-id" in source else ""
                return Package(name, "", url=("git+" if kind == "vcs" else "") + url + commit)
        offered = {_file_name(w): w for w in entry.get("wheels", ()) if self._may_be(name, w)}
        chosen = best_wheel(list(offered), self.accepted)
        source = offered[chosen] if chosen else entry.get("sdist")
        if name in self.hashes and not (source and self._may_be(name, source)):
            raise ClosureError(
                f"No file of {name} {version} for this Python and platform has a hash that you state for it.",
                "Add the hash of the right file, or have the index checked: it may offer a changed file.",
            )
        if source is None:
            raise ClosureError(
                f"{name} {version} has no file for this Python and platform; it has {', '.join(offered)}"
            )
        return Package(
            name,
            version,
            _file_name(source),
            source.get("size", 0),
            source.get("hashes", {}).get("sha256", ""),
        )

    def _may_be(self, name: str, source: Mapping[str, Any]) -> bool:
        """Say whether a file is one of those whose hashes the user stated, if any were stated."""
        stated = self.hashes.get(name)
        return not stated or any(f"{kind}:{value}" in stated for kind, value in source["hashes"].items())


def _file_name(source: Mapping[str, Any]) -> str:
    """Return the name of a pylock file entry: given, or the last part of its URL or path."""
    where = source.get("url") or source.get("path") or ""
    return source.get("name") or unquote(urlsplit(where).path.replace("\\", "/").rsplit("/", 1)[-1])
