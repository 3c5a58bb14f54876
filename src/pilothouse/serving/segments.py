"""Cuts what is written: long bodies into segments, and what is sent into TLS records.

Small pieces are joined, large ones are viewed, not copied.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

Piece = bytes | memoryview
SEGMENT = 64 << 10  # bytes


def segments(body: bytes | Sequence[bytes]) -> Iterator[Piece]:
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


def slices(pieces: Sequence[Piece], most: int) -> Iterator[Piece]:
    """The bytes of all pieces, in order, in slices of `most` bytes; the last one may be shorter, none is empty."""
    held: list[Piece] = []
    room = most
    for piece in pieces:
        size = len(piece)
        if size < room:
            held.append(piece)
            room -= size
            continue
        view = memoryview(piece)
        yield b"".join((*held, view[:room])) if held else view[:room]
        start = room
        while size - start >= most:
            yield view[start : start + most]
            start += most
        held = [view[start:]] if start < size else []
        room = most - (size - start)
    if room < most:
        yield b"".join(held)
