"""Texts without halves of signs: what no text can hold becomes U+FFFD, one for each, as Go's decoders do it."""

from __future__ import annotations

import re
from typing import Final

_HALVES: Final = re.compile("[\ud800-\udfff]+")  # surrogates; "surrogateescape" leaves bytes that are no UTF-8 as such


def whole_text(text: str) -> str:
    """`text`, each lone surrogate replaced.

    Runs of them are replaced by a function: a megabyte that is nothing else is one step, and other threads get their
    turn between runs.
    """
    if text.isascii():
        return text
    try:
        text.encode()  # ten times as fast as looking for them
    except UnicodeEncodeError:
        return _HALVES.sub(_replacement, text)
    return text


def _replacement(found: re.Match[str]) -> str:
    return "\ufffd" * (found.end() - found.start())
