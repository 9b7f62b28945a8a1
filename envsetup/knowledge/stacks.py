"""Stacks: what each known combination of packages needs of a machine, installs and replaces."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any, Dict, List, Mapping, Tuple

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

from envsetup.knowledge.files import constraints
from envsetup.knowledge.toml import Table, load

SYSTEMS = ("windows", "wsl", "linux", "macos")
BACKENDS = ("dml", "cuda", "rocm", "openvino", "opencl", "vulkan", "mps", "cpu")
FRAMEWORKS = ("torch", "tensorflow", "onnxruntime", "openvino", "tvm", "plaidml", "mxnet", "jax")


@dataclasses.dataclass(frozen=True)
class Platform:
    """A kind of machine that wheels are built for.

    Args:
        name: as in lock files and in JSON, e.g. ``win_amd64``.
        systems: which systems install these wheels.
        arch: the interpreter's processor.
    """

    name: str
    systems: Tuple[str, ...]
    arch: str


PLATFORMS = {
    p.name: p
    for p in (
        Platform("win_amd64", ("windows",), "x86_64"),
        Platform("manylinux_x86_64", ("linux", "wsl"), "x86_64"),
        Platform("manylinux_aarch64", ("linux", "wsl"), "aarch64"),
        Platform("macosx_arm64", ("macos",), "aarch64"),
        Platform("macosx_x86_64", ("macos",), "x86_64"),
    )
}


@dataclasses.dataclass(frozen=True)
class Replacement:
    """A distribution that must be absent because another owns its import package.

    Args:
        name: the distribution that is replaced, e.g. ``torch``.
        version: the version that the replacement stands for, e.g. ``1.8.0``.
        by: the distribution that replaces it, e.g. ``pytorch-directml``.
        local: the local version label of the ``provides`` record, e.g. ``directml``.
    """

    name: str
    version: str
    by: str
    local: str

    @property
    def provided(self) -> str:
        """The requirement that the ``provides`` record satisfies, e.g. ``torch==1.8.0+directml``."""
        return f"{self.name}=={self.version}+{self.local}"


@dataclasses.dataclass(frozen=True)
class Needs:
    """What a row needs of a machine. An empty field needs nothing.

    Args:
        gpu: oldest architecture that serves, by vendor (``{"nvidia": "kepler"}``); ``*`` is any.
        capability: range of NVIDIA compute capabilities that the packages have code for.
        cuda: toolkit that must be installed, e.g. ``10.1``.
        runtime: CUDA that comes with the packages, e.g. ``12.1``: it asks for a driver, not for a toolkit.
        sm: NVIDIA architectures that the packages have code for, e.g. ``75`` or ``90a``.
        ptx: those of which they hold PTX, which later GPUs compile at first use.
        gfx: AMD targets that the packages have code for, e.g. ``gfx1030``.
        macos: range of macOS versions.
        cudnn: range of cuDNN versions.
        driver: range of NVIDIA driver versions, where the table of toolkits does not say it.
        cpu: processor features, e.g. ``avx``.
        glibc: lowest GNU C library.
        windows_build: range of Windows builds (in WSL: the host's).
        wsl: lowest WSL generation.
    """

    gpu: Mapping[str, str] = dataclasses.field(default_factory=dict)
    capability: SpecifierSet | None = None
    cuda: str | None = None
    runtime: str | None = None
    sm: Tuple[str, ...] = ()
    ptx: Tuple[str, ...] = ()
    gfx: Tuple[str, ...] = ()
    macos: SpecifierSet | None = None
    cudnn: SpecifierSet | None = None
    driver: SpecifierSet | None = None
    cpu: Tuple[str, ...] = ()
    glibc: SpecifierSet | None = None
    windows_build: SpecifierSet | None = None
    wsl: int | None = None

    def merged(self, other: Needs) -> Needs:
        """Return these needs with ``other``'s fields added; ``other`` wins."""
        given = {f.name: getattr(other, f.name) for f in dataclasses.fields(other)}
        return dataclasses.replace(self, **{k: v for k, v in given.items() if v not in (None, (), {})})


@dataclasses.dataclass(frozen=True)
class Row:
    """One version of a stack: the unit that the resolver accepts or refuses.

    Args:
        family: the stack's name, e.g. ``tensorflow-gpu``.
        version: its main distribution's version, with the local label of a build from another index.
        python: minor versions, oldest first; each has a lock.
        platforms: names in :data:`PLATFORMS`.
        install: exact requirements, the main distribution first.
        ceilings: limits for packages that the wheels leave open.
        replaces: distributions that must be absent.
        cut_off: newest upload date (``YYYY-MM-DD``) of anything resolved with it.
        index: another package index that it needs, e.g. ``pytorch/cu118``; such a row has no shipped lock and
            is resolved when it is built. Empty for the default index.
        needs: by system, already merged.
        source: where the numbers come from.
    """

    family: str
    framework: str
    backend: str
    version: str
    python: Tuple[str, ...]
    platforms: Tuple[str, ...]
    install: Tuple[Requirement, ...]
    ceilings: Tuple[Requirement, ...]
    replaces: Tuple[Replacement, ...]
    cut_off: str
    index: str
    needs: Mapping[str, Needs]
    source: str

    @property
    def name(self) -> str:
        """``family==version``, as ``--stack`` takes it and JSON reports it."""
        return f"{self.family}=={self.version}"

    @property
    def distribution(self) -> str:
        """The main distribution's normalised name."""
        return canonicalize_name(self.install[0].name)

    @property
    def systems(self) -> List[str]:
        """The systems that some platform of the row serves, and that the stack names."""
        return [s for s in self.needs if any(s in PLATFORMS[p].systems for p in self.platforms)]


@dataclasses.dataclass(frozen=True)
class Stack:
    """A family of rows.

    Args:
        preference: lower is taken first when several stacks fit.
        title: for people.
        rows: newest release first, its builds in the order of the file.
    """

    name: str
    title: str
    framework: str
    backend: str
    preference: int
    summary: str
    source: str
    rows: Tuple[Row, ...]


def _needs(table: Table) -> Needs:
    return Needs(
        gpu=table.text_map("gpu"),
        capability=table.specifier("capability") if "capability" in table else None,
        cuda=str(table.version("cuda")) if "cuda" in table else None,
        runtime=str(table.version("runtime")) if "runtime" in table else None,
        sm=table.texts("sm", ()),
        ptx=table.texts("ptx", ()),
        gfx=table.texts("gfx", ()),
        macos=table.specifier("macos-version") if "macos-version" in table else None,
        cudnn=table.specifier("cudnn") if "cudnn" in table else None,
        driver=table.specifier("driver") if "driver" in table else None,
        cpu=table.texts("cpu", ()),
        glibc=table.specifier("glibc") if "glibc" in table else None,
        windows_build=table.specifier("windows-build") if "windows-build" in table else None,
        wsl=table.integer("wsl-version") if "wsl-version" in table else None,
    )


def _by_system(table: Table, base: Mapping[str, Needs]) -> Dict[str, Needs]:
    """Merge ``[needs]`` and its ``[needs.windows]``-like parts over ``base``."""
    common = _needs(table)
    out = {}
    for system in base:
        part = table.table(system, optional=True)
        out[system] = base[system].merged(common).merged(_needs(part))
        part.end()
    table.end()
    return out


def _row(table: Table, stack: Dict[str, Any], needs: Mapping[str, Needs]) -> Row:
    install = table.requirements("install")
    if not install:
        table.fail("'install' is empty: name the main distribution first", "install")
    for requirement in install:
        if not str(requirement.specifier).startswith("=="):
            table.fail(f"'install' must pin exactly, not {str(requirement)!r}", "install")
    pythons = table.texts("python")
    for python in pythons:
        if python.count(".") != 1 or not python.replace(".", "").isdigit():
            table.fail(f"'python' takes minor versions such as \"3.8\", not {python!r}", "python")
    platforms = table.texts("platforms", stack["platforms"])
    for platform in platforms:
        if platform not in PLATFORMS:
            table.fail(f"unknown platform {platform!r}; known: {', '.join(PLATFORMS)}", "platforms")
    by, local = canonicalize_name(table.text("by", install[0].name)), stack["local"]
    if by not in [canonicalize_name(r.name) for r in install]:
        table.fail(f"'by' names {by!r}, which 'install' does not", "by")
    systems = table.texts("systems", tuple(needs))
    for system in systems:
        if system not in needs:
            table.fail(f"system {system!r} is not among the stack's", "systems")
    row = Row(
        family=stack["name"],
        framework=stack["framework"],
        backend=stack["backend"],
        version=str(table.version("version")),
        python=tuple(sorted(pythons, key=Version)),
        platforms=platforms,
        install=install,
        ceilings=(*stack["ceilings"], *table.requirements("ceilings", ())),
        replaces=tuple(
            Replacement(name, version, by, local) for name, version in table.text_map("replaces").items()
        ),
        cut_off=table.text("cut-off"),
        index=table.text("index", ""),
        needs=_by_system(table.table("needs", optional=True), {s: needs[s] for s in systems}),
        source=table.text("source", stack["source"]),
    )
    if len(row.cut_off) != 10:
        table.fail("'cut-off' must be a date such as 2022-05-01", "cut-off")
    table.end()
    return row


def load_stack(table: Table) -> Stack:
    """Check a stack file's root table and return the stack."""
    head: Dict[str, Any] = {
        "name": table.text("name"),
        "framework": table.choice("framework", FRAMEWORKS),
        "backend": table.choice("backend", BACKENDS),
        "source": table.text("source"),
        "platforms": table.texts("platforms"),
        "local": table.text("local", "envsetup"),
        "ceilings": table.requirements("ceilings", ()),
    }
    title, summary, preference = table.text("title"), table.text("summary"), table.integer("preference")
    systems = table.texts("systems")
    for system in systems:
        if system not in SYSTEMS:
            table.fail(f"unknown system {system!r}; known: {', '.join(SYSTEMS)}", "systems")
    needs = _by_system(table.table("needs", optional=True), {s: Needs() for s in systems})
    rows = [_row(row, head, needs) for row in table.tables("row")]
    if not rows:
        table.fail("no [[row]]")
    table.end()
    # Builds of one release (2.4.1, 2.4.1+cu118) keep the order of the file, which is the order of preference.
    rows.sort(key=lambda r: Version(Version(r.version).public), reverse=True)
    return Stack(
        name=head["name"],
        title=title,
        framework=head["framework"],
        backend=head["backend"],
        preference=preference,
        summary=summary,
        source=head["source"],
        rows=tuple(rows),
    )


@functools.lru_cache(maxsize=1)
def stacks() -> Tuple[Stack, ...]:
    """Return every known stack, in order of preference."""
    files = sorted((constraints() / "stacks").glob("*.toml"))
    return tuple(sorted((load_stack(load(f)) for f in files), key=lambda s: (s.preference, s.name)))
