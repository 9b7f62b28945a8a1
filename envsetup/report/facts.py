"""Facts on a terminal."""

from __future__ import annotations

from typing import Any, List

from rich.console import Console
from rich.table import Table
from rich.text import Text

from envsetup.machine.fact import Fact, Machine


def value_lines(fact: Fact) -> List[str]:
    """Return a fact's value for people, one line an item."""
    value: Any = fact.to_json()["value"]
    if not fact.known:
        return ["not known"]
    if isinstance(value, list):
        return [_one(item) for item in value] or ["none"]
    return [_one(value)]


def _one(item: Any) -> str:
    if not isinstance(item, dict):
        return "none" if item is None else str(item)
    return ", ".join(f"{k} {v}" for k, v in item.items() if v not in (None, [], "", {}) and k != "source")


def show_facts(out: Console, machine: Machine) -> None:
    """Write each fact with its value and source; what other sources said stands below it."""
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    table.add_column(style="dim", overflow="fold")
    for fact in sorted(machine, key=lambda f: f.name):
        source = ("assumed; " if fact.assumed else "") + fact.source
        table.add_row(fact.name, Text("\n".join(value_lines(fact)), "" if fact.known else "yellow"), source)
        for other, value in fact.others:
            table.add_row("", Text(f"but {value}", "yellow"), other)
    out.print(table)
