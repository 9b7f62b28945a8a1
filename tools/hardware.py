r"""Write the GPU tables of ``constraints/hardware/`` from a pci.ids file and ``hardware_chips.toml``.

The same input gives the same files. The committed tables come from Debian's packages pci.ids
0.0~2026.10.24-1 and libdrm-common 2.4.134-3::

    python tools/hardware.py /usr/share/misc/pci.ids \
        --amdgpu-ids /usr/share/libdrm/amdgpu.ids --libdrm 2.4.134

After a run with a newer edition read its messages: lines that look like a GPU of no known chip are listed,
and a chip is added to ``hardware_chips.toml`` by hand, with the source of its architecture.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional, Tuple

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HERE = Path(__file__).resolve().parent
NOT_A_GPU = re.compile(
    r"audio|usb|ucsi|bridge|controller|smbus|pcie|root |host|\bide\b|sata|ethernet|memory|modem"
    r"|\(secondary\)|co-processor|xilleon|theater|tv wonder|coprocessor|network|dummy|downstream|upstream",
    re.I,
)
# Names of boards and samples that no driver shows to anybody.
NO_PRODUCT = re.compile(
    r"reserved|initial dev|\bint\b|-int\d*|-es\b|-esa?\b|-esp\b|\bes-|-cs\b|-cs\d|^nb1|^n1\dp|^d1\d[pmu]|fpga"
    r"|gen3 esi|\bpg\d|polaris1\d|\bsku\b|exk107|skinny|faber|jmjwoa|fake|^gk\d|^gh100|^gm\d|^q12u"
    r"|engineering|a100[ab]$|drive p2021|^tdc-|^amd stream|p30ph",
    re.I,
)
TOO_GENERAL = re.compile(
    r"^(Radeon|Radeon RX|Radeon Pro|Radeon Pro WX|Intel|FirePro|FirePro V)?( Series| Graphics.*)?$"
)
BRAND = (
    r"Radeon|Mobility Radeon|Mobility FireGL|FirePro|FireGL|FireMV|FireStream|Instinct|GeForce|Quadro|Tesla"
    r"|GRID|NVS|TITAN|RTX|DRIVE|Barco|HD Graphics|UHD Graphics|Iris|Arc|All-In-Wonder|Steam|Xe"
)
LINE = r"HD|RX|R\d|Pro|PRO|GTX?|GTS|Vega|WX"
MODEL = re.compile(rf"({BRAND}|nForce|Embedded|[A-Z]{{1,2}}\d)")

Names = Dict[str, List[str]]


def main(argv: Optional[List[str]] = None) -> int:
    """Write the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pci_ids", type=Path, help="a pci.ids file, e.g. of Debian's package pci.ids")
    parser.add_argument("--amdgpu-ids", type=Path, help="libdrm's amdgpu.ids: AMD's marketing names")
    parser.add_argument("--libdrm", default="", help="the libdrm version that amdgpu.ids comes from")
    parser.add_argument("--chips", type=Path, default=HERE / "hardware_chips.toml")
    parser.add_argument("--out", type=Path, default=HERE.parent / "constraints" / "hardware")
    options = parser.parse_args(argv)
    text = options.pci_ids.read_text(encoding="utf-8", errors="replace")
    edition = re.search(r"Version:\s*(\S+)", text)
    marketing = amdgpu_names(options.amdgpu_ids) if options.amdgpu_ids else {}
    chips = tomllib.loads(options.chips.read_text(encoding="utf-8"))
    for name, vendor in chips.items():
        devices = dict(pci_devices(text, vendor["vendor"]))
        table, unknown = build(vendor, devices, marketing if name == "amd" else {})
        for line in unknown:
            print(f"{name}: no chip is known for {line}", file=sys.stderr)
        source = f"pci.ids {edition.group(1) if edition else '?'}"
        if name == "amd" and marketing:
            source += f", libdrm {options.libdrm} amdgpu.ids"
        rendered = render(name, vendor, table, source)
        (options.out / f"{name}.toml").write_bytes(rendered.encode())
    return 0


def pci_devices(text: str, vendor: str) -> Iterator[Tuple[str, str]]:
    """Yield the ids and descriptions of one vendor's devices in a pci.ids file."""
    inside = False
    for line in text.splitlines():
        if line and line[0] not in "\t#":
            inside = line.startswith(vendor + " ")
        elif inside and re.match(r"\t[0-9a-f]{4}  ", line):
            yield line[1:5], line[7:].strip()


def amdgpu_names(path: Path) -> Names:
    """Return the product names of each id in libdrm's amdgpu.ids (``id, revision, name`` lines)."""
    out: Names = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        parts = [part.strip() for part in line.split(",", 2)]
        if len(parts) == 3 and re.match(r"^[0-9A-F]{4}$", parts[0]):
            name = re.sub(r"^(AMD|ATI) ", "", parts[2])
            if not TOO_GENERAL.match(name) and not NO_PRODUCT.search(name):
                out.setdefault(parts[0].lower(), []).append(name)
    return out


