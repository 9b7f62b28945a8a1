"""Requirements that pip or uv could not satisfy, read from whichever words the tool used."""

from __future__ import annotations

import dataclasses
from typing import Dict, List, Tuple

from packaging.utils import canonicalize_name
from packaging.version import Version

from envsetup.diagnose import releases
from envsetup.diagnose.case import Case
from envsetup.diagnose.compat import Range
from envsetup.diagnose.patterns import Observation

TENSORFLOW = ("tensorflow", "tensorflow-cpu", "tensorflow-gpu", "tensorflow-intel", "tf-nightly")


@dataclasses.dataclass(frozen=True)
class Failure:
    """One requirement without a fitting file.

    Args:
        package: normalised name.
        version: what was pinned, or None.
        local: the pinned local label, e.g. ``cu121``.
        offered: the versions that the tool did see; None when it didn't say.
        parent: the package that needs it; may be empty.
        seen: the line.
    """

    package: str
    version: Version | None
    local: str
    offered: Tuple[Version, ...] | None
    parent: str
    seen: Observation

    @property
    def nothing(self) -> bool:
        """True when the tool saw no version at all, or did not say."""
        return not self.offered


def failures(case: Case) -> List[Failure]:
    """Return the unsatisfied requirements, one for each package; the most telling line of each."""
    found: Dict[str, Failure] = {}
    for seen in case.seen(
        "no-version",
        "no-matching",
        "uv-no-version",
        "uv-no-matching-python",
        "uv-python",
        "uv-no-wheel-here",
        "uv-no-matching-platform",
        "uv-platform",
    ):
        package = canonicalize_name(seen.get("package"))
        if not package or package in ("your", "the", "we", "a", "all", "you", "only", "no"):
            continue
        spec = seen.get("spec") or (f"=={seen.get('version')}" if seen.get("version") else "")
        version, local = releases.pinned(spec)
        offered = _offered(seen) if "versions" in seen.fields else None
        failure = Failure(package, version, local, offered, seen.get("parent"), seen)
        old = found.get(package)
        if old is None or (old.offered is None and failure.offered is not None):
            found[package] = failure
    for seen in case.seen("torch-placeholder"):
        # where no wheel fits, pip falls back to torch 0.1.2, a source archive that only prints a message
        found.setdefault("torch", Failure("torch", None, "", (), "", seen))
    return list(found.values())


def _offered(seen: Observation) -> Tuple[Version, ...]:
    text = seen.get("versions")
    if text.strip().lower() in ("", "none"):
        return ()
    return tuple(v for v in map(releases.version, text.split(",")) if v is not None)


def python_range(case: Case, package: str, version: Version | None) -> Range | None:
    """Return for which CPythons a package has wheels on this system; None when unknown.

    Args:
        version: the release in question; None asks for all releases together.
    """
    tables = case.tables
    if package in TENSORFLOW:
        if package == "tensorflow-gpu" and version is None:
            return tables.packages[package].python
        row = tables.tensorflow_release(version) if version else None
        if row:
            return row.python
        rows = tables.tensorflow
        return (min(r.python[0] for r in rows), max(r.python[1] for r in rows)) if version is None else None
    if package in ("torch", "torchvision", "torchaudio"):
        torch_rows = tables.torch
        if version is not None:
            if package == "torchvision":
                torch_rows = tables.torch_for(version)
            else:
                one = tables.torch_release(version)
                torch_rows = (one,) if one else ()
        if not torch_rows:
            return None
        linux = case.system in ("linux", "wsl", "")
        newest = max(r.python[1] if linux else r.python_other for r in torch_rows)
        return min(r.python[0] for r in torch_rows), newest
    known = tables.packages.get(package)
    return known.python if known else None


def first_release(case: Case, package: str) -> Tuple[Version, Version] | None:
    """Return (the first release with wheels for this Python, the newest Python of the one before it).

    None when every release has them, or when that isn't known.
    """
    if case.python is None:
        return None
    rows: List[Tuple[Version, Version]] = []
    if package in TENSORFLOW:
        rows = [(r.version, r.python[1]) for r in case.tables.tensorflow]
    elif package == "torch":
        rows = [(r.version, r.python[1]) for r in case.tables.torch]
    elif package in case.tables.packages:
        rows = list(case.tables.packages[package].history)
    for (version, newest), (_, before) in zip(rows, rows[1:]):
        if before < case.python <= newest:
            return version, before
    return None


def supports(case: Case, package: str, version: Version | None) -> bool | None:
    """Say whether the interpreter's Python has wheels; None when the Python or the package is unknown."""
    allowed = python_range(case, package, version)
    if case.python is None or allowed is None:
        return None
    return allowed[0] <= case.python <= allowed[1]


def shown(allowed: Range) -> str:
    """Return ``3.7 to 3.10``, or ``3.8`` alone."""
    return str(allowed[0]) if allowed[0] == allowed[1] else f"{allowed[0]} to {allowed[1]}"
