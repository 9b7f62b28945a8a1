"""Which GPU an id or a name stands for, and what is known of GPU generations and CUDA toolkits.

Example:
    >>> gpu = find_gpu("10de:1e04")
    >>> gpu.name, gpu.architecture, gpu.compute_capability
    ('GeForce RTX 2080 Ti', 'turing', '7.5')
    >>> at_least("nvidia", gpu.architecture, "kepler")
    True
"""

from __future__ import annotations

import dataclasses
import re
from typing import Iterable, Optional, Sequence, Tuple, TypeVar

from envsetup.errors import UsageError
from envsetup.knowledge import gpu_names
from envsetup.knowledge.cuda import (
    CudaToolkit,
    DriverBranch,
    capability,
    cuda_toolkit,
    cuda_toolkits,
    last_driver_branch,
    runs,
)
from envsetup.knowledge.gpu_table import Architecture, Chip, generations, vendor_table

T = TypeVar("T")

_ID = re.compile(r"^(?:0x)?([0-9a-f]{4,8}):(?:0x)?([0-9a-f]{4,8})$")
_WINDOWS_ID = re.compile(r"ven_([0-9a-z]{4})&dev_([0-9a-f]{4})")
_ACPI_ID = re.compile(r"\bqcom([0-9a-f]{4})\b")


@dataclasses.dataclass(frozen=True)
class Gpu:
    """What is known of one model of GPU. A field that isn't known, or that a name leaves open, is None.

    Args:
        vendor: ``nvidia``, ``amd``, ``intel``, ``qualcomm``, ``apple`` or ``other``.
        id: ``vendor:device`` in lower-case hex; None when a name stands for several ids.
        name: product name, or what is known instead of it.
        chip: code name of the chip.
        architecture: name of the :class:`Architecture`.
        compute_capability: NVIDIA's, e.g. ``7.5``.
        gfx: AMD's LLVM target, e.g. ``gfx1030``.
        integrated: part of a processor or chipset.
        known: False when the id is not in the tables.
    """

    vendor: str
    id: Optional[str]
    name: str
    chip: Optional[str] = None
    architecture: Optional[str] = None
    compute_capability: Optional[str] = None
    gfx: Optional[str] = None
    integrated: Optional[bool] = None
    known: bool = True


def find_gpu(pci_id: str) -> Gpu:
    """Return what the tables say of a device id; ``known=False`` and a name that says so for a new one.

    Args:
        pci_id: ``10de:1e04`` (capitals and ``0x`` are fine), a Windows device id with ``VEN_10DE&DEV_1E04``
            in it, or for Qualcomm ``QCOM0C36`` or the same as DXGI numbers it, ``4d4f4351:36334330``.

    Raises:
        UsageError: when it is no device id.
    """
    vendor_id, device = _parse(pci_id)
    vendor = vendor_name(vendor_id)
    identity = f"{vendor_id}:{device}"
    if vendor == "other":
        return Gpu(
            vendor, identity, generations().others.get(vendor_id, f"unknown GPU ({identity})"), known=False
        )
    table = vendor_table(vendor)
    key = _acpi(device) if vendor == "qualcomm" else device
    chip = table.by_id.get(key)
    title = generations().titles[vendor]
    if chip:
        name = chip.ids[key] or f"{title} {chip.name}"
        return _gpu(vendor, identity, name, (chip,))
    newer = any(first <= int(device, 16) <= last for first, last in table.newer)
    where = "probably newer than this table" if newer else "not in this table"
    return Gpu(vendor, identity, f"unknown {title} GPU ({identity}), {where}", known=False)


