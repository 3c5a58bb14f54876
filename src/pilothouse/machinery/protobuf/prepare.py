"""Compiling ahead: the first message of a big type costs tens of milliseconds, better spent while a server starts."""

from __future__ import annotations

from collections.abc import Iterator

from pilothouse.machinery.protobuf import plan
from pilothouse.machinery.protobuf.encoder import encoder
from pilothouse.machinery.protobuf.message import message
from pilothouse.machinery.schema import Schema


def prepare(schema: Schema) -> Iterator[Schema]:
    """Compiles the codec of a type and of all that it holds, one a step (a millisecond or two)."""
    seen: set[int] = set()
    waiting = [schema]
    while waiting:
        made = waiting.pop()
        if id(made) in seen:
            continue
        seen.add(id(made))
        encoder(made)
        message(made)
        yield made
        waiting += [inner for slot in plan.slots(made) if (inner := plan.message_of(slot)) is not None]
