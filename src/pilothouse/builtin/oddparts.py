"""Subresources with a shape of their own, by resource: Scale, Binding, Eviction, TokenRequest and their like."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from pilothouse.auth.identity import Identity
from pilothouse.builtin.columns.cells import selector_text
from pilothouse.registry.ownership import Ownership
from pilothouse.registry.resource import Object, Resource, Subresource
from pilothouse.registry.scale import ScaleFields, ScaleStorage
from pilothouse.registry.store import GenericStore

Stores = Mapping[tuple[str, str], GenericStore]


@dataclass(frozen=True, slots=True)
class PartContext:
    """What such a storage may be made of."""

    stores: Stores
    now: Callable[[], datetime]
    identity: Identity
    new_uid: Callable[[], str]


def _selector_struct(obj: Object) -> str:
    return selector_text((obj.get("spec") or {}).get("selector"))


def _selector_map(obj: Object) -> str:
    return selector_text({"matchLabels": (obj.get("spec") or {}).get("selector") or {}})


_REPLICAS: Final = ("spec", "replicas")
_STATUS: Final = ("status", "replicas")
_SCALES: Final = {
    ("apps", "deployments"): ScaleFields(_REPLICAS, _STATUS, _selector_struct),
    ("apps", "replicasets"): ScaleFields(_REPLICAS, _STATUS, _selector_struct),
    ("apps", "statefulsets"): ScaleFields(_REPLICAS, _STATUS, _selector_struct),
    ("", "replicationcontrollers"): ScaleFields(_REPLICAS, _STATUS, _selector_map),
}
# (group, resource, subresource) -> module of builtin/ whose `storage(context)` makes it.
_MODULES: Final = {
    ("", "pods", "binding"): "core.binding",
    ("", "pods", "eviction"): "core.eviction",
    ("", "serviceaccounts", "token"): "core.tokenrequest",
}


def odd_storage(resource: Resource, version: str, part: Subresource, context: PartContext) -> object | None:
    """The storage of such a subresource; None for one that reads and writes its parent's own kind."""
    if part.name == "scale":
        fields = _SCALES.get((resource.group, resource.plural))
        if fields is None:
            return None
        store = context.stores[resource.group, resource.plural]
        return ScaleStorage(store, version, fields, Ownership(resource, version).tracker)
    module = _MODULES.get((resource.group, resource.plural, part.name))
    if module is None:
        return None
    made: object | None = importlib.import_module(f"pilothouse.builtin.{module}").storage(context)
    return made
