"""What becomes a text: bytes that are to be encoded later, times, and byte strings that are no UTF-8."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, Final

from pilothouse.kit.wholetext import whole_text
from pilothouse.machinery import schema as s
from pilothouse.machinery.cbor import model
from pilothouse.machinery.cbor.model import CBORError
from pilothouse.machinery.cbor.writer import holds_bytes
from pilothouse.machinery.schema import Schema

ENCODED: Final[dict[int, Callable[[bytes], bytes]]] = {
    model.AS_BASE64URL: lambda raw: base64.urlsafe_b64encode(raw).rstrip(b"="),
    model.AS_BASE64: base64.b64encode,
    model.AS_BASE16: lambda raw: raw.hex().encode(),
}
_NO_BASE64: Final = re.compile(r"[^A-Za-z0-9+/=\r\n]")
_MANY: Final = 64  # members, which are worth a look at all of them together
_TEXTS: Final = {str}
_TEXTS_AND_NULL: Final = frozenset((str, type(None)))
_PART: Final = 4096
_SHORT: Final = 32  # signs of a name that is worth to be kept
_BETWEEN: Final = "\0\1\2"  # rarely within a text; and no end of it is its beginning, so none is found across one
BAD: Final = "\ufffd"  # stands for a byte that is no UTF-8
_EPOCH: Final = datetime(1970, 1, 1)


@lru_cache(1024)
def time_text(seconds: float) -> str:
    """Seconds since 1970 as an RFC 3339 text. Raises OverflowError."""
    shown = (_EPOCH + timedelta(seconds=seconds)).isoformat()
    return shown.rstrip("0") + "Z" if "." in shown else f"{shown}Z"


def all_texts(items: list[Any]) -> bool:
    """Whether they may be in a list of texts."""
    return _TEXTS_AND_NULL.issuperset(map(type, items))


def settle(value: Any, schema: Schema | None) -> Any:
    """A value with byte strings that were no UTF-8, whose bytes are in surrogates: they are refused where base64
    belongs, else each bad byte becomes U+FFFD. Raises CBORError.
    """
    kind = value.__class__
    if kind is str:
        if value.isascii():
            return value
        if schema is not None and schema.kind == s.BYTES:
            raise _no_base64(value)
        return whole_text(value)
    if kind is list:
        items = schema.items if schema is not None and schema.kind == s.LIST else None
        return [settle(item, items) for item in value]
    if kind is dict:
        if len(value) > _MANY and set(map(type, value.values())) == _TEXTS and not may_be_base64(schema):
            return dict(zip(_whole_texts(list(value)), _whole_texts(list(value.values())), strict=True))
        return {
            whole_text(key): item if item.__class__ is str and item.isascii() else settle(item, under(schema, key))
            for key, item in value.items()
        }
    return value


def only_base64(value: Any, schema: Schema | None) -> Any:
    """A value, unless something else is where base64 belongs. Raises CBORError."""
    if schema is None or not holds_bytes(schema):
        return value
    kind = value.__class__
    if kind is str and schema.kind == s.BYTES and not value.isascii():
        raise _no_base64(value)
    if kind is list and schema.kind == s.LIST:
        for item in value:
            only_base64(item, schema.items)
    elif kind is dict:
        for key, item in value.items():
            only_base64(item, under(schema, key))
    return value


def _no_base64(text: str) -> CBORError:
    found = _NO_BASE64.search(text)
    bad = found.start() if found is not None else 0  # all before it is ASCII
    return CBORError(f"cbor: failed to decode base64 from byte string: illegal base64 data at input byte {bad}")


def shown(raw: bytes | bytearray) -> str:
    """A text in which BAD stands for each byte that is no UTF-8."""
    escaped = raw.decode("utf-8", "surrogateescape")
    text = raw.decode("utf-8", "replace")
    if len(text) == len(escaped):
        return text
    return whole_text(escaped)  # one stands for several


def with_whole_names(value: dict[str, Any]) -> dict[str, Any]:
    """An object in which BAD stands for each byte of names that is no UTF-8. Of those that are equal then, the last one
    counts.
    """
    if len(value) > _MANY:
        return dict(zip(_whole_texts(list(value)), value.values(), strict=True))
    if max(map(len, value), default=0) < _SHORT:
        return dict(zip(map(_kept_name, value), value.values(), strict=True))
    return {whole_text(name): item for name, item in value.items()}


_kept_name: Final = lru_cache(1024)(whole_text)


def may_be_base64(schema: Schema | None) -> bool:
    """Whether what is in a container may be base64."""
    if schema is None:
        return False
    return schema.kind == s.STRUCT or (schema.kind in (s.LIST, s.MAP) and schema.items.kind == s.BYTES)


def shown_apart(latin: list[str]) -> list[str]:
    """The text of each string, of which these have a sign for each byte; with few calls, none of which is long."""
    made: list[str] = []
    for start in range(0, len(latin), _PART):
        part = latin[start : start + _PART]
        whole = shown(_BETWEEN.join(part).encode("latin-1")).split(_BETWEEN)
        made += whole if len(whole) == len(part) else [shown(string.encode("latin-1")) for string in part]
    return made


def escaped_apart(latin: list[str]) -> list[str]:
    """The same with the bytes that are no UTF-8 in surrogates."""
    made = _BETWEEN.join(latin).encode("latin-1").decode("utf-8", "surrogateescape").split(_BETWEEN)
    if len(made) == len(latin):
        return made
    return [string.encode("latin-1").decode("utf-8", "surrogateescape") for string in latin]


def _whole_texts(texts: list[str]) -> list[str]:
    """`whole_text` of each, the same way."""
    made: list[str] = []
    for start in range(0, len(texts), _PART):
        part = texts[start : start + _PART]
        together = _BETWEEN.join(part)
        if not together.isascii():
            whole = shown(together.encode("utf-8", "surrogateescape")).split(_BETWEEN)
            part = whole if len(whole) == len(part) else list(map(whole_text, part))
        made += part
    return made


def under(schema: Schema | None, key: str) -> Schema | None:
    """The type of a member of an object, where it is known."""
    if schema is None:
        return None
    if schema.kind == s.MAP:
        return schema.items
    field = schema.properties.get(key) if schema.kind == s.STRUCT else None
    return field.schema if field is not None else None
