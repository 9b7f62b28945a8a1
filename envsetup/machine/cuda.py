"""CUDA toolkits: every one that is installed, found by its folder, its libraries or its compiler."""

from __future__ import annotations

import json
import ntpath
import posixpath
import re
from typing import Dict, Iterator, List, Tuple

from envsetup.machine import library_paths
from envsetup.machine.fact import Fact, unknown
from envsetup.machine.host import Host, Unreadable
from envsetup.machine.reading import Sight

WINDOWS_FOLDER = r"C:\Program Files\NVIDIA GPU Computing Toolkit\CUDA"
SHARED = ("/usr", "/usr/local")
VARIABLES = ("CUDA_PATH", "CUDA_HOME", "CUDA_ROOT")

Answers = List[Tuple[str, str]]  # (source, version)


def read_cuda(sight: Sight) -> Iterator[Fact]:
    """Read cuda."""
    host = sight.host
    found: List[Dict[str, str]] = []
    others: List[Tuple[str, str]] = []
    names, failures = roots(host)
    for root in names:
        try:
            answers = version_of(host, root)
        except Unreadable as error:
            failures.append(str(error))
            continue
        if answers and not (root in SHARED and any(t["version"] == answers[0][1] for t in found)):
            source, version = answers[0]
            found.append({"version": version, "path": root, "source": source})
            others += [answer for answer in answers[1:] if answer[1] != version]
    libraries, unread = library_paths.find(host, *_library_patterns(host))
    failures += unread
    for path in libraries:
        named = library_version(host, path)
        if named and not any(_inside(host, path, toolkit, named) for toolkit in found):
            found.append({"version": named, "path": path, "source": "library name"})
    found = _without_repeats(host, found)
    if not found and failures:
        yield unknown("cuda", "; ".join(failures[:5]))
    else:
        source = ", ".join(dict.fromkeys(toolkit["source"] for toolkit in found))
        yield Fact("cuda", found, source or "no folder, compiler or library of CUDA", others=tuple(others))


def roots(host: Host) -> Tuple[List[str], List[str]]:
    """Return the folders that may hold a toolkit, as programs see them first, and what is unreadable."""
    found: List[str] = []
    failures: List[str] = []
    path = ntpath if host.system == "windows" else posixpath
    for name in (*VARIABLES, *host.env_names("CUDA_PATH_V*")):
        value = (host.env(name) or "").strip().strip('"').rstrip("\\/")
        if path.isabs(value):
            found.append(value)
    compiler = "nvcc.exe" if host.system == "windows" else "nvcc"
    for folder in host.split_paths(host.env("PATH")):
        try:
            if path.basename(folder) == "bin" and host.stat(host.join(folder, compiler)):
                found.append(path.dirname(folder))
        except Unreadable as error:
            failures.append(str(error))
    if host.system == "windows":
        places = [(WINDOWS_FOLDER, "v*")]
    else:
        found += ["/usr/local/cuda", "/opt/cuda", "/usr/lib/cuda"]
        places = [("/usr/local", "cuda-*"), ("/opt", "cuda-*"), ("/Developer/NVIDIA", "CUDA-*")]
    for parent, pattern in places:
        try:
            found += [host.join(parent, name) for name in host.list(parent, pattern) or []]
        except Unreadable as error:
            failures.append(str(error))
    if host.system == "linux":
        # A compiler among everyone's programs is a distribution's, or leads to a toolkit elsewhere.
        found.sort(key=lambda root: root in SHARED)
    return list(dict.fromkeys(found)), failures


