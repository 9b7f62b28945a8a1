"""Machines in files: what a machine answered, to be read again anywhere; written by ``facts --record``."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any, Dict

from envsetup.errors import EnvsetupError, UsageError
from envsetup.machine import read, short_form
from envsetup.machine.fact import Fact, Machine
from envsetup.machine.host import RecordingHost, ReplayHost
from envsetup.machine.names import NAMES
from envsetup.machine.secrets import mask

SCHEMA = 1
KIND = "envsetup machine recording"
SIZE_LIMIT = 32 << 20  # bytes
_HINT = "A recording is made with: envsetup facts --record FILE"


def save(path: str | Path, host: RecordingHost) -> None:
    """Write what ``host`` answered, without credentials; an earlier file is replaced only by a whole one.

    Args:
        path: the file.
        host: the host that facts were read from.

    Raises:
        EnvsetupError: the file can't be written.

    Example:
        >>> host = RecordingHost(RealHost())       # doctest: +SKIP
        >>> machine = read(host)                   # doctest: +SKIP
        >>> save("machine.json", host)             # doctest: +SKIP
    """
    target = Path(path)
    data = {"schema": SCHEMA, "kind": KIND, "recorded": mask(host.recorded())}
    try:
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=target.parent, delete=False) as file:
            json.dump(data, file, indent=1, sort_keys=True)
            file.write("\n")
        Path(file.name).chmod(0o666 & ~_umask())
        Path(file.name).replace(target)
    except OSError as error:
        raise EnvsetupError(f"{target} can't be written: {error.strerror}.") from None


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current


def load(path: str | Path) -> Machine:
    """Return the machine that a file describes; what the file has beyond facts is under further names.

    The file is a recording, the output of ``envsetup facts --json``, or the short form
    ``{"facts": {…}, "wanted": …}`` (:mod:`envsetup.machine.short_form`). Nothing of this machine enters.

    Raises:
        UsageError: it can't be read, is over 32 MiB, or is none of these.
    """
    data = _json(Path(path))
    if isinstance(data.get("recorded"), dict):
        if data.get("schema") != SCHEMA:
            raise UsageError(f"{path} has schema {data.get('schema')!r}; this version reads {SCHEMA}.", _HINT)
        return read(ReplayHost(data["recorded"], complete=data.get("complete") is True))
    facts = data.get("facts")
    if not isinstance(facts, dict):
        raise UsageError(f"{path} holds neither a recording nor facts.", _HINT)
    if facts and all(isinstance(fact, dict) and {"value", "known"} <= set(fact) for fact in facts.values()):
        return _facts(facts)
    return short_form.machine(facts, data.get("wanted"))


def _facts(facts: Dict[str, Dict[str, Any]]) -> Machine:
    """Return the machine of ``facts --json``."""
    return Machine.of(
        Fact(
            name,
            fact["value"] if fact["known"] is True else None,
            str(fact.get("source", "")),
            known=fact["known"] is True,
            assumed=fact.get("assumed") is True,
        )
        for name, fact in facts.items()
        if name in NAMES or name in short_form.FURTHER
    )


def _json(path: Path) -> Dict[str, Any]:
    try:
        with path.open("rb") as file:
            raw = file.read(SIZE_LIMIT + 1)
        if len(raw) > SIZE_LIMIT:
            raise UsageError(f"{path} is larger than {SIZE_LIMIT >> 20} MiB.", _HINT)
        data = json.loads(raw.decode("utf-8-sig"))
    except OSError as error:
        raise UsageError(f"{path} can't be read: {error.strerror}.", _HINT) from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is not JSON: {error}.", _HINT) from None
    if not isinstance(data, dict):
        raise UsageError(f"{path} holds no JSON object.", _HINT)
    return data
