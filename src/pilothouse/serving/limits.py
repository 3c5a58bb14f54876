"""The limits of the edge: sizes and times. The defaults are those of kube-apiserver where it has one."""

from __future__ import annotations

from pilothouse.kit.record import record


@record
class Limits:
    """Sizes in bytes, times in seconds."""

    head: int = (1 << 20) + 4096  # request line and headers
    head_time: float = 32.0  # for the headers (and, from the accept on, the TLS handshake)
    idle_time: float = 90.0  # a kept connection without a request
    linger_time: float = 0.5  # how long the rest of an unread body is taken in after the last answer
    stall_time: float = 120.0  # an answer of which the client takes nothing
    unread_body: int = 256 << 10  # a body nobody read, up to this size, is skipped so that the connection can be kept
    read_ahead: int = 256 << 10  # what is held of a body, or of the next requests, before reading stops
    write_high: int = 256 << 10  # what is held for a slow client before a writer has to wait
    write_low: int = 64 << 10
