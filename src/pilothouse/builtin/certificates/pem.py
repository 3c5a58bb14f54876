"""PEM text as the original reads it: blocks between BEGIN and END lines, everything around them passed over."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from typing import Final

from pilothouse.kit.record import record

_BLOCK: Final = re.compile(
    r"^-----BEGIN ([^\n]*?)-----[ \t\r]*\n(.*?)^-----END \1-----[ \t\r]*$", re.DOTALL | re.MULTILINE
)
_HEADER: Final = re.compile(r"[^\n:]+:[^\n]*\n")


@record
class Block:
    """One block. `headers`: whether it has lines such as `Proc-Type: ...` before its bytes."""

    label: str
    content: bytes
    headers: bool


def blocks(text: str) -> Iterator[Block]:
    """Every block whose content is base64; others are passed over."""
    for found in _BLOCK.finditer(text):
        body = found[2]
        headers = False
        while (line := _HEADER.match(body)) is not None:
            headers = True
            body = body[line.end() :]
        try:
            content = base64.b64decode("".join(body.split()), validate=True)
        except (binascii.Error, ValueError):
            continue
        yield Block(found[1], content, headers)
