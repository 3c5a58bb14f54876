"""Types of expressions, and when one may stand for another."""

from __future__ import annotations

from typing import Final, Protocol

from pilothouse.kit.record import record


@record
class Member:
    """A field of a declared object: its name in JSON and its type."""

    key: str
    type: Type


class Fields(Protocol):
    """What an object of a declared type holds."""

    def field(self, name: str) -> Member | None:
        """By the name that expressions use; None: there is no such field."""


class Type:
    """`kind` says what it is, `name` how it is called; `params` of lists, maps, optionals and types.

    `most`: the most elements (items, entries, bytes) that a value has; None: nobody knows. It does not count in
    equality.
    """

    __slots__ = ("fields", "kind", "most", "name", "params")

    def __init__(
        self, kind: str, name: str = "", params: tuple[Type, ...] = (), fields: Fields | None = None,
        most: int | None = None,
    ) -> None:  # fmt: skip
        self.kind = kind
        self.name = name or kind
        self.params = params
        self.fields = fields
        self.most = most

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return (
            isinstance(other, Type)
            and self.kind == other.kind
            and self.name == other.name
            and self.params == other.params
        )

    def __hash__(self) -> int:
        return hash((self.kind, self.name, self.params))

    def __str__(self) -> str:
        if self.params:
            return f"{self.name}({', '.join(map(str, self.params))})"
        return self.name

    def __repr__(self) -> str:
        return f"Type({self})"


BOOL: Final = Type("bool")
INT: Final = Type("int")
UINT: Final = Type("uint")
DOUBLE: Final = Type("double")
STRING: Final = Type("string")
BYTES: Final = Type("bytes")
NULL: Final = Type("null")
DYN: Final = Type("dyn")
ERROR: Final = Type("error", "!error!")
TIMESTAMP: Final = Type("timestamp")
DURATION: Final = Type("duration")

_SCALARS: Final = frozenset({"bool", "int", "uint", "double", "timestamp", "duration", "type", "null", "opaque"})
_NULLABLE: Final = frozenset({"opaque", "object", "timestamp", "duration", "optional_type"})
_PLAIN: Final = frozenset({"bool", "bytes", "double", "int", "string", "uint", "timestamp", "duration"})


def list_of(item: Type, most: int | None = None) -> Type:
    return Type("list", params=(item,), most=most)


def map_of(key: Type, value: Type, most: int | None = None) -> Type:
    return Type("map", params=(key, value), most=most)


def optional_of(held: Type) -> Type:
    return Type("optional_type", params=(held,))


def type_of(named: Type) -> Type:
    return Type("type", params=(named,))


def opaque(name: str) -> Type:
    return Type("opaque", name)


def param(name: str) -> Type:
    return Type("param", name)


def is_dyn(one: Type) -> bool:
    return one.kind in ("dyn", "error")


def is_scalar(one: Type) -> bool:
    return one.kind in _SCALARS


def is_optional(one: Type) -> bool:
    return one.kind == "optional_type"


class Substitution:
    """What type parameters stand for, as it becomes known while a call is checked."""

    __slots__ = ("count", "known")

    def __init__(self) -> None:
        self.known: dict[str, Type] = {}
        self.count = 0

    def fresh(self) -> Type:
        self.count += 1
        return param(f"_var{self.count}")

    def copy(self) -> Substitution:
        other = Substitution()
        other.known = dict(self.known)
        other.count = self.count
        return other

    def take(self, other: Substitution) -> None:
        self.known = other.known
        self.count = max(self.count, other.count)

    def apply(self, one: Type, *, open_as_dyn: bool = False) -> Type:
        if one.kind == "param":
            found = self.known.get(one.name)
            if found is not None:
                return self.apply(found, open_as_dyn=open_as_dyn)
            return DYN if open_as_dyn else one
        if not one.params:
            return one
        params = tuple(self.apply(each, open_as_dyn=open_as_dyn) for each in one.params)
        if all(new is old for new, old in zip(params, one.params, strict=True)):
            return one
        return Type(one.kind, one.name, params, one.fields, one.most)

    def fits(self, one: Type, other: Type) -> bool:
        """Whether `one` may stand where `other` is asked for; parameters learn what they are."""
        trial = self.copy()
        if trial._fits(one, other):
            self.take(trial)
            return True
        return False

    def all_fit(self, ones: list[Type], others: tuple[Type, ...]) -> bool:
        trial = self.copy()
        if len(ones) == len(others) and all(map(trial._fits, ones, others)):
            self.take(trial)
            return True
        return False

    def _fits(self, one: Type, other: Type) -> bool:
        if one is other:
            return True
        if other.kind == "param":
            valid, known = self._stands_for(one, other)
            if valid or known:
                return valid
        if one.kind == "param":
            return self._stands_for(other, one)[0]
        if is_dyn(one) or is_dyn(other):
            return True
        if one.kind == "null":
            return other.kind == "null" or other.kind in _NULLABLE
        if other.kind == "null":
            return one.kind in _NULLABLE
        if one.kind in _PLAIN:
            return one.kind == other.kind
        if one.kind == "type":
            return other.kind == "type"
        return (
            one.kind == other.kind
            and one.name == other.name
            and len(one.params) == len(other.params)
            and all(map(self._fits, one.params, other.params))
        )

    def _stands_for(self, one: Type, parameter: Type) -> tuple[bool, bool]:
        """Whether the parameter can be `one`, and whether it was something already."""
        known = self.known.get(parameter.name)
        if known is not None:
            if not self._fits(one, known):
                return False, True
            wider = known if wider_or_equal(known, one) else one
            if not self._within(parameter, wider):
                self.known[parameter.name] = wider
            return True, True
        if one.kind == "param" and one.name == parameter.name:
            return True, False
        if self._within(parameter, one):
            return False, False
        self.known[parameter.name] = one
        return True, False

    def _within(self, parameter: Type, one: Type) -> bool:
        if one.kind == "param":
            if one.name == parameter.name:
                return True
            found = self.known.get(one.name)
            return found is not None and self._within(parameter, found)
        return any(self._within(parameter, each) for each in one.params)


def wider_or_equal(one: Type, other: Type) -> bool:
    """Whether `one` says no more than `other` does: dyn of anything, a list of dyn of a list of int."""
    if is_dyn(one):
        return True
    if one.kind == "param":
        return True
    if one.kind == "null":
        return other.kind == "null"
    return (
        one.kind == other.kind
        and one.name == other.name
        and len(one.params) == len(other.params)
        and all(map(wider_or_equal, one.params, other.params))
    )
