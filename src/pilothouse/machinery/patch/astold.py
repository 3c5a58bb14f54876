"""Values of a JSON Patch with the text that they had: `test` compares texts, so that `"\\u0041"` is no `"A"`, `1.50` no
`1.5` and `"<"` not what the server writes for it.

A text or number that is written as the server would write it is itself. Any other is a `Text` or a `Literal`, which is
equal to none but one that is written the same. What is moved keeps its text; what is copied is written once more, with
escapes for the signs that mean something in HTML.
"""

from __future__ import annotations

import json
from typing import Any, Final

from pilothouse.machinery.digits import may_have_floats
from pilothouse.machinery.jsoncodec import dumps, escape, go_float
from pilothouse.machinery.jsonexact import Literal
from pilothouse.machinery.patch.longlist import LongList

_LONGEST: Final = 64 << 10  # bytes; what is longer is compared by value, as its texts would take too long to find
_ODD: Final = (b"\\", b"<", b">", b"&", b"\xe2\x80", b"-0")


class Told(list[dict[str, Any] | None]):
    """Operations that have Texts or Literals in them, which must be taken out of what they make."""


class Text(str):
    """A text with what stood between its quotes."""

    __slots__ = ("told",)
    told: str

    def __new__(cls, value: str, told: str) -> Text:
        made = super().__new__(cls, value)
        made.told = told
        return made


def same(one: Any, other: Any) -> bool:
    """Whether two scalars have the same text."""
    if isinstance(one, Text) or isinstance(other, Text):
        return isinstance(one, Text) and isinstance(other, Text) and one.told == other.told
    if isinstance(one, Literal) or isinstance(other, Literal):
        return isinstance(one, Literal) and isinstance(other, Literal) and one.text == other.text
    alike = type(one) is type(other) or (isinstance(one, float) and isinstance(other, float))
    return alike and bool(one == other)


def with_texts(operations: list[dict[str, Any] | None], data: bytes) -> list[dict[str, Any] | None]:
    """The operations that were read from `data`: Told, where they need Texts and Literals."""
    if len(data) > _LONGEST or not any(operation and operation.get("op") == "test" for operation in operations):
        return operations
    if not (may_have_floats(data) or any(sign in data for sign in _ODD)):
        return operations
    try:
        told = json.loads(_as_text(data), parse_float=_number, parse_int=_number)
    except (ValueError, RecursionError):  # only what the exact reader takes
        return operations
    found = [_with_text(operation, sent) for operation, sent in zip(operations, told, strict=True)]
    return Told(found) if any(one is not old for one, old in zip(found, operations, strict=True)) else operations


def copied(value: Any) -> Any:
    """A value as `copy` puts it elsewhere. Nothing in it is shared but scalars."""
    if isinstance(value, dict):
        return {name: copied(item) for name, item in value.items()}
    if isinstance(value, list | LongList):
        return [copied(item) for item in value]
    return _text(str(value), escape(value.told.encode()).decode()) if isinstance(value, Text) else value


def plain(value: Any) -> Any:
    """The value without Texts and Literals; itself where there are none."""
    if isinstance(value, dict):
        found = {name: plain(item) for name, item in value.items()}
        return found if any(found[name] is not item for name, item in value.items()) else value
    if isinstance(value, list):
        items = [plain(item) for item in value]
        return items if any(item is not old for item, old in zip(items, value, strict=True)) else value
    if isinstance(value, Text):
        return str(value)
    return json.loads(value.text) if isinstance(value, Literal) else value


def _as_text(data: bytes) -> bytes:
    """The document with every escape escaped once more, so that a text is read as it is written."""
    pairs, quotes = b"\0", b"\1"  # which no JSON has in it
    data = data.replace(b"\\\\", pairs).replace(b'\\"', quotes).replace(b"\\", b"\\\\")
    return data.replace(pairs, b"\\\\\\\\").replace(quotes, b'\\\\\\"')


def _with_text(operation: dict[str, Any] | None, sent: Any) -> dict[str, Any] | None:
    if not operation or "value" not in operation or "value" not in sent:
        return operation
    value = _told(operation["value"], sent["value"])
    return operation if value is operation["value"] else {**operation, "value": value}


def _told(value: Any, sent: Any) -> Any:
    """`value` with the texts that `sent` has."""
    if isinstance(value, dict):
        if len(value) != len(sent):  # names that differ by their escapes alone
            return value
        found = {name: _told(item, text) for (name, item), text in zip(value.items(), sent.values(), strict=True)}
        return found if any(found[name] is not item for name, item in value.items()) else value
    if isinstance(value, list):
        items = [_told(item, text) for item, text in zip(value, sent, strict=True)]
        return items if any(item is not old for item, old in zip(items, value, strict=True)) else value
    if isinstance(value, str):
        return _text(value, sent)
    return sent if isinstance(sent, Literal) else value


def _text(value: str, told: str) -> str:
    return value if told == dumps(value).decode()[1:-1] else Text(value, told)


def _number(text: str) -> float | int:
    number = json.loads(text)
    shown = go_float(number) if isinstance(number, float) else str(number)
    return number if shown == text else Literal(text)
