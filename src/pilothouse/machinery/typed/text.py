"""How the original prints values in its messages."""

from __future__ import annotations

from typing import Any, Final

from pilothouse.machinery.goquote import quote
from pilothouse.machinery.typed.printed import plain_of, plains_of, syntax_of


def plain(value: Any) -> str:
    """A JSON value as Go's %v: `map[a:1 b:[x y]]`, keys sorted, `<nil>`."""
    if not isinstance(value, dict | list) or (len(value) <= _FEW and not _holds_containers(value)):
        return _plain(value)
    return plain_of(value, number) or _plain(value)


def plain_each(values: list[Any]) -> list[str]:
    """`plain` of many maps and lists."""
    return plains_of(values, number) or list(map(plain, values))


_FEW: Final = 4
_CONTAINERS: Final = frozenset((dict, list))


def _holds_containers(value: dict[str, Any] | list[Any]) -> bool:
    return not _CONTAINERS.isdisjoint(map(type, value.values() if isinstance(value, dict) else value))


def _plain(value: Any) -> str:
    if value is None:
        return "<nil>"
    if value is True or value is False:
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return f"map[{' '.join(f'{key}:{_plain(value[key])}' for key in sorted(value))}]"
    if isinstance(value, list):
        return f"[{' '.join(map(_plain, value))}]"
    return number(value)


def syntax(value: Any) -> str:
    """A JSON value as Go's %#v inside an interface."""
    if not isinstance(value, dict | list) or (len(value) <= _FEW and not _holds_containers(value)):
        return _syntax(value)
    return syntax_of(value, number) or _syntax(value)


def _syntax(value: Any) -> str:
    if value is None:
        return "interface {}(nil)"
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, dict):
        inner = ", ".join(f"{quote(key)}:{_syntax(value[key])}" for key in sorted(value))
        return f"map[string]interface {{}}{{{inner}}}"
    if isinstance(value, list):
        return f"[]interface {{}}{{{', '.join(map(_syntax, value))}}}"
    return plain(value)


def type_name(value: Any) -> str:
    """The Go type that a decoded JSON value has."""
    if value is None:
        return "<nil>"
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, str):
        return "string"
    if isinstance(value, dict):
        return "map[string]interface {}"
    if isinstance(value, list):
        return "[]interface {}"
    return "int64" if isinstance(value, int) else "float64"


def number(value: float | int) -> str:
    """A number as Go's %v: whole up to 21 digits, else with an exponent of two digits at least."""
    if isinstance(value, int):
        return str(value)
    if value.is_integer() and abs(value) < 1e21:
        return str(int(value))
    shown = repr(value)
    mantissa, exponent, power = shown.partition("e")
    if not exponent:
        return shown
    sign, digits = (power[0], power[1:]) if power[0] in "+-" else ("+", power)
    return f"{mantissa}e{sign}{digits.zfill(2)}"
