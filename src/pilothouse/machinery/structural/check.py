"""Whether a value is valid: compiled closures that only say yes or no. `explain.py` finds the words for a no.

Both must agree; a test holds them to it with made-up schemas and values.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, Final

from pilothouse.machinery.structural import embedded, unique
from pilothouse.machinery.structural.formats import format_of
from pilothouse.machinery.structural.node import Node
from pilothouse.machinery.structural.patterns import BadPattern, searcher

Check = Callable[[Any], bool]

FLOAT32_MOST: Final = 3.40282346638528859811704183484516925440e38
INTEGER_RANGES: Final = {"int32": (-(2**31), 2**31 - 1), "int64": (-(2**63), 2**63 - 1)}
_CLASSES: Final = {"string": str, "boolean": bool}
_NUMERIC: Final = ("maximum", "minimum", "multipleOf")
_TEXTUAL: Final = ("maxLength", "minLength", "pattern")
_SIZES: Final = ("maxItems", "minItems", "uniqueItems")
_LOGIC: Final = ("anyOf", "oneOf", "allOf", "not")
_OBJECTS: Final = ("properties", "additionalProperties", "required", "maxProperties", "minProperties")
# Keywords that say something of values, beside the type.
_MATTER: Final = (*_NUMERIC, *_TEXTUAL, *_SIZES, *_LOGIC, *_OBJECTS, "enum", "format", "items")


def check(node: Node) -> Check:
    """`f(value)`: whether the value is valid. Compiled at first use."""
    made: Check | None = node.compiled.get("check")
    if made is None:
        made = node.compiled["check"] = _compile(node)
    return made


def says_only_type(node: Node) -> bool:
    return not any(node.raw.get(keyword) is not None for keyword in _MATTER)


def same(left: Any, right: Any) -> bool:
    """Equality of JSON values: true is no 1."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, dict):
        if not isinstance(right, dict) or left.keys() != right.keys():
            return False
        return all(same(value, right[key]) for key, value in left.items())
    if isinstance(left, list):
        return isinstance(right, list) and len(left) == len(right) and all(map(same, left, right))
    return bool(left == right)


class WholeFloat(int):
    """An integer that was sent as a float (`5.0`). It is stored as an integer; rules see the difference."""

    __slots__ = ()

    def is_integer(self) -> bool:
        return True


def whole(value: float) -> bool:
    """A float that counts as an integer: exactly represented in every client."""
    return value.is_integer() and abs(value) <= 2**53 - 1


def type_fits(node: Node, value: Any) -> bool:
    """The rule of types, with the original's exceptions for values with a format."""
    types = node.types
    if value is None:
        return not types or node.nullable
    if not types:
        return True
    word, form = type_of(value)
    wanted = node.raw.get("format") or ""
    is_text_or_list = value.__class__ is str or value.__class__ is list
    near = word in types or (word == "number" and "integer" in types and whole(value))
    near = near or (word == "integer" and "number" in types)
    if wanted and is_text_or_list and not {"number", "integer"}.intersection(types):
        return True
    return near or (bool(wanted) and not is_text_or_list and form == wanted and word in types)


def type_of(value: Any) -> tuple[str, str]:
    """(JSON type, format) of a value."""
    kind = value.__class__
    if value is None:
        return "null", ""
    if kind is bool:
        return "boolean", ""
    if kind is int:
        return "integer", "int64"
    if kind is str:
        return "string", ""
    if kind is dict:
        return "object", ""
    if kind is list:
        return "array", ""
    return "number", "float64"


def in_range(node: Node, value: float) -> bool:
    """Whether a number is within what its type and format can hold."""
    kind, form = node.type, node.raw.get("format") or ""
    if kind == "integer":
        least, most = INTEGER_RANGES.get(form, INTEGER_RANGES["int64"])
        return float(value).is_integer() and least <= value <= most
    if kind == "number" and form == "float":
        return abs(value) <= FLOAT32_MOST
    return True


def multiple(value: int | float, factor: int | float) -> bool:
    if isinstance(value, int) and isinstance(factor, int):
        return value % factor == 0
    return whole(float(value) / float(factor))


# -- compiling


def _compile(node: Node) -> Check:
    """The parts of a node, one after the other."""
    kind = node.type
    if node.list_type in ("set", "map") and kind == "array" and node.items is not None:
        return _both(_plain(node), unique.checker(node))
    if node.resource and not node.root:
        return _both(_plain(node), embedded.valid)
    if kind in _CLASSES and says_only_type(node) and not node.nullable:
        wanted = _CLASSES[kind]
        return lambda value: value.__class__ is wanted
    return _plain(node)


