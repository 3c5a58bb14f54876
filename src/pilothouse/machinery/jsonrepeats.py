"""Which objects of a long document repeat a member, found without reading all of it exactly.

The exact reader makes each object by a call of Python. In most documents with repeated members they are few, so a
document is read in pieces by the fast parser, and exactly only those pieces that tell more members than they keep.
"""

from __future__ import annotations

from typing import Any

import orjson

from pilothouse.machinery import jsonpieces
from pilothouse.machinery.jsoncodec import Repeated, exact, surely_unique


def repeats(data: bytes) -> tuple[Any, Repeated]:
    """The value, and the members of objects that repeat some, as `exact` tells them but for the text of numbers."""
    pieces = _Pieces(data)
    try:
        return pieces.read(), pieces.repeated
    except (jsonpieces.Odd, orjson.JSONDecodeError):
        return exact(data)


class _Pieces(jsonpieces.Pieces):
    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self.repeated: Repeated = {}

    def parsed(self, text: bytes) -> Any:
        value = orjson.loads(text)
        if surely_unique(text, value):
            return value
        value, repeated = exact(text)
        if id(value) in repeated:  # a part of an object that is put together
            raise jsonpieces.Odd
        self.repeated.update(repeated)
        return value

    def put(self, into: dict[str, Any], name: str, value: Any) -> None:
        if name in into:
            raise jsonpieces.Odd
        super().put(into, name, value)

    def put_all(self, into: dict[str, Any], values: dict[str, Any]) -> None:
        if not into.keys().isdisjoint(values):
            raise jsonpieces.Odd
        super().put_all(into, values)
