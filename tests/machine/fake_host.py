"""A fake machine for tests: a few files, variables, programs, registry keys and native answers."""

from __future__ import annotations

import base64
import fnmatch
import json
import struct
import threading
from typing import Any, Dict, List, Mapping, Sequence

from envsetup.machine import Machine, read
from envsetup.machine.host import Host, RecordingHost, ReplayHost, Unreadable
from envsetup.machine.recording import KIND, SCHEMA


def elf(machine: int = 0x3E, bits: int = 64) -> bytes:
    """Return the beginning of a Linux program."""
    return (
        b"\x7fELF" + bytes([2 if bits == 64 else 1, 1]) + bytes(12) + struct.pack("<H", machine) + bytes(40)
    )


def pe(machine: int = 0x8664, bits: int = 64) -> bytes:
    """Return the beginning of a Windows program."""
    head = b"MZ" + bytes(58) + struct.pack("<I", 128) + bytes(64) + struct.pack("<4sH", b"PE\0\0", machine)
    return head + bytes(18) + struct.pack("<H", 0x20B if bits == 64 else 0x10B) + bytes(40)


def macho(*kinds: int) -> bytes:
    """Return the beginning of a macOS program: a universal one when it has several kinds."""
    if len(kinds) == 1:
        return b"\xcf\xfa\xed\xfe" + struct.pack("<I", kinds[0]) + bytes(40)
    return (
        b"\xca\xfe\xba\xbe"
        + struct.pack(">I", len(kinds))
        + b"".join(struct.pack(">5I", kind, 0, 0, 0, 0) for kind in kinds)
    )


def os_release(name: str, distro: str, version: str) -> str:
    return f"NAME={name}\nID={distro}\nVERSION_ID={version}\n"


def cpuinfo(model: str, flags: str) -> str:
    return f"processor\t: 0\nmodel name\t: {model}\nflags\t\t: {flags}\n\n"


def cudnn_header(*version: int) -> str:
    return "".join(f"#define CUDNN_{p} {v}\n" for p, v in zip(("MAJOR", "MINOR", "PATCHLEVEL"), version))


