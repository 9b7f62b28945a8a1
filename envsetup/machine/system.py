"""The operating system, its version, and the processor architecture."""

from __future__ import annotations

import re
from typing import Any, Dict, Iterator, List

from envsetup.machine.fact import Fact, unknown
from envsetup.machine.host import Host, Unreadable
from envsetup.machine.reading import Sight, agree

WINDOWS_VERSION_KEY = r"HKLM\SOFTWARE\Microsoft\Windows NT\CurrentVersion"
WINDOWS_ENVIRONMENT_KEY = r"HKLM\SYSTEM\CurrentControlSet\Control\Session Manager\Environment"
SYSTEMS = ("linux", "windows", "macos")
WINDOWS_11 = 22000  # the first build of Windows 11; its registry still says "Windows 10"

_ARCHITECTURES = {
    "amd64": "x86_64", "x64": "x86_64", "x86-64": "x86_64", "arm64": "aarch64", "arm64e": "aarch64",
    "i386": "x86", "i486": "x86", "i586": "x86", "i686": "x86", "win32": "x86",
    "armv6l": "armv6", "armv7l": "armv7", "armv8l": "armv7", "arm": "armv7",
}  # fmt: skip


def architecture(text: Any) -> str | None:
    """Return the usual name of an architecture (AMD64 → x86_64); None for no text."""
    name = str(text or "").strip().lower()
    return _ARCHITECTURES.get(name, name) or None


def read_system(sight: Sight) -> Iterator[Fact]:
    """Read os, os-version, distro and kernel."""
    host = sight.host
    if host.system not in SYSTEMS:
        raise Unreadable(f"not a system that is known here: {host.system or 'the interpreter does not say'}")
    yield Fact("os", host.system, "interpreter")
    release = host.platform.get("release")
    yield (
        Fact("kernel", release, "interpreter")
        if release
        else unknown("kernel", "the interpreter does not say")
    )
    if host.system == "linux":
        yield from _linux(os_release(host))
    else:
        yield Fact("distro", None, f"{host.system} has no distributions")
        if host.system == "windows":
            yield _windows_version(sight)
        elif host.system == "macos":
            yield _macos_version(host)


def os_release(host: Host) -> Dict[str, str]:
    """Return the fields of os-release; empty when there is none."""
    for path in ("/etc/os-release", "/usr/lib/os-release"):
        text = host.read_text(path)
        if text:
            fields = re.findall(r"^([A-Z_]+)=[\"']?(.*?)[\"']?\s*$", text, re.MULTILINE)
            return {**dict(fields), "": path}
    # CentOS 6 and its like are older than os-release.
    text = host.read_text("/etc/redhat-release", 4096)
    match = re.match(r"(\w+)[^\d]*([\d.]+)", text or "")
    if match:
        name, version = match.groups()
        return {
            "ID": name.lower(),
            "NAME": name,
            "VERSION_ID": version,
            "ID_LIKE": "rhel fedora",
            "": "/etc/redhat-release",
        }
    return {}


def _linux(release: Dict[str, str]) -> Iterator[Fact]:
    source = release.get("", "/etc/os-release")
    if not release.get("ID") and not release.get("NAME"):
        why = f"{source} is missing or says nothing"
        yield unknown("distro", why)
        yield unknown("os-version", why)
        return
    yield Fact("distro", (release.get("ID") or release["NAME"]).lower(), source)
    name = re.sub(r"\s*(GNU/Linux|Linux)\b", "", release.get("NAME", "")) or release.get("ID", "")
    yield Fact("os-version", f"{name} {release.get('VERSION_ID', '')}".strip(), source)


def _windows_version(sight: Sight) -> Fact:
    build = sight.value("windows-build")
    key = sight.host.registry(WINDOWS_VERSION_KEY)
    product = str(key.values.get("ProductName", "")) if key else ""
    return Fact("os-version", windows_name(product, build), WINDOWS_VERSION_KEY)


def windows_name(product: str, build: int | None) -> str:
    """Return "Windows 10 19045": without the edition, and 11 told apart by its build."""
    match = re.match(r"Windows (Server \d+( R2)?|[\d.]+|Vista|XP)", product)
    name = match.group(0) if match else "Windows"
    if build and not name.startswith("Windows Server"):
        name = (
            "Windows 11" if build >= WINDOWS_11 else name if match else "Windows 10" if build > 9600 else name
        )
    return f"{name} {build}" if build else name


def _macos_version(host: Host) -> Fact:
    folder = "/System/Library/CoreServices/"
    # The first file is what programs built for older systems are not lied to about.
    for path in (folder + ".SystemVersionPlatform.plist", folder + "SystemVersion.plist"):
        text = host.read_text(path) or ""
        match = re.search(r"<key>ProductVersion</key>\s*<string>([\d.]+)</string>", text)
        if match:
            return Fact("os-version", f"macOS {match.group(1)}", path)
    return unknown("os-version", f"{folder}SystemVersion.plist is missing or says nothing")


def read_windows_build(sight: Sight) -> Iterator[Fact]:
    """Read windows-build on Windows; in WSL the host's; null elsewhere."""
    host = sight.host
    if host.system != "windows":
        below = sight.fact("wsl")
        if not below.known:
            yield unknown("windows-build", f"wsl: {below.source}")
        elif below.value:
            from envsetup.machine import wsl

            yield wsl.windows_build(host)
        else:
            yield Fact("windows-build", None, "not Windows")
        return
    key = host.registry(WINDOWS_VERSION_KEY)
    text = str(key.values.get("CurrentBuildNumber") or key.values.get("CurrentBuild") or "") if key else ""
    release = str(host.platform.get("release") or "").split(".")
    answers = [
        (WINDOWS_VERSION_KEY, int(text) if text.isdigit() else None),
        ("interpreter", int(release[2]) if len(release) > 2 and release[2].isdigit() else None),
    ]
    yield agree("windows-build", answers)


def read_arch(sight: Sight) -> Iterator[Fact]:
    """Read the machine's architecture, not that of this interpreter."""
    host = sight.host
    said: List[Any] = [("uname", architecture(host.platform.get("machine")))]
    if host.system == "macos":
        from envsetup.machine import macos

        # Under Rosetta, uname says x86_64 on an Apple chip.
        arm = macos.sysctl(host).get("hw.optional.arm64") == "1"
        said.insert(0, ("sysctl hw.optional.arm64", "aarch64" if arm else None))
    elif host.system == "windows":
        key = host.registry(WINDOWS_ENVIRONMENT_KEY)
        env = host.env("PROCESSOR_ARCHITEW6432") or host.env("PROCESSOR_ARCHITECTURE")
        said = [
            ("IsWow64Process2", architecture(host.platform.get("machine"))),
            (
                WINDOWS_ENVIRONMENT_KEY,
                architecture(key.values.get("PROCESSOR_ARCHITECTURE")) if key else None,
            ),
            ("PROCESSOR_ARCHITECTURE", architecture(env)),
        ]
    yield agree("arch", said)


def read_disk(sight: Sight) -> Iterator[Fact]:
    """Read the free space where the home directory is."""
    path = sight.host.home
    free = sight.host.disk_free(path) if path else None
    if free is None:
        yield unknown("disk", "there is no home directory")
    else:
        yield Fact("disk", {"path": path, "free": free}, "file system")
