"""Raw bytes to a server: for requests that no decent client sends."""

from __future__ import annotations

import re
import socket
import ssl

from support.server import ADMIN, DEADLINE, Server

_STATUS = re.compile(rb"HTTP/1\.1 (\d{3}) ")


def head(line: str, *headers: str, token: str = ADMIN) -> bytes:
    """A request's head, with Host and the administrator's token (unless it is "")."""
    lines = [line, "Host: localhost", *([f"Authorization: Bearer {token}"] if token else []), *headers, "", ""]
    return "\r\n".join(lines).encode("latin-1")


class Wire:
    """A TLS connection."""

    def __init__(self, server: Server, timeout: float = DEADLINE) -> None:
        context = ssl.create_default_context(cafile=str(server.ca))
        plain = socket.create_connection(("127.0.0.1", server.port), timeout=timeout)
        self._socket = context.wrap_socket(plain, server_hostname="localhost", suppress_ragged_eofs=True)

    def send(self, data: bytes) -> None:
        """Sends as much as the server takes: it may hang up before the end."""
        try:
            self._socket.sendall(data)
        except (ConnectionError, ssl.SSLError):
            return

    def some(self) -> bytes:
        """What comes next; b"" at the end."""
        try:
            return self._socket.recv(1 << 16)
        except (ConnectionError, ssl.SSLError):
            return b""

    def rest(self) -> bytes:
        """Everything until the server hangs up. Raises TimeoutError where it does not."""
        pieces = []
        while piece := self.some():
            pieces.append(piece)
        return b"".join(pieces)

    def until(self, wanted: bytes) -> bytes:
        """Everything up to the piece with `wanted`, or to the end."""
        found = b""
        while wanted not in found:
            piece = self.some()
            if not piece:
                break
            found += piece
        return found

    def close(self) -> None:
        self._socket.close()

    def __enter__(self) -> Wire:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self.close()


def statuses(data: bytes) -> list[int]:
    """The status codes of all answers in there."""
    return [int(code) for code in _STATUS.findall(data)]


def exchange(server: Server, data: bytes, timeout: float = DEADLINE) -> bytes:
    """All that the server says to `data`, up to when it hangs up."""
    with Wire(server, timeout) as wire:
        wire.send(data)
        return wire.rest()
