"""Which C library a Linux system has, by its name; known only where the table is certain."""

from __future__ import annotations

import functools
import re
from typing import Tuple

from envsetup.knowledge.files import constraints
from envsetup.knowledge.toml import load


@functools.lru_cache(maxsize=1)
def _rows() -> Tuple[Tuple[re.Pattern[str], str], ...]:
    root = load(constraints() / "compat" / "systems.toml")
    rows = []
    for row in root.tables("system"):
        regex = row.parsed("regex", lambda text: re.compile(text, re.IGNORECASE), "a regular expression")
        rows.append((regex, str(row.version("glibc"))))
        row.end()
    root.text("source")
    root.end()
    return tuple(rows)


def glibc(name: str) -> str:
    """Return the glibc of a system such as ``Ubuntu 18.04`` or ``CentOS 7.9``; empty when it isn't known.

    Example:
        >>> glibc("Ubuntu 18.04.5 LTS"), glibc("Arch")
        ('2.27', '')
    """
    return next((version for regex, version in _rows() if regex.search(name[:200])), "")
