"""What decoding tells besides the object: strict findings, and why a document is refused."""

from __future__ import annotations

from typing import Any, ClassVar


class DecodeError(ValueError):
    """A document that does not fit its type; the text is the one that clients of the original see."""


class Mismatch(Exception):
    """Inside the decoder only: something is not as expected, and `explain` shall say what."""


class Findings:
    """Notes of one decoding.

    `strict`: texts of unknown (and, from raw JSON, duplicate) fields in the order of the document, each once, at most
    100. `unknown`: some member has no field. `inexact`: a number's literal text is needed. `floats`: members at the top
    of a custom object in which whole numbers were written as floats (`3.0`). `unordered`: long maps that were left as
    they came, for who wants to put them in order once the object is good; None where they have to be by key at once.
    `owned`: nobody else has any part of the value, and no part stands in two places, so that what is in it may become
    part of the object.
    """

    LIMIT: ClassVar[int] = 100

    __slots__ = ("floats", "inexact", "owned", "strict", "unknown", "unordered")

    def __init__(self) -> None:
        self.unordered: list[dict[str, Any]] | None = None
        self.strict: list[str] = []
        self.unknown = False
        self.inexact = False
        self.owned = False
        self.floats: frozenset[str] = frozenset()

    def reset(self) -> None:
        """Ready for decoding the same document again, from its exact form."""
        self.unknown = False
        self.inexact = False

    @property
    def full(self) -> bool:
        """Whether nothing more is noted."""
        return len(self.strict) >= self.LIMIT

    def note(self, text: str) -> None:
        """Add a strict finding."""
        if not self.full and text not in self.strict:
            self.strict.append(text)
