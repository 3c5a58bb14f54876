"""Cuts long bodies into segments for writing: small pieces are joined, large ones are viewed, not copied."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

SEGMENT = 64 << 10  # bytes


def segments(body: bytes | Sequence[bytes]) -> Iterator[bytes | memoryview]:
    """The bytes of `body`, in order, in segments of up to SEGMENT bytes; none is empty."""
    held: list[bytes] = []
    size = 0
    for piece in (body,) if isinstance(body, bytes) else body:
        if size + len(piece) > SEGMENT and held:
            yield b"".join(held)
            held, size = [], 0
        if len(piece) > SEGMENT:
            view = memoryview(piece)
            for start in range(0, len(piece), SEGMENT):
                yield view[start : start + SEGMENT]
        elif piece:
            held.append(piece)
            size += len(piece)
    if held:
        yield b"".join(held)
