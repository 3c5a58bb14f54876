"""Remembering what was worked out of a text or a value, but not of long ones: else a client could fill the memory."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, update_wrapper
from typing import Any, Concatenate, Final, Generic, ParamSpec, TypeVar

import orjson

P = ParamSpec("P")
T = TypeVar("T")
A = TypeVar("A", str, bytes)

LONGEST: Final = 512  # characters
RARE: Final = 128 << 10  # bytes of a document whose parts hardly ever come again


def remembered(
    most: int, longest: int = LONGEST
) -> Callable[[Callable[Concatenate[A, P], T]], Callable[Concatenate[A, P], T]]:
    """A function of a text (and of other hashable things) whose last `most` results are kept, for short texts."""

    def around(work: Callable[Concatenate[A, P], T]) -> Callable[Concatenate[A, P], T]:
        kept = lru_cache(most)(work)

        def call(text: A, /, *arguments: P.args, **named: P.kwargs) -> T:
            if len(text) > longest:
                return work(text, *arguments, **named)
            return kept(text, *arguments, **named)  # type: ignore[arg-type]

        update_wrapper(call, work)
        return call

    return around


class Stamped(Generic[T]):
    """What was worked out of JSON values that come again and again, as the pods of one template do.

    A value is known by its text. When `most` are known, it begins anew: that needs no lock and no order. Texts over
    `longest` bytes, and values that cannot be written, are never known.
    """

    __slots__ = ("_kept", "_longest", "_most")

    def __init__(self, most: int = 256, longest: int = 8192) -> None:
        self._kept: dict[bytes, T] = {}
        self._most = most
        self._longest = longest

    def key(self, value: Any) -> bytes:
        """The text of a value; empty for one that is not to be remembered."""
        if value.__class__ is dict:
            for inner in value.values():
                if inner.__class__ is list and 2 * len(inner) > self._longest:  # so the whole is too long, too
                    return b""
        try:
            text = orjson.dumps(value)
        except (orjson.JSONEncodeError, TypeError):
            return b""
        return text if len(text) <= self._longest else b""

    def get(self, key: bytes) -> T | None:
        """What was kept for the value, if anything."""
        return self._kept.get(key)

    def keep(self, key: bytes, made: T) -> None:
        """Remember what was worked out. `made` is shared from now on: nobody may change it."""
        if key:
            if len(self._kept) >= self._most:
                self._kept = {}
            self._kept[key] = made
