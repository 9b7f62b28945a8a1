"""The one door to the machine: all that facts read is asked of a Host, which can be recorded and replayed."""

from __future__ import annotations

import base64
import binascii
import dataclasses
import functools
import json
import ntpath
import posixpath
import threading
from concurrent.futures import Future
from typing import Any, Dict, List, Mapping, Sequence, Tuple

TEXT_LIMIT = 1 << 20  # bytes of a text file; the rest is not read
BYTES_LIMIT = 1 << 10  # bytes of a binary file: enough for the header of a program
NAMES_LIMIT = 20_000  # names of one directory


class Unreadable(Exception):
    """Something may be there, but could not be read; never the same as "not there"."""


@dataclasses.dataclass(frozen=True)
class Output:
    """What a program printed. ``code`` is None when it was ended at its time limit."""

    code: int | None
    out: str
    err: str
    timed_out: bool = False


@dataclasses.dataclass(frozen=True)
class Registry:
    """One registry key: its values (text, number, list of texts; binary as ``hex:…``) and its subkeys."""

    values: Mapping[str, Any]
    keys: Tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Stat:
    """What a path leads to: ``file``, ``dir`` or ``other`` (a device); its size in bytes; when it changed."""

    kind: str
    size: int
    mtime: float


class Host:
    """A machine that can be asked. Every method returns None when the thing is not there.

    Subclasses implement :meth:`answer` alone: the methods here build its question and check what it
    gives back, so that a recording from elsewhere is held to the same shapes as the real machine.

    Raises:
        Unreadable: from every method, when the thing could not be read (no permission, broken, not recorded).
    """

    def answer(self, kind: str, key: str, bound: float) -> Any:
        """Return a JSON value for one question, or None when the thing is not there.

        Args:
            kind: the sort of question, e.g. ``text``.
            key: which one, e.g. a path.
            bound: the size limit in bytes, or the time limit in seconds.
        """
        raise NotImplementedError

    def _ask(self, kind: str, key: str, bound: float, shape: Any) -> Any:
        got = self.answer(kind, key, bound)
        if got is not None and (not isinstance(got, shape) or isinstance(got, bool)):
            raise Unreadable(f"{key}: the answer is malformed")
        return got

    def read_text(self, path: str, limit: int = TEXT_LIMIT) -> str | None:
        """Return a file's text, up to ``limit`` bytes."""
        got: str | None = self._ask("text", path, limit, str)
        return got

    def read_bytes(self, path: str, limit: int = BYTES_LIMIT) -> bytes | None:
        """Return a file's first bytes."""
        got = self._ask("bytes", path, limit, str)
        try:
            return None if got is None else base64.b64decode(got, validate=True)
        except (binascii.Error, ValueError):
            raise Unreadable(f"{path}: the answer is malformed") from None

    def list(self, path: str, *patterns: str) -> List[str] | None:
        """Return the sorted names in a directory; with ``patterns``, those that fit one of them."""
        return self._texts("list", json.dumps([path, *patterns]) if patterns else path)

    def _texts(self, kind: str, key: str) -> List[str] | None:
        got = self._ask(kind, key, NAMES_LIMIT, list)
        return None if got is None else [name for name in got if isinstance(name, str)]

    def stat(self, path: str) -> Stat | None:
        """Return what a path leads to, through links."""
        got = self._ask("stat", path, 0, list)
        if got is None:
            return None
        if (
            len(got) != 3
            or not isinstance(got[0], str)
            or not all(isinstance(n, (int, float)) for n in got[1:])
        ):
            raise Unreadable(f"{path}: the answer is malformed")
        return Stat(got[0], int(got[1]), float(got[2]))

    def real_path(self, path: str) -> str | None:
        """Return a path without links."""
        got: str | None = self._ask("link", path, 0, str)
        return got

    def disk_free(self, path: str) -> int | None:
        """Return the bytes that this user can still write below an existing path."""
        got: int | None = self._ask("disk", path, 0, int)
        return got

    def env(self, name: str) -> str | None:
        """Return an environment variable."""
        got: str | None = self._ask("env", name, 0, str)
        return got

    def env_names(self, *patterns: str) -> List[str]:
        """Return the sorted names of the environment variables that fit one of ``patterns``."""
        return self._texts("env-names", json.dumps(patterns)) or []

    def run(self, argv: Sequence[str], timeout: float, remember: bool = False) -> Output | None:
        """Run a program; its output is bounded, its children end with it.

        Args:
            argv: the program (a full path) and its arguments.
            timeout: seconds.
            remember: keep the output for as long as the program's file does not change.
        """
        got = self._ask("remembered" if remember else "run", json.dumps(list(argv)), timeout, dict)
        if got is None:
            return None
        code, out, err = got.get("code"), got.get("out"), got.get("err")
        if not isinstance(out, str) or not isinstance(err, str) or not isinstance(code, (int, type(None))):
            raise Unreadable(f"{argv[0]}: the answer is malformed")
        return Output(code, out, err, got.get("timed_out") is True)

    def registry(self, key: str) -> Registry | None:
        r"""Return a registry key such as ``HKLM\SOFTWARE\Python``, in the 64-bit view."""
        got = self._ask("registry", key, 0, dict)
        if got is None:
            return None
        values, keys = got.get("values"), got.get("keys")
        if not isinstance(values, dict) or not isinstance(keys, list):
            raise Unreadable(f"{key}: the answer is malformed")
        return Registry(values, tuple(name for name in keys if isinstance(name, str)))

    def native(self, name: str, timeout: float = 5) -> Any:
        """Return what a query of :mod:`envsetup.machine.native` says; it runs in a child process."""
        got = self._ask("native", name, timeout, dict)
        return None if got is None else got.get("value")

    def libraries(self, *patterns: str) -> List[str] | None:
        """Return the paths that the dynamic linker's cache lists for library names (Linux)."""
        return self._texts("libraries", json.dumps(patterns))

    @functools.cached_property
    def platform(self) -> Dict[str, Any]:
        """What the interpreter knows of the machine without asking anything: system, machine, release …"""
        got = self.native("platform")
        return got if isinstance(got, dict) else {}

    @property
    def system(self) -> str:
        """``linux``, ``windows``, ``macos``, or an empty text."""
        name = self.platform.get("system")
        return name if isinstance(name, str) else ""

    def join(self, *parts: str) -> str:
        """Join a path as this machine does."""
        path = ntpath if self.system == "windows" else posixpath
        return str(path.join(*parts))

    def split_paths(self, text: str | None) -> List[str]:
        """Return the absolute directories of a PATH-like text, each once."""
        windows = self.system == "windows"
        parts = (part.strip().strip('"') for part in (text or "").split(";" if windows else ":"))
        is_abs = ntpath.isabs if windows else posixpath.isabs
        return list(dict.fromkeys(part.rstrip("/\\") or part for part in parts if part and is_abs(part)))

    @property
    def home(self) -> str | None:
        """The user's home directory."""
        return self.env("USERPROFILE" if self.system == "windows" else "HOME")