def _both(first: Check, second: Check) -> Check:
    return lambda value: first(value) and second(value)


def _plain(node: Node) -> Check:
    raw = node.raw
    logic = _logic(node)
    enum = _enum(raw["enum"]) if raw.get("enum") else None
    kind = node.type
    if not node.nullable and logic is None and raw.get("format") is None:
        if node.int_or_string and says_only_type(node):
            return _int_or_string
        if kind == "string":
            return _string(node, enum)
        if kind == "integer" and enum is None:
            return _integer(node)
        if kind == "object" and enum is None:
            return _object(node)
        if kind == "array" and enum is None:
            return _array(node)
    numbers = _numbers(node)  # of all classes of numbers, and there are some
    by_class = {str: _texts(node), bool: None, list: _lists(node), dict: _objects(node)}
    types, usual = node.types, _USUAL.get(kind) if not node.int_or_string and raw.get("format") is None else None

    nullable = node.nullable or not types

    def valid(value: Any) -> bool:
        if value is None:
            return nullable and (enum is None or enum(None))
        if value.__class__ is not usual and types and not type_fits(node, value):
            return False
        if enum is not None and not enum(value):
            return False
        if logic is not None and not logic(value):
            return False
        of_class = by_class.get(value.__class__, numbers)
        return of_class is None or of_class(value)

    return valid


_USUAL: Final = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int}


def _int_or_string(value: Any) -> bool:
    kind = value.__class__
    return kind is str or kind is int or (kind is float and whole(value))


def _integer(node: Node) -> Check:
    raw = node.raw
    most, least = raw.get("maximum"), raw.get("minimum")
    if raw.get("exclusiveMaximum") or raw.get("exclusiveMinimum") or raw.get("multipleOf") is not None:
        numbers = _numbers(node)
        assert numbers is not None
        return lambda value: type_fits(node, value) and numbers(value)
    low, high = INTEGER_RANGES["int64"]
    low, high = low if least is None else max(low, least), high if most is None else min(high, most)
    # A float with a whole value fits too; such ones are rare, as `settle` makes them int.
    return lambda value: (
        (value.__class__ is int or (isinstance(value, float) and type_fits(node, value))) and low <= value <= high
    )


def _object(node: Node) -> Check:
    return _objects(node) or (lambda value: value.__class__ is dict)


def _array(node: Node) -> Check:
    members = _lists(node)
    if members is None:
        return lambda value: value.__class__ is list
    return lambda value: value.__class__ is list and members(value)


def _string(node: Node, enum: Check | None) -> Check:
    """A plain string: by far the most common node."""
    limit = _text_limit(node)
    if limit is not None:
        return lambda value: value.__class__ is str and len(value) <= limit
    if enum is not None and _texts(node) is None:
        return enum  # whose values may be of other types, and then fit nothing
    tests = [test for test in (enum, _texts(node)) if test is not None]
    if not tests:
        return lambda value: value.__class__ is str
    if len(tests) == 1:
        only = tests[0]
        return lambda value: value.__class__ is str and only(value)
    first, second = tests
    return lambda value: value.__class__ is str and first(value) and second(value)


def _enum(values: Sequence[Any]) -> Check:
    if all(value.__class__ is str for value in values):
        texts = frozenset(values)
        return lambda value: value.__class__ is str and value in texts
    return lambda value: value is not None and any(same(value, one) for one in values if one is not None)


def _texts(node: Node) -> Check | None:
    raw = node.raw
    most, least, pattern = raw.get("maxLength"), raw.get("minLength"), raw.get("pattern")
    format_check = format_of(raw.get("format") or "")
    if most is None and least is None and not pattern and format_check is None:
        return None
    if least is None and not pattern and format_check is None:
        return lambda value: len(value) <= most  # type: ignore[operator]
    tests: list[Check] = []
    if most is not None:
        tests.append(lambda value: len(value) <= most)
    if least is not None:
        tests.append(lambda value: len(value) >= least)
    if pattern:
        tests.append(matches(pattern))
    if format_check is not None:
        tests.append(format_check)
    return tests[0] if len(tests) == 1 else lambda value: all(test(value) for test in tests)


def matches(pattern: str) -> Check:
    """A pattern that is none matches nothing."""
    try:
        return searcher(pattern)
    except BadPattern:
        return lambda value: False


