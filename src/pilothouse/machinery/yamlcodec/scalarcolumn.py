"""The scalars of very many lines, told together: what each distinct one means, or that it is not for a line to say."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

import orjson

from pilothouse.machinery.yamlcodec.build import finite, key_text
from pilothouse.machinery.yamlcodec.flowforms import OtherForm
from pilothouse.machinery.yamlcodec.flowjson import flow_values, json_escapes
from pilothouse.machinery.yamlcodec.scalars import NUMERIC, WORDS, resolve

ODD: Final = object()  # stands for what the parser has to read

_INDICATORS: Final = frozenset("[]{},#&*!|>%@`?:'\"\t ")
_CAREFUL: Final = frozenset("-?:")  # indicators before a space
_NO_TEXT: Final = frozenset((*NUMERIC, *_INDICATORS))  # how scalars begin that may be no plain text
_PLAIN: Final = frozenset((*NUMERIC, *_CAREFUL))  # of them, those of plain scalars
_CLOSED: Final = {"{": "}", "[": "]"}
_SIGNS: Final = ("\t", ": ", " #", " \n", ":\n")  # what a plain scalar has not in it
_SIGN: Final = re.compile(r"\t|: | #|[ :]$")
_DOUBLE: Final = re.compile(r'"((?:[^"\\\t]|\\.)*)"')
_NUMBER: Final = re.compile(r"-?[1-9][0-9]{,14}(?:\.[0-9]{1,15})?|-?0\.[0-9]{1,15}|0")  # one that is the same in JSON
_MERGE: Final = "<<"
_DOCUMENTS: Final = ("---", "...")  # what begins or ends one at the start of a line
_TRIES: Final = 24  # of values in flow style together


def meanings(scalars: Iterable[str]) -> dict[str, Any]:
    """What scalars stand for that are not the texts they are written as, each of them the whole rest of a line.

    Raises YAMLError for a number that JSON has not.
    """
    distinct = {*scalars}
    meant: dict[str, Any] = {word: WORDS[word] for word in distinct & WORDS.keys()}
    other = [scalar for scalar in distinct if scalar[:1] in _NO_TEXT and scalar not in meant]
    texts = distinct.difference(other)
    numbers = [scalar for scalar in other if _NUMBER.fullmatch(scalar)]
    if numbers:
        meant.update(zip(numbers, orjson.loads(f"[{','.join(numbers)}]"), strict=True))
    flows: list[str] = []
    for scalar in other:
        if scalar in meant:
            continue
        if scalar[0] in _CLOSED and scalar[-1] == _CLOSED[scalar[0]]:
            flows.append(scalar)
        else:
            meant[scalar] = _meaning(scalar)
    meant.update(_flows(flows))
    meant.update(dict.fromkeys(_odd(texts), ODD))
    return {scalar: finite(value) if value.__class__ is float else value for scalar, value in meant.items()}


def names(keys: Iterable[str]) -> dict[str, Any]:
    """The names that keys stand for which are written otherwise, each of them what stands before a colon.

    Raises YAMLError.
    """
    distinct = {*keys}
    other = [key for key in distinct if key[:1] in _NO_TEXT or key in WORDS]
    meant: dict[str, Any] = {}
    for key in other:
        value = WORDS[key] if key in WORDS else _meaning(key)
        meant[key] = ODD if value is ODD or value is None else key_text(value)
    meant.update(dict.fromkeys(_odd(distinct.difference(other)), ODD))
    return meant


def _odd(distinct: set[str]) -> list[str]:
    """The scalars that are not plain because of what is in them."""
    odd = [_MERGE] if _MERGE in distinct else []
    joined = "\n".join(distinct) + "\n"
    if any(sign in joined for sign in _SIGNS):
        odd += [scalar for scalar in distinct if scalar and _SIGN.search(scalar)]
    return odd


def _meaning(scalar: str) -> Any:
    """What a scalar stands for that begins as no word does."""
    first = scalar[0]
    if first in "'\"":
        return _quoted(scalar)
    if scalar.startswith(_DOCUMENTS):
        return ODD
    if first not in _PLAIN or (first in _CAREFUL and scalar[1:2] in ("", " ")) or _SIGN.search(scalar):
        return ODD
    return resolve(scalar)


def _quoted(scalar: str) -> Any:
    """The text of a scalar in quotes, if they are closed at its end."""
    mark, within = scalar[0], scalar[1:-1]
    if len(scalar) < 2 or scalar[-1] != mark or "\t" in scalar:
        return ODD
    if mark not in within and (mark == "'" or "\\" not in within):
        return within
    if mark == "'":
        plain = within.replace("''", "")
        return ODD if mark in plain else within.replace("''", "'")
    if _DOUBLE.fullmatch(scalar) is None:
        return ODD
    try:
        return orjson.loads(json_escapes(scalar.encode()))
    except (OtherForm, orjson.JSONDecodeError):
        return ODD


def _flows(scalars: list[str]) -> dict[str, Any]:
    """The values of scalars in flow style. One that is not sure is looked for in halves, as others are beside it."""
    meant: dict[str, Any] = {}
    sure = [scalar for scalar in scalars if "? " not in scalar]  # which is for the parser
    if len(sure) < len(scalars):
        meant.update(dict.fromkeys(scalars, ODD))
    parts = [sure] if sure else []
    tries = _TRIES
    for part in parts:
        tries -= 1
        values = flow_values([scalar.encode() for scalar in part]) if tries >= 0 else None
        if values is not None:
            meant.update(zip(part, values, strict=True))
        elif len(part) > 1 and tries >= 0:
            parts += (part[: len(part) // 2], part[len(part) // 2 :])
        else:
            meant.update(dict.fromkeys(part, ODD))
    return meant
