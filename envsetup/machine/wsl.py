"""WSL: which version, the Windows below it, and its GPUs."""

from __future__ import annotations

import re
from typing import Dict, Iterator, List, Mapping

from envsetup.machine import gpus, nvidia, system, windows
from envsetup.machine.fact import Fact, unknown
from envsetup.machine.host import Host, Unreadable
from envsetup.machine.reading import Sight, agree

DXG = "/dev/dxg"
LIBRARIES = ("libdxcore.so", "libd3d12.so")  # of /usr/lib/wsl/lib; DirectML loads both
INTEROP = "/proc/sys/fs/binfmt_misc"  # WSLInterop in it: Windows programs can be run
INTEROP_LIMIT = 6.0  # seconds; the first Windows program after a start is slow


def read_wsl(sight: Sight) -> Iterator[Fact]:
    """Read wsl and dxg."""
    host = sight.host
    if host.system != "linux":
        yield Fact("wsl", 0, f"{host.system} is not WSL")
        yield Fact("dxg", None, "not WSL")
        return
    version, source = _version(host)
    yield Fact("wsl", version, source)
    yield _dxg(host) if version else Fact("dxg", None, "not WSL")


def _version(host: Host) -> tuple[int, str]:
    release = str(host.platform.get("release") or host.read_text("/proc/sys/kernel/osrelease", 256) or "")
    if re.search(r"microsoft.*standard|WSL2", release):
        return 2, f"kernel {release}"
    if re.search(r"-Microsoft$", release):  # WSL1's made-up kernel, 4.4.0-19041-Microsoft
        return 1, f"kernel {release}"
    # A kernel that the user built may have any name.
    if host.stat("/run/WSL") or host.stat(f"{INTEROP}/WSLInterop"):
        return (2, "/run/WSL") if host.stat(DXG) or not release.startswith("4.4.0-") else (1, "/run/WSL")
    return 0, f"kernel {release}"


def _dxg(host: Host) -> Fact:
    if host.stat(DXG) is None:
        return Fact("dxg", False, f"{DXG} is missing")
    names = host.list(nvidia.WSL_FOLDER, "lib*.so*") or []
    missing = [name for name in LIBRARIES if name not in names]
    if missing:
        return Fact("dxg", False, f"{nvidia.WSL_FOLDER} lacks {' and '.join(missing)}")
    return Fact("dxg", True, f"{DXG} and {nvidia.WSL_FOLDER}")


def windows_folder(host: Host) -> str | None:
    """Return where Windows' own folder is mounted, if Windows programs can be run."""
    names = host.list(INTEROP, "WSLInterop*")
    if not names:
        return None
    config = host.read_text("/etc/wsl.conf", 1 << 16) or ""
    match = re.search(r"^\s*root\s*=\s*[\"']?(/[^\s\"']*)", config, re.MULTILINE)
    root = (match.group(1) if match else "/mnt").rstrip("/")
    for drive in ("c", "d"):
        folder = f"{root}/{drive}/Windows"
        try:
            if host.stat(f"{folder}/System32/reg.exe"):
                return folder
        except Unreadable:
            continue
    return None


def _reg(host: Host, key: str, *options: str) -> str:
    """Return what reg.exe prints of a key of the Windows below.

    Raises:
        Unreadable: Windows programs can't be run from here, or it does not answer.
    """
    folder = windows_folder(host)
    if folder is None:
        raise Unreadable("Windows programs can't be run here (interop is off, or drive C is not mounted)")
    done = host.run([f"{folder}/System32/reg.exe", "query", key, *options], timeout=INTEROP_LIMIT)
    if done is None or done.timed_out or not done.out.strip():
        raise Unreadable("reg.exe of the Windows below does not answer")
    return done.out


def parse_reg(text: str) -> Dict[str, Dict[str, object]]:
    """Return ``{key: {name: value}}`` of what ``reg query`` prints; numbers are turned into int."""
    found: Dict[str, Dict[str, object]] = {}
    key = ""
    for line in text.replace("\r", "").split("\n"):
        if line.startswith("HKEY_"):
            key = line.strip()
            found[key] = {}
        match = re.match(r"    (.+?)    REG_(\w+)    ?(.*)$", line)
        if match and key:
            name, kind, value = match.groups()
            if kind in ("DWORD", "QWORD") and re.fullmatch(r"0x[0-9a-fA-F]+", value):
                found[key][name] = int(value, 16)
            else:
                found[key][name] = f"hex:{value.lower()}" if kind == "BINARY" else value
    return found


def windows_build(host: Host) -> Fact:
    """Return the build of the Windows below."""
    kernel = re.match(r"4\.4\.0-(\d{5})-Microsoft", str(host.platform.get("release") or ""))
    answers: List[tuple[str, int | None]] = []
    failure = ""
    try:
        keys = parse_reg(_reg(host, system.WINDOWS_VERSION_KEY, "/v", "CurrentBuildNumber"))
        text = "".join(str(values.get("CurrentBuildNumber", "")) for values in keys.values())
        answers.append(("reg.exe of the Windows below", int(text) if text.isdigit() else None))
    except Unreadable as error:
        failure = str(error)
    # WSL1's kernel names the build that its Windows was made from.
    answers.append(("WSL1 kernel's name", int(kernel.group(1)) if kernel else None))
    fact = agree("windows-build", answers)
    return fact if fact.known else unknown("windows-build", failure or fact.source)


def gpus_of(sight: Sight) -> Fact:
    """Return the fact ``gpu``: what DXCore lists, else NVML together with what Windows has drivers for."""
    host = sight.host
    sources: List[gpus.Source] = [("NVML", lambda: nvidia.adapters(host))]
    if sight.value("wsl") == 2:
        sources.insert(0, ("DXCore", lambda: host_dxcore(host)))
    answers, _ = gpus.ask(sources)
    if any(name == "DXCore" and found for name, found in answers):
        return gpus.settle(sources)
    # DXCore lists no GPU whose Windows driver is too old for WSL; Windows itself does.
    return gpus.settle([("Windows' display drivers, through reg.exe", lambda: below(host)), *sources[::-1]])


def host_dxcore(host: Host) -> List[gpus.Adapter] | None:
    """Return DXCore's adapters; None when WSL has no GPU support."""
    if host.stat(DXG) is None:
        return None
    got = host.native("dxcore", timeout=8)
    return None if got is None else gpus.from_native(got, "DXCore")


def below(host: Host) -> List[gpus.Adapter]:
    """Return the display drivers of the Windows below, some perhaps of GPUs that are gone.

    Raises:
        Unreadable: no Windows program can be run, or none answers in time.
    """
    try:
        keys: Mapping[str, Mapping[str, object]] = parse_reg(_reg(host, windows.DISPLAY_CLASS, "/s"))
        entries = [
            values for key, values in keys.items() if re.search(r"\\\d{4}$", key) and "DriverDesc" in values
        ]
        return [windows.class_entry(values) for values in entries]
    except Unreadable:
        folder = windows_folder(host)
        if folder is None:
            raise
        system = f"{folder}/System32"
        return windows.wmi_with(
            host, f"{system}/wbem/WMIC.exe", f"{system}/WindowsPowerShell/v1.0/powershell.exe"
        )
