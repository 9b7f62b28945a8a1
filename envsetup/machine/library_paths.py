"""Where shared libraries are looked for, in the dynamic linker's order, and files found there by name."""

from __future__ import annotations

import contextlib
from typing import List, Tuple

from envsetup.machine.host import Host, Unreadable

LINUX_FOLDERS = (
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/local/lib",
    "/usr/lib64",
    "/usr/lib",
)


def folders(host: Host) -> List[str]:
    """Return the directories that a program's libraries come from, before the linker's cache and after it."""
    if host.system == "windows":
        return host.split_paths(host.env("PATH"))
    conda = host.env("CONDA_PREFIX")
    name = "DYLD_LIBRARY_PATH" if host.system == "macos" else "LD_LIBRARY_PATH"
    first = [*host.split_paths(host.env(name)), *([f"{conda}/lib"] if conda else [])]
    return list(dict.fromkeys([*first, *(LINUX_FOLDERS if host.system == "linux" else ())]))


def find(host: Host, *patterns: str) -> Tuple[List[str], List[str]]:
    """Return the libraries whose names fit, in search order, and which directories can't be read."""
    found: List[str] = []
    failures: List[str] = []
    listed = folders(host)
    for folder in listed:
        try:
            found += [host.join(folder, name) for name in host.list(folder, *patterns) or []]
        except Unreadable as error:
            failures.append(str(error))
    if host.system == "linux":
        with contextlib.suppress(Unreadable):  # musl has no such cache
            found += host.libraries(*patterns) or []
    return list(dict.fromkeys(found)), failures
