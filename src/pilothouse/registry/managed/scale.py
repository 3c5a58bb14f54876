"""Ownership of the number of replicas when it is written through /scale.

A Scale shows one field of its parent, so its writers own that one field, under subresource "scale" and without a time:
that is how the original carries their entries over to the parent.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pilothouse.machinery.typed.fieldset import Node, contains, of_paths, subtract
from pilothouse.registry.managed import entries as e
from pilothouse.registry.managed.conflicts import ConflictError
from pilothouse.registry.managed.entries import APPLY, UPDATE, Entry

Object = dict[str, Any]
Paths = Mapping[str, tuple[str, ...]]  # apiVersion of the parent -> field names down to the number of replicas

SUBRESOURCE: Final = "scale"
_SHOWN: Final[Node] = of_paths(("f:spec", "f:replicas"))  # where the field is in a Scale, and so in conflicts


def updated(known: list[Entry], api_version: str, paths: Paths, manager: str, changed: bool) -> list[dict[str, Any]]:
    """The parent's entries once `manager` has written its number of replicas. `changed`: to another one than it had.

    Nobody becomes its owner by that where it had none: a Scale without owners is not tracked, as any object without.
    """
    if not changed or not owned(known, paths):
        return e.write(known)
    left = [_without(entry, paths) for entry in known]
    mine = _entry(manager, UPDATE, api_version, paths)
    return e.write(e.capped([entry for entry in left if entry.key != mine.key] + [mine]))


def applied(
    known: list[Entry], api_version: str, paths: Paths, manager: str, *, owns: bool, changed: bool, force: bool
) -> list[dict[str, Any]]:
    """The parent's entries once `manager` has applied a Scale. `owns`: with a number in it; `changed`: another than
    before.

    Raises ConflictError.
    """
    mine = _entry(manager, APPLY, api_version, paths)
    others = [entry for entry in known if entry.key != mine.key]
    if owns and changed:
        losing = [(entry, _SHOWN) for entry in others if _has(entry, paths)]
        if losing and not force:
            raise ConflictError(losing)
        others = [_without(entry, paths) for entry in others]
    return e.write([*others, mine] if owns else others)


def owned(known: list[Entry], paths: Paths) -> bool:
    """Whether anybody owns the number of replicas."""
    return any(_has(entry, paths) for entry in known)


def before_first_apply(api_version: str, paths: Paths, manager: str) -> Entry:
    """Who owns the number of an object that nobody has been tracked for."""
    return _entry(manager, UPDATE, api_version, paths)


def _entry(manager: str, operation: str, api_version: str, paths: Paths) -> Entry:
    return Entry(manager or "unknown", operation, api_version, SUBRESOURCE, "", of_paths(_path(api_version, paths)))


def _path(api_version: str, paths: Paths) -> tuple[str, ...]:
    return tuple(f"f:{name}" for name in paths.get(api_version, ("spec", "replicas")))


def _has(entry: Entry, paths: Paths) -> bool:
    return contains(entry.fields, _path(entry.api_version, paths))


def _without(entry: Entry, paths: Paths) -> Entry:
    return entry.owning(subtract(entry.fields, of_paths(_path(entry.api_version, paths))))


def value_at(obj: Object, paths: Paths, api_version: str) -> Any:
    value: Any = obj
    for name in paths.get(api_version, ("spec", "replicas")):
        value = value.get(name) if isinstance(value, dict) else None
    return value


def with_value_at(obj: Object, path: tuple[str, ...], value: Any) -> Object:
    """The object with another value at the path; None takes the field out."""
    name, *rest = path
    if rest:
        inner = obj.get(name)
        return {**obj, name: with_value_at(inner if isinstance(inner, dict) else {}, tuple(rest), value)}
    if value is None:
        return {key: other for key, other in obj.items() if key != name}
    return {**obj, name: value}
