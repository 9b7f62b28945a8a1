"""The stacks on a terminal."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping

from rich.console import Console
from rich.text import Text

from envsetup.report.layout import hang

_INDENT = 5  # columns: "yes" or "no", and two spaces


def show_stacks(out: Console, entries: List[Dict[str, Any]], detail: bool) -> None:
    """Write each stack with what is missing for it, or with ``detail`` each of its versions.

    What fits comes last, where the eye is when the list has run through.
    """
    for entry in sorted(entries, key=lambda entry: any(row["fits"] for row in entry["rows"])):
        rows = entry["rows"]
        if detail:
            out.print(Text.assemble((entry["title"], "bold"), f": {entry['summary']}"))
            out.print(Text(f"source: {entry['source']}", "dim"))
        else:
            # The row that fits, or the one that comes nearest, stands for the stack.
            rows = [min(rows, key=lambda row: len(row["unmet"]))]
        for row in rows:
            _show_row(out, row, entry["title"], detail)


def _show_row(out: Console, row: Mapping[str, Any], title: str, detail: bool) -> None:
    fits = Text("yes", "green") if row["fits"] else Text("no", "red")
    line = Text.assemble((row["stack"], "bold"), f"  Python {', '.join(row['python'])}")
    if not detail:
        line.append(f"  {title}", "dim")
    hang(out, line, _INDENT, fits)
    for unmet in row["unmet"]:
        hang(out, Text(f"needs {unmet['needs']}; found {unmet['found']}"), _INDENT)
    for unknown in row["unknown"]:
        hang(out, Text(f"unchecked: {unknown}", "yellow"), _INDENT)
    for verified in row["verified"] if detail else ():
        hang(out, Text(f"verified: {verified}", "dim"), _INDENT)
