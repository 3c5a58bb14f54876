"""The collections that are open while a document is read."""

from __future__ import annotations

from typing import Any, Final

from mypy_extensions import i64

ROOT: Final = 0  # holds the document's one value
MAP: Final = 1
LIST: Final = 2
FLOW_MAP: Final = 3
FLOW_LIST: Final = 4
PAIR: Final = 5  # a map of one member in a list in flow style, without brackets

# What is due at a place: a value, an entry of a collection, or, behind a value, the end of it.
VALUE: Final = 0
ENTRY: Final = 1
END: Final = 2

UNFINISHED: Final = object()  # what an anchor stands for within its value
NOTHING: Final[list[Any]] = []
NOBODY: Final[dict[str, Any]] = {}


class Frame:
    """One of them: where it stands, what is in it so far, and what is due next."""

    def __init__(self, kind: i64, indent: i64) -> None:
        self.kind = kind
        self.indent = indent  # of block style: the column of its keys or dashes
        self.anchor = ""
        self.items: list[Any] = [] if kind in (LIST, FLOW_LIST) else NOTHING
        self.members: dict[str, Any] = {} if kind in (MAP, FLOW_MAP, PAIR) else NOBODY
        self.key = ""  # whose value is due,
        self.shown = ""  # and how it is shown if it is no text
        self.last = ""  # the key before
        self.ordered = True  # so far each key came after the one before
        self.awaits = kind == ROOT  # a value is due
        self.nameless = False  # the key is null
        self.asked = False  # the key came behind a `?`, and its colon is due
        self.merging = False  # the key is `<<`
        self.after = False  # of flow style: an entry is complete, a comma or the end is due
        self.begin: i64 = 0  # of flow style: where its bracket stands
        self.colon: i64 = 0  # where the last key's colon stands


class Odd(Exception):
    """The reader does not know what comes: a fault, or a construct that it leaves to the parser."""
