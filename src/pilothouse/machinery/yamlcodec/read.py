"""Reading YAML into what the equal JSON document would have given: as JSON, by the fast reader, or event by event."""

from __future__ import annotations

import re
from typing import Any, Final

from pilothouse.machinery import jsonpieces
from pilothouse.machinery.jsoncodec import surely_unique
from pilothouse.machinery.yamlcodec import reader
from pilothouse.machinery.yamlcodec.build import TextError
from pilothouse.machinery.yamlcodec.errors import YAMLError
from pilothouse.machinery.yamlcodec.events import built
from pilothouse.machinery.yamlcodec.frames import Odd
from pilothouse.machinery.yamlcodec.jsonvalue import ordered
from pilothouse.machinery.yamlcodec.spine import fault_behind

COMPILED: Final = not reader.__file__.endswith(".py")
_CONTROLS: Final = bytes(byte for byte in (*range(0x20), 0x7F) if byte not in b"\t\n\r")
_CONTROL: Final = re.compile(b"[%b]" % re.escape(_CONTROLS))
# Controls, breaks and marks beyond ASCII, in UTF-8; the parser refuses them or takes them for something else.
_BEYOND: Final = re.compile(rb"\xc2[\x80-\x9f]|\xe2\x80[\xa8\xa9]|\xef(?:\xbb\xbf|\xbf[\xbe\xbf])")
_MARK: Final = b"\xef\xbb\xbf"
_BREAKS: Final = bytes.maketrans(b"\r", b"\n")


def loads(data: bytes) -> Any:
    """The value of the first document, None for an empty one; members of objects sorted by name.

    Of repeated keys the last counts. Raises YAMLError.
    """
    return loads_noting(data)[0]


def loads_noting(data: bytes) -> tuple[Any, list[str]]:
    """The same, and what strict decoding finds: `line 7: key "k" already set in map`."""
    if data.startswith((b"{", b"[")):
        # Most clients send JSON as YAML; that is much faster to read.
        value = _json_value(data)
        if value is not None:
            return value, []
    return fast(data) if COMPILED else built(data)


def fast(data: bytes) -> tuple[Any, list[str]]:
    """As `loads_noting`, by the fast reader as far as it knows what comes."""
    end = _end_of_text(data)
    goes_on = end < len(data)
    if b"\r" in data:
        if goes_on:  # the places count
            return built(data)
        data = data.replace(b"\r\n", b"\n").translate(_BREAKS)  # all of them end a line and mean the same
        end = len(data)
    found = reader.Reader(data[:end], goes_on=True) if goes_on else reader.Reader(data)
    said: YAMLError | None = None
    try:
        return found.document(), found.repeated
    except Odd:
        if goes_on:
            found.said = None  # the last line is not all there
        said = found.said
    except TextError as told:  # the parser looks ahead, and may find something before
        said = told
    wrong = fault_behind(found, data, first=goes_on) or said
    if wrong is not None:
        raise wrong
    return built(data)


def _end_of_text(data: bytes) -> int:
    """Where the first sign stands that the parser refuses in any place, or that is a break other than a new line."""
    end = len(data)
    if len(data.translate(None, _CONTROLS)) < end:
        found = _CONTROL.search(data)
        end = end if found is None else found.start()
    if data.isascii():
        return end
    try:
        data.decode()
    except UnicodeDecodeError as wrong:
        end = min(end, wrong.start)
    found = _BEYOND.search(data, len(_MARK) if data.startswith(_MARK) else 0, end)
    return end if found is None else found.start()


def _json_value(data: bytes) -> Any:
    """The value of a document that is JSON without members that are there twice; None where it is none."""
    if data[-1:].isspace() and data.rstrip(b" \r\n").endswith(b"\t"):
        return None  # a tab begins no token, also where none follows
    if (b"\n" in data or b"\r" in data) and b"\n:" in data.translate(_BREAKS, b" \t"):
        return None  # a colon stands in the line of its name
    if COMPILED and b"\\" not in data and jsonpieces.is_heavy(data):
        return None  # it is as dense as can be: the fast reader takes no longer, and lets others have their turns
    try:
        value = jsonpieces.loads(data)
        return ordered(value) if surely_unique(data, value) else None
    except (RecursionError, ValueError):
        return None


def duplicates_text(repeated: list[str]) -> str:
    """How an error shows repeated keys."""
    return "yaml: unmarshal errors:" + "".join(f"\n  {one}" for one in repeated)
