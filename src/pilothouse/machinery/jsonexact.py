"""JSON read slowly and exactly: for documents that orjson refuses, that repeat members, or whose numbers matter to
the letter.

Go's decoder and Python's agree on well-formed documents of modest depth; this module goes down 10,000 levels and
words Go's refusals.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from typing import Any, Final

import orjson

from pilothouse.kit.wholetext import whole_text
from pilothouse.machinery import jsondeep, jsonpieces
from pilothouse.machinery.digits import has_digits, may_have_floats
from pilothouse.machinery.jsonbytes import goes_deeper, with_whole_signs
from pilothouse.machinery.jsonfault import sign_before
from pilothouse.machinery.jsonhalves import may_have_halves, with_whole_escapes

_quote: Final = json.encoder.encode_basestring
_CONTAINERS: Final[frozenset[type]] = frozenset((dict, list))
_LONG_DIGITS: Final = 18
_MOST_LISTS: Final = 100_000  # between objects, of which the parser asks us; lists it makes while others wait
_LONG: Final = 4096  # signs of a text in which a fault is looked for first

PLAIN: Final = bytes(byte if byte < 0x80 else 0x3F for byte in range(256))  # what is not ASCII becomes "?"

# What the fast parser alone takes for faults.
_TOO_DEEP: Final = "depth limit exceeded"
_NO_UTF8: Final = "str is not valid UTF-8"
_INFINITE: Final = "number is infinity"
_NO_FAULT: Final = (_INFINITE, "no low surrogate", "invalid high surrogate")

# All members of the objects (by id) that have one twice, in the order of the document.
Repeated = dict[int, list[tuple[str, Any]]]
_Pairs = Callable[[list[tuple[str, Any]]], dict[str, Any]]


class JSONError(ValueError):
    """Not JSON; the text is Go's."""


class NumberTooGreat(JSONError):
    """JSON, but with a number in it that no type can hold."""


class Literal(float):
    """A number with the text it had."""

    __slots__ = ("text",)
    text: str

    def __new__(cls, text: str) -> Literal:
        made = super().__new__(cls, text)
        made.text = text
        return made


def loads(data: bytes, refused: orjson.JSONDecodeError) -> Any:
    """As Go reads what the fast parser refused. The last of repeated members counts. Raises JSONError in Go's words."""
    whole = with_whole_escapes(data)
    if whole is not data:
        try:
            return jsonpieces.loads(whole)
        except orjson.JSONDecodeError as wrong:
            data, refused = whole, wrong
    readable = data
    try:
        stop = len(data.decode()[: refused.pos].encode())
    except UnicodeDecodeError:
        wrong_early = _wrong_early(data)
        if wrong_early is not None:  # whatever stands in the place of such bytes
            refused, stop = wrong_early, wrong_early.pos
        else:
            readable = with_whole_signs(data)
            try:
                return jsonpieces.loads(readable)
            except orjson.JSONDecodeError as wrong:
                text = data.decode("utf-8", "surrogateescape")
                refused, stop = wrong, len(text[: wrong.pos].encode("utf-8", "surrogateescape"))
    if too_deep(refused) and not goes_deeper(readable, jsondeep.DEEPEST):
        try:
            return jsondeep.loads(readable)
        except (jsondeep.OddError, orjson.JSONDecodeError):
            pass  # what is wrong is told below
    if refused.msg.startswith(_INFINITE):
        found = _NUMBER.match(data[stop:].decode("latin-1"))
        if found is not None:
            _float(found[0])
    _tell(data, refused.msg, stop)
    return _parse(data.decode("utf-8", "surrogateescape"), _float, dict)


def is_odd(refused: orjson.JSONDecodeError) -> bool:
    """Whether what the fast parser refused may be JSON all the same."""
    return refused.msg.startswith((_TOO_DEEP, _NO_UTF8, *_NO_FAULT))


