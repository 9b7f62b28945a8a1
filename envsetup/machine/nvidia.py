"""NVIDIA's driver: its number, the newest CUDA it supports, and the GPUs that it lists."""

from __future__ import annotations

import contextlib
import re
from typing import Any, Dict, Iterator, List, Tuple

from envsetup.machine.fact import Fact, unknown
from envsetup.machine.gpus import Adapter, from_native
from envsetup.machine.host import Host, Unreadable
from envsetup.machine.reading import Sight, agree

PROC = "/proc/driver/nvidia/version"
MODULE = "/sys/module/nvidia/version"
WSL_FOLDER = "/usr/lib/wsl/lib"
_FOLDERS = (
    WSL_FOLDER, "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib64/nvidia",
    "/usr/lib", "/run/opengl-driver/lib",
)  # fmt: skip


def nvml(host: Host) -> Dict[str, Any] | None:
    """Return NVML's answer ``{driver, cuda, gpus}``; None when there is no NVML.

    Raises:
        Unreadable: it is there and does not answer; ``nvidia-smi`` was tried too.
    """
    if host.system == "macos" or (host.system == "linux" and not _libraries(host)):
        return None  # a child process would find nothing either
    try:
        got = host.native("nvml", timeout=8)
    except Unreadable as error:
        got = _nvidia_smi(host)
        if got is None:
            raise Unreadable(f"NVML: {error}") from None
    return got if isinstance(got, dict) else None


def _libraries(host: Host) -> List[str]:
    """Return the driver's libraries on Linux, libnvidia-ml.so.*; none means that none was found."""
    pattern = "libnvidia-ml.so*"
    found: List[str] = []
    for folder in (*host.split_paths(host.env("LD_LIBRARY_PATH")), *_FOLDERS):
        try:
            found += [f"{folder}/{name}" for name in host.list(folder, pattern) or []]
        except Unreadable:
            continue
    with contextlib.suppress(Unreadable):  # musl has no such cache
        found += host.libraries(pattern) or []
    return list(dict.fromkeys(found))


def _nvidia_smi(host: Host) -> Dict[str, Any] | None:
    """Ask ``nvidia-smi`` where it is known to be; None when it is not there or says nothing usable."""
    if host.system == "windows":
        root, programs = (
            host.env("SystemRoot") or r"C:\Windows",
            host.env("ProgramW6432") or r"C:\Program Files",
        )
        paths = [rf"{root}\System32\nvidia-smi.exe", rf"{programs}\NVIDIA Corporation\NVSMI\nvidia-smi.exe"]
    else:
        paths = [f"{WSL_FOLDER}/nvidia-smi", "/usr/bin/nvidia-smi", "/opt/bin/nvidia-smi"]
    query = "--query-gpu=pci.device_id,pci.bus_id,driver_version,memory.total,name"
    for path in paths:
        try:
            done = host.run([path, query, "--format=csv,noheader,nounits"], timeout=8)
        except Unreadable:
            continue
        rows = re.findall(
            r"^0x([0-9a-f]{4})([0-9a-f]{4}), *[0-9a-f]*?([0-9a-f]{4}:[0-9a-f:.]+), *"
            r"([\d.]+), *(\d+), *(.+?)\s*$",
            done.out[:10_000] if done and done.code == 0 else "",
            re.MULTILINE | re.IGNORECASE,
        )
        if rows:
            gpus = [
                {"device": int(device, 16), "vendor": int(vendor, 16), "bus": bus.lower(), "name": name,
                 "memory": int(memory) << 20}
                for device, vendor, bus, _, memory, name in rows
            ]  # fmt: skip
            return {"driver": rows[0][3], "cuda": None, "gpus": gpus, "via": path}
    return None


def adapters(host: Host) -> List[Adapter] | None:
    """Return the GPUs that NVML lists; None when there is no NVML.

    Raises:
        Unreadable: NVML does not answer.
    """
    got = nvml(host)
    if got is None:
        return None
    driver = got.get("driver")
    rows = [{"driver": driver, **row} for row in got.get("gpus") or [] if isinstance(row, dict)]
    return from_native(rows, str(got.get("via") or "NVML"))


