"""Resources that keep nothing: reviews and bindings, which are only created, and component statuses, which are
computed.

They go through the same endpoints as all others, over a storage that holds nothing.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from datetime import datetime
from typing import Final

from pilothouse.auth.identity import Identity
from pilothouse.builtin import facts, namerules
from pilothouse.builtin.oddparts import Stores
from pilothouse.builtin.types import TypeTable
from pilothouse.kit.aside import Aside
from pilothouse.kit.record import record
from pilothouse.machinery.times import format_time
from pilothouse.registry.behaviour import Behaviour
from pilothouse.registry.managed.tracker import Tracker
from pilothouse.registry.request import Write
from pilothouse.registry.resource import FieldLabels, Object, Resource, ServedVersion
from pilothouse.storage import errors
from pilothouse.storage.api import (
    Check,
    Deliver,
    Ended,
    ListRequest,
    Page,
    Read,
    Storage,
    StoredObject,
    Subscription,
    Transform,
)

_NO_BEHAVIOUR: Final = Behaviour()
# (group, resource) -> module of builtin/ and the function in it that makes the storage of a `VirtualContext`.
_MODULES: Final = {
    ("", "bindings"): ("core.binding", "bindings"),
    ("authentication.k8s.io", "selfsubjectreviews"): ("authentication.reviews", "self_reviews"),
    ("authentication.k8s.io", "tokenreviews"): ("authentication.reviews", "token_reviews"),
    ("authorization.k8s.io", "localsubjectaccessreviews"): ("authorization.reviews", "local_access_reviews"),
    ("authorization.k8s.io", "selfsubjectaccessreviews"): ("authorization.reviews", "self_access_reviews"),
    ("authorization.k8s.io", "selfsubjectrulesreviews"): ("authorization.reviews", "rules_reviews"),
    ("authorization.k8s.io", "subjectaccessreviews"): ("authorization.reviews", "access_reviews"),
}

# (group, resource) -> module of builtin/ whose `storage(context, nothing)` computes what is read.
_COMPUTED: Final = {("", "componentstatuses"): "core.componentstatuses"}


@record
class VirtualContext:
    """What such a storage may be made of. `own` gives a new object of the kind its namespace and managed fields;
    `aside`: where long objects are worked on.
    """

    stores: Stores
    now: Callable[[], datetime]
    identity: Identity
    own: Callable[[Object, Write], Object]
    aside: Aside


def virtual_storage(row: facts.ResourceFacts, context: VirtualContext) -> object | None:
    """What creates the objects of such a resource; None for one that is only read."""
    place = _MODULES.get((row.group, row.plural))
    if place is None:
        return None
    module, name = place
    made: object = getattr(importlib.import_module(f"pilothouse.builtin.{module}"), name)(context)
    return made


def kept(row: facts.ResourceFacts, context: VirtualContext, resource: Resource) -> Storage:
    """What is read of such a resource: nothing, or what is computed."""
    nothing = NothingKept(resource.prefix)
    module = _COMPUTED.get((row.group, row.plural))
    if module is None:
        return nothing
    made: Storage = importlib.import_module(f"pilothouse.builtin.{module}").storage(context, nothing)
    return made


def virtual_resource(row: facts.ResourceFacts, types: TypeTable) -> Resource:
    """The definition of such a resource."""
    deprecated = facts.deprecations().get((row.api_version, row.plural), "")
    schema = types.get(row.package, row.type_name)
    served = ServedVersion(row.version, row.kind, schema, row.api_version, deprecated)
    return Resource(
        group=row.group,
        plural=row.plural,
        singular=row.singular,
        kind=row.kind,
        list_kind=row.list_kind,
        namespaced=row.namespaced,
        hub=row.version,
        versions={row.version: served},
        prefix=f"/virtual/{row.plural}/",
        verbs=frozenset(row.verbs),
        name_rule=namerules.rule(row.rules.name_rule),
        behaviour=lambda: _NO_BEHAVIOUR,
        short_names=row.short_names,
        categories=row.categories,
        go_package=row.group.partition(".")[0] or "core",
        field_labels=FieldLabels({label: label for label in row.rules.field_labels}, row.rules.field_label_refused),
    )


def owner(resource: Resource, version: str) -> Callable[[Object, Write], Object]:
    """How a new object of the resource gets its metadata."""
    served = resource.versions[version]
    tracker = Tracker(schema=served.schema, api_version=served.api_version, kind=served.kind)

    def own(obj: Object, write: Write) -> Object:
        metadata = dict(obj.get("metadata") or {})
        metadata.pop("namespace", None)
        if resource.namespaced:
            metadata["namespace"] = write.namespace
        return tracker.create({**obj, "metadata": metadata}, write.manager, format_time(write.now))

    return own


class NothingKept:
    """A storage without objects."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix

    @property
    def prefix(self) -> str:
        return self._prefix

    async def get(self, key: str, read: Read = Read.LATEST, revision: int = 0) -> StoredObject:
        raise errors.NotFound(key)

    async def list(self, request: ListRequest) -> Page:
        return Page((), 0)

    async def create(self, key: str, value: bytes, ttl: float | None = None) -> StoredObject:
        raise errors.Unavailable(key)

    async def update(self, key: str, transform: Transform, *, ttl: float | None = None) -> StoredObject:
        raise errors.NotFound(key)

    async def delete(self, key: str, check: Check | None = None) -> tuple[StoredObject, int]:
        raise errors.NotFound(key)

    async def watch(self, prefix: str, since: int, deliver: Deliver, ended: Ended) -> Subscription:
        raise errors.Unavailable(prefix)

    async def revision(self) -> int:
        return 0
