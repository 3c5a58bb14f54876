"""How calls of webhooks go, seen as requests of a client. Names, labels and buckets are the original's."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Final

from pilothouse.kit.metrics import Counter, Histogram, Registry, Unheard

_SECONDS: Final = (0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0)
_SIZES: Final = (
    64.0, 256.0, 512.0, 1024.0, 4096.0, 16_384.0, 65_536.0, 262_144.0, 1_048_576.0, 4_194_304.0, 16_777_216.0,
)  # fmt: skip
_FAILED: Final = "<error>"
_METHOD: Final = "POST"  # all that is ever sent
_REQUESTS: Final = "[ALPHA] Number of HTTP requests, partitioned by status code, method, and host."
_DURATION: Final = "[ALPHA] Request latency in seconds. Broken down by verb, and host."
_SENT: Final = "[ALPHA] Request size in bytes. Broken down by verb and host."
_RECEIVED: Final = "[ALPHA] Response size in bytes. Broken down by verb and host."


class CallMetrics:
    """`clock`: seconds, monotonic. `host`: with its port, as in the URL."""

    def __init__(self, registry: Registry | None = None, clock: Callable[[], float] = perf_counter) -> None:
        add, asked = (registry or Unheard()).add, ("verb", "host")
        self.clock = clock
        self._requests = add(Counter("rest_client_requests_total", _REQUESTS, ("code", "method", "host")))
        self._seconds = add(Histogram("rest_client_request_duration_seconds", _DURATION, asked, _SECONDS))
        self._sent = add(Histogram("rest_client_request_size_bytes", _SENT, asked, _SIZES))
        self._received = add(Histogram("rest_client_response_size_bytes", _RECEIVED, asked, _SIZES))

    def answered(self, host: str, status: int, started: float, sent: int, received: int) -> None:
        """`started` by the clock; `sent`, `received`: bytes of bodies."""
        self._requests.bind(str(status), _METHOD, host).add()
        self._received.bind(_METHOD, host).observe(received)
        self._ended(host, started, sent)

    def failed(self, host: str, started: float, sent: int) -> None:
        """No answer came."""
        self._requests.bind(_FAILED, _METHOD, host).add()
        self._ended(host, started, sent)

    def _ended(self, host: str, started: float, sent: int) -> None:
        self._seconds.bind(_METHOD, host).observe(self.clock() - started)
        self._sent.bind(_METHOD, host).observe(sent)
