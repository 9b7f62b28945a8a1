"""A small package index on the loopback interface, which can be told to fail in the ways that real ones do.

    with Index(folder_of_wheels) as index:
        index.fail("truncated", "*.whl", times=1)     # the first download breaks off, the second works
        subprocess.run(["uv", "pip", "install", "--index-url", index.url, "hello"])
        assert index.count("*.whl") == 2

It speaks both forms of the simple API (HTML and JSON) and serves each wheel's metadata beside it.
"""

from __future__ import annotations

import base64
import dataclasses
import fnmatch
import hashlib
import html
import http.server
import json
import re
import socket
import ssl
import struct
import threading
import zipfile
from pathlib import Path
from types import TracebackType
from typing import Any, Dict, List, Mapping, Tuple, Type
from urllib.parse import unquote, urlsplit

from tests.support.wheels import name_and_version, tiny_wheel

JSON = "application/vnd.pypi.simple.v1+json"
HTML = "text/html; charset=utf-8"
META = {"api-version": "1.1"}
FAULTS = {
    "404": "the answer is 404",
    "500": "the answer is 500",
    "503": "the answer is 503",
    "garbage": "the answer is 200 with as many bytes of nonsense",
    "tampered": "one byte of the file differs",
    "truncated": "half of the announced bytes come, then the connection ends",
    "slow": "a few bytes at a time, with pauses",
    "hang": "the answer never comes",
    "cut": "the connection is reset before an answer",
    "wrong-hash": "a project's page states a hash that its files don't have",
}


@dataclasses.dataclass(frozen=True)
class Request:
    """One request that came: its path, the status of the answer (0: none was sent), and the body's bytes."""

    method: str
    path: str
    status: int
    sent: int
    headers: Mapping[str, str]


@dataclasses.dataclass
class _Fault:
    kind: str
    match: str
    times: int | None


