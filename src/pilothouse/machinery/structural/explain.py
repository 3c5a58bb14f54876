"""Why a value is not valid, in the words and the order of the original.

Runs only when `check` has said no. On an update, what is as it was before is not looked at again: values from before
the schema was tightened may stay.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Final

from pilothouse.kit.sorting import in_order
from pilothouse.machinery.errors import MOST_CAUSES, Cause
from pilothouse.machinery.jsoncodec import dumps
from pilothouse.machinery.rules.field import quoted, shown
from pilothouse.machinery.structural import unique
from pilothouse.machinery.structural.check import (
    WholeFloat,
    check,
    in_range,
    logic_nodes,
    matches,
    multiple,
    same,
    type_fits,
    type_of,
)
from pilothouse.machinery.structural.formats import format_of
from pilothouse.machinery.structural.node import Node

ABSENT: Final = object()  # there is no old value to compare with
_NOWHERE: Final = "<nil>"  # the field of what belongs to no single place


def explain(node: Node, value: Any, old: Any = ABSENT, *, field: str = "") -> list[Cause]:
    """All that is wrong, as far as it is told (MOST_CAUSES).

    `field`: where the value is in its object (messages name paths below it only).
    """
    walk = _Walk(field)
    walk.value(node, value, "", old)
    return walk.found


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _json(value: Any) -> str:
    return dumps(value).decode()


class _Walk:
    def __init__(self, base: str) -> None:
        self._base = base
        self.found: list[Cause] = []

    @property
    def full(self) -> bool:
        return len(self.found) >= MOST_CAUSES

    # -- telling

    def _field(self, path: str) -> str:
        if not self._base:
            return path
        return self._base + path if path.startswith("[") or not path else f"{self._base}.{path}"

    def _invalid(self, path: str, value: Any, why: str, reason: str = "FieldValueInvalid") -> None:
        self.found.append(Cause(reason, f"Invalid value: {shown(value)}: {path} in body {why}", self._field(path)))

    def _nowhere(self, why: str) -> None:
        self.found.append(Cause("FieldValueInvalid", f'Invalid value: "": {why}', _NOWHERE))

    # -- walking

    def value(self, node: Node, value: Any, path: str, old: Any) -> None:
        if self.full or (old is not ABSENT and same(value, old)):
            return
        self._type(node, value, path)
        if value is None:
            self._enum(node, value, path)
            return
        self._logic(node, value, path)
        if value.__class__ is str:
            self._text(node, value, path)
        elif value.__class__ is int or isinstance(value, float | WholeFloat):
            self._number(node, value, path)
        elif value.__class__ is list:
            self._items(node, value, path, old)
        self._enum(node, value, path)
        if value.__class__ is dict:
            self._members(node, value, path, old)

    def _type(self, node: Node, value: Any, path: str) -> None:
        if type_fits(node, value):
            return
        word, form = type_of(value)
        wanted = node.raw.get("format") or ""
        if wanted and value is not None and value.__class__ is not str and value.__class__ is not list:
            self._mistyped(path, wanted, form)
        else:
            self._mistyped(path, ",".join(node.types), word)

    def _mistyped(self, path: str, wanted: str, found: str) -> None:
        self._invalid(path, found, f'must be of type {wanted}: "{found}"', "FieldValueTypeInvalid")

    def _text(self, node: Node, value: str, path: str) -> None:
        raw = node.raw
        most, least, pattern = raw.get("maxLength"), raw.get("minLength"), raw.get("pattern")
        if most is not None and len(value) > most:
            unit = "byte" if most == 1 else "bytes"
            why = f"Too long: may not be more than {most} {unit}"
            self.found.append(Cause("FieldValueTooLong", why, self._field(path)))
        elif least is not None and len(value) < least:
            self._invalid(path, value, f"should be at least {least} chars long")
        elif pattern and not matches(pattern)(value):
            self._invalid(path, value, f"should match '{pattern}'")
        form = raw.get("format") or ""
        test = format_of(form)
        if test is not None and not test(value):
            self._invalid(path, value, f"must be of type {form}: {shown(value)}", "FieldValueTypeInvalid")

    def _number(self, node: Node, value: Any, path: str) -> None:
        raw = node.raw
        if not in_range(node, value):
            form = f"with format {raw['format']}" if raw.get("format") else "(default format)"
            self._nowhere(f"Checked value must be of type {node.type} {form} in {path}")
        factor, most, least = raw.get("multipleOf"), raw.get("maximum"), raw.get("minimum")
        if factor is not None and not multiple(value, factor):
            self._invalid(path, value, f"should be a multiple of {_json(factor)}")
        if most is not None and (value >= most if raw.get("exclusiveMaximum") else value > most):
            limit = "less than" if raw.get("exclusiveMaximum") else "less than or equal to"
            self._invalid(path, value, f"should be {limit} {_json(most)}")
        if least is not None and (value <= least if raw.get("exclusiveMinimum") else value < least):
            limit = "greater than" if raw.get("exclusiveMinimum") else "greater than or equal to"
            self._invalid(path, value, f"should be {limit} {_json(least)}")

    def _items(self, node: Node, value: Sequence[Any], path: str, old: Any) -> None:
        items, raw = node.items, node.raw
        if items is not None:
            before = _correlated(node, old)
            valid = check(items)
            for index, item in enumerate(value):
                if not valid(item):
                    self.value(items, item, f"{path}[{index}]", before(item))
                    if self.full:
                        return
        least, most = raw.get("minItems"), raw.get("maxItems")
        if least is not None and len(value) < least:
            self._invalid(path, len(value), f"should have at least {least} items")
        if most is not None and len(value) > most:
            self._too_many(path, len(value), most)
        if raw.get("uniqueItems") and unique.repeated(map(unique.identity, value)):
            self._invalid(path, value, "shouldn't contain duplicates")

    def _too_many(self, path: str, found: int, most: int) -> None:
        unit = "item" if most == 1 else "items"
        why = f"Too many: {found}: must have at most {most} {unit}"
        self.found.append(Cause("FieldValueTooMany", why, self._field(path)))

    def _enum(self, node: Node, value: Any, path: str) -> None:
        values = node.raw.get("enum")
        if not values or (value is not None and any(same(value, one) for one in values if one is not None)):
            return
        supported = ", ".join(quoted(one if one.__class__ is str else _json(one)) for one in values)
        why = f"Unsupported value: {shown(value)}: supported values: {supported}"
        self.found.append(Cause("FieldValueNotSupported", why, self._field(path)))

    def _members(self, node: Node, value: dict[str, Any], path: str, old: Any) -> None:
        raw = node.raw
        least, most = raw.get("minProperties"), raw.get("maxProperties")
        if least is not None and len(value) < least:
            self._invalid(path, len(value), f"should have at least {least} properties")
            return
        if most is not None and len(value) > most:
            self._too_many(path, len(value), most)
            return
        before = old if old.__class__ is dict else {}
        properties, additional = node.properties, node.additional
        if node.closed:
            self._forbidden(value.keys() - properties.keys() - node.own, path)
        elif additional is not None:
            valid = check(additional)
            for name in in_order([name for name in value if name not in properties and not valid(value[name])]):
                self.value(additional, value[name], _join(path, name), before.get(name, ABSENT))
                if self.full:
                    return
        for name in sorted(properties.keys() & value.keys()):
            self.value(properties[name], value[name], _join(path, name), before.get(name, ABSENT))
        for name in raw.get("required") or ():
            if name not in value:
                self.found.append(Cause("FieldValueRequired", "Required value", self._field(_join(path, name))))

    def _forbidden(self, names: Collection[str], path: str) -> None:
        for name in in_order(names):
            if self.full:
                return
            why = f"{_join(path, name)} in body is a forbidden property"
            self.found.append(Cause("FieldValueInvalid", f"Invalid value: {shown(name)}: {why}", self._field(path)))

    # -- logic

    def _logic(self, node: Node, value: Any, path: str) -> None:
        any_of, one_of, all_of = (logic_nodes(node, word) for word in ("anyOf", "oneOf", "allOf"))
        if any_of and not any(check(one)(value) for one in any_of):
            self._nowhere(f'"{path}" must validate at least one schema (anyOf)')
            self._best(any_of, value, path)
        if one_of:
            valid = sum(check(one)(value) for one in one_of)
            if valid != 1:
                found = f"{valid} valid alternatives" if valid else "none valid"
                self._nowhere(f'"{path}" must validate one and only one schema (oneOf). Found {found}')
            if valid == 0:
                self._best(one_of, value, path)
        self._all(all_of, value, path)
        for negated in logic_nodes(node, "not"):
            if check(negated)(value):
                self._nowhere(f'"{path}" must not validate the schema (not)')

    def _best(self, nodes: Sequence[Node], value: Any, path: str) -> None:
        """Why the schema fails of which most could be looked at."""
        best = max(nodes, key=lambda node: _looked_at(node, value))
        self.value(best, value, path, ABSENT)

    def _all(self, nodes: Sequence[Node], value: Any, path: str) -> None:
        valid = 0
        for one in nodes:
            if check(one)(value):
                valid += 1
            else:
                self.value(one, value, path, ABSENT)
        if valid < len(nodes):
            none = ". None validated" if not valid else ""
            self._nowhere(f'"{path}" must validate all the schemas (allOf){none}')


def _looked_at(node: Node, value: Any) -> int:
    """How many values a schema looks at."""
    count = 1
    if value.__class__ is dict:
        for name, item in value.items():
            child = node.properties.get(name) or node.additional
            if child is not None:
                count += _looked_at(child, item)
    elif value.__class__ is list and node.items is not None:
        count += sum(_looked_at(node.items, item) for item in value)
    return count


def _correlated(node: Node, old: Any) -> Any:
    """`f(item)`: the same item before; only keyed lists can tell."""
    if old.__class__ is not list or node.list_type != "map":
        return lambda item: ABSENT
    key = unique.key_of(node)
    known = {key(item): item for item in old}
    return lambda item: known.get(key(item), ABSENT)
