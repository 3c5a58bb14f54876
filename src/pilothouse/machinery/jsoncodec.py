"""JSON in and out as Go's encoder and decoder do it: same refusals in the same words, same escapes, same numbers.

The fast path is orjson; what orjson refuses is looked at again by `jsonexact`, which accepts what Go accepts and
words the rest.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain, compress
from operator import itemgetter
from typing import Any, Final

import orjson

from pilothouse.kit.runs import doubtful
from pilothouse.machinery import jsondeep, jsonexact, jsonpieces
from pilothouse.machinery.digits import has_digits, may_have_exponents, may_have_floats, may_have_odd_floats
from pilothouse.machinery.goquote import quote
from pilothouse.machinery.jsonexact import JSONError, Literal, NumberTooGreat, Repeated, exact
from pilothouse.machinery.jsonfault import beginning
from pilothouse.machinery.jsonways import leading_to

__all__ = [
    "GoFloat", "JSONError", "Literal", "NumberTooGreat", "Repeated", "dumps", "dumps_pretty", "dumps_sorted",
    "duplicates", "exact", "go_float", "has_whole_float", "identical", "loads", "may_hold", "only_plain_numbers",
    "plain_floats", "preview", "type_meta", "surely_unique",
]  # fmt: skip

_INT64: Final = 2**63
_MANY_DIGITS: Final = 19  # of the first integer beyond that
_EXACT: Final = 2**53  # whole floats from here on are written with zeros for the digits that they cannot hold
_ESCAPES: Final = (
    (b"<", b"\\u003c"),
    (b">", b"\\u003e"),
    (b"&", b"\\u0026"),
)
_META_TYPE: Final = (
    'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'
)
_PREVIEW: Final = 30
_MOST_FINDINGS: Final = 100
_BEGINNING: Final = 32 << 10  # bytes of a document in which so many may be found
_SHORT: Final = 4096  # bytes of a document that is walked through
_MANY_BEGINNINGS: Final = 4 * _BEGINNING
_CONTAINERS: Final = (dict, list)
_OBJECTS: Final = {dict}


class GoFloat(float):
    """A float that Go and orjson write differently (`1e+21`); `dumps` writes it as Go does."""


def loads(data: bytes) -> Any:
    """The value of a document. Raises JSONError with Go's text.

    Lone surrogates and bytes that are not UTF-8 become U+FFFD; the last of duplicate members counts.
    """
    try:
        return jsonpieces.loads(data)
    except orjson.JSONDecodeError as refused:
        return jsonexact.loads(data, refused)


def compact_shallow(value: Any) -> bytes | None:
    """As `compact`, but None also where a value is nested more than MOST_LEVELS deep, or has very large numbers."""
    try:
        return orjson.dumps(value)
    except (orjson.JSONEncodeError, TypeError):
        return None


def surely_unique(data: bytes, value: Any, text: bytes | None = None) -> bool:
    """True when the document, whose parsed value is given, surely repeats no member. False only means: look closer.
    `text`: what `compact_shallow` makes of the value, if that is known.

    A compact document is what is written again. Of any other, the value written again has the colons of all members
    that were kept and of all texts; a member that was lost took at least one with it.
    """
    text = text or compact_shallow(value)
    if text is None:
        if jsondeep.as_many_members(data, value):
            return True
        text = jsonexact.compact(value)
        if text is None:
            return False
    if data.startswith(text):
        return True
    if b"\\" in data and (b"\\u003a" in data or b"\\u003A" in data):  # an escaped colon
        return False
    return data.count(b":") == text.count(b":")


def duplicates(data: bytes) -> list[str]:
    """`duplicate field "spec.a"` for every member of a document that stands in its object a second time.

    In the order of the document, each text once, at most a hundred. This reads exactly: ask `surely_unique` before.
    Raises JSONError.
    """
    if len(data) > _MANY_BEGINNINGS:
        found = _repeated_in(beginning(data, _BEGINNING))
        if len(found) == _MOST_FINDINGS:
            return found
    return _repeated_in(data)


def _repeated_in(data: bytes) -> list[str]:
    value, repeated = exact(data)
    if not repeated:
        return []
    found: dict[str, None] = {}
    # What is still to be looked at: paths, values, whether the member is a repeated one, and where to look in it.
    todo = [iter([("", value, False, leading_to(repeated, value) if len(data) > _SHORT else None)])]
    while todo and len(found) < _MOST_FINDINGS:
        part = next(todo[-1], None)
        if part is None:
            todo.pop()
            continue
        path, item, again, ways = part
        if again:
            found[f"duplicate field {quote(path)}"] = None
        if item.__class__ in _CONTAINERS and (ways is None or id(item) in ways):
            todo.append(_parts(path, item, repeated, ways))
    return list(found)


_Ways = set[int] | None  # ids of the containers that have a repeated member in them; None where all may


def _parts(path: str, value: Any, repeated: Repeated, ways: _Ways) -> Iterator[tuple[str, Any, bool, _Ways]]:
    """What is in a container and may be a repeated member, or have one in it."""
    if value.__class__ is list:
        for index, item in doubtful(value, partial(_are_plain, repeated)) if ways is None else _leading(value, ways):
            yield f"{path}[{index}]", item, False, ways
        return
    pairs = repeated.get(id(value))
    names = Counter(map(itemgetter(0), pairs)) if pairs else {}
    more_than_once = {name for name, count in names.items() if count > 1}
    shallow = pairs is not None and set(_CONTAINERS).isdisjoint(map(type, map(itemgetter(1), pairs)))
    seen: set[str] = set()
    told: set[str] = set()
    for key, item in pairs or value.items():
        if key not in more_than_once:
            if item.__class__ in _CONTAINERS and (ways is None or id(item) in ways):
                yield f"{path}.{key}" if path else key, item, False, ways
            continue
        again = key in seen
        if item.__class__ in _CONTAINERS or (again and key not in told):
            # One that counts no more is not where the ways were looked for.
            yield f"{path}.{key}" if path else key, item, again, ways if item is value.get(key) else None
            if again:
                told.add(key)
                if shallow and len(told) == len(more_than_once):
                    return
        seen.add(key)


def _leading(items: list[Any], ways: set[int]) -> Iterator[tuple[int, Any]]:
    return compress(enumerate(items), map(ways.__contains__, map(id, items)))


def _are_plain(repeated: Repeated, items: Sequence[Any]) -> bool:
    """Whether surely no object in some values repeats a member."""
    kinds = set(map(type, items))
    if kinds != _OBJECTS:
        return kinds.isdisjoint(_CONTAINERS)
    inner = chain.from_iterable(map(dict.values, items))
    return repeated.keys().isdisjoint(map(id, items)) and set(map(type, inner)).isdisjoint(_CONTAINERS)


# orjson leaves its buffer, which is of some KiB at least, behind a short text. What is kept should be no longer than
# it is.
_WORTH_A_COPY = 65_536  # bytes
MOST_LEVELS = 254  # of maps and lists in each other that the fast writer takes


def _as_go(value: Any) -> Any:
    """What orjson cannot write by itself."""
    if isinstance(value, float):
        return orjson.Fragment(go_float(value))
    raise TypeError(f"{type(value).__name__} is not JSON")


def dumps(value: Any) -> bytes:
    """Compact JSON without a newline at the end, members in the order of the dicts."""
    try:
        out = orjson.dumps(value, default=_as_go)
    except (orjson.JSONEncodeError, TypeError):
        out = jsonexact.dumps(value, go_float)
    return _kept(out)


def _kept(out: bytes) -> bytes:
    return escape(bytes(memoryview(out)) if len(out) < _WORTH_A_COPY else out)


class TooDeep(ValueError):
    """Nested so deeply that not all forms of it could be made."""


def dumps_shallow(value: Any, *, by_name: bool = False) -> bytes:
    """As `dumps` (`by_name`: as `dumps_sorted`), but for what is nested more than MOST_LEVELS deep. Raises TooDeep."""
    try:
        out = orjson.dumps(value, default=_as_go, option=orjson.OPT_SORT_KEYS if by_name else None)
    except TypeError as error:
        if "Recursion limit" in str(error):
            raise TooDeep(f"nested more than {MOST_LEVELS} levels deep") from None
        out = jsonexact.dumps(_sorted(value) if by_name else value, go_float)
    return _kept(out)


def dumps_sorted(value: Any) -> bytes:
    """As `dumps`, the members of every object sorted by name."""
    try:
        return escape(orjson.dumps(value, default=_as_go, option=orjson.OPT_SORT_KEYS))
    except (orjson.JSONEncodeError, TypeError):
        text = jsonexact.compact(value, by_name=True)
        return dumps(_sorted(value)) if text is None or may_have_floats(text) else escape(text)


def _sorted(value: Any) -> Any:
    if value.__class__ is dict:
        return {name: _sorted(value[name]) for name in sorted(value)}
    return [_sorted(item) for item in value] if value.__class__ is list else value


def dumps_pretty(value: Any) -> bytes:
    """As `?pretty=1`: two spaces, no newline at the end."""
    try:
        out = orjson.dumps(value, default=_as_go, option=orjson.OPT_INDENT_2)
    except (orjson.JSONEncodeError, TypeError):
        out = jsonexact.dumps(value, go_float, indent=2)
    return escape(out)


def escape(data: bytes) -> bytes:
    """Go's escapes for use inside HTML. `data` is JSON, so these signs can only be inside of texts."""
    for sign, escaped in _ESCAPES:
        if sign in data:
            data = data.replace(sign, escaped)
    if b"\xe2" in data:
        data = data.replace(b"\xe2\x80\xa8", b"\\u2028").replace(b"\xe2\x80\xa9", b"\\u2029")
    return data


