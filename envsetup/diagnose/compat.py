"""What goes with what: the tables of ``constraints/compat``, and the questions that rules ask of them."""

from __future__ import annotations

import dataclasses
import functools
from typing import Dict, Mapping, Tuple

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from envsetup.knowledge.files import constraints
from envsetup.knowledge.toml import Table, load

Range = Tuple[Version, Version]


@dataclasses.dataclass(frozen=True)
class TensorFlow:
    """A minor release of TensorFlow.

    Args:
        python: oldest and newest CPython with wheels.
        cuda: toolkit that its wheels load, e.g. ``10.1``.
        cudnn: oldest cuDNN.
        compute: oldest compute capability with code.
    """

    version: Version
    python: Range
    cuda: str
    cudnn: str
    compute: str


@dataclasses.dataclass(frozen=True)
class Torch:
    """A minor release of PyTorch.

    Args:
        python: oldest and newest CPython with wheels on Linux.
        python_other: newest on Windows and macOS.
        torchvision: the minor release built for it; empty when unknown.
        default: CUDA label of PyPI's Linux wheels, e.g. ``cu121``.
        rocm: newest ROCm index; empty when there is none.
        capability: CUDA label to the compute capabilities with code.
    """

    version: Version
    python: Range
    python_other: Version
    torchvision: str
    default: str
    rocm: str
    capability: Mapping[str, Tuple[str, ...]]


@dataclasses.dataclass(frozen=True)
class Package:
    """Another package.

    Args:
        python: oldest and newest CPython with wheels.
        platforms: ``windows``, ``linux``, ``macos``: where wheels exist.
        successor: what goes on where this one stopped; may be empty.
        superseded_from: who has that release of the base framework needs the successor; may be empty.
        stub_from: releases from here on hold nothing; may be empty.
        last: newest release that is no stub; may be empty.
        base: what must be installed with it, and ``base_version`` which releases of that.
        backend: ``directml``, ``cuda``, ``rocm``, ``mps`` or empty.
        history: (release, newest Python from it on), newest first, where later releases came to more Pythons.
    """

    name: str
    python: Range
    platforms: Tuple[str, ...]
    successor: str
    superseded_from: str
    stub_from: str
    last: str
    base: str
    base_version: SpecifierSet
    backend: str
    history: Tuple[Tuple[Version, Version], ...] = ()


@dataclasses.dataclass(frozen=True)
class Ceiling:
    """A limit that a release of ``consumer`` needs for ``package`` and does not state itself."""

    code: str
    consumer: str
    versions: SpecifierSet
    package: str
    limit: SpecifierSet
    source: str


@dataclasses.dataclass(frozen=True)
class DirectX:
    """Floors for DirectML: Windows builds, WSL kernels and drivers, oldest architectures by vendor."""

    windows_build: int
    dxcore_build: int
    wsl_build: int
    wsl_preview: Tuple[int, int]
    wsl_kernel: str
    wsl_kernel_preview: str
    wsl_driver: Mapping[str, str]
    floor: Mapping[str, str]

    def wsl_gpu(self, build: int) -> bool:
        """Say whether WSL has GPUs on that Windows build."""
        first, last = self.wsl_preview
        return build >= first or self.wsl_build <= build < last


@dataclasses.dataclass(frozen=True)
class Tables:
    """All tables.

    Args:
        tensorflow: newest first, and the facts of the file's head as text.
        torch: newest first.
        rocm: ROCm release to gfx targets, oldest first.
    """

    tensorflow: Tuple[TensorFlow, ...]
    tensorflow_head: Mapping[str, str]
    torch: Tuple[Torch, ...]
    torch_head: Mapping[str, str]
    indexes: Tuple[str, ...]
    placeholders: Tuple[str, ...]
    torch_glibc: Tuple[Tuple[Version, str], ...]
    packages: Mapping[str, Package]
    pins: Tuple[Tuple[str, SpecifierSet, Requirement], ...]
    copies: Tuple[str, ...]
    ceilings: Tuple[Ceiling, ...]
    rocm: Mapping[str, Tuple[str, ...]]
    overrides: Mapping[str, str]
    directx: DirectX

    def tensorflow_release(self, version: Version) -> TensorFlow | None:
        """Return the row of a TensorFlow version's minor release."""
        return next((r for r in self.tensorflow if r.version.release[:2] == version.release[:2]), None)

    def torch_release(self, version: Version) -> Torch | None:
        """Return the row of a torch version's minor release (a pre-release 1.14 was published as 2.0)."""
        release = (2, 0) if version.release[:2] == (1, 14) else version.release[:2]
        return next((r for r in self.torch if r.version.release[:2] == release), None)

    def torchvision_for(self, torch: Version) -> str:
        """Return the torchvision minor release that is built for a torch; empty when unknown."""
        row = self.torch_release(torch)
        return row.torchvision if row else ""

    def torch_for(self, torchvision: Version) -> Tuple[Torch, ...]:
        """Return the torch releases that a torchvision is built for."""
        minor = f"{torchvision.release[0]}.{(*torchvision.release, 0)[1]}"
        return tuple(r for r in self.torch if r.torchvision == minor)


