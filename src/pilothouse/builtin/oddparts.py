"""Subresources with a shape of their own, by resource: Scale, Binding, Eviction, TokenRequest and their like."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime

from pilothouse.registry.resource import Resource, Subresource
from pilothouse.registry.store import GenericStore

Stores = Mapping[tuple[str, str], GenericStore]


def odd_storage(resource: Resource, part: Subresource, stores: Stores, now: Callable[[], datetime]) -> object | None:
    """The storage of such a subresource; None for one that reads and writes its parent's own kind."""
    return None
