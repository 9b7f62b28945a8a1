"""An interpreter that the user names by its path."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Tuple

from envsetup.errors import UsageError
from envsetup.machine.fact import Fact, Machine
from envsetup.machine.host import Unreadable
from envsetup.machine.interpreter_places import Candidate
from envsetup.machine.interpreters import base_of, examine
from envsetup.machine.real import RealHost


def with_interpreter(machine: Machine, python: str | None) -> Tuple[Machine, str | None]:
    """Return the machine with the interpreter at the path ``python`` among its own, and that path, absolute.

    A version such as ``3.8`` and None come back unchanged.

    Raises:
        UsageError: when the path holds no interpreter that starts.
    """
    if python is None or python.replace(".", "").isdigit():
        if python and python.count(".") > 1:
            python = ".".join(python.split(".")[:2])
        return machine, python
    path = Path(os.path.abspath(python))  # noqa: PTH100 - a link stays a link: it may be a venv's
    host = RealHost()
    try:
        # An environment made from another one would break when that one goes.
        named = Candidate(str(path), "command line")
        base = next(c for c in (base_of(host, named), named) if host.stat(c.path) or c is named)
        found = examine(host, base, machine.value("arch"))
    except Unreadable as error:
        raise UsageError(f"{python} does not start: {error}", "Give a version or another path.") from None
    if found is None:
        raise UsageError(f"{python} is no Python interpreter.", "Give a version such as 3.8, or a path.")
    rest = [p for p in machine.value("python") or () if p["path"] != base.path]
    return machine.with_facts([Fact("python", [found, *rest], "command line")]), base.path
