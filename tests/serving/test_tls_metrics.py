"""Connections that come to nothing because of certificates are counted, on both sides of the server."""

from __future__ import annotations

import asyncio
import datetime
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from pilothouse.kit.metrics import Counter, Registry
from pilothouse.serving.client import Client, Destination
from pilothouse.serving.dialing import DialFailed, Untrusted, client_tls, tls_failure
from pilothouse.serving.edge import Edge, bind
from pilothouse.serving.tls_metrics import distrust, handshake_errors

from .support import client_context, hello, run, server_side, until


def counts(registry: Registry) -> dict[str, float]:
    return {
        family.name: number
        for family in registry.families()
        if isinstance(family, Counter)
        for _, number in family.samples()
    }


def test_handshakes_that_come_to_nothing_are_counted(pki: Path) -> None:
    registry, context = Registry(), server_side(pki)

    async def scenario() -> None:
        edge = Edge(hello, bind("127.0.0.1", 0), context=lambda: context, broken=handshake_errors(registry))
        await edge.start()

        async def connect(trust: ssl.SSLContext | None, data: bytes = b"") -> None:
            name = "localhost" if trust else None
            reader, writer = await asyncio.open_connection("127.0.0.1", edge.port, ssl=trust, server_hostname=name)
            if data:
                writer.write(data)
                await reader.read()
            writer.close()
            await until(lambda: edge.connections == 0)

        name = "apiserver_tls_handshake_errors_total"
        await connect(client_context(pki))
        assert counts(registry) == {name: 0}
        await connect(None, b"what is this\r\n\r\n")
        assert counts(registry) == {name: 1}
        await connect(None)  # who only looks whether the port is open
        assert counts(registry) == {name: 2}
        with pytest.raises(ssl.SSLError):
            await connect(ssl.create_default_context())  # who does not trust us
        await until(lambda: counts(registry) == {name: 3})
        await edge.drain(0.0)

    run(scenario)


def certificates(folder: Path) -> tuple[Path, bytes]:
    """A file with a certificate that has no names but the common one, and its key; the PEM of who signed it."""
    now = datetime.datetime.now(datetime.UTC)
    key = ec.generate_private_key(ec.SECP256R1())
    called = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    made = (
        x509.CertificateBuilder()
        .subject_name(called)
        .issuer_name(called)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(hours=1))
        .sign(key, hashes.SHA256())
        .public_bytes(Encoding.PEM)
    )
    file = folder / "server.pem"
    file.write_bytes(made + key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return file, made


@asynccontextmanager
async def far(file: Path) -> AsyncIterator[int]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
    yield server.sockets[0].getsockname()[1]
    server.close()


def test_servers_without_names_are_counted(tmp_path: Path) -> None:
    registry = Registry()
    file, authority = certificates(tmp_path)

    async def scenario() -> None:
        client = Client(distrust(registry, "apiserver_webhooks", "BETA"))
        async with far(file) as port:
            there = Destination("127.0.0.1", port, client_tls("localhost", authorities=authority))
            with pytest.raises(DialFailed, match="Common Name"):
                await client.call(there, "GET", b"/", [(b"Host", b"localhost")])
        client.close()

    run(scenario)
    assert counts(registry) == {
        "apiserver_webhooks_x509_missing_san_total": 1, "apiserver_webhooks_x509_insecure_sha1_total": 0,
    }  # fmt: skip


def test_signatures_that_are_too_weak_are_counted() -> None:
    registry = Registry()
    count = distrust(registry, "apiserver_kube_aggregator", "ALPHA")
    for code in (68, 10, 18):  # CA_MD_TOO_WEAK, CERT_HAS_EXPIRED, DEPTH_ZERO_SELF_SIGNED_CERT
        error = ssl.SSLCertVerificationError()
        error.verify_code = code
        failure = tls_failure(error)
        assert isinstance(failure, Untrusted)
        count(failure)
    assert counts(registry) == {
        "apiserver_kube_aggregator_x509_missing_san_total": 0, "apiserver_kube_aggregator_x509_insecure_sha1_total": 1,
    }  # fmt: skip
