"""The words of reports: what a phrase such as "10 20H2 build 19042.572" says."""

from __future__ import annotations

import re
from typing import Iterator, List, Tuple

from envsetup.machine.cpu import FLAGS
from envsetup.machine.fact import Fact
from envsetup.machine.system import WINDOWS_11, architecture

SOURCE = "report"
_ARCH = re.compile(
    r"\b(x86[_-]64|amd64|x64|arm64e?|aarch64|armv[67]l|armv7|armhf|i[3-6]86|x86)\b", re.IGNORECASE
)
_NAMES = {"armhf": "armv7l", "armv7": "armv7l"}
# Release names and builds: Microsoft's "Windows 10 release information" and "Windows 11 release information".
_RELEASES = {
    "1507": 10240, "1511": 10586, "1607": 14393, "1703": 15063, "1709": 16299, "1803": 17134, "1809": 17763,
    "1903": 18362, "1909": 18363, "2004": 19041, "20h2": 19042, "21h1": 19043, "21h2": 19044, "22h2": 19045,
}  # fmt: skip
_RELEASES_11 = {"21h2": 22000, "22h2": 22621, "23h2": 22631, "24h2": 26100, "25h2": 26200}
_DISTRIBUTIONS = {
    "pop!_os": "pop", "mint": "linuxmint", "red hat": "rhel", "amazon": "amzn", "rocky": "rocky",
}  # fmt: skip


def version(text: str) -> str | None:
    """Return the first version number in a text."""
    match = re.search(r"(?<![\w.])\d{1,4}(?:\.\d{1,6}){0,3}(?![\w])", text)
    return match.group(0) if match else None


def memory(text: str) -> int | None:
    """Return the bytes of "16GB" or "512 MiB"."""
    match = re.match(r"\s*(\d{1,6}(?:\.\d)?)\s*([MG])i?B", text, re.IGNORECASE)
    return (
        int(float(match.group(1)) * (1 << (30 if match.group(2).upper() == "G" else 20))) if match else None
    )


def windows_build(text: str) -> Tuple[int | None, bool]:
    """Return Windows' build, and whether it is exact: "11" alone says only that it is 22000 or later."""
    match = re.search(r"(?<![\d.])(?:10\.0\.)?(1\d{4}|2\d{4})(?:\.\d+)?(?!\d)", text)
    if match:
        return int(match.group(1)), True
    eleven = re.search(r"\b11\b", text) is not None
    for name, build in (_RELEASES_11 if eleven else _RELEASES).items():
        if re.search(rf"\b{name}\b", text.lower()):
            return build, True
    return (WINDOWS_11, False) if eleven else (None, False)


def linux(text: str) -> Iterator[Fact]:
    """Yield os-version and distro, and musl for Alpine."""
    if not text:
        return
    yield Fact("os-version", text, SOURCE)
    lower = text.lower()
    known = next((name for word, name in _DISTRIBUTIONS.items() if word in lower), None)
    word = re.match(r"[a-z]+", lower)
    distro = known or (word.group(0) if word and word.group(0) != "docker" else None)
    if distro:
        yield Fact("distro", distro, SOURCE)
    if distro == "alpine":
        yield from libc("musl")


def libc(text: str) -> Iterator[Fact]:
    """Yield libc, glibc and musl from "glibc 2.12" or "musl"."""
    number = version(text)
    if "musl" in text.lower():
        yield Fact("libc", "musl", SOURCE)
        yield Fact("glibc", None, "the C library is musl")
        if number:
            yield Fact("musl", number, SOURCE)
    elif "glibc" in text.lower() and number:
        yield Fact("libc", "glibc", SOURCE)
        yield Fact("glibc", number, SOURCE)


def cpu_flags(text: str) -> List[str] | None:
    """Return the flags that a text says a processor has, or lacks ("no AVX"); None when it says nothing."""
    lower = text.lower()
    lacks = {flag for flag in FLAGS if re.search(rf"\b(no|without|lacks?)\s+{flag}\b", lower)}
    has = {flag for flag in FLAGS if re.search(rf"\b{flag}\b", lower)} - lacks
    if not lacks and not has:
        return None
    if "avx" in lacks:
        return []
    # A processor that is said to lack only AVX2 has AVX.
    return [flag for flag in FLAGS if flag in has or (flag == "avx" and ("avx2" in lacks or "avx2" in has))]


def architectures(text: str) -> Tuple[str | None, Tuple[str | None, int | None]]:
    """Return the machine's architecture, and the interpreter's with its bits where it is told apart.

    Such as "arm64 host, x86_64 Python" or "x86 (32-bit interpreter on x64 OS)".
    """
    machine: str | None = None
    own: str | None = None
    bits: int | None = None
    plain: List[str] = []
    for clause in re.split(r"[,;()]|\bon\b", text):
        names = [architecture(_NAMES.get(name.lower(), name)) for name in _ARCH.findall(clause)]
        about_own = re.search(r"python|interpreter|process", clause, re.IGNORECASE)
        about_machine = re.search(r"\b(host|os|machine|cpu|hardware|mac|windows)\b", clause, re.IGNORECASE)
        match = re.search(r"\b(32|64)[ -]?bit", clause, re.IGNORECASE)
        if about_own:
            own, bits = names[0] if names else own, int(match.group(1)) if match else bits
        elif about_machine and names:
            machine = names[0]
        else:
            plain += [name for name in names if name]
    if plain and machine is None:
        machine = plain[0]
    elif plain and own is None:
        own = plain[0]
    return machine, (own, bits)
