"""Long lists of objects, decoded column by column.

A field of all objects of a run is a column: a few calls tell that it fits, and mostly it is kept as it is. So the price
of an object is that of making it, and where the parsed one can stay (`Findings.owned`) not even that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import chain, compress, islice, repeat, starmap
from operator import is_, itemgetter, not_
from typing import Any, Final

from pilothouse.kit.record import record
from pilothouse.machinery.decode.findings import Findings, Mismatch
from pilothouse.machinery.errors import too_large

_Objects = list[dict[str, Any]]
ListDecoder = Callable[[Any, Findings], _Objects]
Reader = Callable[[list[Any], Findings], list[Any]]
"""What is kept of the values of one field; the list itself if that is all of it. Null is a value. Raises REFUSALS."""

LONG: Final = 48  # objects, from which on columns cost less than rows
_RUN: Final = 1024  # objects that are looked at together
_FORMS: Final = 8  # in a run: with more of them it is decoded object by object
_LEVELS: Final = 16  # of long lists in each other; what is deeper is decoded object by object
_MOST_PLANS: Final = 64
_NULL: Final = type(None)


@record
class Column:
    """How a field is decoded. `zero`: makes what stands where there is no value; None where it is left out.

    `empty`: whether zero values are left out too, not only null.
    """

    read: Reader
    zero: Callable[[], Any] | None
    empty: bool


@record
class _Plan:
    """How objects of one form, which is the order of their members, are made."""

    columns: tuple[tuple[str, Column], ...]  # of the members that they have, in the order of the type
    template: dict[str, Any]  # with all members that they get
    absent: tuple[tuple[str, Callable[[], Iterable[Any]]], ...]  # of these what they do not have,
    own: tuple[tuple[str, Callable[[], Iterable[Any]]], ...]  # and what of that each must have for itself
    kept: bool  # whether they come in the order of the type, and what they do not have behind it
    known: bool  # whether they have no other members


class LongLists:
    """The decoder of long lists of one type. `rows` decodes them object by object."""

    def __init__(self, columns: Mapping[str, Column], rows: ListDecoder) -> None:
        self._columns = columns
        self._rows = rows
        self._plans: dict[tuple[str, ...], _Plan] = {}

    def decode(self, values: list[Any], findings: Findings) -> _Objects:
        """`values` itself if all objects in it may stay as they are. Raises REFUSALS, RequestEntityTooLarge."""
        if findings.level == _LEVELS:
            return self._rows(values, findings)
        findings.level += 1
        made: _Objects | None = None
        for start in range(0, len(values), _RUN):
            run = values[start : start + _RUN]
            decoded = self._run(run, findings)
            if made is None and decoded is not run:
                made = values[:start]
            if made is not None:
                made += decoded
        findings.level -= 1
        return values if made is None else made

    def _run(self, run: list[Any], findings: Findings) -> _Objects:
        if set(map(type, run)) != {dict}:
            return self._rows(run, findings)
        form = tuple(run[0])
        if len(form) < 2 and set(map(len, run)) == {len(form)}:
            if not form or set(chain.from_iterable(run)) == set(form):
                return self._of_form(run, form, findings)
        forms = list(map(tuple, run))
        groups: dict[tuple[str, ...], _Objects] = {form: [] for form in set(forms)}
        if len(groups) > _FORMS:
            return self._rows(run, findings)
        if len(groups) == 1:
            return self._of_form(run, form, findings)
        for form, one in zip(forms, run, strict=True):
            groups[form].append(one)
        decoded = {form: iter(self._of_form(group, form, findings)) for form, group in groups.items()}
        made = list(map(next, map(decoded.__getitem__, forms)))
        return run if all(map(is_, made, run)) else made

    def _of_form(self, run: _Objects, form: tuple[str, ...], findings: Findings) -> _Objects:
        """Objects whose members are those of one form, in its order."""
        plan = self._plans.get(form) or self._planned(form)
        if not plan.known:
            findings.unknown = True
        read: list[tuple[str, Iterable[Any]]] = []
        changed: list[tuple[str, Iterable[Any]]] = []
        dropped: list[tuple[str, list[bool]]] = []
        for name, column in plan.columns:
            values = list(map(itemgetter(name), run))
            made = column.read(values, findings)
            read.append((name, made))
            if made is not values:
                changed.append((name, made))
            if column.zero is None:
                nothing = _absent(values, made, column.empty)
                if nothing is not None:
                    dropped.append((name, nothing))
        if findings.probing:
            return run
        if findings.owned and plan.kept and not findings.unknown:  # what is unknown is still to be told, from what came
            objects, read, absent = run, changed, plan.absent
        else:
            objects, absent = list(map(dict.copy, repeat(plan.template, len(run)))), plan.own
        read += ((name, zeros()) for name, zeros in absent)
        _change(objects, read, dropped)
        return objects

    def _planned(self, form: tuple[str, ...]) -> _Plan:
        have: list[tuple[str, Column]] = []
        template: dict[str, Any] = {}
        absent: list[tuple[str, Callable[[], Iterable[Any]]]] = []
        own: list[tuple[str, Callable[[], Iterable[Any]]]] = []
        for name, column in self._columns.items():
            if name in form:
                have.append((name, column))
                template[name] = None
            elif column.zero is not None:
                template[name] = zero = column.zero()
                if isinstance(zero, dict):
                    own.append((name, partial(starmap, column.zero, repeat(()))))
                    absent.append(own[-1])
                else:
                    absent.append((name, partial(repeat, zero)))
        known = len(have) == len(form)
        kept = known and tuple(template)[: len(form)] == form
        plan = _Plan(tuple(have), template, tuple(absent), tuple(own), kept, known)
        if len(self._plans) >= _MOST_PLANS:
            self._plans.clear()
        if known:
            self._plans[form] = plan
        return plan


def _absent(sent: list[Any], made: list[Any], empty: bool) -> list[bool] | None:
    """Of which objects a member is left out; None for of none."""
    if not empty:
        return [value is None for value in sent] if None in sent else None
    return None if all(made) else list(map(not_, made))


def _change(
    objects: _Objects, members: Iterable[tuple[str, Iterable[Any]]], dropped: Iterable[tuple[str, list[bool]]]
) -> None:
    """Gives each object its values of some members, and takes out others."""
    for name, values in members:
        for one, value in zip(objects, values, strict=False):
            one[name] = value
    for name, nothing in dropped:
        for one in compress(objects, nothing):
            del one[name]


def plain(kind: type, zero: Any) -> Reader:
    """Values of one class, which are kept as they are; `zero` stands for null."""
    right, allowed = {kind}, {kind, _NULL}

    def read(values: list[Any], _: Findings) -> list[Any]:
        kinds = set(map(type, values))
        if kinds == right:
            return values
        if not kinds <= allowed:
            raise Mismatch
        return values if zero is None else [zero if value is None else value for value in values]

    return read


def whole(least: int, most: int, zero: Any, *others: type) -> Reader:
    """Integers of a range, or values of other classes."""
    allowed = {int, _NULL, *others}

    def read(values: list[Any], _: Findings) -> list[Any]:
        kinds = set(map(type, values))
        if not kinds <= allowed:
            raise Mismatch
        numbers = values if kinds == {int} else [value for value in values if value.__class__ is int]
        if numbers and not (min(numbers) >= least and max(numbers) <= most):
            raise Mismatch
        return values if zero is None or _NULL not in kinds else [zero if value is None else value for value in values]

    return read


def each(read_all: Reader) -> Reader:
    """Values that are read one by one."""

    def read(values: list[Any], findings: Findings) -> list[Any]:
        made = read_all(values, findings)
        return values if all(map(is_, made, values)) else made

    return read


def texts(read_all: Reader) -> Reader:
    """Lists of texts, which are kept as they are where no null is in them, nor an empty one among them."""

    def read(values: list[Any], findings: Findings) -> list[Any]:
        if all(values) and set(map(type, values)) == {list}:
            if set(map(type, chain.from_iterable(values))) == {str}:
                return values
        return read_all(values, findings)

    return read


def structs(decode: ListDecoder, *, null: bool) -> Reader:
    """Objects of a type. `null`: null stays so, else it is the zero object."""

    def read(values: list[Any], findings: Findings) -> list[Any]:
        if null and None in values:
            made = iter(decode([value for value in values if value is not None], findings))
            return [None if value is None else next(made) for value in values]
        return decode(values, findings)

    return read


def lists(decode: ListDecoder, most: float, longest: int, *, null: bool) -> Reader:
    """Lists of objects, of which all are decoded together. `most` in each, or it would be over `longest` bytes.

    `null`: empty ones are.
    """

    def read(values: list[Any], findings: Findings) -> list[Any]:
        if not set(map(type, values)) <= {list, _NULL}:
            raise Mismatch
        lengths: Sequence[int] = [len(value) if value else 0 for value in values]
        if max(lengths) > most:
            raise too_large(longest)
        together = list(chain.from_iterable(filter(None, values)))
        made = decode(together, findings)
        if made is together and not (null and 0 in lengths):
            return values
        left = iter(made)
        return [list(islice(left, length)) or (None if null else []) for length in lengths]

    return read