def go_float(value: float) -> str:
    """A float as Go's encoder writes it: `1`, `0.1`, `1e+21`, `1e-7`. Raises ValueError for infinities and NaN."""
    if not math.isfinite(value):
        raise ValueError(f"json: unsupported value: {value}")
    shown = repr(float(value))
    digits, _, power = shown.partition("e")
    size = abs(value)
    if size != 0 and (size < 1e-6 or size >= 1e21):
        if not power:
            digits, power = f"{value:.17e}".partition("e")[::2]
            digits, power = _shortest(value)
        sign = "-" if power.startswith("-") else "+"
        return f"{digits.removesuffix('.0')}e{sign}{power.lstrip('+-').lstrip('0')}"
    if not power:
        return shown.removesuffix(".0").replace("-0", "0") if size == 0 else shown.removesuffix(".0")
    return _plain(digits, int(power))


def _shortest(value: float) -> tuple[str, str]:
    """Digits and power of a float that repr writes without an exponent."""
    for precision in range(17):
        shown = f"{value:.{precision}e}"
        if float(shown) == value:
            digits, _, power = shown.partition("e")
            return digits, power
    return f"{value:.16e}".partition("e")[0], f"{value:.16e}".partition("e")[2]


def _plain(digits: str, power: int) -> str:
    """`1.5`, -5 -> `0.000015`."""
    sign = "-" if digits.startswith("-") else ""
    whole, _, fraction = digits.removeprefix("-").partition(".")
    fraction = "" if fraction == "0" else fraction
    if power < 0:
        return f"{sign}0.{'0' * (-power - 1)}{whole}{fraction}"
    if power >= len(fraction):
        return f"{sign}{whole}{fraction.ljust(power, '0')}"
    return f"{sign}{whole}{fraction[:power]}.{fraction[power:]}"


