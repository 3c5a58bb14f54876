"""Printer columns: what `kubectl get` shows of a custom resource."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from pilothouse.endpoints.table import Age, Columns
from pilothouse.extensions.jsonpath import Find, PathError, compiled
from pilothouse.machinery.jsoncodec import dumps, go_float
from pilothouse.machinery.times import TimeError, parse_time

Object = dict[str, Any]
Cell = Callable[[Object], Any]

_NAME: Final = (
    "Name must be unique within a namespace. Is required when creating resources, although some resources may allow a "
    "client to request the generation of an appropriate name automatically. Name is primarily intended for creation "
    "idempotence and configuration definition. Cannot be updated. More info: "
    "https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names"
)
_AGE: Final = (
    "CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed "
    "to be set in happens-before order across separate operations. Clients may not set this value. It is represented "
    "in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: "
    "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata"
)
_DEFAULT: Final = ({"name": "Age", "type": "date", "description": _AGE, "jsonPath": ".metadata.creationTimestamp"},)
_PRIORITY_TEXT: Final = "Custom resource definition column (in JSONPath format): {path}"


def columns_of(declared: Sequence[Object]) -> Columns:
    """A Table's columns: the name, then those declared (the age, if none are).

    A path that cannot be read takes all of them away.
    """
    chosen = declared or _DEFAULT
    try:
        cells = tuple(_cell(one["type"], compiled(one["jsonPath"])) for one in chosen)
    except PathError:
        chosen, cells = (), ()
    name = {"name": "Name", "type": "string", "format": "name", "description": _NAME, "priority": 0}

    def template(obj: Object) -> list[Any]:
        return [(obj.get("metadata") or {}).get("name", ""), *(cell(obj) for cell in cells)]

    return Columns((name, *(_shown(one) for one in chosen)), template)


def _shown(column: Object) -> Object:
    return {
        "name": column["name"],
        "type": column["type"],
        "format": column.get("format", ""),
        "description": column.get("description") or _PRIORITY_TEXT.format(path=column["jsonPath"]),
        "priority": column.get("priority", 0),
    }


def _cell(kind: str, find: Find) -> Cell:
    read = _READS[kind]

    def cell(obj: Object) -> Any:
        found = find(obj)
        return read(found[0]) if found else None

    return cell


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if value is None:
        return "<no value>"
    if isinstance(value, float):
        return go_float(value)
    return dumps(value).decode()


def _integer(value: Any) -> Any:
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _number(value: Any) -> Any:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _boolean(value: Any) -> Any:
    return value if isinstance(value, bool) else None


def _date(value: Any) -> Any:
    if not isinstance(value, str):
        return None
    try:
        return Age(parse_time(value).timestamp())
    except TimeError:
        return "<invalid>"


_READS: Final[dict[str, Callable[[Any], Any]]] = {
    "string": _text,
    "integer": _integer,
    "number": _number,
    "boolean": _boolean,
    "date": _date,
}
