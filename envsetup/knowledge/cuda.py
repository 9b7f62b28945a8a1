"""CUDA toolkits: which driver each needs, which GPUs it has code for, and whether a build runs on a GPU."""

from __future__ import annotations

import dataclasses
import functools
import re
from pathlib import Path
from typing import Iterable, List, Literal, Optional, Tuple

from packaging.version import Version

from envsetup.errors import UsageError
from envsetup.knowledge.gpu_table import CAPABILITY, folder
from envsetup.knowledge.toml import Table, load

# Jetson and DRIVE: NVIDIA promises binary compatibility between minor versions for desktop GPUs only
# (CUDA programming guide, "Binary compatibility").
TEGRA = frozenset({(3, 2), (5, 3), (6, 2), (7, 2), (8, 7), (8, 8), (11, 0)})


@dataclasses.dataclass(frozen=True)
class CudaToolkit:
    """One release of the CUDA toolkit.

    Args:
        version: major and minor, e.g. ``10.1``.
        driver_linux: oldest NVIDIA driver that runs its programs on Linux (WSL counts as Windows).
        driver_windows: the same on Windows.
        capability_min: lowest compute capability that its compiler and libraries have code for.
        capability_max: highest compute capability that it knows. A GPU of a later minor version of the same
            major (8.6 for a toolkit that ends at 8.0) still runs its programs, and one of a later major runs
            those that carry PTX: see :func:`runs`.
        source: where the numbers come from.
    """

    version: str
    driver_linux: str
    driver_windows: str
    capability_min: str
    capability_max: str
    source: str


@dataclasses.dataclass(frozen=True)
class DriverBranch:
    """The last NVIDIA driver branch for a range of architectures.

    Args:
        branch: first number of its drivers, e.g. ``470``.
        below: first number of the next branch: drivers from here on don't know these GPUs (Windows drivers of
            branch 470 go up to 475).
        architectures: the architectures that no newer branch supports.
        cuda: the newest CUDA that the branch's drivers support, e.g. ``11.4``.
        source: where that stands.
    """

    branch: int
    below: int
    architectures: Tuple[str, ...]
    cuda: str
    source: str


@functools.lru_cache(maxsize=None)
def cuda_toolkits(path: Optional[Path] = None) -> Tuple[CudaToolkit, ...]:
    """Return all known toolkits, oldest first.

    Raises:
        KnowledgeError: when ``constraints/hardware/cuda.toml`` is wrong, with the line.
    """
    root = load(path or folder() / "cuda.toml")
    out: List[CudaToolkit] = []
    for row in root.tables("toolkit"):
        toolkit = CudaToolkit(
            version=_checked(row, "version", r"^\d{1,2}\.\d{1,2}$", "a version such as 10.1"),
            driver_linux=_checked(row, "linux", r"^\d{3}(\.\d+){0,2}$", "a driver version such as 418.39"),
            driver_windows=_checked(
                row, "windows", r"^\d{3}(\.\d+){0,2}$", "a driver version such as 418.96"
            ),
            capability_min=_checked(row, "min", CAPABILITY.pattern, "a compute capability such as 3.0"),
            capability_max=_checked(row, "max", CAPABILITY.pattern, "a compute capability such as 7.5"),
            source=row.text("source"),
        )
        row.end()
        if capability(toolkit.capability_min) > capability(toolkit.capability_max):
            row.fail("'min' is above 'max'", "min")
        if out and Version(toolkit.version) <= Version(out[-1].version):
            row.fail("toolkits must stand in order, oldest first", "version")
        out.append(toolkit)
    root.end()
    return tuple(out)


def cuda_toolkit(version: str) -> Optional[CudaToolkit]:
    """Return the toolkit of that version, or None when it is not in the table.

    Args:
        version: such as ``10.1``; a patch number (``10.1.243``) makes no difference.
    """
    short = ".".join(version.split(".")[:2])
    return next((toolkit for toolkit in cuda_toolkits() if toolkit.version == short), None)


@functools.lru_cache(maxsize=None)
def driver_branches(path: Optional[Path] = None) -> Tuple[DriverBranch, ...]:
    """Return NVIDIA's last driver branches, oldest first.

    Raises:
        KnowledgeError: when ``constraints/hardware/drivers.toml`` is wrong, with the line.
    """
    root = load(path or folder() / "drivers.toml")
    out = []
    for row in root.tables("nvidia"):
        branch, below = row.integer("branch"), row.integer("below")
        if branch >= below:
            row.fail("'below' must be above 'branch'", "below")
        out.append(
            DriverBranch(branch, below, row.texts("architectures"), row.text("cuda"), row.text("source"))
        )
        row.end()
    root.end()
    return tuple(out)


def last_driver_branch(architecture: str) -> Optional[DriverBranch]:
    """Return the last NVIDIA driver branch for an architecture; None when current drivers support it."""
    return next((branch for branch in driver_branches() if architecture in branch.architectures), None)


def capability(text: str) -> Tuple[int, int]:
    """Return a compute capability as two numbers that compare in order.

    Args:
        text: ``7.5``, ``75``, ``sm_75``, ``compute_75`` or ``sm_90a``.

    Raises:
        UsageError: when it is none of these.
    """
    match = re.match(r"^(?:sm_|compute_)?(\d{1,2})\.?(\d)([af]?)$", text.strip().lower())
    if not match:
        raise UsageError(f"{text!r} is no compute capability: write 7.5 or sm_75.")
    return int(match.group(1)), int(match.group(2))


def runs(gpu: str, native: Iterable[str], ptx: Iterable[str] = ()) -> Optional[Literal["native", "jit"]]:
    """Say how a CUDA build runs on a GPU, by the binary compatibility rule of the CUDA programming guide.

    Machine code for X.Y runs on GPUs X.Z with Z >= Y (on Jetson only for exactly X.Y; code marked ``a`` only
    on exactly that GPU). PTX for X.Y is compiled by the driver for any GPU of X.Y and above, which takes
    minutes at the first start (for PTX marked ``a``: only that GPU).

    Args:
        gpu: the GPU's compute capability, e.g. ``8.6``.
        native: capabilities that the build has machine code for (``sm_80`` or ``8.0``).
        ptx: capabilities that it has PTX for (``compute_70`` or ``7.0``).

    Returns:
        ``native``, ``jit``, or None when it doesn't run at all.

    Example:
        >>> runs("8.6", ["sm_37", "sm_80"]), runs("8.6", ["7.5"], ["7.5"]), runs("3.0", ["3.5"], ["7.0"])
        ('native', 'jit', None)
    """
    device = capability(gpu)
    for text in native:
        major, minor = capability(text)
        exact = text.strip().lower().endswith("a") or device in TEGRA or (major, minor) in TEGRA
        if (major, minor) == device or (not exact and major == device[0] and minor <= device[1]):
            return "native"
    for text in ptx:
        code = capability(text)
        if code == device or (code < device and not text.strip().lower().endswith(("a", "f"))):
            return "jit"
    return None


def _checked(row: Table, name: str, pattern: str, what: str) -> str:
    value = row.text(name)
    if not re.match(pattern, value):
        row.fail(f"{name!r} must be {what}, not {value!r}", name)
    return value
