"""What goes wrong with certificates, of this server and of those that it asks. Names are the original's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from pilothouse.kit.metrics import Counter, Registry
from pilothouse.serving.dialing import Untrusted

_HANDSHAKES: Final = "[ALPHA] Number of requests dropped with 'TLS handshake error from' error"
_SHA1: Final = (
    "Counts the number of requests to servers with insecure SHA1 signatures in their serving certificate OR the number "
    "of connection failures due to the insecure SHA1 signatures (either/or, based on the runtime environment)"
)
_NAMELESS: Final = (
    "Counts the number of requests to servers missing SAN extension in their serving certificate OR the number of "
    "connection failures due to the lack of x509 certificate SAN extension missing (either/or, based on the runtime "
    "environment)"
)


def handshake_errors(registry: Registry) -> Callable[[], None]:
    """To be called when a client's handshake comes to nothing."""
    return registry.add(Counter("apiserver_tls_handshake_errors_total", _HANDSHAKES)).bind().add


def distrust(registry: Registry, prefix: str, stability: str) -> Callable[[Untrusted], None]:
    """To be called when a server that is asked is not believed. `prefix`: of the metrics' names."""

    def counter(name: str, text: str) -> Callable[[], None]:
        return registry.add(Counter(f"{prefix}_x509_{name}_total", f"[{stability}] {text}")).bind().add

    weak, nameless = counter("insecure_sha1", _SHA1), counter("missing_san", _NAMELESS)

    def count(error: Untrusted) -> None:
        if error.weak:
            weak()
        if error.nameless:
            nameless()

    return count
