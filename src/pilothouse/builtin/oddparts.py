"""Subresources with a shape of their own, by resource: Scale, Binding, Eviction, TokenRequest and their like."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import field
from datetime import datetime
from typing import Final

from pilothouse.auth.identity import Identity
from pilothouse.builtin.columns.cells import selector_text
from pilothouse.builtin.core.connect.kubelets import Outgoing
from pilothouse.endpoints.connect import Connecter
from pilothouse.kit.record import record
from pilothouse.registry.ownership import Ownership
from pilothouse.registry.resource import Object, Resource, Subresource
from pilothouse.registry.scale import ScaleFields, ScaleStorage
from pilothouse.registry.store import GenericStore

Stores = Mapping[tuple[str, str], GenericStore]


@record
class PartContext:
    """What such a storage may be made of."""

    stores: Stores
    now: Callable[[], datetime]
    identity: Identity
    new_uid: Callable[[], str]
    outgoing: Outgoing = field(default_factory=Outgoing)


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
# Kind of a body -> versions of the same shape that clients still send.
OTHER_VERSIONS: Final = {"Eviction": frozenset({"policy/v1beta1"})}
# (group, resource, subresource) -> module of builtin/ and the function in it that makes its Connecter.
_CONNECTERS: Final = {
    ("", "nodes", "proxy"): ("core.connect.proxies", "nodes"),
    ("", "pods", "attach"): ("core.connect.streams", "attachment"),
    ("", "pods", "exec"): ("core.connect.streams", "execution"),
    ("", "pods", "log"): ("core.connect.logs", "logs"),
    ("", "pods", "portforward"): ("core.connect.streams", "forwarding"),
    ("", "pods", "proxy"): ("core.connect.proxies", "pods"),
    ("", "services", "proxy"): ("core.connect.proxies", "services"),
}


def connecter(resource: Resource, part: Subresource, context: PartContext) -> Connecter | None:
    """What reaches through the server for a subresource; None for others."""
    place = _CONNECTERS.get((resource.group, resource.plural, part.name))
    if place is None:
        return None
    module, name = place
    made: Connecter = getattr(importlib.import_module(f"pilothouse.builtin.{module}"), name)(context)
    return made


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
