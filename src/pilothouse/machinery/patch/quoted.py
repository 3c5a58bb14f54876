"""The order in which a refusal quotes the members of a patched document.

The original patches JSON text. What it had to open on the way it writes again sorted by name; all else stays as it was,
in the order of the type's fields.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import orjson

from pilothouse.machinery.jsoncodec import dumps_sorted

_CONTAINERS: Final = (dict, list)
_NESTED: Final = frozenset(_CONTAINERS)


def patched(document: Any, opened: Callable[[Any], bool]) -> Any:
    """What a JSON Patch made, a map or a list; `opened` knows the containers that its paths led through."""
    root: Any = _by_name(document) if isinstance(document, dict) else list(document)
    todo = [root]
    for container in todo:
        for key, item in container.items() if isinstance(container, dict) else enumerate(container):
            made = _ordered(item, opened)
            if made is not item:
                container[key] = made
                todo.append(made)
    return root


def _ordered(value: Any, opened: Callable[[Any], bool]) -> Any:
    """A copy where something in it may have to be put in order, itself ordered."""
    if isinstance(value, dict):
        return _by_name(value) if opened(value) else value
    return list(value) if isinstance(value, list) and opened(value) else value


def _by_name(value: dict[str, Any]) -> dict[str, Any]:
    return {name: value[name] for name in sorted(value)}


def merged(value: Any, before: Any, patch: Any) -> Any:
    """What a merge patch made of `before`: both were opened wherever both are objects, and so was all that is new."""
    if not isinstance(before, dict):
        return by_name(value)
    if not isinstance(patch, dict) or not isinstance(value, dict):
        return value
    if _NESTED.isdisjoint(map(type, value.values())):
        return by_name(value)
    made = _by_name(value)
    for name in patch:
        if name in made and made[name].__class__ in _CONTAINERS:
            made[name] = merged(made[name], before.get(name), patch[name])
    return made


def by_name(value: Any) -> Any:
    """A value whose objects are all sorted by name; containers as the text that `dumps` takes as it stands.

    Raises RecursionError where it is very deep.
    """
    return orjson.Fragment(dumps_sorted(value)) if isinstance(value, dict | list) else value