def too_deep(refused: orjson.JSONDecodeError) -> bool:
    """Whether the fast parser refused a document because it does not go so deep."""
    return refused.msg.startswith(_TOO_DEEP)


def _wrong_early(data: bytes) -> orjson.JSONDecodeError | None:
    """What is wrong near the beginning of a document with bytes that are no UTF-8."""
    try:
        orjson.loads(data[:_LONG].translate(PLAIN))
    except orjson.JSONDecodeError as wrong:
        return wrong if wrong.pos < _LONG // 2 and not is_odd(wrong) else None
    return None


def _tell(data: bytes, said: str, stop: int) -> None:
    """Raises what is wrong with a long text, if it is, where the fast parser stopped. That is counted in bytes."""
    if len(data) <= _LONG or said.startswith(_NO_FAULT):
        return
    reader = _ByteReader(data.decode("latin-1"), dict, float, len)
    found = sign_before(reader.text, stop)
    if found is not None:
        reader.read_from(*found)


def exact(data: bytes) -> tuple[Any, Repeated]:
    """The value with floats as `Literal`, and the members of objects that repeat some.

    In the value, the last of repeated members counts, but objects are merged with what stood there before, as into a
    Go struct. A number that is too great for a float is a Literal of infinity, so that it can be told or passed over.
    Raises JSONError.
    """
    repeated: Repeated = {}

    def an_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) != len(pairs):
            if dict in map(type, made.values()):
                made = _merged(pairs)
            repeated[id(made)] = pairs
        return made

    text = with_whole_escapes(data).decode("utf-8", "surrogateescape")
    return _parse(text, Literal, an_object, repeated.clear), repeated


