"""Interpreters that Windows knows of: registered ones (PEP 514), the Store's, the launcher's."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Iterator

from envsetup.machine.host import Host, Registry, Unreadable
from envsetup.machine.system import architecture

if TYPE_CHECKING:
    from envsetup.machine.interpreter_places import Candidate

ROOTS = (r"HKCU\SOFTWARE\Python", r"HKLM\SOFTWARE\Python", r"HKLM\SOFTWARE\WOW6432Node\Python")
PACKAGES = (
    r"HKCU\Software\Classes\Local Settings\Software\Microsoft\Windows\CurrentVersion"
    r"\AppModel\Repository\Packages"
)
NOT_INTERPRETERS = {"PyLauncher"}  # PEP 514 reserves the name


def _key(host: Host, path: str) -> Registry:
    try:
        return host.registry(path) or Registry({})
    except Unreadable:
        return Registry({})


def registered(host: Host) -> Iterator[Candidate]:
    r"""Yield what PEP 514 lists: Python\<company>\<tag>\InstallPath."""
    from envsetup.machine.interpreter_places import Candidate

    for root in ROOTS:
        for company in _key(host, root).keys:
            if company in NOT_INTERPRETERS:
                continue
            for tag in _key(host, f"{root}\\{company}").keys:
                entry = _key(host, f"{root}\\{company}\\{tag}")
                place = _key(host, f"{root}\\{company}\\{tag}\\InstallPath").values
                path = place.get("ExecutablePath")
                folder = place.get("")
                if not isinstance(path, str) or not path:
                    if not isinstance(folder, str) or not folder:
                        continue
                    path = host.join(folder, "python.exe")
                version = re.match(r"\d+\.\d+\.\d+", str(entry.values.get("Version", "")))
                pypy = "pypy" in f"{company} {entry.values.get('DisplayName', '')}".lower()
                yield Candidate(
                    path,
                    "registry",
                    # For PyPy, Version is PyPy's own.
                    version.group(0) if version and not pypy else None,
                    implementation="pypy" if pypy else "cpython",
                    store="\\windowsapps\\" in path.lower(),
                )


def store(host: Host) -> Iterator[Candidate]:
    """Yield the Store's interpreters: a folder of aliases each, and the package's name in the registry."""
    from envsetup.machine.interpreter_places import Candidate

    data = host.env("LOCALAPPDATA")
    apps = host.join(data, "Microsoft", "WindowsApps") if data else None
    packages = None
    for name in (host.list(apps, "PythonSoftwareFoundation.Python.*") or []) if apps else []:
        match = re.match(r"PythonSoftwareFoundation\.Python\.(\d+\.\d+)_", name)
        if not match or not apps:
            continue
        packages = packages or _key(host, PACKAGES).keys
        version, arch = match.group(1), None
        for package in packages:
            full = re.match(
                rf"PythonSoftwareFoundation\.Python\.{re.escape(version)}_\d+\.\d+\.(\d+)\.\d+_(\w+?)__",
                package,
            )
            if full:
                # The third number holds the release and its level: 10 × 256 + 240 is the final 10.
                version, arch = f"{match.group(1)}.{int(full.group(1)) >> 8}", architecture(full.group(2))
                break
        bits = 32 if arch == "x86" else 64 if arch else None
        yield Candidate(host.join(apps, name, "python.exe"), "registry", version, bits, arch, store=True)


def launcher(host: Host) -> Iterator[Candidate]:
    """Yield what the py launcher lists; it starts no interpreter for that."""
    from envsetup.machine.interpreter_places import Candidate

    root = host.env("SystemRoot") or r"C:\Windows"
    data = host.env("LOCALAPPDATA")
    places = [
        host.join(root, "py.exe"),
        *([host.join(data, "Programs", "Python", "Launcher", "py.exe")] if data else []),
    ]
    for path in places:
        if host.stat(path) is None:
            continue
        done = host.run([path, "-0p"], timeout=5)
        text = f"{done.out}\n{done.err}" if done else ""  # older launchers list on stderr
        for found in re.findall(r"^\s*-\S+(?:\s+\*)?\s+([A-Za-z]:\\.+?\.exe)\s*$", text, re.MULTILINE):
            yield Candidate(found, "launcher", store="\\windowsapps\\" in found.lower())
        return
