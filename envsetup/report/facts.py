"""Facts on a terminal."""

from __future__ import annotations

from typing import Any, Callable, Dict, List

from rich.console import Console
from rich.text import Text

from envsetup.machine.fact import Fact, Machine
from envsetup.report.layout import hang

_INDENT = 16  # columns: the longest name and a space


def value_lines(fact: Fact) -> List[str]:
    """Return a fact's value for people, one line an item."""
    return _lines(fact.name, fact.to_json()["value"]) if fact.known else ["not known"]


def _lines(name: str, value: Any) -> List[str]:
    if name in ("env", "pip") and isinstance(value, dict):
        said = (
            (key, item) for key, item in value.items() if key != "sources" and item not in (None, [], False)
        )
        return [f"{key}={_plain(item)}" for key, item in said] or ["none"]
    items = value if isinstance(value, list) else [value]
    show = _SHOWN.get(name)
    return [show(item) if show and isinstance(item, dict) else _plain(item) for item in items] or ["none"]


def _plain(item: Any) -> str:
    if item is None or isinstance(item, (str, int, float)):
        return "none" if item is None else str(item).lower() if isinstance(item, bool) else str(item)
    if isinstance(item, list):
        return ", ".join(map(_plain, item))
    return ", ".join(f"{key} {_plain(part)}" for key, part in item.items() if part not in (None, [], ""))


def _gpu(gpu: Dict[str, Any]) -> str:
    capability = gpu.get("compute_capability")
    parts = [
        gpu.get("id"),
        gpu.get("architecture"),
        f"compute capability {capability}" if capability else None,
        gpu.get("gfx"),
        f"{gpu['memory'] / 2**30:.1f} GiB" if gpu.get("memory") else None,
        "integrated" if gpu.get("integrated") else None,
        f"driver {gpu['driver']}" if gpu.get("driver") else None,
    ]
    return f"{gpu.get('name') or gpu.get('vendor') or 'a GPU'} ({', '.join(p for p in parts if p)})"


def _python(python: Dict[str, Any]) -> str:
    kind = [
        python.get("arch"),
        "" if python.get("implementation") == "cpython" else python.get("implementation"),
    ]
    kind += ["emulated" if python.get("emulated") else "", "from the Store" if python.get("store") else ""]
    return f"{python.get('version')}  {python.get('path') or ''}  ({', '.join(k for k in kind if k)})"


_SHOWN: Dict[str, Callable[[Dict[str, Any]], str]] = {
    "cpu": lambda v: f"{v.get('model') or 'model not known'} ({', '.join(v.get('flags') or ['no AVX'])})",
    "cuda": lambda v: f"{v.get('version')}  {v.get('path') or ''}".strip(),
    "cudnn": lambda v: f"{v.get('version')}  {v.get('path') or ''}".strip(),
    "directx": lambda v: f"{v.get('level') or 'none'} ({v.get('why')})",
    "disk": lambda v: f"{v.get('free', 0) / 1e9:.1f} GB free at {v.get('path')}",
    "gpu": _gpu,
    "python": _python,
}


def show_facts(out: Console, machine: Machine) -> None:
    """Write each fact with its value and source; what other sources said stands below it."""
    for fact in sorted(machine, key=lambda f: f.name):
        value = Text("\n".join(value_lines(fact)), "" if fact.known else "yellow")
        source = ("assumed; " if fact.assumed else "") + fact.to_json()["source"]
        # A list of sources on a line of its own, a short one behind the value.
        value.append(("\n" if "\n" in value.plain else "  ") + f"[{source}]", "dim")
        hang(out, value, _INDENT, Text(fact.name, "bold"))
        for other in fact.to_json().get("others", ()):
            said = "; ".join(_lines(fact.name, other["value"]))
            hang(out, Text.assemble((f"but {said}", "yellow"), (f"  [{other['source']}]", "dim")), _INDENT)