@functools.lru_cache(maxsize=1)
def tables() -> Tables:
    """Read all files of ``constraints/compat``.

    Raises:
        KnowledgeError: when one is wrong, with the line.
    """
    folder = constraints() / "compat"
    tf, torch = load(folder / "tensorflow.toml"), load(folder / "torch.toml")
    packages, ceilings = load(folder / "packages.toml"), load(folder / "ceilings.toml")
    rocm, directx = load(folder / "rocm.toml"), load(folder / "directx.toml")
    out = Tables(
        tensorflow=tuple(_tensorflow(row) for row in tf.tables("release")),
        tensorflow_head=_head(
            tf,
            "source windows-gpu-last avx-from macos-intel-last macos-arm-from linux-aarch64-from"
            " windows-msvc-from",
        ),
        torch=tuple(_torch(row) for row in torch.tables("release")),
        torch_head=_head(torch, "source macos-intel-last aarch64-cuda-from numpy2-from cudnn9-from"),
        indexes=torch.texts("indexes"),
        placeholders=torch.texts("placeholders"),
        torch_glibc=_glibc(torch),
        packages={row.name: row for row in map(_package, packages.tables("package"))},
        pins=tuple(_pin(row) for row in packages.tables("pin")),
        copies=_copies(packages.table("pytorch-index")),
        ceilings=tuple(_ceiling(row) for row in ceilings.tables("ceiling")),
        rocm=_rocm(rocm),
        overrides=rocm.text_map("overrides"),
        directx=_directx(directx),
    )
    packages.text("source"), rocm.text("source"), directx.text("source")
    for root in (tf, torch, packages, ceilings, rocm, directx):
        root.end()
    return out


def _head(table: Table, names: str) -> Dict[str, str]:
    return {name: table.text(name) for name in names.split()}


def _range(table: Table, name: str) -> Range:
    bounds = table.texts(name)
    if len(bounds) != 2:
        table.fail(f"{name!r} takes the oldest and the newest version", name)
    return Version(bounds[0]), Version(bounds[1])


def _tensorflow(row: Table) -> TensorFlow:
    out = TensorFlow(
        row.version("version"),
        _range(row, "python"),
        str(row.version("cuda")),
        str(row.version("cudnn")),
        str(row.version("compute")),
    )
    row.end()
    return out


def _torch(row: Table) -> Torch:
    python = _range(row, "python")
    out = Torch(
        version=row.version("version"),
        python=python,
        python_other=row.version("python-other", str(python[1])),
        torchvision=row.text("torchvision", ""),
        default=row.text("default"),
        rocm=row.text("rocm", ""),
        capability={label: tuple(text.split()) for label, text in row.text_map("capability").items()},
    )
    if out.default not in out.capability:
        row.fail(f"'default' must be one of {', '.join(out.capability)}", "default")
    row.end()
    return out


def _glibc(table: Table) -> Tuple[Tuple[Version, str], ...]:
    """Read from which release on which glibc is needed; newest first."""
    pairs = [(Version(release), glibc) for release, glibc in table.text_map("glibc").items()]
    return tuple(sorted(pairs, reverse=True))


def _package(row: Table) -> Package:
    out = Package(
        name=row.text("name"),
        python=_range(row, "python"),
        platforms=row.texts("platforms"),
        successor=row.text("successor", ""),
        superseded_from=row.text("superseded-from", ""),
        stub_from=row.text("stub-from", ""),
        last=row.text("last", ""),
        base=row.text("base", ""),
        base_version=row.specifier("base-version", ""),
        backend=row.text("backend", ""),
        history=_history(row),
    )
    row.end()
    return out


def _history(row: Table) -> Tuple[Tuple[Version, Version], ...]:
    pairs = [(Version(release), Version(python)) for release, python in row.text_map("newest-python").items()]
    return tuple(sorted(pairs, reverse=True))


def _pin(row: Table) -> Tuple[str, SpecifierSet, Requirement]:
    out = (row.text("name"), row.specifier("versions"), row.parsed("needs", Requirement, "a requirement"))
    row.end()
    return out


def _copies(table: Table) -> Tuple[str, ...]:
    out = table.texts("copies")
    table.end()
    return out


def _ceiling(row: Table) -> Ceiling:
    out = Ceiling(
        row.text("code"),
        row.text("consumer"),
        row.specifier("versions"),
        row.text("package"),
        row.specifier("limit"),
        row.text("source"),
    )
    row.end()
    return out


def _rocm(root: Table) -> Dict[str, Tuple[str, ...]]:
    out = {}
    for row in root.tables("index"):
        out[row.text("rocm")] = row.texts("gfx")
        row.end()
    return out


def _directx(root: Table) -> DirectX:
    first, last = (int(n) for n in root.texts("wsl-preview"))
    return DirectX(
        windows_build=root.integer("windows-build"),
        dxcore_build=root.integer("dxcore-build"),
        wsl_build=root.integer("wsl-build"),
        wsl_preview=(first, last),
        wsl_kernel=root.text("wsl-kernel"),
        wsl_kernel_preview=root.text("wsl-kernel-preview"),
        wsl_driver=root.text_map("wsl-driver"),
        floor=root.text_map("floor"),
    )
