"""What becomes a text: bytes that are to be encoded later, times, and byte strings that are no UTF-8."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, Final

from pilothouse.kit.wholetext import whole_text
from pilothouse.machinery.cbor import model
from pilothouse.machinery.cbor.model import CBORError

ENCODED: Final[dict[int, Callable[[bytes], bytes]]] = {
    model.AS_BASE64URL: lambda raw: base64.urlsafe_b64encode(raw).rstrip(b"="),
    model.AS_BASE64: base64.b64encode,
    model.AS_BASE16: lambda raw: raw.hex().encode(),
}
_NO_BASE64: Final = re.compile(r"[^A-Za-z0-9+/=\r\n]")
_SHORT: Final = 32  # signs of a name that is worth to be kept
BAD: Final = "\ufffd"  # stands for a byte that is no UTF-8
_EPOCH: Final = datetime(1970, 1, 1)


@lru_cache(1024)
def time_text(seconds: float) -> str:
    """Seconds since 1970 as an RFC 3339 text. Raises OverflowError."""
    shown = (_EPOCH + timedelta(seconds=seconds)).isoformat()
    return shown.rstrip("0") + "Z" if "." in shown else f"{shown}Z"


def no_base64(text: str) -> CBORError:
    """The refusal of a text beyond ASCII where base64 belongs."""
    found = _NO_BASE64.search(text)
    bad = found.start() if found is not None else 0  # all before it is ASCII
    return CBORError(f"cbor: failed to decode base64 from byte string: illegal base64 data at input byte {bad}")


def shown(raw: bytes, replaced: str) -> str:
    """A text in which BAD stands for each byte that is no UTF-8. `replaced`: one in which it may stand for several."""
    escaped = raw.decode("utf-8", "surrogateescape")
    if len(escaped) == len(raw):  # no two bytes are one sign
        return raw.decode("ascii", "replace")
    if len(escaped) == len(replaced):
        return replaced
    if b"?" in raw:
        return whole_text(escaped)
    return escaped.encode("utf-8", "replace").decode().replace("?", BAD)


def with_whole_names(value: dict[str, Any]) -> dict[str, Any]:
    """An object in whose names BAD stands for each byte that is no UTF-8, which are in surrogates. Of those that are
    equal then, the last one counts.
    """
    return {name if name.isascii() else _kept_name(name): item for name, item in value.items()}


def _kept_name(name: str) -> str:
    return _short_name(name) if len(name) < _SHORT else _whole_name(name)


def _whole_name(name: str) -> str:
    raw = name.encode("utf-8", "surrogateescape")
    replaced = raw.decode("utf-8", "replace")
    return shown(raw, replaced) if BAD in replaced else name


_short_name: Final = lru_cache(1024)(_whole_name)
