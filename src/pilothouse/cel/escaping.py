"""Names of properties as expressions write them: `x-y` is `x__dash__y`."""

from __future__ import annotations

import re
from typing import Final

_RESERVED: Final = frozenset(
    {
        "true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if", "import",
        "let", "loop", "package", "namespace", "return", "var", "void", "while",
    }
)  # fmt: skip
_PLAIN: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_NAME: Final = re.compile(r"[A-Za-z_./\-][A-Za-z0-9_./\-]*", re.ASCII)
_SIGNS: Final = (("__", "__underscores__"), (".", "__dot__"), ("-", "__dash__"), ("/", "__slash__"))


def escaped(name: str) -> str:
    """What expressions write for a property; "" where they cannot reach it."""
    if name in _RESERVED:
        return f"__{name}__"
    if "__" not in name and _PLAIN.fullmatch(name):
        return name
    if not _NAME.fullmatch(name):
        return ""
    for sign, word in _SIGNS:
        name = name.replace(sign, word)
    return name


def is_reserved(name: str) -> bool:
    """A word of the language; it may also be written as it is."""
    return name in _RESERVED