def find_gpu_by_name(text: str) -> Optional[Gpu]:
    """Return the GPU that a driver's or person's name stands for; None when no GPU of the tables has it.

    A name that stands for several chips (``GeForce GT 730`` is Fermi or Kepler) gives what all of them have
    in common, and the other fields are None.

    Args:
        text: such as ``NVIDIA GeForce GTX 1080 with Max-Q Design`` or ``Radeon RX 5700 XT (gfx1010)``.
    """
    hits = gpu_names.find(text)
    if not hits:
        return None
    vendor = hits[0][0]
    chips = list({chip.name: chip for _, chip, _ in hits}.values())
    ids = {device for _, _, device in hits}
    prefix = next(key for key, name in generations().vendors.items() if name == vendor)
    device = ids.pop() if len(ids) == 1 else None
    identity = f"{prefix}:{_dxgi(device) if vendor == 'qualcomm' else device}" if device else None
    name = " ".join(text.split())[: gpu_names.LIMIT]
    kinds = list(dict.fromkeys(chip.architecture for chip in chips))
    if len(kinds) > 1:
        which = (
            " or ".join(kinds)
            if len(kinds) < 4
            else f"one of {len(kinds)} generations, {kinds[0]} to {kinds[-1]}"
        )
        name += f" ({which}: the name alone doesn't say)"
    return _gpu(vendor, identity, name, chips)


def vendor_name(vendor_id: str) -> str:
    """Return the vendor that a vendor id belongs to: ``nvidia``, ``amd``, … or ``other``.

    Args:
        vendor_id: ``10de``, ``0x10DE`` or Qualcomm's ``4d4f4351``.
    """
    return generations().vendors.get(re.sub(r"^0x0*", "", vendor_id.strip().lower()), "other")


def architecture(vendor: str, name: str) -> Optional[Architecture]:
    """Return a generation by its name or another name of it (``vega`` is ``gcn5``), or None."""
    return generations().by_name.get((vendor, name.lower()))


def architectures(vendor: str) -> Tuple[Architecture, ...]:
    """Return a vendor's generations, oldest first; none for an unknown vendor."""
    return generations().architectures.get(vendor, ())


def at_least(vendor: str, name: Optional[str], floor: str) -> Optional[bool]:
    """Say whether a generation is the floor or newer; None when it is not known.

    Raises:
        UsageError: when ``floor`` is no generation of the vendor: a mistake in a stack.
    """
    oldest = architecture(vendor, floor)
    if oldest is None:
        raise UsageError(f"{vendor} has no architecture {floor!r}.")
    found = architecture(vendor, name) if name else None
    return found.order >= oldest.order if found else None


def _gpu(vendor: str, identity: Optional[str], name: str, chips: Sequence[Chip]) -> Gpu:
    return Gpu(
        vendor=vendor,
        id=identity,
        name=name,
        chip=_same(chip.name for chip in chips),
        architecture=_same(chip.architecture for chip in chips),
        compute_capability=_same(chip.compute_capability for chip in chips),
        gfx=_same(chip.gfx for chip in chips),
        integrated=_same(chip.integrated for chip in chips),
    )


def _same(values: Iterable[T]) -> Optional[T]:
    """Return the value that all have in common, or None."""
    different = set(values)
    return different.pop() if len(different) == 1 else None


def _parse(text: str) -> Tuple[str, str]:
    lower = text.strip().lower()[: gpu_names.LIMIT]
    acpi = _ACPI_ID.search(lower) or re.search(r"ven_qcom&dev_([0-9a-f]{4})", lower)
    if acpi:
        return "4d4f4351", _dxgi(acpi.group(1))
    match = _ID.match(lower) or _WINDOWS_ID.search(lower)
    if not match:
        raise UsageError(f"{text[:80]!r} is no device id: write it as 10de:1e04.")
    vendor, device = (re.sub(r"^0000(?=[0-9a-f]{4}$)", "", part) for part in match.groups())
    return vendor, device


def _acpi(device: str) -> str:
    """Return the four ACPI digits in a Qualcomm device number (36334330 is "0C36", last letter first)."""
    if len(device) != 8:
        return device
    return bytes.fromhex(device)[::-1].decode("latin-1").lower()


def _dxgi(acpi: str) -> str:
    """Return the device number that DXGI gives for four ACPI digits."""
    return acpi.upper().encode("ascii")[::-1].hex()


__all__ = [
    "Architecture",
    "CudaToolkit",
    "DriverBranch",
    "Gpu",
    "architecture",
    "architectures",
    "at_least",
    "capability",
    "cuda_toolkit",
    "cuda_toolkits",
    "find_gpu",
    "find_gpu_by_name",
    "last_driver_branch",
    "runs",
    "vendor_name",
]