def plain_floats(value: Any) -> Any:
    """A value (dicts and lists are changed in place) whose numbers `dumps` writes as Go does.

    Whole floats that fit int64 become int; the few that orjson writes differently, and integers beyond int64, become
    GoFloat.
    """
    if value.__class__ is not dict and value.__class__ is not list:
        return _plain_number(value)
    todo = [value]
    for container in todo:
        for key, item in container.items() if container.__class__ is dict else enumerate(container):
            kind = item.__class__
            if kind is dict or kind is list:
                todo.append(item)
            elif kind not in _SETTLED:
                container[key] = _plain_number(item)
    return value


def may_hold(value: Any, text: bytes) -> bool:
    """False where the JSON of a value, or one inside of it, surely does not have `text` (ASCII) in it."""
    written = compact(value)
    return written is None or text in written


def compact(value: Any) -> bytes | None:
    """JSON of a value, to look at: floats may be written otherwise than by `dumps`. None where it is very deep."""
    try:
        return orjson.dumps(value)
    except TypeError:
        return jsonexact.compact(value)


def only_plain_numbers(value: Any) -> bool:
    """Whether surely no number in a value is a whole float (`3.0`), or one that Go would write otherwise, or beyond
    int64. False only means: look closer.
    """
    text = compact(value)
    if text is None:
        return all(_only_plain(kinds, level) for kinds, level in jsondeep.levels(value))
    return not may_have_odd_floats(text) and not has_digits(text, _MANY_DIGITS)


