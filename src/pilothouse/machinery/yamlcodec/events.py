"""Reading YAML event by event: the whole of a document, as the parser tells it.

This decides what a document means. It is asked for what the fast reader does not know, and for everything where that
one is not compiled.
"""

from __future__ import annotations

import re
from typing import Any, Final

import yaml
from yaml.reader import ReaderError

from pilothouse.machinery.yamlcodec.build import Builder, TextError
from pilothouse.machinery.yamlcodec.errors import YAMLError
from pilothouse.machinery.yamlcodec.faults import Pieces, fault, unreadable, worded

LONG: Final = 1 << 15  # bytes from which on a text is looked through first
_ALIAS: Final = re.compile(rb"\*[\w-]")  # what may be one
# What may begin another document.
_SECOND: Final = (b"\n---", b"\n...", b"\n%", b"\r---", b"\r...", b"\r%")
_ENDS: Final = (yaml.DocumentEndEvent, yaml.StreamEndEvent, type(None))


def built(data: bytes, *, checked: bool = False) -> tuple[Any, list[str]]:
    """The value of the first document, and what strict decoding finds. Raises YAMLError.

    `checked`: nothing is wrong with the text.
    """
    builder = Builder()
    # The C parser takes a byte order mark for the choice of an encoding, as Go's does.
    parser = yaml.CLoader(data)
    try:
        checked = checked or _is_checked(data)
        return _first(parser, builder, checked=checked), builder.repeated
    except ReaderError as wrong:
        raise unreadable(wrong) from None
    except yaml.MarkedYAMLError as wrong:
        raise worded(wrong) from None
    finally:
        parser.dispose()


def says_in_turn(data: bytes, start: int = 0) -> bool:
    """Whether a text may hold aliases, or another document: then it is looked at event by event."""
    return _ALIAS.search(data, start) is not None or any(data.find(mark, max(start - 1, 0)) >= 0 for mark in _SECOND)


def _is_checked(data: bytes) -> bool:
    """Raises what is wrong with the text of a long document, which takes a fifth of what it costs to make its events.

    False where what is wrong has to be told together with what the document says.
    """
    if len(data) < LONG or says_in_turn(data):
        return False
    wrong = fault(Pieces(data))
    if wrong is not None:
        raise wrong
    return True


def _first(parser: yaml.CLoader, builder: Builder, *, checked: bool) -> Any:
    try:
        return builder.build(parser.get_event)
    except TextError:
        raise
    except YAMLError:
        if not checked:  # what is wrong with the text behind it is told first
            while parser.get_event().__class__ not in _ENDS:
                pass
        raise
