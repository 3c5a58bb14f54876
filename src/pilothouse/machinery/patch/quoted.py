"""The order in which a refusal quotes the members of a patched document.

The original patches JSON text. What it had to open on the way it writes again sorted by name; all else stays as it was,
in the order of the type's fields.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def patched(document: Any, opened: Callable[[Any], bool]) -> Any:
    """What a JSON Patch made; `opened` knows the containers that its paths led through."""
    if not isinstance(document, dict):
        return _patched(document, opened)
    return {name: _patched(document[name], opened) for name in sorted(document)}


def _patched(value: Any, opened: Callable[[Any], bool]) -> Any:
    if isinstance(value, list):
        return [_patched(item, opened) for item in value]
    if not isinstance(value, dict) or not opened(value):
        return value
    return {name: _patched(value[name], opened) for name in sorted(value)}


def merged(value: Any, before: Any, patch: Any) -> Any:
    """What a merge patch made of `before`: both were opened wherever both are objects, and so was all that is new."""
    if not isinstance(before, dict):
        return by_name(value)
    if not isinstance(patch, dict) or not isinstance(value, dict):
        return value
    return {
        name: merged(value[name], before.get(name), patch[name]) if name in patch else value[name]
        for name in sorted(value)
    }


def by_name(value: Any) -> Any:
    """A value whose objects are all sorted by name."""
    if isinstance(value, dict):
        return {name: by_name(value[name]) for name in sorted(value)}
    return [by_name(item) for item in value] if isinstance(value, list) else value