class Index:
    """Serves the wheels of a folder. Use it as a context manager.

    Args:
        folder: looked at anew for every request, so wheels may be added at any time.
        tls: certificate chain and key files, to serve https instead of http.

    Attributes:
        url: for ``--index-url``.
        requests: all requests so far, in order of completion.
        yanked: reason, by file name.
        uploaded: upload time, by file name; the others were uploaded on 2020-01-01.
        credentials: ``(user, password)`` to demand, or None.
        pause: seconds between the pieces of a ``slow`` answer.
    """

    def __init__(self, folder: Path, tls: Tuple[Path, Path] | None = None) -> None:
        self.folder = folder
        self.requests: List[Request] = []
        self.yanked: Dict[str, str] = {}
        self.uploaded: Dict[str, str] = {}
        self.credentials: Tuple[str, str] | None = None
        self.pause = 0.2
        self._faults: List[_Fault] = []
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.index = self
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*tls)
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self._scheme = "https" if tls else "http"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def url(self) -> str:
        """The index's address, without credentials."""
        return f"{self._scheme}://127.0.0.1:{self._server.server_address[1]}/simple/"

    @property
    def url_with_credentials(self) -> str:
        """The index's address with the user and password that it demands."""
        assert self.credentials, "no credentials are demanded"
        return self.url.replace("://", "://{}:{}@".format(*self.credentials), 1)

    def add(self, name: str, version: str, **options: Any) -> Path:
        """Make a wheel (see :func:`tests.support.wheels.tiny_wheel`) and serve it."""
        return tiny_wheel(self.folder, name, version, **options)

    def fail(self, kind: str, match: str = "*", times: int | None = None) -> None:
        """Fail requests from now on.

        Args:
            kind: a key of ``FAULTS``.
            match: which paths fail, as a shell pattern such as ``*.whl`` or ``/simple/torch/``.
            times: how many requests fail; all of them by default.
        """
        assert kind in FAULTS, f"no fault {kind!r}: {', '.join(FAULTS)}"
        with self._lock:
            self._faults.append(_Fault(kind, match, times))

    def heal(self) -> None:
        """Forget all faults and the credentials."""
        with self._lock:
            self._faults.clear()
        self.credentials = None

    def count(self, match: str = "*") -> int:
        """Return how many requests had a path that matches."""
        return sum(fnmatch.fnmatchcase(request.path, match) for request in self.requests)

    def sent(self, match: str = "*") -> int:
        """Return how many bytes of bodies were sent for the paths that match."""
        return sum(request.sent for request in self.requests if fnmatch.fnmatchcase(request.path, match))

    def __enter__(self) -> Index:
        self._thread.start()
        return self

    def __exit__(
        self, kind: Type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopping.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    # For the handler.

    def fault(self, path: str) -> str | None:
        """Return the fault that this request has to show, and use it up."""
        with self._lock:
            for fault in self._faults:
                if fnmatch.fnmatchcase(path, fault.match) and fault.times != 0:
                    fault.times = None if fault.times is None else fault.times - 1
                    return fault.kind
        return None

    def note(self, request: Request) -> None:
        """Add to ``requests``."""
        with self._lock:
            self.requests.append(request)

    def wait(self, seconds: float) -> bool:
        """Wait; True when the server is being stopped meanwhile."""
        return self._stopping.wait(seconds)

    def projects(self) -> Dict[str, List[Path]]:
        """Return the wheels by normalised project name."""
        out: Dict[str, List[Path]] = {}
        for wheel in sorted(self.folder.glob("*.whl")):
            out.setdefault(name_and_version(wheel.name)[0], []).append(wheel)
        return out

    def describe(self, wheel: Path, wrong_hash: bool) -> Dict[str, Any]:
        """Return a wheel's entry in the JSON form of the simple API."""
        content = wheel.read_bytes()
        metadata = _metadata(wheel)
        requires_python = re.search(r"^Requires-Python: *(.*)$", metadata.decode(), re.MULTILINE)
        entry: Dict[str, Any] = {
            "filename": wheel.name,
            "url": f"../../files/{wheel.name}",
            "hashes": {"sha256": "0" * 64 if wrong_hash else hashlib.sha256(content).hexdigest()},
            "size": len(content),
            "upload-time": self.uploaded.get(wheel.name, "2020-01-01T00:00:00.000000Z"),
            "yanked": self.yanked.get(wheel.name, False),
        }
        if requires_python:
            entry["requires-python"] = requires_python.group(1)
        if metadata:
            entry["core-metadata"] = {"sha256": hashlib.sha256(metadata).hexdigest()}
        return entry


def _metadata(wheel: Path) -> bytes:
    """Return the wheel's METADATA, or nothing for a file that is no wheel (a test may want one)."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            (name,) = (n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
            return archive.read(name)
    except (zipfile.BadZipFile, ValueError):
        return b""


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    index: Index

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: clients that hang up are part of the tests."""


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_HEAD(self) -> None:
        self._answer()

    def do_GET(self) -> None:
        self._answer()

    def log_message(self, format: str, *args: Any) -> None:
        """Keep standard error free."""

    def _answer(self) -> None:
        index = self.server.index
        path = unquote(urlsplit(self.path).path)
        fault = index.fault(path)
        if index.credentials and self.headers.get("Authorization") != _basic(*index.credentials):
            self._send(path, 401, HTML, b"credentials, please", {"WWW-Authenticate": 'Basic realm="index"'})
        elif fault == "cut":
            # closing with a linger time of 0 sends a reset
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.close_connection = True
            index.note(Request(self.command, path, 0, 0, dict(self.headers)))
        elif fault == "hang":
            index.note(Request(self.command, path, 0, 0, dict(self.headers)))
            index.wait(600)
            self.close_connection = True
        elif fault in ("404", "500", "503"):
            self._send(path, int(fault), HTML, fault.encode())
        else:
            status, kind, body = self._resource(path, fault)
            self._send(path, status, kind, body, fault=fault)

    def _resource(self, path: str, fault: str | None) -> Tuple[int, str, bytes]:
        index, wants_json = self.server.index, JSON in self.headers.get("Accept", "")
        projects = index.projects()
        parts = [part for part in path.split("/") if part]
        if parts == ["simple"]:
            if wants_json:
                page = {"meta": META, "projects": [{"name": name} for name in projects]}
                return 200, JSON, json.dumps(page).encode()
            return 200, HTML, _page(f'<a href="{name}/">{name}</a>' for name in projects)
        if len(parts) == 2 and parts[0] == "simple" and parts[1] in projects:
            files = [index.describe(wheel, fault == "wrong-hash") for wheel in projects[parts[1]]]
            if wants_json:
                versions = sorted({name_and_version(file["filename"])[1] for file in files})
                page = {"meta": META, "name": parts[1], "files": files, "versions": versions}
                return 200, JSON, json.dumps(page).encode()
            return 200, HTML, _page(_anchor(file) for file in files)
        if len(parts) == 2 and parts[0] == "files":
            for wheel in (wheel for wheels in projects.values() for wheel in wheels):
                if parts[1] == wheel.name:
                    return 200, "application/octet-stream", wheel.read_bytes()
                if parts[1] == f"{wheel.name}.metadata":
                    return 200, "text/plain; charset=utf-8", _metadata(wheel)
        return 404, HTML, b"not here"

    def _send(
        self,
        path: str,
        status: int,
        kind: str,
        body: bytes,
        headers: Mapping[str, str] | None = None,
        fault: str | None = None,
    ) -> None:
        index = self.server.index
        if fault == "garbage":
            body = hashlib.sha512(path.encode()).digest() * (len(body) // 64 + 1)
        elif fault == "tampered" and body:
            middle = len(body) // 2
            body = body[:middle] + bytes([body[middle] ^ 1]) + body[middle + 1 :]
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "HEAD":
            body = b""
        if fault == "truncated":
            body = body[: len(body) // 2]
            self.close_connection = True
        sent = 0
        try:
            for start in range(0, len(body), 64) if fault == "slow" else (0,):
                piece = body[start : start + 64] if fault == "slow" else body
                self.wfile.write(piece)
                self.wfile.flush()
                sent += len(piece)
                if fault == "slow" and index.wait(index.pause):
                    break
        finally:
            index.note(Request(self.command, path, status, sent, dict(self.headers)))


def _basic(user: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


def _page(lines: Any) -> bytes:
    head = '<!DOCTYPE html><html><head><meta name="pypi:repository-version" content="1.1"></head><body>\n'
    return (head + "<br>\n".join(lines) + "\n</body></html>\n").encode()


def _anchor(file: Mapping[str, Any]) -> str:
    attributes = {"href": f"{file['url']}#sha256={file['hashes']['sha256']}"}
    if "requires-python" in file:
        attributes["data-requires-python"] = file["requires-python"]
    if "core-metadata" in file:
        attributes["data-core-metadata"] = f"sha256={file['core-metadata']['sha256']}"
    if file["yanked"] is not False:
        attributes["data-yanked"] = file["yanked"]
    written = " ".join(f'{name}="{html.escape(value)}"' for name, value in attributes.items())
    return f"<a {written}>{file['filename']}</a>"
