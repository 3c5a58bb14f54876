"""The order in which a refusal quotes the members of a patched document.

The original patches JSON text. What it had to open on the way it writes again sorted by name; all else stays as it was,
in the order of the type's fields.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import compress
from typing import Any, Final

import orjson

from pilothouse.kit.runs import RUN
from pilothouse.machinery.jsoncodec import compact_shallow, dumps, dumps_sorted

_CONTAINERS: Final[frozenset[type]] = frozenset((dict, list))


def patched(document: Any, opened: Callable[[Any], bool]) -> Any:
    """What a JSON Patch made, a map or a list; `opened` knows the containers that its paths led through."""
    root: Any = _by_name(document) if isinstance(document, dict) else list(document)
    todo = [root]
    for container in todo:
        if _CONTAINERS.isdisjoint(map(type, container.values() if isinstance(container, dict) else container)):
            continue
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
    return _in_one_go(value, before, patch) if len(value) > RUN else _by_name(_with_parts(value, before, patch))


def _with_parts(value: dict[str, Any], before: dict[str, Any], patch: dict[str, Any]) -> dict[str, Any]:
    """A copy, in which what was opened is in order."""
    made = dict(value)
    for name in patch if len(patch) <= RUN else _parts(value):
        part = made.get(name)
        if isinstance(part, dict | list) and name in patch:
            made[name] = merged(part, before.get(name), patch[name])
    return made


def _in_one_go(value: dict[str, Any], before: dict[str, Any], patch: dict[str, Any]) -> Any:
    """A long object in order. It is sorted while it is written, which is right for all that is new; what must not be
    sorted is written before.
    """
    parts = [name for name in _parts(value) if name not in patch or isinstance(before.get(name), dict)]
    if not parts:
        return by_name(value)
    if len(parts) > RUN or compact_shallow(value) is None:  # the slow writer knows nothing of texts that are ready
        return _one_by_one(_with_parts(value, before, patch))
    made = dict(value)
    for name in parts:
        part = merged(value[name], before[name], patch[name]) if name in patch else value[name]
        made[name] = orjson.Fragment(text(part))
    return by_name(made)


def _one_by_one(value: dict[str, Any]) -> Any:
    """As `_in_one_go`, of an object whose parts are in order."""
    parts = _parts(value)
    if len(parts) > RUN:
        return _by_name(value)
    value.update((name, orjson.Fragment(text(value[name]))) for name in parts)
    return by_name(value)


def _parts(value: dict[str, Any]) -> list[str]:
    """The members that are containers."""
    return list(compress(value, map(_CONTAINERS.__contains__, map(type, value.values()))))


def by_name(value: Any) -> Any:
    """A value whose objects are all sorted by name; containers as the text that `dumps` takes as it stands.

    Raises RecursionError where it is very deep.
    """
    return orjson.Fragment(dumps_sorted(value)) if isinstance(value, dict | list) else value


def text(value: Any) -> bytes:
    """The JSON of what was put in order here."""
    try:
        return dumps(value)
    except TypeError:  # the slow writer, which is asked for what is deep, knows nothing of texts that are ready
        if not isinstance(value, dict):
            raise
        return b"{%b}" % b",".join([b"%b:%b" % (dumps(name), text(item)) for name, item in value.items()])