def windows_number(driver: str | None) -> str | None:
    """Return NVIDIA's number of a Windows driver number: its last five digits (31.0.15.3623 → 536.23)."""
    match = re.fullmatch(r"\d+\.\d+\.(\d+)\.(\d+)", driver or "")
    if not match:
        return None
    digits = (match.group(1) + match.group(2).zfill(4))[-5:]
    return f"{int(digits[:-2])}.{digits[-2:]}" if len(digits) == 5 else None


def read_driver(sight: Sight) -> Iterator[Fact]:
    """Read driver.nvidia and cuda.driver."""
    host = sight.host
    failure, got = "", None
    try:
        got = nvml(host)
    except Unreadable as error:
        failure = str(error)
    said = _number(got.get("driver")) if got else None
    answers = [*_system_answers(sight), (str(got.get("via") or "NVML") if got else "NVML", said)]
    driver = agree("driver.nvidia", answers)
    if not driver.known and not failure:
        driver = _no_driver(sight)
    elif not driver.known:
        driver = unknown("driver.nvidia", failure)
    elif failure:
        driver = Fact("driver.nvidia", driver.value, driver.source, others=(*driver.others, (failure, None)))
    yield driver
    system = "wsl" if host.system == "linux" and sight.value("wsl") else host.system
    yield cuda_of(driver, got.get("cuda") if got else None, system)


def _no_driver(sight: Sight) -> Fact:
    """Say that there is no driver, but only if its absence could have been seen."""
    host = sight.host
    if host.system == "windows" and not sight.fact("gpu").known:
        return unknown("driver.nvidia", f"the GPUs are unknown: {sight.fact('gpu').source}")
    if host.system == "linux" and host.stat("/etc/nv_tegra_release"):
        return unknown(
            "driver.nvidia", "on Jetson the driver is part of the system and has no number of its own"
        )
    if host.system == "linux" and host.list("/proc", "version") is None:
        return unknown("driver.nvidia", "/proc can't be read, and there is no NVML")
    return Fact("driver.nvidia", None, "no kernel module, no library and no GPU of NVIDIA's driver")


def _system_answers(sight: Sight) -> List[Tuple[str, str | None]]:
    host = sight.host
    if host.system == "windows":
        rows = [gpu for gpu in sight.value("gpu") or [] if gpu["vendor"] == "nvidia"]
        return [(gpu["source"], windows_number(gpu["driver"])) for gpu in rows]
    if host.system != "linux" or sight.value("wsl"):
        return []
    answers: List[Tuple[str, str | None]] = []
    for path in (PROC, MODULE):
        try:
            text = host.read_text(path, 4096) or ""
        except Unreadable:
            continue
        match = (
            re.search(r"Kernel Module\s+(?:for \S+\s+)?(\d+\.\d+(?:\.\d+)?)", text) if path == PROC else None
        )
        answers.append((path, match.group(1) if match else _number(text.strip()) if path == MODULE else None))
    for path in _libraries(host):
        match = re.search(r"\.so\.(\d{3}\.\d+(?:\.\d+)?)$", path)
        answers.append((path, match.group(1) if match else None))
    return answers


def _number(value: Any) -> str | None:
    return value if isinstance(value, str) and re.fullmatch(r"\d{2,4}\.\d+(\.\d+)?", value) else None


def cuda_of(driver: Fact, said: Any, system: str | None) -> Fact:
    """Return cuda.driver: as the driver says, else the newest toolkit whose floor it reaches.

    Args:
        driver: the fact driver.nvidia.
        said: what NVML says, if anything.
        system: ``linux``, ``wsl`` or ``windows``: drivers are numbered differently (in WSL as on Windows).
    """
    if isinstance(said, str) and re.fullmatch(r"\d+\.\d+", said):
        return Fact("cuda.driver", said, "NVML", assumed=driver.assumed)
    if not driver.known:
        return unknown("cuda.driver", driver.source)
    if driver.value is None:
        return Fact("cuda.driver", None, "there is no NVIDIA driver", assumed=driver.assumed)
    from envsetup.knowledge import hardware

    have = _key(driver.value)
    fits = [
        toolkit.version
        for toolkit in hardware.cuda_toolkits()
        if _key(toolkit.driver_linux if system == "linux" else toolkit.driver_windows) <= have
    ]
    if not fits:
        return unknown("cuda.driver", f"driver {driver.value} is older than the table of toolkits")
    return Fact("cuda.driver", fits[-1], f"follows from driver {driver.value}", assumed=driver.assumed)


def _key(version: str) -> List[int]:
    return [int(part) for part in version.split(".")]
