"""The machine that this program runs on."""

from __future__ import annotations

import base64
import fnmatch
import itertools
import json
import os
import re
import shutil
import stat
import sys
from pathlib import Path
from typing import Any, Callable, Dict, List

from envsetup.machine import children, run_cache
from envsetup.machine.host import Host, Unreadable
from envsetup.machine.native import local

LINKER_CACHE = "/etc/ld.so.cache"
LINKER_CACHE_LIMIT = 16 << 20  # bytes


class RealHost(Host):
    """Asks the real machine; needs no rights beyond the user's own."""

    def answer(self, kind: str, key: str, bound: float) -> Any:
        """Return what the machine says."""
        try:
            return _ANSWERS[kind](key, bound)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (OSError, ValueError) as error:  # ValueError: a path with a NUL in it
            raise Unreadable(f"{key}: {getattr(error, 'strerror', None) or error}") from None


def _content(path: str, limit: float) -> bytes:
    if not stat.S_ISREG(Path(path).stat().st_mode):  # opening a pipe or a device could block for ever
        raise Unreadable(f"{path}: no regular file")
    with open(path, "rb", buffering=0) as file:  # noqa: PTH123 (pathlib has no unbuffered read)
        parts, size = [], 0
        while size < limit:
            part = file.read(int(limit) - size)
            if not part:
                break
            parts.append(part)
            size += len(part)
    return b"".join(parts)


def _text(path: str, limit: float) -> str:
    return children.decode(_content(path, limit))


def _bytes(path: str, limit: float) -> str:
    return base64.b64encode(_content(path, limit)).decode("ascii")


def _list(key: str, limit: float) -> List[str]:
    path, *patterns = json.loads(key) if key.startswith("[") else [key]
    with os.scandir(path) as entries:
        names = (entry.name for entry in itertools.islice(entries, int(limit)))
        return sorted(name for name in names if not patterns or _fits(name, patterns))


def _fits(name: str, patterns: List[str]) -> bool:
    if os.name == "nt":  # file names and variables have no case there
        name, patterns = name.lower(), [pattern.lower() for pattern in patterns]
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def _stat(path: str, _: float) -> List[Any]:
    found = Path(path).stat()
    kind = "file" if stat.S_ISREG(found.st_mode) else "dir" if stat.S_ISDIR(found.st_mode) else "other"
    return [kind, found.st_size, found.st_mtime]


def _link(path: str, _: float) -> str:
    Path(path).stat()  # realpath would make up a path for what is not there
    return os.path.realpath(path)


def _disk(path: str, _: float) -> int:
    return shutil.disk_usage(path).free


def _env_names(key: str, _: float) -> List[str]:
    patterns = json.loads(key)
    return sorted(name for name in os.environ if _fits(name, patterns))


def _run(key: str, timeout: float) -> Dict[str, Any]:
    return children.run(json.loads(key), timeout)


def _remembered(key: str, timeout: float) -> Dict[str, Any]:
    return run_cache.remembered(json.loads(key), lambda argv: children.run(argv, timeout))


def _registry(key: str, _: float) -> Any:
    from envsetup.machine import win_registry

    return win_registry.read(key)


def _native(name: str, timeout: float) -> Dict[str, Any]:
    if name == "platform":
        return {"value": local.platform()}
    script = Path(local.__file__).with_name(f"{name}.py")
    if not sys.executable or not script.is_file():
        raise Unreadable(f"{name}: no interpreter of our own to run it")
    # -I: nothing of the user's environment is imported; -S: it starts faster.
    done = children.run([sys.executable, "-I", "-S", str(script)], timeout)
    if done["timed_out"]:
        raise Unreadable(f"{name}: no answer within {timeout:g} s")
    try:
        value = json.loads(done["out"])
    except (ValueError, RecursionError):
        last = (done["err"].strip().splitlines() or ["no output"])[-1][:200]
        raise Unreadable(f"{name}: ended with code {done['code']}: {last}") from None
    if isinstance(value, dict) and isinstance(value.get("error"), str):
        raise Unreadable(f"{name}: {value['error']}")
    return {"value": value}


def _libraries(key: str, _: float) -> List[str]:
    """Find paths in the linker's cache: it holds them as plain texts, each with a NUL behind it."""
    patterns = json.loads(key)
    raw = _content(LINKER_CACHE, LINKER_CACHE_LIMIT)
    found = []
    for pattern in patterns:
        literal = re.escape(re.split(r"[*?\[]", pattern)[0].encode())
        for match in re.finditer(rb"\0(/[^\0]*/" + literal + rb"[^\0/]*)(?=\0)", raw):
            path = match.group(1).decode("utf-8", "replace")
            if fnmatch.fnmatchcase(path.rsplit("/", 1)[1], pattern):
                found.append(path)
    return sorted(set(found))


_ANSWERS: Dict[str, Callable[[str, float], Any]] = {
    "text": _text,
    "bytes": _bytes,
    "list": _list,
    "stat": _stat,
    "link": _link,
    "disk": _disk,
    "env": lambda name, _: os.environ.get(name),
    "env-names": _env_names,
    "run": _run,
    "remembered": _remembered,
    "registry": _registry,
    "native": _native,
    "libraries": _libraries,
}
