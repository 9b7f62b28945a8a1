"""A probe's report on a terminal."""

from __future__ import annotations

from typing import Any, Mapping

from rich.console import Console
from rich.text import Text

from envsetup.report.layout import hang


def show_probe(out: Console, probe: Mapping[str, Any]) -> None:
    """Write the verdict, the devices, and why it failed if it did."""
    for device in probe["devices"]:
        hang(out, Text(f"{device['id']}  {device['name']}"), 2)
    if probe["ok"]:
        error = f", largest difference from the CPU {probe['max_error']:.1e}" if probe["max_error"] else ""
        out.print(Text.assemble(("probe passed ", "bold green"), f"on {probe['device']}{error}"))
        return
    hang(out, Text.assemble(("probe failed ", "bold red"), f"at {probe['stage']}: {probe['reason']}"))
    for name in probe["missing_libraries"]:
        if name not in probe["reason"]:
            hang(out, Text(f"could not be loaded: {name}"), 2)
