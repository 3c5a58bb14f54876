"""How much of all the warnings about one request is told: beyond that nobody needs to look for more."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

TOTAL: Final = 4096  # characters of all warnings before each is cut
EACH: Final = 256


def enough(texts: Iterable[str]) -> Iterator[str]:
    """The texts until there are more than are ever told. Asks for no more than that."""
    told: set[str] = set()
    size = 0
    for text in texts:
        yield text
        if text not in told:
            told.add(text)
            size += min(len(text), EACH)
            if size > TOTAL:
                return
