"""TLS: certificates on both sides, their renewal, and clients that speak something else."""

from __future__ import annotations

import asyncio
import shutil
import ssl
import time
from pathlib import Path

import pytest

from pilothouse.serving.http import Request, Response
from pilothouse.serving.tls import CHECK_SECONDS, CertificateFiles, ServerTLS, server_context

from .support import TEXT, client_context, make_pki, request, run, server_side, serving, until


async def whose(request: Request) -> Response:
    certificate = request.origin.certificate
    return Response(200, TEXT, b"nobody" if certificate is None else certificate)


def test_a_client_certificate_is_passed_on(pki: Path) -> None:
    async def scenario() -> None:
        async with serving(whose, pki=pki) as served:
            wire = await served.connect()
            wire.send(request())
            assert (await wire.answer())[1] == b"nobody"
            wire = await served.connect(client_context(pki, "admin"))
            wire.send(request())
            _, body = await wire.answer()
            assert body == ssl.PEM_cert_to_DER_cert((pki / "admin.crt").read_text())

    run(scenario)


def test_an_expired_client_certificate_is_for_the_authenticators_to_refuse(pki: Path, tmp_path: Path) -> None:
    async def scenario() -> None:
        shutil.copytree(pki, tmp_path / "old")
        old = make_pki(tmp_path / "old", time.time() - 3 * 365 * 86400)  # the CA is kept, the leaves are of then
        async with serving(whose, pki=pki) as served:
            wire = await served.connect(client_context(old, "admin"))
            wire.send(request())
            assert len((await wire.answer())[1]) > 100

    run(scenario)


def test_a_certificate_of_an_unknown_ca_ends_the_handshake(pki: Path, tmp_path: Path) -> None:
    async def scenario() -> None:
        other = make_pki(tmp_path / "other")
        context = client_context(pki)
        context.load_cert_chain(other / "admin.crt", other / "admin.key")
        async with serving(whose, pki=pki) as served:
            with pytest.raises((ssl.SSLError, ConnectionError, AssertionError), match=r"unknown ca|ended"):
                wire = await served.connect(context)
                wire.send(request())
                await wire.answer()
            await until(lambda: served.edge.connections == 0)

    run(scenario)


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_versions_and_alpn(version: ssl.TLSVersion, pki: Path) -> None:
    async def scenario() -> None:
        context = client_context(pki, "admin")
        context.minimum_version = context.maximum_version = version
        context.set_alpn_protocols(["h2", "http/1.1"])
        async with serving(whose, pki=pki) as served:
            wire = await served.connect(context)
            secure = wire.writer.get_extra_info("ssl_object")
            assert secure.version() == version.name.replace("_", ".")
            assert secure.selected_alpn_protocol() == "http/1.1"
            wire.send(request())
            assert len((await wire.answer())[1]) > 100

    run(scenario)


def test_old_versions_are_refused(pki: Path) -> None:
    assert server_side(pki).minimum_version is ssl.TLSVersion.TLSv1_2


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "HEAD", "OPTIONS"])
def test_plain_http_on_the_tls_port_gets_an_explanation(method: str, pki: Path) -> None:
    async def scenario() -> None:
        async with serving(pki=pki) as served:
            reader, writer = await asyncio.open_connection("127.0.0.1", served.edge.port)
            writer.write(request("/x", method))
            assert await reader.read() == (
                b"HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n"
            )
            writer.close()

    run(scenario)


def test_garbage_and_half_handshakes_do_no_harm(pki: Path) -> None:
    async def scenario() -> None:
        async with serving(pki=pki) as served:
            for data in (b"\x00\x01\x02\x03hello\r\n\r\n", b"\x16\x03\x01\x00\x05hello", b"\x16"):
                reader, writer = await asyncio.open_connection("127.0.0.1", served.edge.port)
                writer.write(data)
                writer.write_eof()
                assert b"HTTP" not in await reader.read()
                writer.close()
            wire = await served.connect()
            assert await wire.is_open()
            await until(lambda: served.edge.connections == 1)

    run(scenario)


def test_records_that_were_tampered_with_end_the_connection(pki: Path) -> None:
    async def scenario() -> None:
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        client = client_context(pki).wrap_bio(incoming, outgoing, server_hostname="localhost")
        async with serving(pki=pki) as served:
            reader, writer = await asyncio.open_connection("127.0.0.1", served.edge.port)
            while True:
                try:
                    client.do_handshake()
                    break
                except ssl.SSLWantReadError:
                    writer.write(outgoing.read())
                    incoming.write(await reader.read(1 << 16))
            client.write(request())
            data = bytearray(outgoing.read())
            data[-1] ^= 1
            writer.write(bytes(data))
            incoming.write(await reader.read())
            with pytest.raises(ssl.SSLError, match="bad record mac"):
                client.read(100)
            writer.close()

    run(scenario)


def test_changed_files_are_read_again_and_bad_ones_are_not_believed(
    pki: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    shutil.copytree(pki, tmp_path / "pki")
    folder = tmp_path / "pki"
    tls = ServerTLS(CertificateFiles(folder / "serving.crt", folder / "serving.key", (folder / "ca.crt",)))
    first = tls.context()
    assert not tls.refresh()
    (folder / "serving.key").write_text("nonsense")
    assert not tls.refresh()
    assert tls.context() is first
    assert "cannot be used" in caplog.text
    make_pki(folder)
    assert tls.refresh()
    assert tls.context() is not first
    (folder / "serving.crt").unlink()
    assert not tls.refresh()


def test_new_connections_get_the_renewed_certificate(pki: Path, tmp_path: Path) -> None:
    async def scenario() -> None:
        shutil.copytree(pki, tmp_path / "pki")
        folder = tmp_path / "pki"
        tls = ServerTLS(CertificateFiles(folder / "serving.crt", folder / "serving.key"))
        turns: asyncio.Queue[float] = asyncio.Queue()
        go = asyncio.Event()

        async def sleep(seconds: float) -> None:
            turns.put_nowait(seconds)
            await go.wait()
            go.clear()

        refreshing = asyncio.create_task(tls.keep_fresh(sleep))
        async with serving(pki=pki, context=tls.context) as served:
            before = await served.connect()
            make_pki(folder)
            assert await turns.get() == CHECK_SECONDS
            go.set()
            await turns.get()
            after = await served.connect()
            assert await before.is_open()
            shown = [wire.writer.get_extra_info("ssl_object").getpeercert(True) for wire in (before, after)]
            assert shown[0] != shown[1]
        refreshing.cancel()

    run(scenario)


def test_files_that_cannot_be_read_are_named(pki: Path, tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"serving certificate .*nothing\.crt"):
        server_context(CertificateFiles(tmp_path / "nothing.crt", pki / "serving.key"))
    with pytest.raises(OSError, match=r"client CA .*nothing\.crt"):
        server_context(CertificateFiles(pki / "serving.crt", pki / "serving.key", (tmp_path / "nothing.crt",)))
