"""GPUs on Linux, from sysfs: the PCI bus, and the display devices that sit on no PCI bus."""

from __future__ import annotations

import re
from typing import Any, Dict, List

from envsetup.machine import gpus, nvidia
from envsetup.machine.fact import Fact, unknown
from envsetup.machine.host import Host, Unreadable

PCI = "/sys/bus/pci/devices"
DRM = "/sys/class/drm"
KFD = "/sys/class/kfd/kfd/topology/nodes"

# Kernel drivers of GPUs that are part of a chip and on no PCI bus.
_SOC_DRIVERS = {
    "msm": "qualcomm", "msm_dpu": "qualcomm", "adreno": "qualcomm", "asahi": "apple",
    "nvgpu": "nvidia", "gk20a": "nvidia", "tegra": "nvidia", "v3d": "other", "vc4-drm": "other",
    "panfrost": "other", "panthor": "other", "lima": "other", "etnaviv": "other",
}  # fmt: skip


def read_gpus(host: Host) -> Fact:
    """Return the fact ``gpu`` from sysfs and NVML, which sees NVIDIA's in containers without sysfs too."""
    sysfs: List[gpus.Adapter] | None = None
    failures: List[str] = []
    try:
        sysfs = adapters(host)
        if sysfs is None:
            failures.append("/sys is not mounted")
    except Unreadable as error:
        failures.append(str(error))
    found = [adapter for adapter in sysfs or [] if not adapter.is_software]
    listed: List[gpus.Adapter] = []
    try:
        listed = nvidia.adapters(host) or []
    except Unreadable as error:
        failures.append(str(error))
    found = gpus.fill(found, listed)
    seen = {adapter.bus for adapter in found}
    found += [adapter for adapter in listed if adapter.bus not in seen or not adapter.bus]
    if sysfs is None and not found:
        return unknown("gpu", "; ".join(failures))
    source = "sysfs" if sysfs is not None else "NVML"
    return Fact(
        "gpu", [gpus.describe(a) for a in found], source, others=tuple((why, None) for why in failures)
    )


def adapters(host: Host) -> List[gpus.Adapter] | None:
    """Return the display adapters of sysfs, in the order of the bus; None when sysfs is not mounted.

    Raises:
        Unreadable: sysfs is there and can't be read.
    """
    addresses = host.list(PCI)
    cards = host.list(DRM, "card[0-9]", "card[0-9][0-9]") or []
    if addresses is None and not cards and not host.list("/sys"):
        return None
    gfx = _gfx(host)
    found = []
    for address in addresses or []:
        folder = f"{PCI}/{address}"
        if _read(host, f"{folder}/class").startswith("0x03"):
            found.append(_pci(host, folder, address, gfx))
    found += [adapter for adapter in (_soc(host, f"{DRM}/{card}/device") for card in cards) if adapter]
    return found


def _read(host: Host, path: str) -> str:
    try:
        return (host.read_text(path, 4096) or "").strip()
    except Unreadable:
        return ""


def _pci(host: Host, folder: str, address: str, gfx: Dict[str, str]) -> gpus.Adapter:
    vendor, device = (_read(host, f"{folder}/{name}")[2:].lower() or None for name in ("vendor", "device"))
    memory = _read(host, f"{folder}/mem_info_vram_total")  # amdgpu only
    driver = host.real_path(f"{folder}/driver")
    return gpus.Adapter(
        vendor_id=vendor,
        device_id=device,
        memory=int(memory) if memory.isdigit() else None,
        # For NVIDIA, NVML tells the driver's number instead.
        driver=driver.rsplit("/", 1)[1] if driver and vendor != "10de" else None,
        gfx=gfx.get(f"{vendor}:{device}"),
        bus=address,
        source="sysfs",
    )


def _soc(host: Host, folder: str) -> gpus.Adapter | None:
    """Return a GPU that is part of the chip; None for one on the PCI bus, which is known already."""
    fields = dict(re.findall(r"^(\w+)=(.*)$", _read(host, f"{folder}/uevent"), re.MULTILINE))
    vendor = _SOC_DRIVERS.get(fields.get("DRIVER", ""))
    if vendor is None or "PCI_ID" in fields:
        return None
    name = fields.get("OF_COMPATIBLE_0", fields["DRIVER"])
    return gpus.Adapter(vendor=vendor, name=name, integrated=True, driver=fields["DRIVER"], source="sysfs")


def _gfx(host: Host) -> Dict[str, str]:
    """Return the gfx names of AMD's compute driver by PCI id (gfx_target_version 90010 → gfx90a)."""
    found: Dict[str, Any] = {}
    try:
        nodes = host.list(KFD) or []
    except Unreadable:
        return {}
    for node in nodes:
        fields = dict(re.findall(r"^(\w+) (\d+)$", _read(host, f"{KFD}/{node}/properties"), re.MULTILINE))
        target = int(fields.get("gfx_target_version", 0))
        if target:
            major, minor, step = target // 10000, target // 100 % 100, target % 100
            key = f"{int(fields.get('vendor_id', 0)):04x}:{int(fields.get('device_id', 0)):04x}"
            found[key] = f"gfx{major}{minor:x}{step:x}"
    return found