def _float(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise NumberTooGreat(f"json: cannot unmarshal number {text} into Go value of type float64")
    return value


def _merged(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for key, item in pairs:
        before = made.get(key)
        made[key] = {**before, **item} if before.__class__ is dict and item.__class__ is dict else item
    return made


def _parse(text: str, real: Callable[[str], float], an_object: _Pairs, again: Callable[[], None] = lambda: None) -> Any:
    """The value. `again` is called when it is read a second time: what was made before is gone."""

    def whole(digits: str) -> int | float:
        if len(digits) <= _LONG_DIGITS:
            return int(digits)
        return int(digits) if len(digits) <= 2 * _LONG_DIGITS and -(2**63) <= int(digits) < 2**64 else real(digits)

    make: _Pairs = an_object
    if may_have_halves(text):

        def make(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
            return an_object([(whole_text(key), _whole(item)) for key, item in pairs])

    try:
        if text.count("[") > _MOST_LISTS and max(part.count("[") for part in text.split("}")) > _MOST_LISTS:
            raise RecursionError
        integer = whole if has_digits(text.encode("utf-8", "surrogateescape"), _LONG_DIGITS + 1) else int
        value = json.loads(
            text, object_pairs_hook=make, parse_float=real, parse_int=integer, parse_constant=_no_constant
        )
    except (RecursionError, ValueError):
        again()
        value = _Reader(text, make, real, whole).read()
    return _whole(value) if make is not an_object else value


def _no_constant(name: str) -> Any:
    raise ValueError(name)


def _whole(value: Any) -> Any:
    """A text without lone surrogates; lists of texts too (objects saw to theirs when they were made)."""
    if value.__class__ is str:
        return whole_text(value)
    todo = [value] if value.__class__ is list else []
    for items in todo:
        for index, item in enumerate(items):
            if item.__class__ is str:
                items[index] = whole_text(item)
            elif item.__class__ is list:
                todo.append(item)
    return value


_SPACE: Final = re.compile(r"[ \t\n\r]*")
_STRING: Final = re.compile(r'"[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)*')
_NUMBER: Final = re.compile(r"(-?(?:0|[1-9][0-9]*))(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_LITERALS: Final = {"t": ("true", True), "f": ("false", False), "n": ("null", None)}
_HEX: Final = frozenset("0123456789abcdefABCDEF")
_QUOTED: Final = {
    "'": "\\'",
    '"': '"',
    "\\": "\\\\",
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v",
}


# An open container: the list that collects, and whether it is an object (then of pairs, with the key last read).
_Opened = tuple[list[Any], bool, str]


class _Reader:
    """A parser without recursion, in the states of Go's scanner."""

    def __init__(
        self, text: str, make: _Pairs, real: Callable[[str], float], whole: Callable[[str], int | float]
    ) -> None:
        self.text = text
        self.at = 0
        self.make = make
        self.real = real
        self.whole_number = whole

    def read(self) -> Any:
        """The value. Raises JSONError."""
        return self._read([])

    def read_from(self, place: int, around: str) -> None:
        """Reads on from a bracket that opens, or a comma, with the brackets that are open there. Raises JSONError."""
        stack: list[_Opened] = [([], bracket == "{", "") for bracket in around]
        self.at = place
        if stack and self.text[place] == ",":
            into, is_object, key = stack.pop()
            self.at += 1
            stack.append((into, is_object, self._key() if is_object else key))
        self._read(stack)

    def _read(self, stack: list[_Opened]) -> Any:
        while True:
            value = self._value(stack)
            if value is _OPEN_LIST or value is _OPEN_OBJECT:
                is_object = value is _OPEN_OBJECT
                key = ""
                inner: list[Any] = []
                if self._skip() == ("}" if is_object else "]"):
                    self.at += 1
                    value = self.make([]) if is_object else []
                else:
                    if is_object:
                        key = self._key()
                    stack.append((inner, is_object, key))
                    continue
            while True:
                if not stack:
                    if self._skip():
                        raise self._bad("after top-level value")
                    return value
                into, is_object, key = stack.pop()
                into.append((key, value) if is_object else value)
                sign = self._skip()
                if sign == ",":
                    self.at += 1
                    if is_object:
                        key = self._key()
                    stack.append((into, is_object, key))
                    break
                if sign != ("}" if is_object else "]"):
                    raise self._bad("after object key:value pair" if is_object else "after array element")
                self.at += 1
                value = self.make(into) if is_object else into

    def _skip(self) -> str:
        """The next sign after white space, "" at the end."""
        found = _SPACE.match(self.text, self.at)
        self.at = found.end() if found else self.at
        return self.text[self.at : self.at + 1]

    def _value(self, stack: list[Any]) -> Any:
        sign = self._skip()
        if sign == '"':
            return self._string()
        if sign in ("{", "["):
            if len(stack) >= jsondeep.DEEPEST:
                raise self._bad("exceeded max depth")
            self.at += 1
            return _OPEN_OBJECT if sign == "{" else _OPEN_LIST
        if sign in _LITERALS:
            return self._literal(*_LITERALS[sign])
        if sign and sign in "-0123456789":
            return self._number()
        raise self._bad("looking for beginning of value")

    def _key(self) -> str:
        if self._skip() != '"':
            raise self._bad("looking for beginning of object key string")
        key = self._string()
        if self._skip() != ":":
            raise self._bad("after object key")
        self.at += 1
        return key

    def _string(self) -> str:
        found = _STRING.match(self.text, self.at)
        end = found.end() if found else self.at
        if self.text[end : end + 1] == '"':
            start, self.at = self.at, end + 1
            if self.text.find("\\", start, end) < 0:
                return self.text[start + 1 : end]
            made: str = json.loads(self.text[start : self.at])
            return made
        self.at = end
        if self.text[end : end + 1] != "\\":
            raise self._bad("in string literal")
        self.at += 1
        if self.text[self.at : self.at + 1] != "u":
            raise self._bad("in string escape code")
        self.at += 1
        while self.text[self.at : self.at + 1] in _HEX:
            self.at += 1
        raise self._bad("in \\u hexadecimal character escape")

    def _number(self) -> int | float:
        found = _NUMBER.match(self.text, self.at)
        if found is None:
            self.at += 1
            raise self._bad("in numeric literal")
        self.at = found.end()
        sign = self.text[self.at : self.at + 1]
        if sign == "." and found[2] is None and found[3] is None:
            self.at += 1
            raise self._bad("after decimal point in numeric literal")
        if sign in ("e", "E") and found[3] is None:
            self.at += 1
            if self.text[self.at : self.at + 1] in ("+", "-"):
                self.at += 1
            raise self._bad("in exponent of numeric literal")
        return self.whole_number(found[0]) if found[2] is None and found[3] is None else self.real(found[0])

    def _literal(self, word: str, value: Any) -> Any:
        for sign in word:
            if self.text[self.at : self.at + 1] != sign:
                raise self._bad(f"in literal {word} (expecting '{sign}')")
            self.at += 1
        return value

    def _bad(self, context: str) -> JSONError:
        sign = self.text[self.at : self.at + 1]
        if not sign:
            return JSONError("unexpected end of JSON input")
        return JSONError(f"invalid character '{_quoted(self._first_byte(sign))}' {context}")

    def _first_byte(self, sign: str) -> int:
        return sign.encode("utf-8", "surrogateescape")[0]


class _ByteReader(_Reader):
    """Reads a text whose signs are the bytes of the document, for its faults only."""

    def _first_byte(self, sign: str) -> int:
        return ord(sign)


_OPEN_LIST: Final = object()
_OPEN_OBJECT: Final = object()


def _quoted(byte: int) -> str:
    """As Go shows the byte at fault, taken for a code point."""
    sign = chr(byte)
    if sign in _QUOTED:
        return _QUOTED[sign]
    if sign.isprintable():
        return sign
    return f"\\x{byte:02x}" if byte < 0x80 else f"\\u{byte:04x}"


_A_FLOAT: Final = re.compile(rb"[\[:,]-?[0-9]++[.eE]")  # or something in a text that looks like one


def compact(value: Any, *, by_name: bool = False) -> bytes | None:
    """JSON of a value, floats as Python writes them; `by_name`: members sorted.

    None where it is too deep also for the second fastest writer.
    """
    try:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=by_name)
    except RecursionError:
        return None
    return whole_text(text).encode()


def dumps(value: Any, real: Callable[[float], str], indent: int = 0) -> bytes:
    """JSON of a value that is too deep or has numbers too large for orjson; `real` writes floats. No recursion."""
    text = compact(value) if value.__class__ in _CONTAINERS and not indent else None
    if text is not None and not (may_have_floats(text) and _A_FLOAT.search(text)):
        return text
    out: list[str] = []
    # What is still to be written, last first: texts as they are, or (value, level).
    todo: list[Any] = [(value, 0)]
    while todo:
        part = todo.pop()
        if part.__class__ is str:
            out.append(part)
            continue
        item, level = part
        if isinstance(item, dict | list) and item:
            todo.extend(_parts(item, level, indent))
        elif isinstance(item, bool) or item is None or not isinstance(item, float):
            out.append(_quote(item) if item.__class__ is str else json.dumps(item, ensure_ascii=False))
        else:
            out.append(real(item))
    return whole_text("".join(out)).encode()


def _parts(item: dict[str, Any] | list[Any], level: int, indent: int) -> list[Any]:
    """A container taken apart, last part first."""
    pad = "\n" + " " * indent * (level + 1) if indent else ""
    close = "\n" + " " * indent * level if indent else ""
    parts: list[Any] = []
    comma = "," + pad
    if isinstance(item, dict):
        colon = ": " if indent else ":"
        for key, inner in item.items():
            parts += [comma, _quote(key) + colon, (inner, level + 1)]
    else:
        for inner in item:
            parts += [comma, (inner, level + 1)]
    first, last = ("{", "}") if isinstance(item, dict) else ("[", "]")
    parts[0] = first + pad
    parts.append(close + last)
    parts.reverse()
    return parts
