"""The server's TLS: certificates from files, read again when they change, and client certificates that are asked for.

A client certificate is optional. Its chain must lead to a known CA (OpenSSL ends the handshake otherwise); whether it
is still valid and whom it names is for the authenticators, so the handshake does not look at its dates.
"""

from __future__ import annotations

import asyncio
import logging
import os
import ssl
from collections.abc import Awaitable, Callable
from pathlib import Path

from pilothouse.kit.record import record

log = logging.getLogger("pilothouse.serving")

CHECK_SECONDS = 10.0
_NO_CHECK_TIME = ssl.VerifyFlags(0x200000)  # X509_V_FLAG_NO_CHECK_TIME, which the ssl module has no name for
_TLS12_CIPHERS = "ECDHE+AESGCM:ECDHE+CHACHA20:ECDHE+AES256+SHA1:ECDHE+AES128+SHA1"


@record
class CertificateFiles:
    """PEM files: the serving chain, its key, and the CAs whose client certificates are taken (there may be none)."""

    certificate: Path
    key: Path
    client_cas: tuple[Path, ...] = ()

    def paths(self) -> tuple[Path, ...]:
        return (self.certificate, self.key, *self.client_cas)


def server_context(files: CertificateFiles) -> ssl.SSLContext:
    """A context for HTTP/1.1 servers. Raises OSError and ssl.SSLError (which is one) naming what could not be read."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers(_TLS12_CIPHERS)
    context.set_alpn_protocols(["http/1.1"])
    # No resumption: a resumed session would bring along a client certificate that nobody checked again.
    context.options |= ssl.OP_NO_TICKET | ssl.OP_NO_RENEGOTIATION
    context.num_tickets = 0
    try:
        context.load_cert_chain(files.certificate, files.key)
    except OSError as error:
        raise OSError(f"serving certificate {files.certificate} and key {files.key}: {error}") from error
    for authority in files.client_cas:
        try:
            context.load_verify_locations(cafile=authority)
        except OSError as error:
            raise OSError(f"client CA {authority}: {error}") from error
    if files.client_cas:
        context.verify_mode = ssl.CERT_OPTIONAL
        context.verify_flags |= _NO_CHECK_TIME
    return context


class ServerTLS:
    """The present context. `refresh` makes a new one when a file changed; connections that are open keep the old."""

    def __init__(self, files: CertificateFiles) -> None:
        self._files = files
        self._stamp = _stamp(files)
        self._context = server_context(files)

    def context(self) -> ssl.SSLContext:
        return self._context

    def refresh(self) -> bool:
        """Read the files again if they changed; True when there is a new context. A bad file changes nothing."""
        stamp = _stamp(self._files)
        if stamp == self._stamp:
            return False
        self._stamp = stamp
        try:
            self._context = server_context(self._files)
        except OSError as error:
            log.warning("the changed certificate files cannot be used, the old ones stay: %s", error)
            return False
        log.info("certificate files changed and were read again")
        return True

    async def keep_fresh(self, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        """Look for changes until cancelled."""
        while True:
            await sleep(CHECK_SECONDS)
            self.refresh()


def _stamp(files: CertificateFiles) -> tuple[tuple[int, int, int] | None, ...]:
    stamps: list[tuple[int, int, int] | None] = []
    for path in files.paths():
        try:
            found = os.stat(path)
        except OSError:
            stamps.append(None)
        else:
            stamps.append((found.st_mtime_ns, found.st_size, found.st_ino))
    return tuple(stamps)
