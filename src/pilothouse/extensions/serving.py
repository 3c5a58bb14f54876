"""One definition being served: a store, forms and handlers for each of its versions, made when first asked for."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial
from typing import Final

from pilothouse.admission.chain import Chain
from pilothouse.endpoints.binary import BinaryForms
from pilothouse.endpoints.body import KnownKind, Reading, Target
from pilothouse.endpoints.installer import Entry, odd_part_entry, store_entry, store_part_entry
from pilothouse.endpoints.render import Renderer
from pilothouse.endpoints.scope import Scope, ServerOptions
from pilothouse.extensions.admission import Guarded
from pilothouse.extensions.admitted import Decode, VersionForms
from pilothouse.extensions.body import CustomBody, ScaleBody
from pilothouse.extensions.codec import CustomCodec
from pilothouse.extensions.columns import columns_of
from pilothouse.extensions.conversion import Webhook
from pilothouse.extensions.converted import (
    Conversions,
    ConvertedDeleter,
    ConvertedOwnership,
    ConvertedStorage,
    Converter,
)
from pilothouse.extensions.definition import TERMINATING, Definition, Version, deprecation
from pilothouse.extensions.forms import CustomForms
from pilothouse.extensions.metrics import CustomMetrics
from pilothouse.extensions.reshape import Reshaper
from pilothouse.extensions.scale import CustomScale, steps
from pilothouse.extensions.storage import VersionStorage
from pilothouse.extensions.strategy import behaviour
from pilothouse.kit.record import record
from pilothouse.machinery import names
from pilothouse.machinery.decode import Findings, compile_decoder
from pilothouse.machinery.names import generate_name
from pilothouse.machinery.schema import Schema
from pilothouse.machinery.structural.node import Node
from pilothouse.machinery.structural.types import schema_of
from pilothouse.registry.codec import ObjectCodec
from pilothouse.registry.deleter import Deleter
from pilothouse.registry.ownership import Ownership
from pilothouse.registry.resource import FieldLabels, Generation, Object, Resource, ServedVersion, StatusRule
from pilothouse.registry.store import GenericStore, Services
from pilothouse.serving.webhook import Outside
from pilothouse.storage.api import Storage

VERBS: Final = ("delete", "deletecollection", "get", "list", "patch", "create", "update", "watch")
PART_VERBS: Final = ("get", "patch", "update")
_REFUSED: Final = "field label not supported: {label}"


@record
class Types:
    """Built-in types that custom resources need."""

    metadata: Schema
    delete_options: Schema
    scale: Schema


@record
class Surroundings:
    """What serving a custom resource takes from outside."""

    chain: Chain
    options: ServerOptions
    renderer: Renderer
    now: Callable[[], datetime]
    new_uid: Callable[[], str]
    types: Types
    outside: Callable[[], Outside]  # for calls of conversion webhooks
    binary: Callable[[Resource, ObjectCodec], BinaryForms]  # of their metadata
    expressions: CustomMetrics | None = None

    def reading(self, known: KnownKind) -> Reading:
        """How bodies are read where these kinds are known."""
        options = self.options
        return Reading(known, self.types.delete_options, options.max_body, options.aside, options.offered)


@record
class Holding:
    """The objects of one version: where they are, and how they are read and written."""

    root: Node
    storage: VersionStorage | ConvertedStorage
    codec: CustomCodec
    forms: VersionForms
    conversions: Conversions | None = None  # where a webhook converts


class Serving:
    """`storage` holds the objects of all versions."""

    def __init__(self, definition: Definition, storage: Storage, surroundings: Surroundings) -> None:
        self.definition = definition
        self._storage = storage
        self._around = surroundings
        self._roots = {version.name: Node(version.schema, root=True) for version in definition.versions}
        self._served = {version.name: version for version in definition.versions if version.served}
        self._made: dict[str, VersionServing] = {}
        self._webhook = _webhook(definition, surroundings)

    def version(self, name: str) -> VersionServing | None:
        """None for a version that is not served."""
        made = self._made.get(name)
        if made is None and name in self._served:
            made = self._made[name] = self._make(self._served[name])
        return made

    def of_storage(self) -> VersionServing:
        """The version in which objects are kept, served or not."""
        version = self.definition.storage
        made = self._made.get(version.name)
        return made if made is not None else self._make(version)

    def close(self) -> None:
        """End all watches."""
        for made in self._made.values():
            made.storage.close()
        if self._webhook is not None:
            self._webhook.close()

    def _make(self, version: Version) -> VersionServing:
        resource = resource_of(
            self.definition, version, self._roots, self._around.types.metadata, self._around.expressions
        )
        codec = CustomCodec(resource, {path.removeprefix("."): steps(path) for path in version.selectable} | _ALWAYS)
        if self._webhook is not None:
            return self._converted(version, resource, codec, self._webhook)
        root, kept = self._roots[version.name], self._roots[self.definition.storage.name]
        metadata = compile_decoder(self._around.types.metadata)
        reshaper = Reshaper(codec, root, metadata, kept=None if root is kept else kept, stored=self._stored_codec())
        storage = VersionStorage(self._storage, reshaper.shown, None if root is kept else reshaper.stored)
        forms = VersionForms(resource, self._decode, None)
        return VersionServing(self.definition, version, Holding(root, storage, codec, forms), self._around)

    def _decode(self, version: str) -> Decode:
        made = self.version(version)
        assert made is not None  # forms are of served versions
        return made.decode

    def _converted(self, version: Version, resource: Resource, codec: CustomCodec, webhook: Webhook) -> VersionServing:
        """A version whose objects a webhook converts."""
        metadata = compile_decoder(self._around.types.metadata)
        roots = {f"{self.definition.group}/{name}": root for name, root in self._roots.items()}
        converter = Converter(codec, self._stored_codec(), roots, metadata, webhook)
        known = Conversions()
        storage = ConvertedStorage(self._storage, converter, known)
        root = self._roots[version.name]
        forms = VersionForms(resource, self._decode, converter.to)
        return VersionServing(self.definition, version, Holding(root, storage, codec, forms, known), self._around)

    def _stored_codec(self) -> CustomCodec:
        """How bytes to store are written."""
        definition = self.definition
        return CustomCodec(resource_of(definition, definition.storage, self._roots, self._around.types.metadata), {})


def _webhook(definition: Definition, around: Surroundings) -> Webhook | None:
    conversion = definition.conversion
    if conversion.get("strategy") != "Webhook":
        return None
    return Webhook(conversion.get("webhook") or {}, around.outside())


_ALWAYS: Final = {"metadata.name": ("metadata", "name"), "metadata.namespace": ("metadata", "namespace")}


def resource_of(
    definition: Definition,
    hub: Version,
    roots: Mapping[str, Node],
    metadata: Schema,
    expressions: CustomMetrics | None = None,
) -> Resource:
    """The resource in whose stores objects have the form of the version `hub`."""
    given = definition.names
    kind = given.kind or definition.wanted.kind
    versions = {
        version.name: ServedVersion(
            version=version.name,
            kind=kind,
            schema=schema_of(roots[version.name], metadata),
            api_version=f"{definition.group}/{version.name}",
            deprecated=deprecation(definition, version),
            served=version.served,
        )
        for version in definition.versions
    }
    selectable = {path.removeprefix("."): path.removeprefix(".") for path in hub.selectable}
    labels = {"metadata.name": "metadata.name", "metadata.namespace": "metadata.namespace", **selectable}
    return Resource(
        group=definition.group,
        plural=definition.wanted.plural,
        singular=given.singular,
        kind=kind,
        list_kind=given.list_kind or definition.wanted.list_kind,
        namespaced=definition.namespaced,
        hub=hub.name,
        versions=versions,
        prefix=definition.key_prefix(),
        verbs=frozenset(VERBS),
        name_rule=_name_rule,
        behaviour=behaviour(roots[hub.name], hub, expressions),
        short_names=given.short_names,
        categories=given.categories,
        unconditional_update=False,
        generation=Generation(),
        status=StatusRule(unconditional=False) if hub.status else None,
        field_labels=FieldLabels(labels, _REFUSED),
        go_package="unstructured",
        typed=False,
    )


def _name_rule(name: str, prefix: bool) -> list[str]:
    return _prefix_rule(name) if prefix else names.subdomain(name)


_prefix_rule: Final = names.prefix_of(names.subdomain)


class VersionServing:
    """Store and handlers of one version."""

    def __init__(self, definition: Definition, version: Version, holding: Holding, around: Surroundings) -> None:
        codec, conversions = holding.codec, holding.conversions
        resource = codec.resource
        self.resource = resource
        self.storage = holding.storage
        self._version = version
        self._root = holding.root
        self._around = around
        self._conversions = conversions
        admission = around.chain.bound(resource, holding.forms)
        guarded = Guarded(admission, resource) if definition.is_true(TERMINATING) else admission
        make_name = partial(generate_name, choose=random.choice)
        options = around.options
        services = Services(around.now, around.new_uid, make_name, guarded, options.aside, options.metrics.comparisons)
        self.store = GenericStore(resource, holding.storage, services)
        self.store.codec = codec
        self._stored = version.storage
        self.deleter = Deleter(self.store) if conversions is None else ConvertedDeleter(self.store)
        columns = columns_of(version.columns)
        now = around.now
        self._forms = CustomForms(
            resource, codec, lambda: columns, around.renderer, None, lambda: now().timestamp(), around.options.aside
        )
        self._forms.binary = around.binary(resource, codec)
        self.entries = self._entries()

    def _entries(self) -> dict[str, Entry]:
        """Handlers by subresource, "" for the objects themselves."""
        whole = self._scope("")
        self._body = whole.body
        found = {"": store_entry(whole, self.resource.verbs)}
        if self._version.status:
            found["status"] = store_part_entry(self._scope("status"), frozenset(PART_VERBS))
        if self._version.scale is not None:
            tracker = self._owner("").tracker
            found["scale"] = odd_part_entry(self._scale_scope(), CustomScale(self.store, self._version.scale, tracker))
        return found

    def decode(self, value: Object) -> Object:
        """The object that a value without kind and version is, with its defaults. Raises DecodeError."""
        return self._body.decode_value(value, Findings())

    def _scope(self, subresource: str) -> Scope:
        around, resource, version = self._around, self.resource, self._version.name
        schema = resource.versions[version].schema
        target = Target(resource.group, version, resource.kind, schema, f"unstructured.{resource.kind}")
        reading = around.reading(lambda api_version, kind: True)
        body = CustomBody(resource, target, reading, self._root, around.types.metadata, stored=self._stored)
        owner = self._owner(subresource)
        return Scope(resource, version, subresource, self.store, self.deleter, self._forms, body, owner, around.options)

    def _owner(self, subresource: str) -> Ownership:
        version = self._version.name
        if self._conversions is None:
            return Ownership(self.resource, version, subresource)
        return ConvertedOwnership(self.resource, version, subresource, self._conversions)

    def _scale_scope(self) -> Scope:
        around, resource, version = self._around, self.resource, self._version.name
        target = Target("autoscaling", "v1", "Scale", around.types.scale, "autoscaling.Scale")
        own = (resource.api_version(version), resource.kind)
        reading = around.reading(lambda api_version, kind: (api_version, kind) == own)
        body = ScaleBody(resource, target, resource.behaviour, reading, typed=False)
        owner = self._owner("scale")
        return Scope(resource, version, "scale", self.store, self.deleter, self._forms, body, owner, around.options)