def _only_plain(kinds: set[type], items: list[Any]) -> bool:
    if int in kinds:
        numbers = [item for item in items if item.__class__ is int]
        if min(numbers) < -_INT64 or max(numbers) >= _INT64:
            return False
    return kinds <= _PLAIN


def has_whole_float(value: Any, text: bytes | None = None) -> bool:
    """Whether a value, or one inside of it, is a float that is written as an integer (`3.0`). `text`: what
    `compact_shallow` makes of the value, if that is known.
    """
    text = text or compact(value)
    if text is not None:
        if not may_have_odd_floats(text):
            return False
        for part in jsonpieces.behind_texts(jsonpieces.unquoted(text)):
            numbers = b"".join(part.split(b'"')[::2])
            if may_have_exponents(numbers):
                break
            if may_have_odd_floats(numbers):
                return True
        else:
            return False
    todo = [(value,)]
    for container in todo:
        for item in container:
            kind = item.__class__
            if kind is float:
                if item.is_integer() and -_INT64 <= item < _INT64:
                    return True
            elif kind is list:
                todo.append(item)
            elif kind is dict:
                todo.append(item.values())
    return False


def identical(left: Any, right: Any) -> bool:
    """Equality of settled JSON values to the letter: true is no 1. For where nothing says what type a value has."""
    if left != right:
        return False
    kind = left.__class__
    if kind is dict or kind is list:
        return dumps_sorted(left) == dumps_sorted(right)
    return (kind is bool) is (right.__class__ is bool)


def _plain_number(value: Any) -> Any:
    if isinstance(value, float):
        if value.is_integer() and -_INT64 <= value < _INT64:
            return int(value) if abs(value) < _EXACT else int(go_float(value))
        size = abs(value)
        return float(value) if 1e-5 <= size < 1e16 or not math.isfinite(value) else GoFloat(value)
    if value.__class__ is int and not -_INT64 <= value < _INT64:
        return GoFloat(value)
    return value


_SETTLED: Final = frozenset((str, bool, type(None)))
_PLAIN: Final = _SETTLED | {int, dict, list}


_META_NAMES: Final = {"apiversion": "apiVersion", "kind": "kind"}
_META_LENGTHS: Final = frozenset(map(len, _META_NAMES))  # characters, as many in any case


def type_meta(value: Any, *, exact: bool = True) -> tuple[str, str]:
    """apiVersion and kind of a document, "" where it has none. Raises JSONError when they cannot be had.

    Unless they are to be `exact`, they are looked for without regard to case; the last one counts.
    """
    if value is None:
        return "", ""
    if value.__class__ is not dict:
        raise JSONError(
            f"couldn't get version/kind; json parse error: {_cannot(value, f'Go value of type {_META_TYPE}')}"
        )
    found = {"apiVersion": "", "kind": ""}
    if exact:
        api_version, kind = value.get("apiVersion", ""), value.get("kind", "")
        if api_version.__class__ is str and kind.__class__ is str:
            return api_version, kind
    for key in [key for key in value if len(key) in _META_LENGTHS]:
        name, item = _META_NAMES.get(key.lower()), value[key]
        if name is None or item is None or (exact and name != key):
            continue
        if item.__class__ is not str:
            wrong = _cannot(item, f"Go struct field .{name} of type string")
            raise JSONError(f"couldn't get version/kind; json parse error: {wrong}")
        found[name] = item
    return found["apiVersion"], found["kind"]


def kind_of(value: Any) -> str:
    """The word Go has for a JSON value in its errors."""
    if value.__class__ is dict:
        return "object"
    if value.__class__ is list:
        return "array"
    if value.__class__ is bool:
        return "bool"
    return "string" if value.__class__ is str else "number"


def _cannot(value: Any, target: str) -> str:
    return f"json: cannot unmarshal {kind_of(value)} into {target}"


_OBJECT_START: Final = re.compile(rb"\s*\{")


def preview(data: bytes) -> str:
    """The beginning of a body as errors quote it: text when it looks like an object, hexadecimal digits otherwise."""
    if not data:
        return "<empty>"
    more = " ..." if len(data) > _PREVIEW else ""
    head = data[:_PREVIEW]
    if _OBJECT_START.match(data):
        return head.decode("utf-8", "replace") + more
    return head.hex() + more
