"""Writing YAML as the original does: made of the JSON, keys in natural order, lines folded at 80 columns."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import Any, Final

import yaml

from pilothouse.machinery.jsoncodec import go_float
from pilothouse.machinery.yamlcodec.errors import YAMLError
from pilothouse.machinery.yamlcodec.scalars import TAG, is_plain

_MAP: Final = f"{TAG}map"
_SEQ: Final = f"{TAG}seq"
_STR: Final = f"{TAG}str"
_FORBIDDEN: Final = re.compile("[\x7f-\x84\x86-\x9f\ufffe\uffff]")


def dumps(value: Any) -> bytes:
    """YAML text of a JSON value, with a newline at the end.

    Raises YAMLError for signs that the original cannot show (DEL and other controls beyond ASCII).
    """
    text: str = yaml.emit(_stream(value), Dumper=yaml.CDumper, allow_unicode=True)
    # The emitter ends documents that end in empty lines with a mark of their end; Go's does not.
    return text.removesuffix("...\n").encode() if text.endswith("\n...\n") else text.encode()


def _stream(value: Any) -> Iterator[Any]:
    yield yaml.StreamStartEvent()
    yield yaml.DocumentStartEvent(explicit=False)
    # What is still to be written, last first: values, or events that are ready.
    todo: list[Any] = [value]
    while todo:
        item = todo.pop()
        if isinstance(item, yaml.Event):
            yield item
        elif item.__class__ is dict:
            yield yaml.MappingStartEvent(None, _MAP, True, flow_style=not item)
            todo.append(yaml.MappingEndEvent())
            for key in reversed(natural(item)):
                todo.append(item[key])
                todo.append(key)
        elif item.__class__ is list:
            yield yaml.SequenceStartEvent(None, _SEQ, True, flow_style=not item)
            todo.append(yaml.SequenceEndEvent())
            todo.extend(reversed(item))
        else:
            yield _scalar(item)
    yield yaml.DocumentEndEvent(explicit=False)
    yield yaml.StreamEndEvent()


def _scalar(value: Any) -> yaml.ScalarEvent:
    if isinstance(value, str):
        if _FORBIDDEN.search(value):
            raise YAMLError("yaml: control characters are not allowed")
        style = "|" if "\n" in value else None if is_plain(value) else '"'
        return yaml.ScalarEvent(None, _STR, (True, True), value, style=style)
    return yaml.ScalarEvent(None, None, (True, True), _plain(value))


def _plain(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return yaml_float(value) if isinstance(value, float) else str(value)


def yaml_float(value: float) -> str:
    """As Go's YAML writes a number that JSON wrote: whole ones up to 2^64 stay, others below 0.0001 and from a
    million up get an exponent.
    """
    shown = go_float(value)
    if "." not in shown and "e" not in shown and -(2**63) <= int(shown) < 2**64:
        return shown
    digits, _, power = _shortest(value).partition("e")
    if -4 <= int(power) < 6:
        return shown
    return f"{digits}e{power}"


def _shortest(value: float) -> str:
    for precision in range(17):
        shown = f"{value:.{precision}e}"
        if float(shown) == value:
            return shown
    return f"{value:.16e}"


def natural(keys: Any) -> list[str]:
    """Keys in the order of the original: signs before digits before letters, numbers in them by value."""
    if all(map(str.isalpha, keys)):
        return sorted(keys)
    return sorted(keys, key=functools.cmp_to_key(_compare))


def _compare(one: str, other: str) -> int:
    for at, (first, second) in enumerate(zip(one, other, strict=False)):
        if first == second:
            continue
        if first.isalpha() or second.isalpha():
            if first.isalpha() and second.isalpha():
                return -1 if first < second else 1
            return -1 if second.isalpha() else 1
        return _compare_numbers(one, other, at)
    return len(one) - len(other)


def _compare_numbers(one: str, other: str, at: int) -> int:
    lead = 0
    if one[at] == "0" or other[at] == "0":
        before = one[:at]
        digits = before[len(before.rstrip("0123456789")) :]
        lead = 1 if digits.strip("0") else 0
    first, first_end = _number(one, at, lead)
    second, second_end = _number(other, at, lead)
    if first != second:
        return -1 if first < second else 1
    if first_end != second_end:
        return -1 if first_end < second_end else 1
    return -1 if one[at] < other[at] else 1


def _number(text: str, at: int, lead: int) -> tuple[int, int]:
    value = lead
    while at < len(text) and text[at].isdigit() and text[at].isascii():
        value = value * 10 + int(text[at])
        at += 1
    return value, at
