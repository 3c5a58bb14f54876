"""Where in a document its reader is, and what is wanted there: what its type has no place for need not be made, and
nothing once all is refused.
"""

from __future__ import annotations

import sys
from itertools import islice
from typing import Any, Final

from pilothouse.machinery import schema as s
from pilothouse.machinery.cbor import runs
from pilothouse.machinery.cbor.model import MAX_DEPTH
from pilothouse.machinery.cbor.strings import Strings
from pilothouse.machinery.cbor.texts import all_texts, may_be_base64
from pilothouse.machinery.decode.generate import most_items
from pilothouse.machinery.schema import Schema

TAG: Final = object()  # steps to an item that are no names
ITEM: Final = object()
_NO_LISTS: Final = frozenset((s.STRING, s.BOOL, s.INT32, s.INT64, s.FLOAT64, s.MAP, s.STRUCT))  # whatever is in one
_NO_OBJECTS: Final = frozenset((s.STRING, s.BOOL, s.INT32, s.INT64, s.FLOAT64, s.LIST))
_PARTED: Final = frozenset((s.LIST, s.MAP, s.STRUCT))
_CLASSES: Final = {s.STRING: str, s.BOOL: bool, s.INT32: int, s.INT64: int}  # of which the first other one is told
_LOOK: Final = 64  # values that were made last
_NOWHERE: Final = Schema(s.STRUCT)


class Places(Strings):
    """`path`: the steps to the item at hand: names, or why there is none. `schema` is the type of the whole, if it is
    known. `body`: whether it is an object that is sent, `applied`: an applied configuration. `told`: the type that was
    `asked` for last, by its steps.
    """

    __slots__ = ("applied", "asked", "body", "path", "schema", "told")

    def __init__(self, data: bytes, schema: Schema | None, room: int) -> None:
        super().__init__(data, room)
        self.schema = schema
        self.body = self.applied = False
        self.asked: list[Any] | None = None
        self.told: Schema | None = None
        self.path: list[Any] = [TAG] * (MAX_DEPTH + 1)

    def _most(self, made: list[Any], depth: int) -> int:
        """How many items of a list are wanted: none if its type has no place for it, or for one that was `made`, or all
        is refused.
        """
        if self.error is not None:
            return 0
        schema = self._type(depth)
        if schema is None or schema is _NOWHERE:
            return sys.maxsize if schema is None else 0
        if schema.kind in _NO_LISTS and (not self.applied or self._is_top(depth)):
            return 0
        if (
            not self.applied
            and schema.kind == s.LIST
            and schema.items.kind == s.STRING
            and not all_texts(made[-runs.MANY :])
        ):
            return 0
        if self.applied or schema.kind != s.LIST or schema.items.kind != s.STRUCT or self.path[depth - 1] == "items":
            return sys.maxsize
        return most_items(schema.items)  # the items of a list of objects may be more

    def _are_wanted(self, made: dict[str, Any], names: list[str], depth: int) -> bool:
        """Whether the values that come next in an object, with these `names` if they are known, are: not if its type
        has no place for them, or for one that was `made`, or all is refused.
        """
        if self.error is not None:
            return False
        schema = self._type(depth)
        if schema is None or schema is _NOWHERE:
            return schema is None
        if schema.kind == s.STRUCT:
            return not names or not schema.properties.keys().isdisjoint(names)
        if self.applied:
            return True
        good = _CLASSES.get(schema.items.kind) if schema.kind == s.MAP else None
        if good is not None:
            return all(value is None or value.__class__ is good for value in islice(reversed(made.values()), _LOOK))
        return schema.kind not in _NO_OBJECTS

    def _may_be_unwanted(self, made: dict[str, Any], depth: int) -> bool:
        """Whether the same is not wanted, or it depends on their names."""
        schema = self._type(depth)
        return (schema is not None and schema.kind == s.STRUCT) or not self._are_wanted(made, [], depth)

    def _is_opaque(self, depth: int) -> bool:
        """Whether an item at `depth` is in what its type takes as it is, so that nobody changes it."""
        if self.applied or not self._is_known():
            return False
        schema = self._type(depth)
        return schema is None or schema.kind not in _PARTED

    def _are_texts(self, depth: int) -> bool:
        """Whether strings in a container are texts for sure, which need not be UTF-8."""
        if self.applied or self.schema is None:
            return True
        return self.body and not may_be_base64(self._type(depth))

    def _is_text(self, step: Any, depth: int) -> bool:
        """The same of a string that is in it by this name, or as an item."""
        if self.applied or self.schema is None or not self.body:
            return self.applied or self.schema is None
        self.path[depth] = step
        schema = self._type(depth + 1)
        return schema is None or schema.kind != s.BYTES

    def _is_known(self) -> bool:
        """Whether the type of the whole is."""
        return self.body and self.schema is not None

    def _type(self, depth: int) -> Schema | None:
        """That of the container whose items are at `depth`; _NOWHERE where an object has no such member, None where it
        is not known.
        """
        steps = self.path[1:depth]
        if steps != self.asked:
            self.asked, self.told = steps, self._looked_up(steps)
        return self.told

    def _looked_up(self, steps: list[Any]) -> Schema | None:
        schema = self.schema if self.body else None
        for step in steps:
            if schema is None or step is TAG:
                continue
            if schema.kind == (s.LIST if step is ITEM else s.MAP):
                schema = schema.items
            elif schema.kind == s.STRUCT and step is not ITEM:
                field = schema.properties.get(step)
                if field is None:
                    return _NOWHERE
                schema = field.schema
            else:
                return None
        return schema

    def _is_top(self, depth: int) -> bool:
        """Whether an item is in nothing but tags."""
        return all(step is TAG for step in self.path[1:depth])
