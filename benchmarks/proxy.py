"""Count the bytes that programs download, as an ordinary user: a proxy that passes TLS on unread.

Programs find it through ``HTTPS_PROXY``. What it counts is all that the servers sent: files, index pages,
headers and TLS itself. A proxy that the user already has is used behind it.
"""

from __future__ import annotations

import os
import selectors
import socket
import socketserver
import threading
from typing import Tuple
from urllib.parse import urlsplit

_CHUNK = 1 << 18  # bytes
_HEAD_LIMIT = 1 << 16  # bytes
_CONNECT_LIMIT = 30.0  # seconds


class CountingProxy:
    """A proxy on 127.0.0.1 for as long as the ``with`` block lasts.

    Example:
        >>> with CountingProxy() as proxy:
        ...     environment = {"HTTPS_PROXY": proxy.url}
        ...     # run programs in it
        ...     proxy.received  # bytes from servers so far
        0
    """

    def __init__(self) -> None:
        self.received = 0
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), _Tunnel)
        self._server.proxy = self
        # Of a proxy that the user has already: (host, port).
        self.behind = _address(os.environ.get("HTTPS_PROXY") or os.environ.get("https_proxy") or "", 8080)

    @property
    def url(self) -> str:
        """Its address, for HTTPS_PROXY."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def count(self, size: int) -> None:
        """Add ``size`` bytes."""
        with self._lock:
            self.received += size

    def __enter__(self) -> CountingProxy:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128
    proxy: CountingProxy


class _Tunnel(socketserver.BaseRequestHandler):
    server: _Server

    def handle(self) -> None:
        client: socket.socket = self.request
        head = _head(client)
        words = head.split()
        if len(words) < 2 or words[0] != b"CONNECT":
            client.sendall(b"HTTP/1.1 501 only CONNECT, for https addresses\r\n\r\n")
            return
        proxy = self.server.proxy
        behind = proxy.behind
        target = behind or _address(words[1].decode("ascii", "replace"), 443)
        try:
            server = socket.create_connection(target or ("", 0), _CONNECT_LIMIT)
        except OSError:
            client.sendall(b"HTTP/1.1 502 not reached\r\n\r\n")
            return
        with server:
            server.settimeout(None)
            if behind:
                server.sendall(head)  # its answer goes to the client
            else:
                client.sendall(b"HTTP/1.1 200 connected\r\n\r\n")
            _pump(client, server, proxy)


def _address(text: str, port: int) -> Tuple[str, int] | None:
    """Return host and port of a URL or ``host:port``."""
    parts = urlsplit(text if "://" in text else f"//{text}")
    return (parts.hostname, parts.port or port) if parts.hostname else None


def _head(client: socket.socket) -> bytes:
    head = b""
    while not head.endswith(b"\r\n\r\n") and len(head) < _HEAD_LIMIT:
        chunk = client.recv(4096)
        if not chunk:
            break
        head += chunk
    return head


def _pump(client: socket.socket, server: socket.socket, proxy: CountingProxy) -> None:
    """Pass bytes on in both directions until one side closes."""
    buffer = memoryview(bytearray(_CHUNK))
    other = {client: server, server: client}
    with selectors.DefaultSelector() as selector:
        for side in other:
            selector.register(side, selectors.EVENT_READ, side)
        try:
            while True:
                for key, _ in selector.select():
                    size = key.data.recv_into(buffer)
                    if not size:
                        return
                    if key.data is server:
                        proxy.count(size)
                    other[key.data].sendall(buffer[:size])
        except OSError:
            return  # a client that has what it wants may just hang up
