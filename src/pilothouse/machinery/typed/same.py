"""Whether two JSON values are the same to the original: where nothing says what type they have, true is no 1.

Compiled (docs/designs/compiled.md).
"""

from __future__ import annotations

from typing import Any, Final

from mypy_extensions import i64

from pilothouse.machinery.jsoncodec import identical
from pilothouse.machinery.typed.turns import DEEPEST, TURNS

_DIFFERENT: Final = 0
_SAME: Final = 1
_UNSURE: Final = 2  # floats: it matters how they are written


def same(a: Any, b: Any) -> bool:
    """As `identical`. Raises RecursionError."""
    if a is b or type(a) is str:
        return bool(a == b)
    if a != b:
        return False
    found = _compared(a, b, 0)
    return identical(a, b) if found == _UNSURE else found == _SAME


def _compared(a: Any, b: Any, depth: i64) -> int:
    """Whether two values are the same that Python holds for equal."""
    if type(a) is str or a is None:
        return _SAME
    if depth > DEEPEST:
        raise RecursionError
    TURNS.left -= 1
    if TURNS.left <= 0:
        TURNS.over()
    if isinstance(a, dict) and isinstance(b, dict):
        for name, inner in a.items():
            found = _SAME if type(inner) is str else _compared(inner, b[name], depth + 1)
            if found != _SAME:
                return found
        return _SAME
    if isinstance(a, list) and isinstance(b, list):
        for at, inner in enumerate(a):
            found = _SAME if type(inner) is str else _compared(inner, b[at], depth + 1)
            if found != _SAME:
                return found
        return _SAME
    if isinstance(a, bool) or isinstance(b, bool):
        return _SAME if isinstance(a, bool) and isinstance(b, bool) else _DIFFERENT
    return _SAME if type(a) is int and type(b) is int else _UNSURE
