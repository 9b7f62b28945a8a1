"""Which wheel of several fits a Python and a platform best."""

from __future__ import annotations

from typing import Dict, Iterator, List, Sequence

from packaging.tags import Tag, compatible_tags, cpython_tags
from packaging.utils import InvalidWheelFilename, parse_wheel_filename

_LEGACY = {
    "manylinux_2_5": "manylinux1",
    "manylinux_2_12": "manylinux2010",
    "manylinux_2_17": "manylinux2014",
}


def platform_tags(platform: str, glibc: int = 17, macos: int = 13) -> List[str]:
    """Return a platform's wheel tags, best first.

    Args:
        platform: a name in :data:`envsetup.knowledge.stacks.PLATFORMS`.
        glibc: minor version of glibc 2 that wheels may ask for.
        macos: major version of macOS that wheels may ask for.
    """
    if platform.startswith("manylinux_"):
        arch = platform[len("manylinux_") :]
        out = []
        for minor in range(glibc, 4, -1):
            name = f"manylinux_2_{minor}"
            out.append(f"{name}_{arch}")
            if name in _LEGACY:
                out.append(f"{_LEGACY[name]}_{arch}")
        return [*out, f"linux_{arch}"]
    if platform.startswith("macosx_"):
        arch = platform[len("macosx_") :]
        newest = [f"macosx_{major}_0" for major in range(macos, 10, -1)]
        old = [f"macosx_10_{minor}" for minor in range(16, 8, -1)]
        return [f"{v}_{a}" for v in (*newest, *old) for a in (arch, "universal2")]
    return [platform]


def ranked(python: str, platform: str, glibc: int = 17, macos: int = 13) -> Dict[Tag, int]:
    """Return every tag that ``python`` on ``platform`` accepts, with its rank (0 is best)."""

    def tags() -> Iterator[Tag]:
        major, minor = (int(part) for part in python.split("."))
        name = f"cp{major}{minor}"
        platforms = platform_tags(platform, glibc, macos)
        abi = name + ("m" if (major, minor) < (3, 8) else "")
        yield from cpython_tags((major, minor), [abi], platforms)
        yield from compatible_tags((major, minor), name, platforms)

    return {tag: rank for rank, tag in reversed(list(enumerate(tags())))}


def best_wheel(files: Sequence[str], accepted: Dict[Tag, int]) -> str | None:
    """Return the file name that fits best, or None when none fits."""
    best = None
    for file in files:
        try:
            tags = parse_wheel_filename(file)[3]
        except InvalidWheelFilename:
            continue
        rank = min((accepted[t] for t in tags if t in accepted), default=None)
        if rank is not None and (best is None or rank < best[0]):
            best = (rank, file)
    return best[1] if best else None
