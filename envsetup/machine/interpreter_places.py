"""Where Python interpreters are: PATH, pyenv, conda, uv, the registry, the Store, macOS's own places."""

from __future__ import annotations

import dataclasses
import fnmatch
import re
from typing import Callable, Iterator, List, Tuple

from envsetup.machine import interpreter_registry
from envsetup.machine.host import Host, Unreadable


@dataclasses.dataclass(frozen=True)
class Candidate:
    """A program that may be an interpreter, with what its place tells of it.

    Args:
        path: the program.
        source: ``PATH``, ``pyenv``, ``conda``, ``uv``, ``registry``, ``launcher``, ``system`` or ``running``.
        version: three numbers if the place tells them, or two.
        store: it comes from Microsoft's Store.
    """

    path: str
    source: str
    version: str | None = None
    bits: int | None = None
    arch: str | None = None
    implementation: str = "cpython"
    store: bool = False


def search(host: Host) -> Tuple[List[Candidate], List[str]]:
    """Return all candidates, what a shell would start first in front, and what could not be searched."""
    found: List[Candidate] = []
    failures: List[str] = []
    places: List[Callable[[Host], Iterator[Candidate]]] = [_on_path, _pyenv, _conda, _uv]
    if host.system == "windows":
        places += [interpreter_registry.registered, interpreter_registry.store, interpreter_registry.launcher]
    elif host.system == "macos":
        places += [_macos]
    for place in (*places, _running):
        try:
            found += place(host)
        except Unreadable as error:
            failures.append(str(error))
    return found, failures


def program(host: Host, folder: str) -> str:
    """Return where the interpreter of an installation is."""
    return host.join(folder, "python.exe") if host.system == "windows" else host.join(folder, "bin", "python")


def _folders(host: Host, parent: str, *patterns: str) -> List[Tuple[str, str]]:
    return [(name, host.join(parent, name)) for name in host.list(parent, *patterns) or []]


def _on_path(host: Host) -> Iterator[Candidate]:
    windows = host.system == "windows"
    patterns = (
        ("python.exe", "python3.exe", "pypy3.exe")
        if windows
        else ("python", "python[23]*", "pypy", "pypy[23]*")
    )
    for folder in host.split_paths(host.env("PATH")):
        if re.search(r"[\\/]shims$|[\\/]Microsoft[\\/]WindowsApps$", folder, re.IGNORECASE):
            continue  # pyenv's scripts, and aliases that open the Store; both are looked for elsewhere
        try:
            names = host.list(folder, *patterns) or []
        except Unreadable:
            continue  # a shell could start nothing from there either
        for name in names:
            if windows or re.fullmatch(r"(python|pypy)(\d+(\.\d+)?)?[mtd]?", name):
                pypy = fnmatch.fnmatch(name, "pypy*")
                yield Candidate(host.join(folder, name), "PATH", implementation="pypy" if pypy else "cpython")


def _pyenv(host: Host) -> Iterator[Candidate]:
    root = host.env("PYENV_ROOT") or (host.join(host.home, ".pyenv") if host.home else None)
    if not root:
        return
    if host.system == "windows" and not host.env("PYENV_ROOT"):
        root = host.join(root, "pyenv-win")
    for name, folder in _folders(host, host.join(root, "versions")):
        match = re.fullmatch(r"(\d+\.\d+\.\d+)(t|-win32|-arm)?", name)
        pypy = name.startswith("pypy")
        yield Candidate(
            program(host, folder), "pyenv", match.group(1) if match else None,
            implementation="pypy" if pypy else "cpython",
        )  # fmt: skip


def _conda(host: Host) -> Iterator[Candidate]:
    home = host.home
    names = ("miniconda3", "anaconda3", "miniforge3", "mambaforge", "miniconda", "anaconda", "micromamba")
    roots: List[str | None] = [
        host.env("CONDA_PREFIX"),
        host.env("CONDA_ROOT"),
        host.env("MAMBA_ROOT_PREFIX"),
    ]
    if home:
        roots += [host.join(home, name) for name in names]
        listed = host.read_text(host.join(home, ".conda", "environments.txt"), 1 << 16) or ""
        roots += [line.strip() for line in listed.splitlines()[:500]]
    shared = r"C:\ProgramData" if host.system == "windows" else "/opt"
    roots += [host.join(shared, name) for name in (*names, "conda")]
    prefixes: List[str] = []
    for root in dict.fromkeys(root for root in roots if root):
        prefixes += [root, *(folder for _, folder in _folders(host, host.join(root, "envs")))]
    for prefix in dict.fromkeys(prefixes):
        for name in host.list(host.join(prefix, "conda-meta"), "python-[23].*.json") or []:
            match = re.match(r"python-(\d+\.\d+\.\d+)-(\w+)", name)
            if match:
                pypy = "pypy" in match.group(2)
                yield Candidate(
                    program(host, prefix),
                    "conda",
                    match.group(1),
                    implementation="pypy" if pypy else "cpython",
                )


def _uv(host: Host) -> Iterator[Candidate]:
    root = host.env("UV_PYTHON_INSTALL_DIR")
    if not root and host.system == "windows":
        data = host.env("APPDATA")
        root = host.join(data, "uv", "python") if data else None
    elif not root:
        data = host.env("XDG_DATA_HOME") or (host.join(host.home, ".local", "share") if host.home else None)
        root = host.join(data, "uv", "python") if data else None
    for name, folder in _folders(host, root, "cpython-*", "pypy-*") if root else ():
        match = re.match(r"(cpython|pypy)-(\d+\.\d+\.\d+)[-+]", name)
        if match:  # cpython-3.8-… is a link to the newest
            yield Candidate(program(host, folder), "uv", match.group(2), implementation=match.group(1))


def _macos(host: Host) -> Iterator[Candidate]:
    for version, folder in _folders(host, "/Library/Frameworks/Python.framework/Versions", "[23].*"):
        yield Candidate(host.join(folder, "bin", f"python{version}"), "system")
    for parent in ("/opt/homebrew/bin", "/usr/local/bin"):
        for name in host.list(parent, "python3.*") or []:
            if re.fullmatch(r"python3\.\d+", name):
                yield Candidate(host.join(parent, name), "system")
    if host.stat("/usr/bin/python3"):
        yield Candidate("/usr/bin/python3", "system")


def _running(host: Host) -> Iterator[Candidate]:
    own = host.platform.get("python")
    if isinstance(own, dict) and isinstance(own.get("base"), str) and isinstance(own.get("version"), str):
        yield Candidate(own["base"], "running", own["version"], implementation=str(own.get("implementation")))
