"""Byte strings beyond ASCII: what is no UTF-8 in them is shown as BAD, unless they may have to be base64. Those of a
container wait for its end, since few calls make texts of very many.
"""

from __future__ import annotations

from typing import Any, Final

from pilothouse.machinery.cbor import model
from pilothouse.machinery.cbor.places import ITEM, Places
from pilothouse.machinery.cbor.texts import BAD, shown, shown_apart, with_whole_names
from pilothouse.machinery.schema import Schema

_STEPS: Final = frozenset((str, int))  # names and places of items


class Beyond(Places):
    """`shown`: whether a byte string was no UTF-8, and BAD is in its place. `waiting`: names or places of byte strings
    that still have a sign for each byte, by the depth of the one container there that is not at its end. `misnamed`:
    the depths of objects with names that were no UTF-8, whose bytes are in surrogates meanwhile: those are not equal
    that are shown as equal.
    """

    __slots__ = ("misnamed", "shown", "waiting")

    def __init__(self, data: bytes, schema: Schema | None, room: int) -> None:
        super().__init__(data, schema, room)
        self.shown = False
        self.waiting: dict[int, list[Any]] = {}
        self.misnamed: set[int] = set()

    def _beyond_ascii(self, first: int, latin: str, step: Any, depth: int) -> str:
        """A string that is in a container by this name, or at this place; `latin` has a sign for each of its bytes."""
        if first >> 5 == model.TEXT:
            return self._utf8(latin.encode("latin-1"))
        waiting = self.waiting.get(depth)
        if waiting is None and step.__class__ in _STEPS and self._are_texts(depth):
            waiting = self.waiting[depth] = []
        if waiting is not None and step.__class__ in _STEPS:
            waiting.append(step)
            return latin
        raw = latin.encode("latin-1")
        text = raw.decode("utf-8", "replace")  # which is quicker than an error
        if BAD not in text:
            return text
        if not self._is_text(ITEM if step.__class__ is int else step, depth):
            return self._byte_text(raw, 0)
        self.shown = True
        return shown(raw)

    def _ended(self, made: dict[str, Any], depth: int) -> dict[str, Any]:
        """An object at its end."""
        if depth in self.waiting:
            self._show(made, depth)
        if depth not in self.misnamed:
            return made
        self.misnamed.discard(depth)
        self.shown = True
        return with_whole_names(made)

    def _show(self, made: Any, depth: int) -> None:
        """Makes texts of the strings of a container that were waiting for its end: many are quicker made together."""
        steps = self.waiting.pop(depth, None)
        if steps is None or self.error is not None:
            return
        texts = shown_apart([made[step] for step in steps])
        self.shown = self.shown or BAD in "".join(texts)
        for step, text in zip(steps, texts, strict=True):
            made[step] = text
