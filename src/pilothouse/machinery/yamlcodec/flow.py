"""Flow collections of one line (`[a, b]`, `{a: b}`) for the quick reader, and what it knows of scalars and keys."""

from __future__ import annotations

import json
import math
import re
from typing import Any, Final, NoReturn

from pilothouse.machinery.goquote import quote
from pilothouse.machinery.jsoncodec import plain_floats
from pilothouse.machinery.yamlcodec.scalars import resolve

DOUBLE: Final = r'"[^"\\\n]*+(?:\\["\\nrtbf][^"\\\n]*+)*+"'
SINGLE: Final = r"'[^'\n]*+(?:''[^'\n]*+)*+'"
MOST_REPEATED: Final = 1000  # keys that are noted; more would only make the answer long
DEEPEST: Final = 500  # levels; the parser goes to 1000
_LONGEST_KEY: Final = 1000  # signs; the parser takes 1024
_MOST_KNOWN: Final = 4096
_LONGEST_KNOWN: Final = 64  # signs

_WORD: Final = r"(?:[A-Za-z0-9_./]|-++(?=[0-9A-Za-z]))[A-Za-z0-9_./+=@-]*+"
_TOKEN: Final = re.compile(rf" *+(?:([\[{{])|([\]}}])|(,)|({_WORD})|({DOUBLE}|{SINGLE}))")
_OPENS, _CLOSES, _COMMA, _PLAIN = 1, 2, 3, 4  # groups
_COLON: Final = re.compile(r":(?= )")  # behind a plain key
_QUOTED_COLON: Final = re.compile(r":")
# Many items of a list that are simple, each with its comma.
_WORDS: Final = re.compile(rf"(?: ?{_WORD},){{8,4096}}+")
_EMPTIES: Final = re.compile(r"(?: ?(?:\[\]|\{\}),){8,4096}+")
_NO_KEY: Final = object()


class NotQuick(Exception):
    """The parser must be asked."""


def give_up() -> NoReturn:
    raise NotQuick


class Known(dict[str, Any]):
    """What plain scalars mean; most stand in a document many times."""

    def __missing__(self, text: str) -> Any:
        value = resolve(text)
        if value.__class__ is float:
            if not math.isfinite(value):
                give_up()
            value = plain_floats(value)
        if len(self) < _MOST_KNOWN and len(text) < _LONGEST_KNOWN:
            self[text] = value
        return value


def unquoted(text: str) -> str:
    """The text of a scalar in quotes."""
    if text[0] == "'":
        return text[1:-1].replace("''", "'")
    if "\\" not in text:
        return text[1:-1]
    made: str = json.loads(text)  # only escapes that JSON has as well
    return made


def name_of(text: str, known: Known) -> Any:
    """What a key means: text, or a number or boolean, which will be shown without quotes."""
    if len(text) > _LONGEST_KEY:
        give_up()
    if text[0] in "\"'":
        return unquoted(text)
    found = known[text]
    if found.__class__ is not str and (found.__class__ not in (int, bool) or "." in text or "e" in text.lower()):
        give_up()
    return found


def shown(name: Any) -> str:
    """The text of a key."""
    if name.__class__ is str:
        return str(name)
    return str(name) if name.__class__ is int else "true" if name else "false"


def put(made: dict[str, Any], name: Any, value: Any, repeated: list[str], line: int) -> None:
    """Sets a member, and notes if it was there."""
    key = name if name.__class__ is str else shown(name)
    if key in made and len(repeated) < MOST_REPEATED:
        repeated.append(f"line {line}: key {quote(key) if name.__class__ is str else key} already set in map")
    made[key] = value


def by_name(made: dict[str, Any]) -> dict[str, Any]:
    return {key: made[key] for key in sorted(made)} if len(made) > 1 else made


def read(text: str, at: int, known: Known, repeated: list[str], line: int) -> tuple[Any, int]:
    """The collection that begins at `at`, and the place behind it. Raises NotQuick."""
    stack: list[tuple[Any, Any]] = []
    made: Any = None
    key: Any = _NO_KEY
    fresh = True  # whether an item, a key or its value may come; else a comma or the end
    while True:
        found = _TOKEN.match(text, at)
        if found is None:
            give_up()
        at, kind = found.end(), found.lastindex
        if kind == _OPENS:
            if not fresh or (made.__class__ is dict and key is _NO_KEY) or len(stack) > DEEPEST:
                give_up()
            stack.append((made, key))
            made, key = [] if found[1] == "[" else {}, _NO_KEY
            at = _runs(text, at, known, made)
            continue
        if kind == _COMMA:
            if fresh:
                give_up()
            fresh = True
            at = _runs(text, at, known, made)
            continue
        if kind == _CLOSES:
            if (found[2] == "]") != (made.__class__ is list) or key is not _NO_KEY:
                give_up()
            value: Any = made if made.__class__ is list else by_name(made)
            made, key = stack.pop()
            if made is None:
                return value, at
        elif not fresh:
            give_up()
        elif made.__class__ is dict and key is _NO_KEY:
            key = name_of(found[kind or 0], known)
            colon = (_COLON if kind == _PLAIN else _QUOTED_COLON).match(text, at)
            if colon is None:
                give_up()
            at = colon.end()
            continue
        else:
            value = known[found[4]] if kind == _PLAIN else unquoted(found[5])
        if made.__class__ is list:
            made.append(value)
        else:
            put(made, key, value, repeated, line)
            key = _NO_KEY
        fresh = False


def _runs(text: str, at: int, known: Known, made: Any) -> int:
    """Takes many simple items into a list; the place behind them and their comma."""
    if made.__class__ is list:
        while (found := _WORDS.match(text, at)) is not None:
            made += map(known.__getitem__, found[0][:-1].replace(" ", "").split(","))
            at = found.end()
        while (found := _EMPTIES.match(text, at)) is not None:
            made += [[] if item == "[]" else {} for item in found[0][:-1].replace(" ", "").split(",")]
            at = found.end()
    return at
