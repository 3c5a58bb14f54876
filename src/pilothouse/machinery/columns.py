"""Which parts of a document may not fit their type, found field by field.

A field of all values of one type is a column, of which a few calls tell what is in it. So long documents, of which
nearly all is fine, need to be walked through only where they are not.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import accumulate, chain, compress, islice
from operator import itemgetter, not_
from typing import Any, Final

from pilothouse.machinery import schema as s
from pilothouse.machinery.schema import Schema

Kinds = frozenset[type]
Indices = Collection[int]
_SPARSE: Final = 4  # times as many fields as members: then most objects lack most of them
_NOTHING: Final = type(None)
CONTAINERS: Final[dict[str, Kinds]] = {
    s.LIST: frozenset((list, _NOTHING)), s.MAP: frozenset((dict, _NOTHING)), s.STRUCT: frozenset((dict, _NOTHING)),
}  # fmt: skip


class Columns(ABC):
    """What subclasses hold for wrong. `ids`: those of all objects and lists that are suspect, or have suspects in them;
    and of what stands where one of these should. `enough`: suspects of a column, more of which need not be found.
    """

    def __init__(self, enough: int) -> None:
        self.enough = enough
        self.ids: set[int] = set()

    @abstractmethod
    def scalars(self, schema: Schema, values: Sequence[Any], owner: Schema | None) -> Indices:
        """Which of some values are suspect, that are neither objects nor lists to their type."""

    @abstractmethod
    def knows_all(self, schema: Schema) -> bool:
        """Whether members that a struct has no field for are suspect."""

    def within_lists(self, schema: Schema, values: Sequence[Any], found: set[int]) -> Sequence[Any]:
        """Adds which of some lists are suspect, whatever each of their items is; tells what is to be looked into."""
        return values

    def odd_objects(self, values: Sequence[Any]) -> Iterable[int]:
        """Which of some objects are suspect, whatever each of their members is."""
        return ()

    def limited(self, found: set[int]) -> Indices:
        """What counts of all that was found in a column."""
        return found

    def among(self, schema: Schema, values: Sequence[Any], owner: Schema | None = None) -> Indices:
        """Which of some values are suspect. `owner`: whose field they are."""
        kind = schema.kind
        if kind not in CONTAINERS:
            return self.scalars(schema, values, owner)
        found: set[int] = set()
        all_values = values
        if not CONTAINERS[kind].issuperset(map(type, values)):
            found.update(unlike(values, CONTAINERS[kind]))
            values = [None if index in found else value for index, value in enumerate(values)]
        if kind == s.LIST:
            found.update(self._inside(schema.items, self.within_lists(schema, values, found), owner))
        elif kind == s.MAP:
            found.update(self._inside(schema.items, [value and value.values() for value in values], owner))
            found.update(self.odd_objects(values))
        else:
            self._structs(schema, values, found)
            found.update(self.odd_objects(values))
        if not found:
            return found
        counted = self.limited(found)
        self.ids.update(id(all_values[index]) for index in counted)
        return counted

    def _inside(self, items: Schema, values: Sequence[Any], owner: Schema | None) -> Iterable[int]:
        """Which of some collections have a suspect in them."""
        wrong = self.among(items, list(chain.from_iterable(filter(None, values))), owner)
        if not wrong:
            return ()
        if len(values) == 1:
            return (0,)
        ends = list(accumulate(len(value) if value else 0 for value in values))
        return (bisect_right(ends, index) for index in wrong)

    def _structs(self, schema: Schema, values: Sequence[Any], found: set[int]) -> None:
        present = list(compress(range(len(values)), values))
        objects = [values[index] for index in present] if len(present) < len(values) else values
        known = schema.properties
        names = set(chain.from_iterable(objects))
        unknown = names.difference(known)
        if unknown:
            names -= unknown
            if self.knows_all(schema):
                having_some = compress(present, map(not_, map(unknown.isdisjoint, objects)))
                found.update(islice(having_some, self.enough))
        for name, (having, column) in _columns(objects, present, names):
            wrong = self.among(known[name].schema, column, schema)
            if wrong:
                found.update(having[index] for index in wrong)


def unlike(values: Iterable[Any], kinds: Kinds) -> list[int]:
    """Which of some values are of no such kind."""
    return [index for index, value in enumerate(values) if value.__class__ not in kinds]


def _columns(
    objects: Sequence[Any], present: list[int], names: set[str]
) -> Iterator[tuple[str, tuple[list[int], list[Any]]]]:
    """Of each name, what the objects that have such a member have there, and which of all values these are."""
    if len(names) * len(objects) > _SPARSE * sum(map(len, objects)):
        columns: dict[str, tuple[list[int], list[Any]]] = {name: ([], []) for name in names}
        for index, one in zip(present, objects, strict=True):
            for name in names.intersection(one):
                columns[name][0].append(index)
                columns[name][1].append(one[name])
        yield from columns.items()
        return
    for name in names:
        try:
            yield name, (present, list(map(itemgetter(name), objects)))
        except KeyError:
            having = [name in one for one in objects]
            yield name, (list(compress(present, having)), [one[name] for one in compress(objects, having)])
