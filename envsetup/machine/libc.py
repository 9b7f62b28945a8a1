"""The C library of a Linux system: glibc or musl, and its version."""

from __future__ import annotations

import re
from typing import Iterator, Tuple

from envsetup.machine.fact import Fact, unknown
from envsetup.machine.host import Host, Unreadable
from envsetup.machine.reading import Sight, agree

_GETCONF = "/usr/bin/getconf"
_GLIBC_FOLDERS = ("/lib64", "/lib", "/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu", "/lib/i386-linux-gnu")


def read_libc(sight: Sight) -> Iterator[Fact]:
    """Read libc, glibc and musl."""
    host = sight.host
    if host.system != "linux":
        for name in ("libc", "glibc", "musl"):
            yield Fact(name, None, f"{host.system} has its own C library")
        return
    own = re.match(r"glibc (\d+\.\d+)", str(host.platform.get("libc") or ""))
    loaders = host.list("/lib", "ld-musl-*.so.1") or []
    if own is None and loaders:
        version = _musl(host, f"/lib/{loaders[0]}")
        yield Fact("libc", "musl", f"/lib/{loaders[0]}")
        yield Fact("glibc", None, "the C library is musl")
        yield Fact("musl", version, loaders[0]) if version else unknown("musl", f"{loaders[0]} does not say")
        return
    answers = [("interpreter", own.group(1) if own else None), *_glibc(host, asked=own is None)]
    glibc = agree("glibc", answers)
    yield (
        Fact("libc", "glibc", glibc.source) if glibc.known else unknown("libc", "no C library was recognised")
    )
    yield glibc
    yield Fact("musl", None, "the C library is glibc") if glibc.known else unknown("musl", "not recognised")


def _musl(host: Host, loader: str) -> str | None:
    done = host.run([loader], timeout=3)  # without arguments it prints its version and ends with 1
    match = re.search(r"Version (\d+(?:\.\d+)+)", done.err + done.out) if done else None
    return match.group(1) if match else None


def _glibc(host: Host, asked: bool) -> Iterator[Tuple[str, str | None]]:
    """Look for glibc by its file names; ask ``getconf`` only when the interpreter could not say."""
    for folder in _GLIBC_FOLDERS:
        try:
            names = host.list(folder, "libc-2.*.so") or []
        except Unreadable:
            continue
        for name in names:
            match = re.fullmatch(r"libc-(\d+\.\d+)\.so", name)
            yield f"{folder}/{name}", match.group(1) if match else None
    if asked:
        done = host.run([_GETCONF, "GNU_LIBC_VERSION"], timeout=3)
        match = re.search(r"glibc (\d+\.\d+)", done.out) if done else None
        yield f"{_GETCONF} GNU_LIBC_VERSION", match.group(1) if match else None
