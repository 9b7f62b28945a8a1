"""Which of AVX, AVX2 and FMA a processor has, by its name; known only where the table is certain."""

from __future__ import annotations

import functools
import re
from typing import Tuple

from envsetup.knowledge.files import constraints
from envsetup.knowledge.toml import load


@functools.lru_cache(maxsize=1)
def _rows() -> Tuple[Tuple[re.Pattern[str], Tuple[str, ...]], ...]:
    root = load(constraints() / "compat" / "cpus.toml")
    rows = []
    for row in root.tables("cpu"):
        regex = row.parsed("regex", lambda text: re.compile(text, re.IGNORECASE), "a regular expression")
        rows.append((regex, row.texts("flags")))
        row.end()
    root.text("source")
    root.end()
    return tuple(rows)


def flags(model: str) -> Tuple[str, ...] | None:
    """Return the flags among avx, avx2 and fma that a processor has; None when its name doesn't say.

    Example:
        >>> flags("Intel(R) Celeron(R) N4020"), flags("AMD Ryzen 5 3600")
        ((), None)
    """
    for regex, found in _rows():
        if regex.search(model[:200]):
            return found
    return None
