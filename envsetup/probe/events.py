"""Follows the events file that the probe writes. Nothing in it is trusted: a framework may write there."""

from __future__ import annotations

import json
import math
import time
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple

# The probe itself writes some kilobytes.
SIZE_LIMIT = 1 << 20
TEXT_LIMIT = 2000
STAGES = ("start", "import", "enumerate", "train", "compare", "placement", "distribute")


class Progress:
    """What the probe has told so far."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offset = 0
        self._rest = b""
        self.stage = "start"
        self.since = time.monotonic()
        self.seconds: Dict[str, float] = {}
        self.failure: Optional[Tuple[str, str]] = None
        self.data: Dict[str, Any] = {}
        self.proven = False
        self.done = False

    def update(self) -> None:
        """Read what was added to the file."""
        try:
            with self._path.open("rb") as file:
                file.seek(self._offset)
                new = file.read(SIZE_LIMIT - self._offset)
        except OSError:
            return
        self._offset += len(new)
        lines = (self._rest + new).split(b"\n")
        self._rest = lines.pop()
        for line in lines:
            self._event(line)

    def _event(self, line: bytes) -> None:
        try:
            event = json.loads(line.decode("utf-8"), parse_constant=lambda _: None, parse_float=finite)
        except (ValueError, RecursionError):
            return
        if not isinstance(event, dict):
            return
        kind, stage = event.get("event"), event.get("stage")
        if kind == "data" and isinstance(event.get("key"), str):
            self.data[event["key"]] = event.get("value")
        elif kind == "proven":
            self.proven = True
        elif kind == "done":
            self.done = True
        elif stage not in STAGES:
            return
        elif kind == "start":
            self.stage, self.since = stage, time.monotonic()
        elif kind == "end" and isinstance(event.get("seconds"), (int, float)):
            self.seconds[stage] = float(event["seconds"])
        elif kind == "fail" and self.failure is None:
            self.failure = stage, text(event.get("reason"))

    def number(self, key: str) -> Optional[float]:
        """Return a value that has to be a number."""
        value = self.data.get(key)
        return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None

    def mapping(self, key: str) -> Dict[str, Any]:
        """Return a value that has to be an object."""
        value = self.data.get(key)
        return value if isinstance(value, dict) else {}

    def objects(self, key: str) -> List[Dict[str, Any]]:
        """Return a value that has to be a list of objects."""
        return [item for item in items(self.data.get(key)) if isinstance(item, dict)]


def items(value: object) -> List[Any]:
    """Return a value that has to be a list."""
    return value if isinstance(value, list) else []


def finite(digits: str) -> Optional[float]:
    """Return a number, or None for one that JSON could not carry on."""
    value = float(digits)
    return value if math.isfinite(value) else None


def text(value: object) -> str:
    """Return a value as text of bounded length."""
    return str(value if value is not None else "")[:TEXT_LIMIT]
