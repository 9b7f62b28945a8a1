"""cuDNN: every copy, from its header, else from its library's name."""

from __future__ import annotations

import re
from typing import Dict, Iterator, List, Tuple

from envsetup.machine import cuda, library_paths
from envsetup.machine.fact import Fact, unknown
from envsetup.machine.host import Host, Unreadable
from envsetup.machine.reading import Sight

WINDOWS_FOLDER = r"C:\Program Files\NVIDIA\CUDNN"
HEADERS = ("cudnn_version*.h", "cudnn_v*.h", "cudnn.h")
_SYSTEM_HEADERS = (
    "/usr/include",
    "/usr/include/x86_64-linux-gnu",
    "/usr/include/aarch64-linux-gnu",
    "/usr/local/include",
)


def read_cudnn(sight: Sight) -> Iterator[Fact]:
    """Read cudnn."""
    host = sight.host
    roots, failures = cuda.roots(host)
    libraries, unread = library_paths.find(host, *_patterns(host))
    failures += unread
    places = [*roots]
    if host.system == "windows":
        places += [host.join(WINDOWS_FOLDER, name) for name in _names(host, WINDOWS_FOLDER, failures, "v*")]
        places += [r"C:\tools\cuda"]
    headers = [host.join(place, "include") for place in places]
    headers += _SYSTEM_HEADERS if host.system == "linux" else []
    conda = host.env("CONDA_PREFIX")
    headers += [host.join(conda, "include")] if conda and host.system != "windows" else []
    for place in places:
        for folder in ("bin", "bin/x64") if host.system == "windows" else ("lib64", "lib"):
            at = host.join(place, *folder.split("/"))
            libraries += [host.join(at, name) for name in _names(host, at, failures, *_patterns(host))]
    found: Dict[Tuple[str, str], Dict[str, str]] = {}
    for path in dict.fromkeys(libraries):
        version = library_version(host, path)
        if version:
            found.setdefault((version, host.real_path(path) or path), _entry(version, path, "library name"))
    for folder in dict.fromkeys(headers):
        for name in _names(host, folder, failures, *HEADERS):
            path = host.join(folder, name)
            version = _header_version(host, path, failures)
            if version and not any(_covers(known, version) for known, _ in found):
                # A library whose name has only the major number is this one, if it lies beside the header.
                _refine(found, version, path, host) or found.setdefault(
                    (version, path), _entry(version, path, "header")
                )
    if not found and failures:
        yield unknown("cudnn", "; ".join(failures[:5]))
    else:
        yield Fact("cudnn", list(found.values()), _sources(found) or "no header or library of cuDNN")


def _entry(version: str, path: str, source: str) -> Dict[str, str]:
    return {"version": version, "path": path, "source": source}


def _sources(found: Dict[Tuple[str, str], Dict[str, str]]) -> str:
    return ", ".join(dict.fromkeys(entry["source"] for entry in found.values()))


def _names(host: Host, folder: str, failures: List[str], *patterns: str) -> List[str]:
    try:
        return host.list(folder, *patterns) or []
    except Unreadable as error:
        failures.append(str(error))
        return []


def _patterns(host: Host) -> List[str]:
    return ["cudnn64_*.dll"] if host.system == "windows" else ["libcudnn.so.*"]


def library_version(host: Host, path: str) -> str | None:
    """Return the version in a library's name: libcudnn.so.7.6.5, or only the major number (cudnn64_7.dll)."""
    match = re.search(r"cudnn64_(\d+)\.dll$", path, re.IGNORECASE)
    match = match or re.search(r"libcudnn\.so\.(\d+(?:\.\d+)*)$", host.real_path(path) or path)
    return match.group(1) if match else None


def _header_version(host: Host, path: str, failures: List[str]) -> str | None:
    try:
        text = host.read_text(path, 1 << 18) or ""
    except Unreadable as error:
        failures.append(str(error))
        return None
    parts = [re.search(rf"#define\s+CUDNN_{part}\s+(\d+)", text) for part in ("MAJOR", "MINOR", "PATCHLEVEL")]
    return ".".join(part.group(1) for part in parts if part) if all(parts) else None


def _covers(known: str, version: str) -> bool:
    """Whether a library's full version is that of the header (8.1.0 and 8.1.0.77)."""
    return "." in known and (known == version or known.startswith(version + "."))


def _refine(found: Dict[Tuple[str, str], Dict[str, str]], version: str, header: str, host: Host) -> bool:
    root = re.sub(r"[\\/]include[\\/][^\\/]+$", "", header)
    for (known, real), entry in found.items():
        if "." not in known and known == version.split(".")[0] and cuda.below(host, real, root):
            entry.update(version=version, source=f"library name and {header}")
            return True
    return False