class RecordingHost(Host):
    """Asks another host, each question once however many threads ask it, and keeps the answers."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._lock = threading.Lock()
        self._answers: Dict[Tuple[str, str], Future[Any]] = {}

    def answer(self, kind: str, key: str, bound: float) -> Any:
        """Return the other host's answer."""
        with self._lock:
            future = self._answers.get((kind, key))
            mine = future is None
            if future is None:
                future = self._answers[(kind, key)] = Future()
        if mine:
            try:
                future.set_result(self._host.answer(kind, key, bound))
            except BaseException as error:
                future.set_exception(error)
        return future.result()

    def recorded(self) -> Dict[str, Dict[str, Any]]:
        """Return ``{kind: {key: answer}}`` so far, unmasked; an unreadable answer is ``{"error": why}``."""
        out: Dict[str, Dict[str, Any]] = {}
        with self._lock:
            done = sorted((key, future) for key, future in self._answers.items() if future.done())
        for (kind, key), future in done:
            error = future.exception()
            out.setdefault(kind, {})[key] = {"error": str(error)} if error else future.result()
        return out


class ReplayHost(Host):
    """Answers from a recording, on any machine.

    Args:
        recorded: ``{kind: {key: answer}}``; not trusted.
        complete: what is not in the recording is not there, rather than unreadable (for those made by hand).
    """

    def __init__(self, recorded: Mapping[str, Any], complete: bool = False) -> None:
        self._recorded = recorded
        self._complete = complete

    def answer(self, kind: str, key: str, bound: float) -> Any:
        """Return the recorded answer."""
        answers = self._recorded.get(kind)
        if isinstance(answers, Mapping) and key in answers:
            got = answers[key]
            if isinstance(got, Mapping) and isinstance(got.get("error"), str):
                raise Unreadable(got["error"])
            return got
        if self._complete:
            return None
        raise Unreadable(f"{key} is not in the recording")