class FakeHost(Host):
    """A machine that consists of what it is given; anything else is not there.

    Args:
        platform: what the interpreter knows: system, machine, release, libc.
        files: path → text or bytes, or an exception to raise. Folders follow from the paths.
        env: environment variables.
        links: path → where it leads.
        run: program's path → (exit code, output) or output; an exception is raised.
        registry: key → values; parents follow from the keys.
        native: query → answer; an exception is raised.
        linker_cache: libraries in the dynamic linker's cache.
    """

    def __init__(
        self,
        platform: Mapping[str, Any],
        files: Mapping[str, Any] | None = None,
        env: Mapping[str, str] | None = None,
        links: Mapping[str, str] | None = None,
        run: Mapping[str, Any] | None = None,
        registry: Mapping[str, Mapping[str, Any]] | None = None,
        native: Mapping[str, Any] | None = None,
        linker_cache: Sequence[str] = (),
    ) -> None:
        self.own = {"system": "linux", "machine": "x86_64", **platform}
        self.files, self.variables, self.links = dict(files or {}), dict(env or {}), dict(links or {})
        self.programs, self.keys, self.queries = dict(run or {}), dict(registry or {}), dict(native or {})
        self.linker_cache = linker_cache
        self.asked: List[str] = []
        self._lock = threading.Lock()

    def answer(self, kind: str, key: str, bound: float) -> Any:
        with self._lock:
            self.asked.append(f"{kind} {key}")
        return getattr(self, "_" + kind.replace("-", "_"))(key)

    def _file(self, path: str) -> Any:
        return _raised(self.files.get(self._followed(path)))

    def _followed(self, path: str) -> str:
        for link, target in self.links.items():
            if path == link or path.startswith(link + "/"):
                return self._followed(target + path[len(link) :])
        return path

    def _text(self, path: str) -> Any:
        got = self._file(path)
        return got.decode("utf-8", "replace") if isinstance(got, bytes) else got

    def _bytes(self, path: str) -> Any:
        got = self._file(path)
        got = got.encode() if isinstance(got, str) else got
        return None if got is None else base64.b64encode(got[:1024]).decode()

    def _children(self, path: str) -> List[str] | None:
        _raised(self.files.get(path))
        path = self._followed(path)
        slash = "\\" if self.own["system"] == "windows" else "/"
        prefix = path.rstrip(slash) + slash
        found = [p[len(prefix) :].split(slash)[0] for p in (*self.files, *self.links) if p.startswith(prefix)]
        return sorted(set(found)) or None

    def _list(self, key: str) -> Any:
        path, *patterns = json.loads(key) if key.startswith("[") else [key]
        names = self._children(path)
        return (
            [
                name
                for name in names
                if not patterns or any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)
            ]
            if names is not None
            else None
        )

    def _stat(self, path: str) -> Any:
        if self._file(path) is not None:
            return ["file", 1, 1.0]
        return ["dir", 0, 1.0] if self._children(path) else None

    def _link(self, path: str) -> Any:
        real = self._followed(path)
        return real if self._stat(path) or real != path else None

    def _disk(self, path: str) -> Any:
        return 1 << 30

    def _env(self, name: str) -> Any:
        return self.variables.get(name)

    def _env_names(self, key: str) -> Any:
        return sorted(n for n in self.variables if any(fnmatch.fnmatchcase(n, p) for p in json.loads(key)))

    def _run(self, key: str) -> Any:
        got = _raised(self.programs.get(json.loads(key)[0]))
        if got is None:
            return None
        code, out = got if isinstance(got, tuple) else (0, got)
        return {"code": code, "out": out, "err": "", "timed_out": code is None}

    _remembered = _run

    def _registry(self, key: str) -> Any:
        values = _raised(self.keys.get(key))
        below = {k[len(key) + 1 :].split("\\")[0] for k in self.keys if k.startswith(key + "\\")}
        return None if values is None and not below else {"values": dict(values or {}), "keys": sorted(below)}

    def _native(self, name: str) -> Any:
        return {"value": self.own if name == "platform" else _raised(self.queries.get(name))}

    def _libraries(self, key: str) -> Any:
        return [
            path
            for path in self.linker_cache
            if any(fnmatch.fnmatchcase(path.rsplit("/", 1)[1], pattern) for pattern in json.loads(key))
        ]


def _raised(value: Any) -> Any:
    if isinstance(value, Exception):
        raise value
    return value


def unreadable(path: str) -> Unreadable:
    """Return the answer of a file that nobody may read."""
    return Unreadable(f"{path}: Permission denied")


def read_twice(host: Host, **options: Any) -> Machine:
    """Read a machine, and again from the recording of that; both must be the same."""
    recording = RecordingHost(host)
    machine = read(recording, **options)
    data = json.loads(json.dumps({"schema": SCHEMA, "kind": KIND, "recorded": recording.recorded()}))
    replayed = read(ReplayHost(data["recorded"]), **options)
    assert replayed.to_json() == machine.to_json()
    return machine


def summary(machine: Machine) -> Dict[str, Any]:
    """Return values: toolkits, libraries and interpreters as versions, GPUs as id and architecture."""
    out: Dict[str, Any] = {}
    for fact in machine:
        value = fact.value if fact.known else "unknown"
        if isinstance(value, list) and fact.name != "gpu":
            value = [entry["version"] for entry in value]
        elif isinstance(value, list):
            value = [(gpu["id"], gpu["architecture"]) for gpu in value]
        elif fact.name == "cpu" and isinstance(value, dict):
            value = value["flags"]
        elif fact.name == "directx" and isinstance(value, dict):
            value = value["level"]
        out[fact.name] = value
    return out
