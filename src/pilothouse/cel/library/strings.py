"""Texts: parts, places, replacements. Counted in letters, not bytes."""

from __future__ import annotations

from typing import Final

from pilothouse.cel import work
from pilothouse.cel.declarations import overload
from pilothouse.cel.library.formatting import format_text
from pilothouse.cel.values import Fault, Meter
from pilothouse.machinery.goquote import quote

_LOWER: Final = {ord("A") + place: chr(ord("a") + place) for place in range(26)}
_UPPER: Final = {ord("a") + place: chr(ord("A") + place) for place in range(26)}
_BLANKS: Final = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))


def char_at(text: str, place: int) -> str:
    if not 0 <= place <= len(text):
        raise Fault(f"index out of range: {place}")
    return text[place : place + 1]


def index_of(text: str, part: str, start: int = 0) -> int:
    if part == "":
        return start
    if start < 0:
        raise Fault(f"index out of range: {start}")
    return text.find(part, start)


def last_index_of(text: str, part: str, last: int | None = None) -> int:
    if last is None:
        return text.rfind(part)
    if part == "":
        return last
    if last < 0:
        raise Fault(f"index out of range: {last}")
    return text.rfind(part, 0, last + len(part)) if last < len(text) else -1


def replace(text: str, old: str, new: str, most: int = -1) -> str:
    return text.replace(old, new, most)


def split(text: str, part: str, most: int = -1) -> list[str]:
    """`most`: pieces; negative for all."""
    if most == 0:
        return []
    if most == 1:
        return [text]
    if part:
        return text.split(part, most - 1 if most > 0 else -1)
    if most < 0 or most >= len(text):
        return list(text)
    return [*text[: most - 1], text[most - 1 :]]


def substring(text: str, start: int, end: int | None = None) -> str:
    size = len(text)
    if end is None:
        if not 0 <= start <= size:
            raise Fault(f"index out of range: {start}")
        return text[start:]
    if start > end:
        raise Fault(f"invalid substring range. start: {start}, end: {end}")
    if not 0 <= start <= size:
        raise Fault(f"index out of range: {start}")
    if not 0 <= end <= size:
        raise Fault(f"index out of range: {end}")
    return text[start:end]


def join(texts: list[str], meter: Meter) -> str:
    return join_with(texts, "", meter)


def join_with(texts: list[str], between: str, meter: Meter) -> str:
    meter.spend(len(texts) * (len(between) + 1) + sum(map(len, texts)) // 10)
    return between.join(texts)


_ONCE: Final = work.traverse(0)
_TWICE: Final = work.twice()

STRINGS: Final = (
    overload("charAt", "string.(int) -> string", char_at),
    overload("indexOf", "string.(string) -> int", index_of, work=_ONCE),
    overload("indexOf", "string.(string, int) -> int", index_of, work=_ONCE),
    overload("lastIndexOf", "string.(string) -> int", last_index_of, work=_ONCE),
    overload("lastIndexOf", "string.(string, int) -> int", last_index_of, work=_ONCE),
    overload("join", "list(string).() -> string", join, work=_ONCE, metered=True),
    overload("join", "list(string).(string) -> string", join_with, work=work.traverse(0, 1), metered=True),
    overload("lowerAscii", "string.() -> string", lambda text: text.translate(_LOWER), work=_ONCE, size=work.same()),
    overload("upperAscii", "string.() -> string", lambda text: text.translate(_UPPER), work=_ONCE, size=work.same()),
    overload("replace", "string.(string, string) -> string", replace, work=_TWICE, size=work.replaced),
    overload("replace", "string.(string, string, int) -> string", replace, work=_TWICE, size=work.replaced),
    overload("split", "string.(string) -> list(string)", split, work=_TWICE, size=work.up_to()),
    overload("split", "string.(string, int) -> list(string)", split, work=_TWICE, size=work.up_to()),
    overload("substring", "string.(int) -> string", substring, work=_ONCE, size=work.up_to()),
    overload("substring", "string.(int, int) -> string", substring, work=_ONCE, size=work.up_to()),
    overload("trim", "string.() -> string", lambda text: text.strip(_BLANKS), work=_ONCE, size=work.up_to()),
    overload("format", "string.(list(dyn)) -> string", format_text, work=_ONCE, metered=True),
    overload("strings.quote", "(string) -> string", quote, work=_ONCE, size=work.doubled),
)
