"""What the parser finds wrong with a text, as the original words it."""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import Final, Protocol

import yaml
from yaml.reader import ReaderError
from yaml.scanner import ScannerError

from pilothouse.machinery.yamlcodec.build import TOO_DEEP
from pilothouse.machinery.yamlcodec.errors import YAMLError

BLOCK: Final = 1 << 14  # bytes that the parser asks for and decodes at once
_BEHIND: Final = "did not find expected <document start>"  # of what stands behind the only document that is read
_ENDS: Final = (yaml.DocumentEndEvent, yaml.StreamEndEvent, type(None))


class Readable(Protocol):
    """What the parser reads."""

    def read(self, size: int = ..., /) -> bytes:
        """The next piece; nothing at the end."""


class Pieces:
    """A text that the parser reads piece by piece, so that others have their turns meanwhile."""

    def __init__(self, *texts: bytes) -> None:
        self._texts = [memoryview(text) for text in texts if text]

    def read(self, size: int = BLOCK) -> bytes:
        """The next piece; nothing at the end."""
        if not self._texts:
            return b""
        text = self._texts[0]
        if len(text) > size:
            self._texts[0] = text[size:]
        else:
            del self._texts[0]
        return bytes(text[:size])


def fault(text: Readable, line_of: Callable[[int], int] = int) -> YAMLError | None:
    """What is wrong with a text that is one document; `line_of` tells the line, from 0."""
    parser = yaml.CLoader(text)
    try:
        parser.raw_parse()
    except ReaderError as wrong:
        return unreadable(wrong)
    except yaml.MarkedYAMLError as wrong:
        return None if wrong.problem == _BEHIND else worded(wrong, line_of)
    finally:
        parser.dispose()
    return None


def fault_of_first(
    text: Readable, line_of: Callable[[int], int] = int, anchors: Container[str] | None = None
) -> YAMLError | None:
    """The same of the first of some documents. `anchors`: aliases of all others end it, as they are wrong too."""
    parser = yaml.CLoader(text)
    try:
        event = parser.get_event()
        while event.__class__ not in _ENDS:
            if anchors is not None and event.__class__ is yaml.AliasEvent and event.anchor not in anchors:
                return None
            event = parser.get_event()
    except ReaderError as wrong:
        return unreadable(wrong)
    except yaml.MarkedYAMLError as wrong:
        return worded(wrong, line_of)
    finally:
        parser.dispose()
    return None


def unreadable(wrong: ReaderError) -> YAMLError:
    """What the original says of signs that are none."""
    reason = wrong.reason
    return YAMLError(f"yaml: {reason.decode() if isinstance(reason, bytes) else reason}")


def worded(wrong: yaml.MarkedYAMLError, line_of: Callable[[int], int] = int) -> YAMLError:
    """What the original says of a text that is none; `line_of` tells the line of the whole document, from 0.

    Go counts lines from 0 and adds one for the scanner only; line 0 is not shown.
    """
    if wrong.problem == "exceeded maximum nesting depth":  # this parser goes less deep
        return YAMLError(TOO_DEEP)
    line = line_of(wrong.problem_mark.line) if wrong.problem_mark is not None else 0
    if line:
        line += 1 if isinstance(wrong, ScannerError) else 0
    elif wrong.context_mark is not None:
        line = line_of(wrong.context_mark.line)
    where = f"line {line}: " if line else ""
    return YAMLError(f"yaml: {where}{wrong.problem or 'unknown problem parsing YAML content'}")
