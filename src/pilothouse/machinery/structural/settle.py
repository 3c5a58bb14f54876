"""Pruning and defaulting of custom objects, in place.

`settle` is the fast way: compiled closures that walk the value, fill in defaults, and give up (False) at the first
thing that is not plain: an unknown field, a null, a number that Go would write otherwise, a value of another type.
Then `settle_slowly` does all of it again, exactly, with paths.
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import nsmallest
from typing import Any, Final

import orjson

from pilothouse.machinery.decode import DecodeError, Findings
from pilothouse.machinery.decode.document import Decoder
from pilothouse.machinery.jsoncodec import dumps, has_whole_float, may_hold, only_plain_numbers, plain_floats
from pilothouse.machinery.structural.check import WholeFloat, whole
from pilothouse.machinery.structural.node import EMBEDDED, Node
from pilothouse.machinery.structural.prune import drop_nulls, prune

Settle = Callable[[Any], bool]

_DICT: Final = frozenset((dict,))
_FILLED: Final = frozenset((dict, list, type(None)))  # where a default may be missing
_NO_FLOATS: Final = frozenset((str, int, bool, type(None)))
_MANY: Final = 64  # items that are worth a look at all of them together
_LEAST: Final = -(2**63)
_MOST: Final = 2**63 - 1
_CLASSES: Final[dict[str, type[Any]]] = {"string": str, "boolean": bool, "integer": int}
# Members of an embedded object's metadata that are as they should be if they are texts, or maps of texts.
_META_TEXTS: Final = frozenset({"name", "generateName", "namespace"})
_META_MAPS: Final = frozenset({"labels", "annotations"})


class Unfit(ValueError):
    """What makes an object impossible to read; the text is told to the client."""


def settle(node: Node) -> Settle:
    """The fast way for values of a node, compiled at first use. Every value it accepts is settled then."""
    made: Settle | None = node.compiled.get("settle")
    if made is None:
        made = node.compiled["settle"] = _compile(node)
    return made


def _compile(node: Node) -> Settle:
    if node.int_or_string:
        return _int_or_string
    if _is_object(node):
        return _object(node)
    kind = node.type
    if kind == "array":
        return _array(node)
    if kind == "integer":
        return _integer
    if kind == "number":
        return _number
    if kind in _CLASSES:
        wanted = _CLASSES[kind]
        return lambda value: value.__class__ is wanted
    return _anything


def _is_object(node: Node) -> bool:
    if node.int_or_string:
        return False
    return node.type == "object" or (not node.type and bool(node.raw.get("properties") or node.resource))


def _integer(value: Any) -> bool:
    return value.__class__ is int and _LEAST <= value <= _MOST


def _int_or_string(value: Any) -> bool:
    return value.__class__ is str or (value.__class__ is int and _LEAST <= value <= _MOST)


def _number(value: Any) -> bool:
    if value.__class__ is int:
        return _LEAST <= value <= _MOST
    return value.__class__ is float and 1e-5 <= abs(value) < 1e16 and not value.is_integer()


def _anything(value: Any) -> bool:
    """Nothing is said of the value; only its numbers matter."""
    kind = value.__class__
    if kind is dict or kind is list:
        if only_plain_numbers(value):
            return True
        if has_whole_float(value):
            return False
        plain_floats(value)
        return True
    return kind is str or kind is bool or (isinstance(value, int) and _LEAST <= value <= _MOST)


def _array(node: Node) -> Settle:
    items = node.items
    if items is None:
        return lambda value: False
    wanted = _CLASSES.get(items.type) if not items.int_or_string else None
    if wanted is str or wanted is bool:

        def plain(value: Any) -> bool:
            if value.__class__ is not list:
                return False
            return not value or set(map(type, value)) == {wanted}

        return plain
    made: list[tuple[Settle, bool]] = []

    def items_of(value: Any) -> bool:
        if value.__class__ is not list:
            return False
        if not made:
            made.append((settle(items), _is_object(items) and not _defaults(items)))
        one, empty_is_settled = made[0]
        if empty_is_settled and len(value) > _MANY and _DICT.issuperset(map(type, value)):
            value = filter(None, value)
        return all(map(one, value))

    return items_of


def _object(node: Node) -> Settle:
    plain, fields = _fields(node)
    defaults = _defaults(node)
    others = _others(node)
    plain_of, field_of = plain.get, fields.get
    additional = node.additional if not fields and not defaults else None
    alike = _CLASSES.get(additional.type) if additional is not None and not additional.int_or_string else None

    def members(value: Any) -> bool:
        if value.__class__ is not dict:
            return False
        if alike is not None and len(value) > _MANY and set(map(type, value.values())) == {alike}:
            return alike is not int or (min(value.values()) >= _LEAST and max(value.values()) <= _MOST)
        for name, item in value.items():
            kind = plain_of(name)
            if kind is item.__class__ and (kind is not int or _LEAST <= item <= _MOST):
                continue
            one = field_of(name, others)
            if one is None or not one(item):
                return False
        for name, make in defaults:
            if name not in value:
                value[name] = make()
        return True

    return members


def _fields(node: Node) -> tuple[dict[str, type[Any]], dict[str, Settle]]:
    """Fields of which only the class matters, and those that have to be looked into."""
    plain: dict[str, type[Any]] = {}
    fields: dict[str, Settle] = {}
    own = node.own
    for name, child in node.properties.items():
        if name in own:
            continue
        kind = _CLASSES.get(child.type) if not child.int_or_string else None
        if kind is not None:
            plain[name] = kind
            fields[name] = _never
        else:
            fields[name] = _later(child)
    if node.root:
        fields.update(dict.fromkeys(own, _always))
    elif own:
        plain["apiVersion"] = plain["kind"] = str
        fields.update({"apiVersion": _never, "kind": _never, "metadata": _plain_metadata})
    return plain, fields


def _later(child: Node) -> Settle:
    """Compiled when the field is first met."""
    made: list[Settle] = []

    def one(value: Any) -> bool:
        if not made:
            made.append(settle(child))
        return made[0](value)

    return one


def _never(value: Any) -> bool:
    return False


def _always(value: Any) -> bool:
    return True


def _plain_metadata(value: Any) -> bool:
    if value.__class__ is not dict:
        return False
    for name, item in value.items():
        if name in _META_TEXTS:
            if item.__class__ is not str or not item:
                return False
        elif name not in _META_MAPS or not _text_map(item):
            return False
    return True


def _text_map(value: Any) -> bool:
    return value.__class__ is dict and set(map(type, value.values())) == {str}


def _others(node: Node) -> Settle | None:
    """How fields that are not named are settled; None where they are unknown."""
    if node.additional is not None:
        return settle(node.additional)
    return _anything if node.open else None


def _defaults(node: Node) -> tuple[tuple[str, Callable[[], Any]], ...]:
    found = [(name, child) for name, child in node.properties.items() if child.default is not None]
    return tuple((name, _copies(child)) for name, child in found if name not in node.own)


def _copies(child: Node) -> Callable[[], Any]:
    """Makes the default of a field, with the defaults inside of it."""
    value = child.default
    if value.__class__ is not dict and value.__class__ is not list:
        return lambda: value
    whole = orjson.loads(orjson.dumps(value))
    fill(child, whole)
    drop_nulls(child, whole)
    if not whole:
        return dict if whole.__class__ is dict else list
    data = dumps(plain_floats(whole))
    return lambda: orjson.loads(data)


# -- the exact way


def settle_slowly(
    root: Node, obj: dict[str, Any], metadata: Decoder, *, forgiving: bool = False, nulls: bool = False
) -> tuple[list[str], frozenset[str]]:
    """Prune, default and drop nulls; the first paths of unknown fields, sorted, and which members have whole floats.

    `metadata` decodes that of embedded objects. Raises Unfit for what cannot be read; `forgiving` (what is stored
    already) drops it instead. `nulls` stay where the schema names a type.
    """
    unknown: list[str] = []
    coerce(root, obj, "", metadata, unknown, forgiving)
    prune(root, obj, "", unknown)
    fill(root, obj)
    if any(may_hold(value, b"null") for name, value in obj.items() if name != "metadata"):
        drop_nulls(root, obj, untyped=nulls)
    odd = [name for name, value in obj.items() if name != "metadata" and not only_plain_numbers(value)]
    floats = frozenset(name for name in odd if has_whole_float(obj[name]))
    for name in odd:
        child = root.properties.get(name) or root.additional
        if name in floats and root.has_rules and child is not None and name not in root.own:
            obj[name] = _keep_whole(child, obj[name])
        obj[name] = plain_floats(obj[name])
    return nsmallest(Findings.LIMIT, unknown), floats


def _keep_whole(node: Node, value: Any) -> Any:
    """The value, in which rules can tell whole floats in integer fields from integers."""
    if isinstance(value, float):
        return WholeFloat(value) if node.type == "integer" and whole(value) else value
    if value.__class__ is dict:
        for name, item in value.items():
            child = node.properties.get(name) or node.additional
            if child is not None and name not in node.own:
                value[name] = _keep_whole(child, item)
    elif value.__class__ is list and node.items is not None:
        items = node.items
        value[:] = [item if item.__class__ in _NO_FLOATS else _keep_whole(items, item) for item in value]
    return value


def coerce(node: Node, value: Any, path: str, metadata: Decoder, unknown: list[str], forgiving: bool) -> None:
    """What embedded objects have in common: texts for apiVersion and kind, metadata of its type."""
    if not node.anywhere(EMBEDDED):
        return
    if value.__class__ is list:
        items = node.items
        for index, item in enumerate(value):
            if items is not None and (item.__class__ is dict or item.__class__ is list):
                coerce(items, item, f"{path}[{index}]", metadata, unknown, forgiving)
        return
    if value.__class__ is not dict:
        return
    if node.resource and not node.root:
        _coerce_resource(value, path, metadata, unknown, forgiving)
    own = node.own
    for name, item in value.items():
        if name in own or (item.__class__ is not dict and item.__class__ is not list):
            continue
        child = node.properties.get(name) or node.additional
        if child is not None:
            coerce(child, item, f"{path}.{name}" if path else name, metadata, unknown, forgiving)


def _coerce_resource(value: dict[str, Any], path: str, metadata: Decoder, unknown: list[str], forgiving: bool) -> None:
    for name in ("apiVersion", "kind"):
        if name in value and value[name].__class__ is not str:
            if not forgiving:
                raise Unfit(f"{path}.{name}: Invalid value: {dumps(value[name]).decode()}: must be a string")
            del value[name]
    sent = value.get("metadata")
    if sent is None:
        value.pop("metadata", None)
        return
    shown = dumps(sent).decode()
    findings = Findings()
    try:
        value["metadata"] = metadata(sent, findings)
    except DecodeError as error:
        if not forgiving:
            raise Unfit(f"{path}.metadata: Invalid value: {shown}: {error}") from error
        del value["metadata"]
        return
    head, tail = 'unknown field "', '"'
    unknown += [f"{path}.metadata.{text[len(head) : -len(tail)]}" for text in findings.strict if text.startswith(head)]


def fill(node: Node, value: Any) -> None:
    """Fill in defaults where a field is missing, or null though it may not be."""
    if not node.anywhere("default"):
        return
    if value.__class__ is list:
        items = node.items
        if items is not None and items.anywhere("default") and not _FILLED.isdisjoint(map(type, value)):
            for index, item in enumerate(value):
                if item is None and items.default is not None and not items.nullable:
                    value[index] = _copy(items.default)
                fill(items, value[index])
        return
    if value.__class__ is not dict:
        return
    own, properties, additional = node.own, node.properties, node.additional
    for name, child in properties.items():
        if name not in own and child.anywhere("default"):
            if child.default is not None and _lacks(value, name, child):
                value[name] = _copy(child.default)
            fill(child, value.get(name))
    if additional is None or not additional.anywhere("default") or _FILLED.isdisjoint(map(type, value.values())):
        return
    for name in value.keys() - properties.keys():
        if additional.default is not None and _lacks(value, name, additional):
            value[name] = _copy(additional.default)
        fill(additional, value[name])


def _lacks(value: dict[str, Any], name: str, child: Node) -> bool:
    return name not in value or (value[name] is None and not child.nullable)


def _copy(value: Any) -> Any:
    return orjson.loads(orjson.dumps(value)) if value.__class__ is dict or value.__class__ is list else value
