"""Which Python versions can be fetched when a machine has none."""

from __future__ import annotations

import dataclasses
import functools
from typing import Tuple

from envsetup.knowledge.files import constraints
from envsetup.knowledge.toml import load


@dataclasses.dataclass(frozen=True)
class Pythons:
    """Minor versions that uv can download, and how a person gets another; ``{version}`` stands for it."""

    fetchable: Tuple[str, ...]
    elsewhere: str


@functools.lru_cache(maxsize=1)
def pythons() -> Pythons:
    """Read ``constraints/pythons.toml``."""
    table = load(constraints() / "pythons.toml")
    table.text("source")
    out = Pythons(table.texts("fetchable"), table.text("elsewhere"))
    table.end()
    return out
