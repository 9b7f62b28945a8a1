"""GPUs on Windows: DXGI first, then the devices that are present with their registry entries, then WMI."""

from __future__ import annotations

import csv
import io
import json
import re
from typing import Any, Dict, List, Mapping, Sequence

from envsetup.machine import gpus
from envsetup.machine.host import Host, Unreadable

DISPLAY_CLASS = r"HKLM\SYSTEM\CurrentControlSet\Control\Class\{4d36e968-e325-11ce-bfc1-08002be10318}"
_PCI_ID = re.compile(r"PCI\\VEN_([0-9A-F]{4})&DEV_([0-9A-F]{4})", re.IGNORECASE)


def sources(host: Host) -> Sequence[gpus.Source]:
    """Return the sources of Windows' GPUs, the most trusted first; WMI (:func:`wmi`) is the last resort."""
    return [("DXGI", lambda: dxgi(host)), ("registry display class", lambda: display_class(host))]


def dxgi(host: Host) -> List[gpus.Adapter] | None:
    """Return DXGI's adapters, in its order."""
    got = host.native("dxgi", timeout=10)
    return None if got is None else gpus.from_native(got, "DXGI")


def display_class(host: Host) -> List[gpus.Adapter] | None:
    """Return the registry's display drivers, without those of devices that are known to be gone."""
    key = host.registry(DISPLAY_CLASS)
    if key is None:
        return None
    found = []
    for name in key.keys:
        if re.fullmatch(r"\d{4}", name):
            try:
                entry = host.registry(f"{DISPLAY_CLASS}\\{name}")
            except Unreadable:
                continue
            if entry:
                found.append(class_entry(entry.values))
    present = _present(host)
    if present:
        # An empty list is no proof: some systems list nothing at all.
        found = [adapter for adapter in found if adapter.id is None or adapter.id in present]
        known = {adapter.id for adapter in found}
        found += [
            gpus.Adapter(vendor_id=pci[:4], device_id=pci[5:], source="configuration manager")
            for pci in present
            if pci not in known
        ]
    return found


def class_entry(values: Mapping[str, Any]) -> gpus.Adapter:
    """Return the adapter that one entry of the display class describes."""
    match = _PCI_ID.search(str(values.get("MatchingDeviceId", "")))
    vendor, device = (part.lower() for part in match.groups()) if match else (None, None)
    memory = values.get("HardwareInformation.qwMemorySize", values.get("HardwareInformation.MemorySize"))
    if isinstance(memory, str) and memory.startswith("hex:"):  # older drivers store bytes
        memory = int.from_bytes(bytes.fromhex(memory[4:]), "little")
    return gpus.Adapter(
        vendor_id=vendor,
        device_id=device,
        name=str(values.get("DriverDesc") or "") or None,
        memory=memory if isinstance(memory, int) else None,
        driver=str(values.get("DriverVersion") or "") or None,
        # An entry without a PCI id drives no hardware (remote sessions, mirroring).
        software=match is None and not str(values.get("MatchingDeviceId", "")).upper().startswith("ACPI"),
        source="registry",
    )


def _present(host: Host) -> List[str]:
    try:
        names = host.native("display_devices")
    except Unreadable:
        return []
    matches = (_PCI_ID.match(name) for name in names or [] if isinstance(name, str))
    return ["{}:{}".format(*match.groups()).lower() for match in matches if match]


def wmi(host: Host) -> List[gpus.Adapter]:
    """Return what Win32_VideoController lists, through wmic or, where that is gone, PowerShell.

    Raises:
        Unreadable: neither answers.
    """
    system = host.join(host.env("SystemRoot") or r"C:\Windows", "System32")
    return wmi_with(host, rf"{system}\wbem\WMIC.exe", rf"{system}\WindowsPowerShell\v1.0\powershell.exe")


def wmi_with(host: Host, wmic: str, powershell: str) -> List[gpus.Adapter]:
    """Ask Win32_VideoController with the programs at these paths (WSL reaches them elsewhere)."""
    fields = "AdapterRAM,DriverVersion,Name,PNPDeviceID"
    script = f"Get-CimInstance Win32_VideoController | Select-Object {fields} | ConvertTo-Json -Compress"
    asked = (
        ([wmic, "path", "Win32_VideoController", "get", fields, "/format:csv"], _csv),
        ([wmic, "path", "Win32_VideoController", "get", fields], _columns),
        ([powershell, "-NoProfile", "-NonInteractive", "-Command", script], _json),
    )
    for argv, parse in asked:
        try:
            done = host.run(argv, timeout=15)
            rows = parse(done.out) if done and done.code == 0 else []
        except (Unreadable, ValueError, csv.Error, RecursionError):
            continue
        if rows:
            return [_video_controller(row) for row in rows]
    raise Unreadable("Win32_VideoController: neither wmic nor PowerShell answers")


def _csv(text: str) -> List[Dict[str, Any]]:
    lines = [line for line in text.replace("\r", "\n").split("\n") if line.strip()]
    return [row for row in csv.DictReader(io.StringIO("\n".join(lines))) if row.get("PNPDeviceID")]


def _columns(text: str) -> List[Dict[str, Any]]:
    """Parse wmic's table: the columns begin where their titles do."""
    lines = [line for line in text.replace("\r", "\n").split("\n") if line.strip()]
    titles = [(match.group(), match.start()) for match in re.finditer(r"\S+", lines[0])] if lines else []
    ends = [start for _, start in titles[1:]] + [None]
    rows = [{t: line[start:end].strip() for (t, start), end in zip(titles, ends)} for line in lines[1:]]
    return [row for row in rows if row.get("PNPDeviceID")]


def _json(text: str) -> List[Dict[str, Any]]:
    got = json.loads(text)
    return [row for row in (got if isinstance(got, list) else [got]) if isinstance(row, dict)]


def _video_controller(row: Mapping[str, Any]) -> gpus.Adapter:
    memory = str(row.get("AdapterRAM") or "")
    match = _PCI_ID.search(str(row.get("PNPDeviceID") or ""))
    vendor, device = (part.lower() for part in match.groups()) if match else (None, None)
    return gpus.Adapter(
        vendor_id=vendor,
        device_id=device,
        name=str(row.get("Name") or "") or None,
        # A 32-bit number that stays at 4 GiB less 1 MiB for all that have more.
        memory=int(memory) if memory.isdigit() and 0 < int(memory) < (4 << 30) - (1 << 20) else None,
        driver=str(row.get("DriverVersion") or "") or None,
        source="Win32_VideoController",
    )
