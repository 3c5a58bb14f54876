"""Remembering what was worked out of a text, but not of long ones: else a client could fill the memory with them."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, update_wrapper
from typing import Concatenate, Final, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
A = TypeVar("A", str, bytes)

LONGEST: Final = 512  # characters


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
