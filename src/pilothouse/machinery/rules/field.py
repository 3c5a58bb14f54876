"""Where a rule reports what is wrong: the causes of a 422, in the words of the original.

A `Field` stands for one validation of one object. Rules write paths relative to the value they were given; the
caller puts its own step in front, and only if something was found. So a valid object pays for no path.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from operator import is_, le
from typing import Any, Final, TypeVar

import orjson

from pilothouse.kit.runs import RUN, doubtful, doubtful_names
from pilothouse.kit.sorting import in_order, smallest_first
from pilothouse.machinery.errors import MOST_CAUSES, Cause
from pilothouse.machinery.jsoncodec import dumps
from pilothouse.machinery.rules.alike import Free, are_alike

_LEAST: Final = len('"a":"",')  # signs of JSON for a member of a map
_MOST_TEXT: Final = 1 << 20  # signs of all messages; each may show the whole value


T = TypeVar("T")
V = TypeVar("V")
_CONTAINERS: Final[set[type]] = {dict, list}
Rule = Callable[[Any, "Field"], "bool | None"]
"""`(value, field)`: adds what is wrong to the field. True: the place needs no more rules."""

_HTML: Final = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
_ESCAPES: Final = {
    '"': '\\"', "\\": "\\\\", "\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v",
}  # fmt: skip


def quoted(text: str) -> str:
    """A string as the original quotes it: `a"b` as `"a\\"b"`, what cannot be printed as an escape."""
    if text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    shown = []
    for char in text:
        if char in _ESCAPES:
            shown.append(_ESCAPES[char])
        elif char.isprintable():
            shown.append(char)
        else:
            code = ord(char)
            shown.append(f"\\x{code:02x}" if code < 0x80 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}")
    return f'"{"".join(shown)}"'


def as_json(value: Any) -> str:
    """Compact JSON with `<`, `>` and `&` escaped, as the original's encoder writes it.

    Keys keep their order, but those of long maps: these may be in disorder as long as they are judged.
    """
    text = _text(value)
    if len(text) > _LEAST * RUN:
        ordered = _by_key(value)
        if ordered is not value:
            text = _text(ordered)
    for char, escape in _HTML.items():
        if char in text:
            text = text.replace(char, escape)
    return text


def _text(value: Any) -> str:
    try:
        return orjson.dumps(value).decode()
    except TypeError:  # very deep, or with numbers that Go writes in its own way
        return dumps(value).decode()


def _by_key(value: Any) -> Any:
    """With long maps in order. What is in long lists is not worth a look."""
    if isinstance(value, dict):
        names = in_order(value) if len(value) > RUN and not all(map(le, value, islice(value, 1, None))) else value
        if not set(map(type, value.values())).isdisjoint(_CONTAINERS):
            if len(value) > RUN:  # in most of so many there can be none
                return {name: _by_key(value[name]) if _may_have_long(value[name]) else value[name] for name in names}
            return {name: _by_key(value[name]) for name in names}
        return value if names is value else {name: value[name] for name in names}
    if isinstance(value, list) and len(value) <= RUN:
        ordered = list(map(_by_key, value))
        return value if all(map(is_, ordered, value)) else ordered
    return value


def _may_have_long(value: Any) -> bool:
    """Whether a value is long enough to have a long map in it."""
    return value.__class__ in _CONTAINERS and bool(value) and len(_text(value)) > _LEAST * RUN


def shown(value: Any) -> str:
    """A value as causes show it: strings quoted, numbers and booleans bare, the rest as JSON (None: `null`)."""
    if value is None:
        return "null"
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    return as_json(value)


def sorted_map(value: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """A map (labels, a node selector) in the order in which the original shows it."""
    return None if value is None else dict(sorted(value.items()))


def join(prefix: str, path: str) -> str:
    """`spec` and `replicas` to `spec.replicas`, `spec.ports` and `[0].port` to `spec.ports[0].port`.

    A path that starts with `/` is meant from the root (the original has such odd ones) and stays as it is.
    """
    if not path:
        return prefix
    if path[0] == "[":
        return prefix + path
    if path[0] == "/" or not prefix:
        return path
    return f"{prefix}.{path}"


def _not_at_all(_: Any) -> bool:
    return False


class Field:
    """What rules see beside the value, and where they put what they find.

    `root`: the whole new object. `root_old`: the whole old one, None on create. `updating`: there is an old one.
    `old`: the old value at the same place as the value at hand; None where there was none, on create, and inside lists
    whose items are not paired. `context`: what the request says (registry.behaviour.Context).
    """

    __slots__ = ("_made", "_room", "_shown", "context", "found", "old", "root", "root_old", "updating")

    def __init__(self, root: Any = None, root_old: Any = None, context: Any = None) -> None:
        self.root = root
        self.root_old = root_old
        self.context = context
        self.old = root_old
        self.updating = root_old is not None
        self.found: list[list[str]] = []  # [path, reason, message]
        self._room = _MOST_TEXT
        self._made: dict[Callable[[Any], Any], Any] | None = None
        self._shown: tuple[Any, str] = (None, "null")

    # -- what can be wrong

    def add(self, path: str, reason: str, message: str) -> None:
        """What comes when there are very many is not kept."""
        if not self.full:
            self._room -= len(message)
            self.found.append([path, reason, message])

    def required(self, path: str = "", why: str = "") -> None:
        self.add(path, "FieldValueRequired", f"Required value: {why}" if why else "Required value")

    def invalid(self, path: str, value: Any, why: str) -> None:
        self.add(path, "FieldValueInvalid", f"Invalid value: {self._showing(value)}: {why}")

    def wrong(self, path: str, why: str) -> None:
        """As `invalid`, without a value."""
        self.add(path, "FieldValueInvalid", f"Invalid value: {why}")

    def type_invalid(self, path: str, value: Any, why: str) -> None:
        self.add(path, "FieldValueTypeInvalid", f"Invalid value: {shown(value)}: {why}")

    def not_supported(self, path: str, value: Any, supported: Iterable[str]) -> None:
        listed = ", ".join(quoted(one) for one in supported)
        message = f"Unsupported value: {shown(value)}" + (f": supported values: {listed}" if listed else "")
        self.add(path, "FieldValueNotSupported", message)

    def outside(self, path: str, value: Any, supported: Iterable[str]) -> None:
        """Told of a value that is not among the supported: nothing at all is required, another is not supported."""
        if value:
            self.not_supported(path, value, supported)
        else:
            self.required(path)

    def forbidden(self, path: str, why: str = "") -> None:
        self.add(path, "FieldValueForbidden", f"Forbidden: {why}" if why else "Forbidden")

    def duplicate(self, path: str, value: Any) -> None:
        self.add(path, "FieldValueDuplicate", f"Duplicate value: {shown(value)}")

    def not_found(self, path: str, value: Any) -> None:
        self.add(path, "FieldValueNotFound", f"Not found: {shown(value)}")

    def too_long(self, path: str, limit: int) -> None:
        """`limit` in bytes."""
        noun = "byte" if limit == 1 else "bytes"
        self.add(path, "FieldValueTooLong", f"Too long: may not be more than {limit} {noun}")

    def too_many(self, path: str, count: int, limit: int) -> None:
        noun = "item" if limit == 1 else "items"
        self.add(path, "FieldValueTooMany", f"Too many: {count}: must have at most {limit} {noun}")

    def internal(self, path: str, why: str) -> None:
        self.add(path, "InternalError", f"Internal error: {why}")

    def _showing(self, value: Any) -> str:
        """As `shown`. A long list with which much is wrong is written once."""
        if value is not self._shown[0]:
            self._shown = (value, shown(value))
        return self._shown[1]

    def of_old(self, make: Callable[[Any], T]) -> T:
        """`make(root_old)`, made once for a whole validation: what each item of a list is compared with."""
        if self._made is None:
            self._made = {}
        if make not in self._made:
            self._made[make] = make(self.root_old)
        made: T = self._made[make]
        return made

    @property
    def full(self) -> bool:
        """Whether so much is wrong that it is not worth looking further."""
        return len(self.found) >= MOST_CAUSES or self._room < 0

    # Until so much is wrong that it is not worth looking further:

    def numbered(self, items: Sequence[V]) -> Iterator[tuple[int, V]]:
        """Indices and items of a list."""
        return enumerate(items) if len(items) <= RUN else self._in_runs(items, _not_at_all)

    def doubtful(self, items: Sequence[V], fine: Callable[[Sequence[V]], bool]) -> Iterator[tuple[int, V]]:
        """As `numbered`, without runs of items with which nothing is wrong for sure: then `fine` says so of the run."""
        return enumerate(items) if len(items) <= RUN else self._in_runs(items, fine)

    def names(
        self, values: Collection[str] | None, fine: Callable[[Sequence[str]], bool] | None = None
    ) -> Iterable[str]:
        """The keys of a map in their order; as in `doubtful`, without those of which `fine` says that all are."""
        if not values or self.full:
            return ()
        if len(values) <= RUN:
            return sorted(values)
        if fine is not None:
            return doubtful_names(values, fine, lambda: self.full)
        return self.until_full(smallest_first(values))

    def until_full(self, items: Iterable[V]) -> Iterator[V]:
        """What is wrong one by one."""
        for item in () if self.full else items:
            yield item
            if self.full:
                return

    def _in_runs(self, items: Sequence[V], fine: Callable[[Sequence[V]], bool]) -> Iterator[tuple[int, V]]:
        return doubtful(items, fine, lambda: self.full)

    # -- how rules call rules

    def within(self, step: str, rule: Rule, value: Any) -> None:
        """Run a rule on a part of the value; what it finds is told from here. `old` is None meanwhile."""
        before = len(self.found)
        outer = self.old
        self.old = None
        rule(value, self)
        self.old = outer
        if len(self.found) > before:
            self.prefix(before, step)

    def each(
        self, step: str, rule: Rule, items: Sequence[Any] | None, *, alone: bool = False, free: Free | None = None
    ) -> None:
        """Run a rule on every item of a list. `alone`: it heeds nothing but the item, so one like the item before it is
        as good. `free`: neither do such items matter that are alike but for these members (`are_alike`).
        """
        if not items:
            return
        found = self.found
        before = len(found)
        outer = self.old
        self.old = None
        good: Any = self  # like no item
        alone = alone and len(items) > RUN
        for index, item in enumerate(items) if free is None or len(items) <= RUN else self._unlike(items, free):
            if alone and item == good:
                continue
            rule(item, self)
            if alone:
                good = item if len(found) == before else self
            if len(found) > before:
                self.prefix(before, f"{step}[{index}]")
                before = len(found)
                if self.full:
                    break
        self.old = outer

    def _unlike(self, items: Sequence[Any], free: Free) -> Iterator[tuple[int, Any]]:
        """Index and item, without those that are like one before, with which nothing is wrong."""
        for start in range(0, len(items), RUN):
            run = items[start : start + RUN]
            before = len(self.found)
            yield start, run[0]
            if len(self.found) > before or not are_alike(run, free):
                yield from enumerate(run[1:], start + 1)

    def each_value(self, step: str, rule: Rule, values: Mapping[str, Any] | None) -> None:
        """Run a rule on every value of a map, in the order of its keys."""
        if not values:
            return
        found = self.found
        before = len(found)
        outer = self.old
        self.old = None
        for key in values if len(values) == 1 else sorted(values):
            rule(values[key], self)
            if len(found) > before:
                self.prefix(before, f"{step}[{key}]")
                before = len(found)
                if self.full:
                    break
        self.old = outer

    def prefix(self, since: int, step: str) -> None:
        """Put a step before the paths of what was found since there were `since` causes."""
        for one in self.found[since:]:
            one[0] = join(step, one[0])

    def all_invalid(self, path: str, value: Any, whys: Iterable[str]) -> None:
        """One cause for each message of a vocabulary function."""
        for why in whys:
            self.invalid(path, value, why)

    def named(self, path: str, value: str, check: Callable[[str], Sequence[str]]) -> None:
        """A name must be there, and good for a vocabulary function."""
        if value:
            self.all_invalid(path, value, check(value))
        else:
            self.required(path)

    def causes(self) -> list[Cause]:
        return [Cause(reason, message, path.removeprefix("/")) for path, reason, message in self.found]
