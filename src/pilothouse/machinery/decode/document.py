"""Decoding a whole value or document: the fast walk, and the exact one where it is needed."""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter
from typing import Any

import orjson

from pilothouse.kit.memo import RARE
from pilothouse.machinery import jsonexact, jsonpieces
from pilothouse.machinery.decode.explain import explain, refusal
from pilothouse.machinery.decode.findings import DecodeError, Findings
from pilothouse.machinery.decode.outline import is_of_lists, outline
from pilothouse.machinery.decode.walker import REFUSALS, decode
from pilothouse.machinery.jsoncodec import dumps, exact, loads, surely_unique
from pilothouse.machinery.jsonrepeats import repeats
from pilothouse.machinery.schema import Schema
from pilothouse.machinery.unordered import Unordered

Decoder = Callable[[Any, Findings], dict[str, Any]]


def compile_decoder(schema: Schema) -> Decoder:
    """A function from a parsed JSON value to the object of a STRUCT schema, as a Go round trip would give it back.

    It drops unknown fields and notes them in Findings, and raises DecodeError in the original's words. Parts of the
    parsed value
    may be used in the object: it belongs to the decoder afterwards.
    """
    made: Decoder | None = schema.compiled.get("decode.value")
    if made is None:
        made = schema.compiled["decode.value"] = _decoder(schema)
    return made


def _decoder(schema: Schema) -> Decoder:
    def decode_value(value: Any, findings: Findings) -> dict[str, Any]:
        try:
            made = decode(schema, value, findings)
        except REFUSALS:
            explain(schema, value, findings)
            raise DecodeError(f"cannot decode {schema.name}") from None
        except RecursionError:
            raise DecodeError("exceeded max depth") from None
        if findings.unknown:
            explain(schema, value, findings, fits=True)
        return made

    return decode_value


def decode_json(schema: Schema, data: bytes, findings: Findings | None = None) -> dict[str, Any]:
    """The object in a JSON document; `findings` takes the strict findings, duplicate fields too.

    Raises JSONError for what is not JSON and DecodeError for what does not fit. `null` is an object without fields.
    """
    value, text = read_json(schema, data)
    return decode_parsed(schema, text, value, findings)


def read_json(schema: Schema, data: bytes) -> tuple[Any, bytes]:
    """The value of a document, and its text, for `decode_parsed`. Of a document that is dense or deep, both may be
    those of its outline. Raises JSONError.
    """
    return read_dense(data, lambda: outline(schema, data, sound=False))


def read_dense(data: bytes, outlined: Callable[[], bytes]) -> tuple[Any, bytes]:
    """The value of a document, and its text; of one that is dense or deep, those of its outline. Raises JSONError."""
    if not jsonpieces.is_heavy(data):
        try:
            return orjson.loads(data), data
        except orjson.JSONDecodeError as refused:
            if not jsonexact.is_odd(refused):
                return jsonexact.loads(data, refused), data
    elif not is_of_lists(data):
        return loads(data), data
    text = outlined()
    return loads(text), text


def decode_parsed(
    schema: Schema, data: bytes | None, value: Any, findings: Findings | None = None, unordered: Unordered | None = None
) -> dict[str, Any]:
    """As decode_json, for a document that the caller has parsed already (to learn its kind).

    `data`: its text; None if no member can have been in it twice, in which case `unordered` tells that it is long.
    `unordered`: the long maps of a long document that are not by key are left so, and added to it.
    """
    strict = findings if findings is not None else Findings()
    unique = data is None or surely_unique(data, value)  # of the value as it came
    strict.owned = data is not None
    if data is None or len(data) >= RARE:
        strict.unordered = unordered
    try:
        made = decode(schema, value, strict)
    except REFUSALS:
        why = refusal(schema, value, data) if unique else None
        if why is not None:
            raise DecodeError(why) from None
        return _again(schema, dumps(value) if data is None else data, strict)
    except RecursionError:
        raise DecodeError("exceeded max depth") from None
    if strict.inexact or not unique:
        return _again(schema, dumps(value) if data is None else data, strict, None if strict.inexact else made)
    if strict.unknown and findings is not None:
        explain(schema, value, findings, fits=True)
    return made


def decode_once(
    schema: Schema, value: Any, findings: Findings | None = None, unordered: Unordered | None = None
) -> dict[str, Any]:
    """As decode_parsed, of a value whose members surely were there once each. Unknown fields are flagged, not told."""
    strict = findings if findings is not None else Findings()
    strict.unordered = unordered
    try:
        made = decode(schema, value, strict)
    except REFUSALS:
        explain(schema, value, Findings())
        return _again(schema, dumps(value), strict)  # what is wrong is how a number was read
    except RecursionError:
        raise DecodeError("exceeded max depth") from None
    return _again(schema, dumps(value), strict) if strict.inexact else made


def _are_merged(pairs: list[tuple[str, Any]]) -> bool:
    """Whether an object that repeats members may repeat one that is an object: of others, the last counts."""
    if dict not in map(type, map(itemgetter(1), pairs)):
        return False
    names = [name for name, item in pairs if item.__class__ is dict]
    return len(set(names)) < len(names)


def _again(schema: Schema, data: bytes, findings: Findings, made: dict[str, Any] | None = None) -> dict[str, Any]:
    """The same from the exact form of the document. `made`: the object, unless an inexact number is in it."""
    text = outline(schema, data, sound=True)
    value, repeated = exact(text) if made is None or len(text) < jsonpieces.PIECE else repeats(text)
    if made is not None and not any(map(_are_merged, repeated.values())):
        if findings.unknown or repeated:
            explain(schema, value, findings, repeated, fits=True)
        return made
    findings.reset()
    findings.owned = findings.owned and not repeated  # it may still have to be told, from what came
    try:
        made = decode(schema, value, findings)
    except REFUSALS:
        explain(schema, value, findings, repeated)
        raise DecodeError(f"cannot decode {schema.name}") from None
    except RecursionError:
        raise DecodeError("exceeded max depth") from None
    if findings.unknown or repeated:
        explain(schema, value, findings, repeated, fits=True)
    return made
