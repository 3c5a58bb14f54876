"""Documents as JSON bytes in the original's way of escaping, and their digests."""

from __future__ import annotations

import hashlib
from typing import Any

import orjson

from pilothouse.machinery.jsoncodec import escape


def dumps(document: Any) -> bytes:
    """Compact JSON without a newline, `<`, `>` and `&` escaped."""
    return escape(orjson.dumps(document))


def digest(data: bytes) -> str:
    """What the index links to and ETags hold: SHA-512 in capital hex digits."""
    return hashlib.sha512(data).hexdigest().upper()
