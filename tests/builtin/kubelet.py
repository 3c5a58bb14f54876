"""A stand-in for a kubelet: TLS on this machine, one answer to whatever comes, and a note of what came."""

from __future__ import annotations

import asyncio
import datetime
import ipaddress
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID


@cache
def certificate() -> tuple[bytes, bytes]:
    """PEM of a certificate for 127.0.0.1, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "kubelet")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False)
        .sign(key, hashes.SHA256())
    )
    return made.public_bytes(Encoding.PEM), key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


class Kubelet:
    def __init__(self, port: int) -> None:
        self.port = port
        self.answer = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
        self.heard: list[bytes] = []  # heads of requests, and what came after an upgrade
        self.talk: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]] | None = None  # then


@asynccontextmanager
async def kubelet(folder: Path) -> AsyncIterator[Kubelet]:
    chain, key = folder / "kubelet.crt", folder / "kubelet.key"
    chain.write_bytes(certificate()[0])
    key.write_bytes(certificate()[1])
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(chain, key)
    standing = Kubelet(0)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            standing.heard.append(await reader.readuntil(b"\r\n\r\n"))
            writer.write(standing.answer)
            await writer.drain()
            if standing.talk is not None:
                await standing.talk(reader, writer)
            while standing.answer.startswith(b"HTTP/1.1 101") and (data := await reader.read(1000)):
                standing.heard.append(data)
                writer.write(data.upper())
        except (asyncio.IncompleteReadError, ConnectionError):
            return  # the other end went away, as tests do
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
    standing.port = server.sockets[0].getsockname()[1]
    try:
        yield standing
    finally:
        server.close()