def build(
    vendor: Dict[str, Any], devices: Dict[str, str], marketing: Names
) -> Tuple[Dict[str, Any], List[str]]:
    """Sort one vendor's devices by chip.

    Returns:
        The chips, each with its facts, ``ids`` (id → name) and ``names``; and the lines that look like a GPU
        of a chip that the map lacks.
    """
    chips: Dict[str, Any] = vendor["chips"]
    by_id = {device: chip for chip, facts in chips.items() for device in facts.get("ids", ())}
    by_id.update({device: chip for chip, ids in vendor.get("more", {}).items() for device in ids})
    codes = sorted(
        (
            (code, chip)
            for chip, facts in chips.items()
            if "ids" not in facts
            for code in facts.get("code", [chip])
        ),
        key=lambda pair: -len(pair[0]),
    )
    table: Dict[str, Any] = {chip: {"facts": facts, "ids": {}, "names": []} for chip, facts in chips.items()}
    unknown: List[str] = []
    drop = set(vendor["drop"])
    for device in sorted({*devices, *by_id} - drop):
        text = devices.get(device, "")
        chip = by_id.get(device)
        if chip is None:
            if NOT_A_GPU.search(re.sub(r"\[[^\]]*\]", "", text)) or "NVSwitch" in text:
                continue
            chip = next((chip for code, chip in codes if text.startswith(code)), None)
        if chip is None:
            if re.search(r"radeon|geforce|quadro|graphics|\barc\b", text, re.I):
                unknown.append(f"{device} {text}")
            continue
        whole = device in chips[chip].get("ids", ())
        name = vendor.get("devices", {}).get(device, product(text, whole))
        table[chip]["ids"][device] = name
        table[chip]["names"] += expand(name)
        for other in marketing.get(device, []):
            table[chip]["names"] += expand(other) or ([] if other == name else [other])
    for chip, entry in table.items():
        by_hand = [n for n in vendor.get("names", {}).get(chip, []) if n not in entry["ids"].values()]
        entry["names"] = list(dict.fromkeys(entry["names"] + by_hand))
    return table, unknown


def product(text: str, whole: bool) -> str:
    """Return the product name in a pci.ids line: what stands in its last brackets, if anything.

    Args:
        text: such as ``GK208B [GeForce GT 710]``.
        whole: take the whole line when it has no brackets (Intel's have none).
    """
    found = re.findall(r"\[([^\]]+)\]", text)
    name = found[-1] if found else (text if whole else "")
    name = re.sub(r"^Geforce", "GeForce", re.sub(r"^(AMD|ATI|Intel) (?=Radeon|Arc|FirePro|Custom)", "", name))
    return "" if NO_PRODUCT.search(name) or name == "Intel Graphics" else name


def expand(name: str) -> List[str]:
    """Spell out a name that stands for several.

    >>> expand("Radeon RX 6800/6800 XT / 6900 XT")
    ['Radeon RX 6800', 'Radeon RX 6800 XT', 'Radeon RX 6900 XT']
    """
    if "/" not in name or re.search(r"(?i)chipset|processor|controller|express", name):
        return []
    out: List[str] = []
    for part in (part.strip() for part in name.split("/")):
        if not part or re.match(r"(?i)^(max-q|mobile|all )", part):
            continue
        if out and not re.match(rf"({BRAND})\b", part):
            words = out[-1].split()
            brand = [
                w
                for w in words[:2]
                if w in ("Mobility", "Radeon", "GeForce", "Quadro", "FirePro", "FireGL", "Arc")
            ]
            if re.match(rf"({LINE})\b", part):
                part = " ".join([*brand, part])
            else:
                number = next(
                    (i for i, w in enumerate(words) if re.search(r"\d", w) and not re.match(r"^R\d$", w)),
                    len(words) - 1,
                )
                part = " ".join([*words[:number], part])
        out.append(part)
    return [n for n in out if MODEL.match(n) and re.search(r"\d", re.sub(r"\b\d+GB\b", "", n))]


def render(name: str, vendor: Dict[str, Any], table: Dict[str, Any], source: str) -> str:
    """Return the TOML text of one vendor's table."""
    lines = [
        f"# GPUs with the vendor id {vendor['vendor']} ({name}), by chip. Written by tools/hardware.py: to",
        "# change it, edit tools/hardware_chips.toml (which chip is of which architecture) and run that.",
        f"# Ids and names: {source}, and tools/hardware_chips.toml.",
        "# `names`: what drivers and people call the chip, spelled out; `ids`: device id = product name.",
        "",
        f"source = {quote(source)}",
        f"newer = {array(vendor['newer'])}",
    ]
    for chip, entry in table.items():
        facts = entry["facts"]
        lines += ["", f"[chip.{key(chip)}]", f"architecture = {quote(facts['architecture'])}"]
        lines += [f"{field} = {quote(facts[field])}" for field in ("capability", "gfx") if field in facts]
        if facts.get("integrated"):
            lines.append("integrated = true")
        if entry["names"]:
            lines.append(f"names = {array(entry['names'])}")
        if entry["ids"]:
            lines.append(f"[chip.{key(chip)}.ids]")
            lines += [f"{device} = {quote(text)}" for device, text in entry["ids"].items()]
    return "\n".join(lines) + "\n"


def quote(text: str) -> str:
    """Return a TOML basic string."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def array(items: List[str]) -> str:
    """Return a TOML array of strings, on one line."""
    return "[" + ", ".join(quote(item) for item in items) + "]"


def key(text: str) -> str:
    """Return a TOML key, quoted when it has to be."""
    return text if re.match(r"^[A-Za-z0-9_-]+$", text) else quote(text)


if __name__ == "__main__":
    raise SystemExit(main())
