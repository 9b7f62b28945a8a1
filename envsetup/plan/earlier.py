"""The packages of an environment that is there already, for a wish that was fulfilled before."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any, Mapping, Sequence

from envsetup.errors import EnvsetupError
from envsetup.knowledge.stacks import Row
from envsetup.plan.lock import Lock, parse_lock


def wish_digest(row: Row, lock: Lock | None, constraints: Sequence[str]) -> str:
    """Return a digest of what decides about the packages besides the user's requirements and the index.

    Args:
        lock: the row's shipped lock, if it has one.
        constraints: files; of one that can't be read here, such as a URL, only the name counts.
    """
    parts = [row.name, *map(str, (*row.install, *row.ceilings, *row.replaces)), row.cut_off]
    parts.append(lock.digest if lock else "")
    for file in constraints:
        path = Path(file)
        parts.append(hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else file)
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def earlier_lock(receipt: Mapping[str, Any], wish: Mapping[str, Any], given: str) -> Lock | None:
    """Return the packages of an environment that was made for the same wish, or None.

    A second run then needs no index, and finds the same versions however many came out since. Packages
    from a path or a repository are looked at anew: what is there may have changed.

    Args:
        receipt: of the environment.
        wish: stack, Python, platform and requirements.
        given: from :func:`wish_digest`.
    """
    key, packages, replaced = (receipt.get(name) for name in ("key", "packages", "replaced"))
    if not isinstance(key, dict) or not isinstance(packages, list) or not isinstance(replaced, list):
        return None
    if receipt.get("given") != given or any(key.get(name) != value for name, value in wish.items()):
        return None
    try:
        lines = [*map(str, packages), *(f"# replaced: {line}" for line in replaced)]
        lock = parse_lock(lines, Path(str(receipt.get("stack"))))
    except EnvsetupError:
        return None
    return None if any(p.url for p in lock.packages) else lock
