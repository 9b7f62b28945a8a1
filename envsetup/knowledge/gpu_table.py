"""The GPU tables of ``constraints/hardware/``: a file a vendor, read when one of its GPUs is asked for."""

from __future__ import annotations

import dataclasses
import functools
import re
from pathlib import Path
from typing import Dict, Mapping, Optional, Tuple

from envsetup.knowledge.files import constraints
from envsetup.knowledge.toml import Table, load

CAPABILITY = re.compile(r"^\d{1,2}\.\d$")
GFX = re.compile(r"^gfx[0-9a-f]{3,4}$")


@dataclasses.dataclass(frozen=True)
class Architecture:
    """One generation of a vendor's GPUs.

    Args:
        vendor: ``nvidia``, ``amd``, ``intel``, ``qualcomm`` or ``apple``.
        name: as stacks and facts write it, e.g. ``kepler``.
        title: for people, e.g. ``NVIDIA Kepler (GeForce GTX 600/700)``.
        order: place among the vendor's generations, from 1; a floor admits all of its order and above.
        series: what was sold under it.
        compute_capability: what most of its chips have (NVIDIA), or None.
        directx12: whether a Direct3D 12 driver for Windows was ever published; None when no source says.
        source: where the generation and ``directx12`` come from.
        note: what the owner of such a GPU should know, or an empty text.
    """

    vendor: str
    name: str
    title: str
    order: int
    series: str
    compute_capability: Optional[str]
    directx12: Optional[bool]
    source: str
    note: str = ""


@dataclasses.dataclass(frozen=True)
class Chip:
    """One GPU chip and the devices that carry it.

    Args:
        name: NVIDIA's or AMD's code name, or Intel's family.
        architecture: name of an :class:`Architecture` of the same vendor.
        compute_capability: NVIDIA's, e.g. ``7.5``; None for others and before G80.
        gfx: LLVM target of AMD chips, e.g. ``gfx1030``; None before GCN and for others.
        integrated: part of a processor or chipset, without memory of its own.
        names: names that stand in no single id's place.
        ids: device id (four hex digits) to product name; the name may be empty or stand for several (``/``).
    """

    name: str
    architecture: str
    compute_capability: Optional[str]
    gfx: Optional[str]
    integrated: bool
    names: Tuple[str, ...]
    ids: Mapping[str, str]


@dataclasses.dataclass(frozen=True)
class VendorTable:
    """All chips of a vendor.

    Args:
        chips: oldest first.
        by_id: device id to chip.
        newer: ranges of device ids (first, last) in which the vendor numbers GPUs newer than the table.
        source: what the ids and names were taken from, with the edition.
    """

    chips: Tuple[Chip, ...]
    by_id: Mapping[str, Chip]
    newer: Tuple[Tuple[int, int], ...]
    source: str


@dataclasses.dataclass(frozen=True)
class Generations:
    """The file of architectures.

    Args:
        vendors: PCI vendor id to vendor name.
        others: PCI vendor id of adapters that don't compute to what they are.
        titles: vendor name as people write it.
        architectures: vendor to its generations, oldest first.
        by_name: vendor and name (or other name) to generation.
    """

    vendors: Mapping[str, str]
    others: Mapping[str, str]
    titles: Mapping[str, str]
    architectures: Mapping[str, Tuple[Architecture, ...]]
    by_name: Mapping[Tuple[str, str], Architecture]


def folder() -> Path:
    """Return where the tables are."""
    return constraints() / "hardware"


@functools.lru_cache(maxsize=None)
def generations(path: Optional[Path] = None) -> Generations:
    """Read the architectures.

    Raises:
        KnowledgeError: when the file is missing or wrong, with the line.
    """
    root = load(path or folder() / "architectures.toml")
    vendors, others, titles = (root.text_map(name) for name in ("vendors", "others", "titles"))
    architectures: Dict[str, Tuple[Architecture, ...]] = {}
    by_name: Dict[Tuple[str, str], Architecture] = {}
    for vendor in titles:
        rows = []
        for order, row in enumerate(root.tables(vendor), 1):
            rows.append(_architecture(vendor, order, row))
            for name in (rows[-1].name, *row.texts("also", [])):
                if (vendor, name) in by_name:
                    row.fail(f"{name!r} is there twice", "name")
                by_name[vendor, name] = rows[-1]
            row.end()
        architectures[vendor] = tuple(rows)
    for vendor in set(vendors.values()) - set(titles):
        root.fail(f"{vendor!r} has no title", "vendors")
    root.end()
    return Generations(vendors, others, titles, architectures, by_name)


def _architecture(vendor: str, order: int, row: Table) -> Architecture:
    capability = row.text("capability", "")
    if capability and not CAPABILITY.match(capability):
        row.fail("'capability' must be a compute capability such as 7.5", "capability")
    return Architecture(
        vendor=vendor,
        name=row.text("name"),
        title=row.text("title"),
        order=order,
        series=row.text("series"),
        compute_capability=capability or None,
        directx12=row.flag("directx12") if "directx12" in row else None,
        source=row.text("source"),
        note=row.text("note", ""),
    )


@functools.lru_cache(maxsize=None)
def vendor_table(vendor: str, path: Optional[Path] = None) -> VendorTable:
    """Read one vendor's chips.

    Raises:
        KnowledgeError: when the file is missing or wrong, with the line.
    """
    root = load(path or folder() / f"{vendor}.toml")
    known = {a.name for a in generations().architectures[vendor]}
    chips = []
    by_id: Dict[str, Chip] = {}
    source, newer = root.text("source"), _ranges(root)
    table = root.table("chip")
    for name in table:
        chips.append(_chip(name, table.table(name), known, by_id))
    root.end()
    return VendorTable(tuple(chips), by_id, newer, source)


def _chip(name: str, row: Table, known: set[str], by_id: Dict[str, Chip]) -> Chip:
    architecture = row.text("architecture")
    if architecture not in known:
        row.fail(f"unknown architecture {architecture!r}; known: {', '.join(sorted(known))}", "architecture")
    facts = {}
    for field, pattern in (("capability", CAPABILITY), ("gfx", GFX)):
        facts[field] = row.text(field, "")
        if facts[field] and not pattern.match(facts[field]):
            row.fail(f"{field!r} can't be {facts[field]!r}", field)
    ids = row.text_map("ids")
    chip = Chip(
        name,
        architecture,
        facts["capability"] or None,
        facts["gfx"] or None,
        row.flag("integrated"),
        row.texts("names", []),
        ids,
    )
    for device in ids:
        if not re.match(r"^[0-9a-f]{4}$", device):
            row.table("ids").fail("a device id is four hex digits, lower case", device)
        if device in by_id:
            row.table("ids").fail(f"{device} is also a {by_id[device].name}", device)
        by_id[device] = chip
    row.end()
    return chip


def _ranges(root: Table) -> Tuple[Tuple[int, int], ...]:
    out = []
    for text in root.texts("newer"):
        match = re.match(r"^([0-9a-f]{4})-([0-9a-f]{4})$", text)
        if not match:
            root.fail(f"{text!r} is no range of ids such as 3401-ffff", "newer")
        out.append((int(match.group(1), 16), int(match.group(2), 16)))
    return tuple(out)