def _numbers(node: Node) -> Check | None:
    raw = node.raw
    most, least, factor = raw.get("maximum"), raw.get("minimum"), raw.get("multipleOf")
    limited = node.type == "integer" or (node.type == "number" and raw.get("format") == "float")
    if most is None and least is None and factor is None and not limited:
        return None
    below, above = bool(raw.get("exclusiveMaximum")), bool(raw.get("exclusiveMinimum"))

    def number(value: Any) -> bool:
        if limited and not in_range(node, value):
            return False
        if most is not None and (value >= most if below else value > most):
            return False
        if least is not None and (value <= least if above else value < least):
            return False
        return factor is None or multiple(value, factor)

    return number


def _lists(node: Node) -> Check | None:
    raw, items = node.raw, node.items
    most, least = raw.get("maxItems"), raw.get("minItems")
    made: list[Check] = []  # of the items, when some are first met

    def members(value: Any) -> bool:
        if most is not None and len(value) > most:
            return False
        if least is not None and len(value) < least:
            return False
        if items is not None and value:
            if not made:
                made.append(check(items))
            if not all(map(made[0], value)):
                return False
        return not raw.get("uniqueItems") or not unique.repeated(map(unique.identity, value))

    return members if items is not None or most is not None or least is not None or raw.get("uniqueItems") else None


def _later(node: Node) -> Check:
    """Compiled when it is first met."""
    made: list[Check] = []

    def one(value: Any) -> bool:
        if not made:
            made.append(check(node))
        return made[0](value)

    return one


def _text_limit(node: Node | None) -> int | None:
    """How long a text may be, where that is all that the schema says; None where it says other things."""
    if node is None or node.type != "string" or node.nullable or node.int_or_string:
        return None
    if any(node.raw.get(keyword) is not None for keyword in _MATTER if keyword != "maxLength"):
        return None
    most = node.raw.get("maxLength")
    return sys.maxsize if most is None else int(most)


def _objects(node: Node) -> Check | None:
    """Of a value that is an object or not."""
    raw, additional = node.raw, node.additional
    if not any(raw.get(keyword) is not None for keyword in _OBJECTS):
        return None
    most, least = raw.get("maxProperties"), raw.get("minProperties")
    counted = most is not None or least is not None
    required: tuple[str, ...] = tuple(raw.get("required") or ())
    found = {name: _text_limit(child) for name, child in node.properties.items()}
    limits = {name: limit for name, limit in found.items() if limit is not None}
    children = {name: child for name, child in node.properties.items() if name not in limits}
    checks: dict[str, Check] = {}  # of the children, as they are met
    other_limit, others = _text_limit(additional), None if additional is None else _later(additional)
    limit_of, check_of, child_of, closed = limits.get, checks.get, children.get, node.closed

    def members(value: Any) -> bool:
        if value.__class__ is not dict:
            return False
        for name, item in value.items():
            limit = limit_of(name)
            if limit is not None:
                if item.__class__ is not str or len(item) > limit:
                    return False
                continue
            one = check_of(name)
            if one is None:
                child = child_of(name)
                if child is not None:
                    one = checks[name] = check(child)
                elif other_limit is not None:
                    if item.__class__ is not str or len(item) > other_limit:
                        return False
                    continue
                elif others is not None:
                    one = others
                elif closed:
                    return False
                else:
                    continue
            if not one(item):
                return False
        for name in required:
            if name not in value:
                return False
        return not counted or not (
            (most is not None and len(value) > most) or (least is not None and len(value) < least)
        )

    return members


def _logic(node: Node) -> Check | None:
    tests: list[Check] = []
    any_of, one_of, all_of = (logic_nodes(node, word) for word in ("anyOf", "oneOf", "allOf"))
    if any_of:
        tests.append(lambda value: any(check(one)(value) for one in any_of))
    if one_of:
        tests.append(lambda value: sum(check(one)(value) for one in one_of) == 1)
    if all_of:
        tests.append(lambda value: all(check(one)(value) for one in all_of))
    negated = logic_nodes(node, "not")
    if negated:
        tests.append(lambda value: not check(negated[0])(value))
    if not tests:
        return None
    return tests[0] if len(tests) == 1 else lambda value: all(test(value) for test in tests)


def logic_nodes(node: Node, word: str) -> tuple[Node, ...]:
    """The schemas under `anyOf`, `oneOf`, `allOf` or `not`."""
    made: tuple[Node, ...] | None = node.compiled.get(word)
    if made is None:
        found = node.raw.get(word) or ()
        made = tuple(Node(one) for one in (found if isinstance(found, list) else (found,) if found else ()))
        node.compiled[word] = made
    return made
