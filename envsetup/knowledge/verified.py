"""Where each lock was really installed and imported: ``constraints/verified.toml``."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Dict, Mapping, Tuple

from envsetup.knowledge.toml import load

Key = Tuple[str, str, str]  # row name, Python, platform


@dataclasses.dataclass(frozen=True)
class Seen:
    """What was seen of one lock.

    Args:
        date: the day.
        where: system and processor.
        imported: whether the framework imported.
        trained: the device that trained a step as the CPU does; empty when it came to none.
    """

    date: str
    where: str
    imported: bool
    trained: str

    def __str__(self) -> str:
        result = (
            f"trained on {self.trained}" if self.trained else "imported" if self.imported else "no import"
        )
        return f"{result}, {self.date}, {self.where}"


def read_verified(path: Path) -> Dict[Key, Seen]:
    """Return what was seen, by row name, Python and platform (empty when the file is not there)."""
    if not path.exists():
        return {}
    root = load(path)
    out = {}
    for table in root.tables("lock"):
        key = (table.text("stack"), table.text("python"), table.text("platform"))
        out[key] = Seen(
            table.text("date"), table.text("where"), table.flag("imported"), table.text("trained")
        )
        table.end()
    root.end()
    return out


def write_verified(path: Path, seen: Mapping[Key, Seen]) -> None:
    """Write the file, sorted, so that a new run changes only what it saw."""
    lines = ["# Written by `python -m tools.verify`: what was installed, imported and run, and where."]
    for (stack, python, platform), one in sorted(seen.items()):
        lines += [
            "",
            "[[lock]]",
            f'stack = "{stack}"',
            f'python = "{python}"',
            f'platform = "{platform}"',
            f'date = "{one.date}"',
            f'where = "{one.where}"',
            f"imported = {str(one.imported).lower()}",
            f'trained = "{one.trained}"',
        ]
    path.write_bytes(("\n".join(lines) + "\n").encode())
