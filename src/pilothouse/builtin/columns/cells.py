"""The pieces that columns are written with: functions from an object to one cell, and texts that several kinds share.

Objects are the hub version's JSON form; what is missing or null reads as the empty value, as in the original's types.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any, Final

from pilothouse.endpoints.table import Age
from pilothouse.machinery.times import ZERO

Object = dict[str, Any]
Cell = Callable[[Object], Any]
Template = Callable[[Object], list[Any]]

NONE: Final = "<none>"
UNSET: Final = "<unset>"
UNKNOWN: Final = "<unknown>"
_SHOWN: Final = 3  # of a long list, before "+ n more..."
_YEAR_0: Final = -62_167_219_200.0  # seconds; a year that times know and `datetime` does not


# ---- reading ---------------------------------------------------------------------------------------------------------


def value(path: str) -> Cell:
    """What stands at a dotted path; None where anything on the way is missing."""
    parts = tuple(path.split("."))
    if len(parts) == 2:
        outer, inner = parts
        return lambda obj: found.get(inner) if (found := obj.get(outer)) else None

    *way, last = parts

    def read(obj: Object) -> Any:
        at: Any = obj
        for step in way:
            at = at.get(step)
            if not at:
                return None
        return at.get(last)

    return read


def part(obj: Object, name: str) -> Object:
    """A struct or map inside an object; empty where it is missing."""
    return obj.get(name) or {}


def items(obj: Object, name: str) -> list[Any]:
    """A list inside an object; empty where it is missing."""
    return obj.get(name) or []


def moment(text: Any) -> float | None:
    """Seconds since 1970 of an RFC 3339 time; None for none and for the zero time."""
    if not text or text == ZERO:
        return None
    try:
        return datetime.fromisoformat(text).timestamp()  # stored times are canonical: the fastest way to read them
    except ValueError:
        return _YEAR_0


def ago(text: Any, missing: str = UNKNOWN) -> Age | str:
    """How long ago a time is."""
    at = moment(text)
    return missing if at is None else Age(at)


def condition(conditions: Iterable[Object], kind: str) -> Object | None:
    """The first condition of a type."""
    for one in conditions:
        if one.get("type") == kind:
            return one
    return None


def is_true(conditions: Iterable[Object], kind: str) -> bool:
    """Whether a condition of this type says True."""
    return any(one.get("type") == kind and one.get("status") == "True" for one in conditions)


def row(*cells: Cell) -> Template:
    """A row of these cells."""
    return lambda obj: [cell(obj) for cell in cells]


# ---- cells -----------------------------------------------------------------------------------------------------------


def name(obj: Object) -> str:
    """metadata.name."""
    found: str = part(obj, "metadata").get("name") or ""
    return found


def name_or_default(*marks: str) -> Cell:
    """The name, with a word behind it for the default of its kind."""

    def cell(obj: Object) -> str:
        notes = part(part(obj, "metadata"), "annotations")
        return f"{name(obj)} (default)" if any(notes.get(mark) == "true" for mark in marks) else name(obj)

    return cell


def age(obj: Object) -> Age | str:
    """How long ago the object was created."""
    return ago(part(obj, "metadata").get("creationTimestamp"))


def created(obj: Object) -> str:
    """The time of creation as it is; the zero time where there is none."""
    found: str = part(obj, "metadata").get("creationTimestamp") or ZERO
    return found


def text(path: str, default: str = "") -> Cell:
    """A string field; `default` where it is missing or empty."""
    read = value(path)
    return lambda obj: read(obj) or default


def optional(path: str, default: str = UNSET) -> Cell:
    """A string field that may be absent: an empty string is shown as such."""
    read = value(path)

    def cell(obj: Object) -> str:
        found: str | None = read(obj)
        return default if found is None else found

    return cell


def number(path: str) -> Cell:
    """An integer field; 0 where it is missing."""
    read = value(path)
    return lambda obj: read(obj) or 0


def number_text(path: str, default: str = UNSET) -> Cell:
    """An integer, or an int-or-string, as text."""
    read = value(path)

    def cell(obj: Object) -> str:
        found = read(obj)
        return default if found is None else str(found)

    return cell


def flag(path: str, default: bool = False) -> Cell:
    """A boolean field."""
    read = value(path)

    def cell(obj: Object) -> bool:
        found: bool | None = read(obj)
        return default if found is None else found

    return cell


def flag_text(path: str) -> Cell:
    """An optional boolean as text: True, False or <unset>."""
    read = value(path)

    def cell(obj: Object) -> str:
        found = read(obj)
        return UNSET if found is None else "True" if found else "False"

    return cell


def count(*paths: str) -> Cell:
    """How many members the lists or maps at these paths have together."""
    reads = [value(path) for path in paths]
    if len(reads) == 1:
        read = reads[0]
        return lambda obj: len(read(obj) or ())
    return lambda obj: sum(len(read(obj) or ()) for read in reads)


def ratio(path: str, other: str) -> Cell:
    """Two numbers as `ready/wanted`."""
    first, second = number(path), number(other)
    return lambda obj: f"{first(obj)}/{second(obj)}"


def since(path: str, missing: str = UNKNOWN) -> Cell:
    """How long ago the time at a path is."""
    read = value(path)
    return lambda obj: ago(read(obj), missing)


def joined(path: str, default: str = "", separator: str = ",") -> Cell:
    """A list of strings in one cell."""
    read = value(path)
    return lambda obj: separator.join(read(obj) or ()) or default


def labels(path: str) -> Cell:
    """A map as `a=1,b=2`."""
    read = value(path)
    return lambda obj: labels_text(read(obj))


def selector(path: str, default: str = NONE) -> Cell:
    """A label selector (matchLabels, matchExpressions) as text."""
    read = value(path)
    return lambda obj: selector_text(read(obj)) or default


def containers(path: str) -> Cell:
    """The names of the containers of the pod spec at a path."""
    return _of_containers(path, "name")


def images(path: str) -> Cell:
    """The images of the containers of the pod spec at a path."""
    return _of_containers(path, "image")


def _of_containers(path: str, member: str) -> Cell:
    read = value(path)

    def cell(obj: Object) -> str:
        spec = read(obj)
        return ",".join([one.get(member) or "" for one in items(spec, "containers")]) if spec else ""

    return cell


# ---- texts -----------------------------------------------------------------------------------------------------------


def labels_text(found: dict[str, str] | None) -> str:
    """`a=1,b=2`, sorted by key; <none> for none."""
    return ",".join([f"{key}={found[key]}" for key in sorted(found)]) if found else NONE


def selector_text(found: Object | None) -> str:
    """`a=1,b in (x,y),!c`, sorted by key; "" for an empty selector."""
    if not found:
        return ""
    terms = [(key, f"{key}={wanted}") for key, wanted in part(found, "matchLabels").items()]
    for one in items(found, "matchExpressions"):
        terms.append((one.get("key") or "", _expression_text(one)))
    terms.sort(key=_first)
    return ",".join([shown for _, shown in terms])


def _first(pair: tuple[str, str]) -> str:
    return pair[0]


def _expression_text(one: Object) -> str:
    key, operator = one.get("key") or "", one.get("operator")
    if operator == "Exists":
        return key
    if operator == "DoesNotExist":
        return f"!{key}"
    word = "notin" if operator == "NotIn" else "in"
    return f"{key} {word} ({','.join(sorted(items(one, 'values')))})"


def first_three(shown: list[str], total: int | None = None) -> str:
    """`a,b,c + 2 more...`; `total` where more are counted than could be shown."""
    total = len(shown) if total is None else total
    text = ",".join(shown[:_SHOWN])
    return f"{text} + {total - _SHOWN} more..." if total > _SHOWN else text


def resource_name(kind: str, group: str, name: str) -> str:
    """`statefulset.apps/web`."""
    return f"{(f'{kind}.{group}' if group else kind).lower()}/{name}"
