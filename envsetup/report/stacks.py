"""The table of stacks on a terminal."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping

from rich.console import Console
from rich.table import Table
from rich.text import Text


def show_stacks(out: Console, entries: List[Dict[str, Any]], detail: bool) -> None:
    """Write one line a stack, or with ``detail`` one line a version."""
    table = Table(box=None, pad_edge=False)
    for title in ("stack", "fits", "Python", "verified", "needs"):
        table.add_column(title, overflow="fold")
    for entry in entries:
        rows = entry["rows"]
        if not detail:
            # The row that fits, or the one that comes nearest, stands for the stack.
            rows = [min(rows, key=lambda row: len(row["unmet"]))]
        for row in rows:
            table.add_row(*_cells(row))
    out.print(table)
    if detail:
        for entry in entries:
            out.print(Text(f"{entry['title']}: {entry['summary']}\nsource: {entry['source']}"))


def _cells(row: Mapping[str, Any]) -> List[Text]:
    unmet = "; ".join(f"{u['needs']} (found {u['found']})" for u in row["unmet"])
    fits = Text("yes", "green") if row["fits"] else Text("no", "red")
    verified = "; ".join(row["verified"]) or "not yet"
    return [Text(row["stack"], "bold"), fits, Text(", ".join(row["python"])), Text(verified), Text(unmet)]
