"""Lock files: exact versions with sha256, one file per stack row × Python × platform.

A lock is a requirements file that pip and uv can read as it is. The comment behind each line names the
file that was chosen for the platform and its size in bytes; a comment that starts with ``replaced:`` holds a
distribution that the documented procedure downloads and removes again.
"""

from __future__ import annotations

import dataclasses
import hashlib
import re
from pathlib import Path
from typing import Iterable, List, Tuple

from packaging.utils import canonicalize_name

from envsetup.errors import BuildError
from envsetup.knowledge.files import constraints
from envsetup.knowledge.stacks import Row
from envsetup.machine.secrets import mask

_LINE = re.compile(
    r"^(?P<replaced># replaced: )?(?P<name>[A-Za-z0-9._-]+)==(?P<version>[^\s;]+)"
    r"(?: --hash=sha256:(?P<sha256>[0-9a-f]{64}))?(?:  # (?P<file>\S+) (?P<size>\d+))?$"
)
_SOURCE = re.compile(r"^(?P<name>[A-Za-z0-9._-]+) @ (?P<url>\S+)$")


@dataclasses.dataclass(frozen=True)
class Package:
    """One exact distribution.

    Args:
        name: normalised name.
        version: exact version; empty for a folder or repository that the user named.
        file: wheel or sdist that the lock chose.
        size: its size in bytes; 0 when the index does not say.
        sha256: its hash; empty when the index gives none.
        url: where the user said it is, for one that comes from no index.
    """

    name: str
    version: str
    file: str = ""
    size: int = 0
    sha256: str = ""
    url: str = ""

    @property
    def requirement(self) -> str:
        """``name==version``, as plans and receipts show it: without a password."""
        return f"{self.name} @ {mask(self.url)}" if self.url else f"{self.name}=={self.version}"

    def line(self) -> str:
        """Return the line of a lock file."""
        if self.url:
            return f"{self.name} @ {self.url}"
        hashed = f" --hash=sha256:{self.sha256}" if self.sha256 else ""
        return f"{self.requirement}{hashed}" + (f"  # {self.file} {self.size}" if self.file else "")


@dataclasses.dataclass(frozen=True)
class Lock:
    """All packages of an environment, in the lock's order.

    Args:
        packages: what is installed.
        replaced: what the documented procedure would install and remove again.
        name: the lock's name, or what it was resolved from.
    """

    packages: Tuple[Package, ...]
    replaced: Tuple[Package, ...]
    name: str

    def text(self, header: Iterable[str] = ()) -> str:
        """Return the lock as a requirements file."""
        lines = [f"# {line}" for line in header]
        lines += [p.line() for p in self.packages]
        lines += [f"# replaced: {p.line()}" for p in self.replaced]
        return "\n".join(lines) + "\n"

    @property
    def digest(self) -> str:
        """A sha256 over the packages: two locks with the same one install the same files."""
        return hashlib.sha256(self.text().encode()).hexdigest()


def lock_path(row: Row, python: str, platform: str) -> Path:
    """Return where the lock of a row is kept, e.g. ``locks/tensorflow-gpu/2.3.4/py3.8-win_amd64.txt``."""
    return constraints() / "locks" / row.family / row.version / f"py{python}-{platform}.txt"


def read_lock(path: Path) -> Lock:
    """Read a lock file.

    Raises:
        BuildError: when it is missing, or a line is not a lock's line (file and line are named).
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise BuildError(
            f"The lock {path} can't be read: {error.strerror}", "Install envsetup again."
        ) from None
    return parse_lock(lines, path)


def parse_lock(lines: Iterable[str], path: Path) -> Lock:
    """Turn the lines of a lock file into packages; ``path`` is for messages."""
    packages: List[Package] = []
    replaced: List[Package] = []
    for number, line in enumerate(lines, 1):
        match = _LINE.match(line)
        if match:
            package = Package(
                canonicalize_name(match["name"]),
                match["version"],
                match["file"] or "",
                int(match["size"] or 0),
                match["sha256"] or "",
            )
            (replaced if match["replaced"] else packages).append(package)
            continue
        source = _SOURCE.match(line)
        if source:
            packages.append(Package(canonicalize_name(source["name"]), "", url=source["url"]))
        elif line.strip() and not line.startswith("#"):
            raise BuildError(f"{path}:{number}: not a line of a lock: {line[:80]!r}")
    return Lock(tuple(packages), tuple(replaced), path.stem)
