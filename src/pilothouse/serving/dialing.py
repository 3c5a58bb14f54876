"""Connecting to servers: the client's half of TLS, whom to trust, and errors in the words that operators know.

TLS is spoken over the same memory BIOs as on the edge. The name in the certificate is checked here and not by OpenSSL,
because the words of a refusal must tell which names the certificate is good for.
"""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import socket
import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

from pilothouse.serving.channel import Channel, TLSChannel, User
from pilothouse.serving.flusher import Flusher

_TEXTS: Final = {
    errno.ECONNREFUSED: "connection refused",
    errno.EHOSTUNREACH: "no route to host",
    errno.ENETUNREACH: "network is unreachable",
    errno.ETIMEDOUT: "connection timed out",
    errno.ECONNRESET: "connection reset by peer",
    errno.EADDRNOTAVAIL: "cannot assign requested address",
}
_EXPIRED: Final = (9, 10)  # X509_V_ERR_CERT_NOT_YET_VALID, _CERT_HAS_EXPIRED
_WEAK_DIGEST: Final = 68  # X509_V_ERR_CA_MD_TOO_WEAK
_UNVERIFIED: Final = "tls: failed to verify certificate: x509: "


class DialFailed(Exception):
    """No connection came to be."""


class Untrusted(DialFailed):
    """The certificate that was shown is not believed. `nameless`: it has no alternative names; `weak`: a signature is
    made with an algorithm that is too weak, as SHA-1.
    """

    def __init__(self, text: str, *, nameless: bool = False, weak: bool = False) -> None:
        super().__init__(text)
        self.nameless = nameless
        self.weak = weak


@dataclass(frozen=True, eq=False)
class ClientTLS:
    """How to speak TLS to a server. `server_name`: what its certificate must be good for; "" where that is not checked.

    `sent_name`: the name in the hello, "" for none. Two of these are the same only if they are one: a connection that
    is kept must not outlive the trust it was made with.
    """

    context: ssl.SSLContext
    server_name: str
    sent_name: str = ""


def client_tls(
    server_name: str, *, authorities: bytes = b"", careless: bool = False, certificate: tuple[Path, Path] | None = None
) -> ClientTLS:
    """Trust `authorities` (PEM; b"": those of the system), or anybody if `careless`; show `certificate` (chain, key).

    Raises ssl.SSLError and OSError (of which that is one).
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    if careless:
        context.verify_mode = ssl.CERT_NONE
    elif authorities:
        context.load_verify_locations(cadata=authorities.decode("ascii", "replace"))
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    else:
        context.load_default_certs()
    if certificate is not None:
        context.load_cert_chain(*certificate)
    return ClientTLS(context, "" if careless else server_name, server_name)


def nobody(server_name: str) -> ClientTLS:
    """Trusts nobody: for settings that cannot be read."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    return ClientTLS(context, server_name, server_name)


class Dialer(User, Protocol):
    """A user of a client's channel also hears why there will be no connection."""

    def failed(self, error: DialFailed) -> None: ...


class ClientChannel(Channel):
    """The plain pipe of a client; remembers what broke it."""

    error: Exception | None = None

    def connection_lost(self, exc: Exception | None) -> None:
        self.error = exc
        super().connection_lost(exc)


class ClientTLSChannel(TLSChannel):
    """The pipe of a client that speaks TLS."""

    error: Exception | None = None
    _user: Dialer

    def __init__(self, user: Dialer, flusher: Flusher, tls: ClientTLS) -> None:
        super().__init__(user, flusher, lambda: tls.context)
        self._tls = tls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport  # type: ignore[assignment]
        name = self._tls.sent_name or None
        self._session = self._tls.context.wrap_bio(
            self._incoming, self._outgoing, server_side=False, server_hostname=name
        )
        self._user.attached(self)
        self._handshake(b"")

    def connection_lost(self, exc: Exception | None) -> None:
        self.error = exc
        super().connection_lost(exc)

    def _handshake(self, data: bytes) -> bool:
        try:
            self._session.do_handshake()
            if self._tls.server_name:
                check_name(self._session.getpeercert() or {}, self._tls.server_name)
        except ssl.SSLWantReadError:
            self._pass_on()
            return False
        except (ssl.SSLError, ssl.CertificateError) as error:
            plain = data.startswith(b"HTTP/")
            self._user.failed(
                DialFailed("http: server gave HTTP response to HTTPS client") if plain else tls_failure(error)
            )
            self._fail()
            return False
        except DialFailed as error:
            self._user.failed(error)
            self._fail()
            return False
        self._pass_on()
        self._ready = True
        self._user.ready()
        return True


def check_name(certificate: dict[str, Any], name: str) -> None:
    """Whether a certificate (as `getpeercert` gives it) is good for a name or address. Raises Untrusted."""
    alternatives = certificate.get("subjectAltName", ())
    names = [value for kind, value in alternatives if kind == "DNS"]
    addresses = [value for kind, value in alternatives if kind == "IP Address"]
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        if any(_matches(pattern.lower(), name.lower()) for pattern in names):
            return
        good_for, what = names, name
    else:
        if any(ipaddress.ip_address(value.strip()) == address for value in addresses):
            return
        good_for, what = addresses, name
        if not addresses:
            raise Untrusted(
                f"{_UNVERIFIED}cannot validate certificate for {name} because it doesn't contain any IP SANs",
                nameless=not alternatives,
            )
    if not alternatives:
        text = f"{_UNVERIFIED}certificate relies on legacy Common Name field, use SANs instead"
        raise Untrusted(text, nameless=True)
    if not good_for:
        raise Untrusted(f"{_UNVERIFIED}certificate is not valid for any names, but wanted to match {what}")
    raise Untrusted(f"{_UNVERIFIED}certificate is valid for {', '.join(good_for)}, not {what}")


def _matches(pattern: str, name: str) -> bool:
    """A name, or a star for the whole first label."""
    if pattern.startswith("*."):
        first, dot, rest = name.partition(".")
        return bool(first) and bool(dot) and rest == pattern[2:]
    return pattern == name


def tls_failure(error: Exception) -> DialFailed:
    """Why a handshake failed."""
    if isinstance(error, ssl.SSLCertVerificationError):
        if error.verify_code in _EXPIRED:
            return Untrusted(f"{_UNVERIFIED}certificate has expired or is not yet valid")
        weak = error.verify_code == _WEAK_DIGEST
        return Untrusted(f"{_UNVERIFIED}certificate signed by unknown authority", weak=weak)
    reason = getattr(error, "reason", None) or str(error)
    return DialFailed(f"remote error: tls: {str(reason).lower().replace('_', ' ')}")


def dial_text(error: OSError, host: str, port: int) -> str:
    """Why a connection failed."""
    where = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    if isinstance(error, socket.gaierror):
        return f"dial tcp: lookup {host}: no such host"
    return f"dial tcp {where}: connect: {_text(error)}"


def reset_text(error: Exception) -> str:
    """Why a connection that was there is not any more."""
    return f"read tcp: {_text(error) if isinstance(error, OSError) else error}"


def _text(error: OSError) -> str:
    if error.errno in _TEXTS:
        return _TEXTS[error.errno]
    said = str(error)
    for number, text in _TEXTS.items():  # several addresses were tried: their errors come as one text
        if f"[Errno {number}]" in said:
            return text
    return (error.strerror or said).lower()