def version_of(host: Host, root: str) -> Answers:
    """Return what a folder says about the toolkit in it, the most trusted first; nothing if there is none.

    Raises:
        Unreadable: a file that would tell is there and can't be read.
    """
    if host.stat(root) is None:
        return []
    answers = list(_declared(host, root))
    for folder in ("lib64", "lib", "bin", "targets/x86_64-linux/lib"):
        if host.system == "windows" and folder != "bin":
            continue
        place = host.join(root, folder)
        for name in host.list(place, *_library_patterns(host)) or []:
            version = library_version(host, host.join(place, name))
            # On Windows, all of 11 is called 110 and all of 12 is called 12.
            if version and not any(_same_name(host, version, said) for _, said in answers):
                answers.append((host.join(place, name), version))
    if not answers:
        compiler = host.join(root, "bin", "nvcc.exe" if host.system == "windows" else "nvcc")
        done = host.run([compiler, "--version"], timeout=5, remember=True) if host.stat(compiler) else None
        match = re.search(r"release (\d+\.\d+)", done.out) if done else None
        answers += [(compiler, match.group(1))] if match else []
    if answers:
        match = re.search(r"(?:cuda-|v)(\d+\.\d+)$", root, re.IGNORECASE)
        answers += [("folder name", match.group(1))] if match else []
    return answers


def _declared(host: Host, root: str) -> Iterator[Tuple[str, str]]:
    path = host.join(root, "version.json")
    text = host.read_text(path, 1 << 16)
    if text:
        try:
            version = str(json.loads(text)["cuda"]["version"])
        except (ValueError, KeyError, TypeError, RecursionError):
            version = ""
        match = re.match(r"(\d+\.\d+)", version)
        if match:
            yield path, match.group(1)
    path = host.join(root, "version.txt")
    match = re.search(r"CUDA Version (\d+\.\d+)", host.read_text(path, 4096) or "")
    if match:
        yield path, match.group(1)
    path = host.join(root, "include", "cuda.h")
    match = re.search(r"#define\s+CUDA_VERSION\s+(\d{4,6})\b", host.read_text(path, 1 << 16) or "")
    if match:
        number = int(match.group(1))
        yield path, f"{number // 1000}.{number % 1000 // 10}"


def _library_patterns(host: Host) -> List[str]:
    if host.system == "windows":
        return ["cudart64_*.dll", "cudart32_*.dll"]
    return ["libcudart.*.dylib"] if host.system == "macos" else ["libcudart.so.*"]


def library_version(host: Host, path: str) -> str | None:
    """Return the version in a runtime library's name, such as cudart64_101.dll or libcudart.so.11.2.152.

    A name such as libcudart.so.12 is followed to the file that it links to; where that says no more, the
    version is the major number alone.
    """
    name = re.split(r"[\\/]", path)[-1]
    match = re.match(r"cudart(?:32|64)_(\d+?)(\d?)(?:_\d+)?\.dll$", name, re.IGNORECASE)
    if match:
        major, minor = match.groups()
        if 12 <= int(major + minor) < 50:  # from 12 on only the major; cudart64_80 is 8.0
            return major + minor
        return f"{major}.{minor}" if minor else major
    real = host.real_path(path) or path
    match = re.search(r"libcudart(?:\.so)?\.(\d+)(?:\.(\d+))?", real)
    if not match:
        return None
    return f"{match.group(1)}.{match.group(2)}" if match.group(2) else match.group(1)


def _same_name(host: Host, version: str, said: str) -> bool:
    """Whether a library called ``version`` is the one of toolkit ``said``."""
    if version == said or version == said.split(".")[0]:
        return True
    return host.system == "windows" and version == "11.0" and said.startswith("11.")


def _inside(host: Host, path: str, toolkit: Dict[str, str], version: str) -> bool:
    return below(host, path, toolkit["path"]) and _same_name(host, version, toolkit["version"])


def below(host: Host, path: str, folder: str) -> bool:
    """Whether a file lies somewhere below a folder, links followed."""
    inner, outer = (_real(host, place) for place in (path, folder))
    return inner.startswith(outer.rstrip("\\/") + ("\\" if host.system == "windows" else "/"))


def _real(host: Host, path: str) -> str:
    real = host.real_path(path) or path
    return real.lower() if host.system == "windows" else real


def _without_repeats(host: Host, found: List[Dict[str, str]]) -> List[Dict[str, str]]:
    """Leave out what links to the same place, as /usr/local/cuda does to cuda-10.1."""
    kept: Dict[Tuple[str, str], Dict[str, str]] = {}
    for toolkit in found:
        kept.setdefault((_real(host, toolkit["path"]), toolkit["version"]), toolkit)
    return list(kept.values())
