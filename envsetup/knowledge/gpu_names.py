"""Find chips by the names that drivers, shops and people write.

Names are compared without trademark signs, spaces, capitals and the words that make no difference to which
chip it is ("Graphics", "Laptop GPU", "with Max-Q Design", "8GB"), so ``NVIDIA GeForce RTX 2070 Super with
Max-Q`` and ``RTX2070 SUPER`` are the same. What remains must match whole: ``RTX 3050`` never finds
``RTX 3050 A``.
"""

from __future__ import annotations

import functools
import re
from typing import Dict, List, Mapping, Optional, Tuple

from envsetup.knowledge.gpu_table import Chip, generations, vendor_table

LIMIT = 200  # characters; no adapter has a longer name
Hit = Tuple[str, Chip, Optional[str]]  # vendor, chip, device id

_SIGNS = re.compile(r"\((?:r|tm|c)\)|[®™©]|\b(?:tm)\b")
_PHRASES = re.compile(
    r"\bmax-?q\b(?: design)?|\brev\.? ?[a-z0-9]\b|\b\d+ ?gb\b|\b\d+-?core\b|\bgen(?:eration)?\b"
)
_NOISE = frozenset(
    re.findall(
        r"\w+",
        "nvidia amd ati intel qualcomm apple corporation inc advanced micro devices graphics gpu apu igpu"
        " series family adapter controller integrated laptop notebook mobile with design card video desktop"
        " engineering sample edition pcie sxm sxm2 sxm3 sxm4 sxm5 sxm6 dgxs fhhl hbm3 hbm3e hbm2e processor"
        " oem the",
    )
)
_BRANDS = ("geforce", "quadro", "tesla", "radeon", "mobility", "embedded", "grid", "arc", "instinct")
_VENDORS = (
    ("nvidia", r"\b(nvidia|geforce|quadro|tesla|titan|gtx|rtx|nvs|jetson|tegra)|\bgt ?\d"),
    ("amd", r"\b(amd|ati|radeon|firepro|firegl|instinct|gfx[0-9a-f]{3,4})|\brx ?\d|\br[579] ?\d|\bmi\d"),
    ("intel", r"\b(intel|uhd|iris|arc)\b|\bhd graphics"),
    ("qualcomm", r"\b(qualcomm|adreno|snapdragon)"),
    ("apple", r"\b(apple)\b|^m[1-9]( pro| max| ultra)?$"),
)


def find(text: str) -> Tuple[Hit, ...]:
    """Return every chip that the text may name; empty when none does or they are of several vendors."""
    text = _SIGNS.sub(" ", text[:LIMIT].lower())
    gfx = re.findall(r"\bgfx[0-9a-f]{3,4}\b", text)
    text = re.sub(r"\bgfx[0-9a-f]{3,4}\b", " ", text) if gfx else text
    vendors = [name for name, pattern in _VENDORS if re.search(pattern, text)]
    if gfx:
        vendors = ["amd"]
    vendors = vendors[:1] or list(generations().titles)
    full, short = _keys(text)
    hits = [hit for vendor in vendors for hit in _index(vendor)[0].get(full, ())]
    if not hits or len(vendors) > 1:
        hits += [hit for vendor in vendors for hit in _index(vendor)[1].get(short, ())]
    if gfx:
        hits = [hit for hit in hits if hit[1].gfx in gfx] or [
            ("amd", chip, None) for chip in vendor_table("amd").chips if chip.gfx in gfx
        ]
    return tuple(hits) if len({vendor for vendor, _, _ in hits}) == 1 else ()


def _keys(text: str) -> Tuple[str, str]:
    """Return the name as it is compared, and the same without the brand in front."""
    words = re.findall(r"[a-z0-9+.]+", _PHRASES.sub(" ", text))
    words = [word for word in words if word not in _NOISE]
    short = list(words)
    while len(short) > 1 and short[0] in _BRANDS:
        short.pop(0)
    return "".join(words), "".join(short)


@functools.lru_cache(maxsize=None)
def _index(vendor: str) -> Tuple[Mapping[str, List[Hit]], Mapping[str, List[Hit]]]:
    """Return a vendor's chips by name as it is compared, and by name without the brand."""
    full: Dict[str, List[Hit]] = {}
    short: Dict[str, List[Hit]] = {}
    for chip in vendor_table(vendor).chips:
        named: List[Tuple[str, Optional[str]]] = [(name, None) for name in chip.names]
        named += [(name, device) for device, name in chip.ids.items() if "/" not in name]
        for name, device in named:
            for index, key in zip((full, short), _keys(_SIGNS.sub(" ", name.lower()))):
                if key:
                    index.setdefault(key, []).append((vendor, chip, device))
    return full, short
