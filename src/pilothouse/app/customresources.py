"""Wires the server of custom resources to the rest: the store of definitions, admission, discovery, documents."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pilothouse.admission.policies.params import CustomKinds
from pilothouse.aggregator.autoregister import wanted_custom
from pilothouse.aggregator.server import Aggregator
from pilothouse.builtin.binaryforms import ProtobufForms
from pilothouse.builtin.definitions import BuiltinDefinitions
from pilothouse.builtin.server import BuiltinServer, Needs
from pilothouse.builtin.types import META
from pilothouse.discovery.model import Group
from pilothouse.endpoints.negotiation import CBOR
from pilothouse.extensions.metrics import CustomMetrics
from pilothouse.extensions.publish import Documents
from pilothouse.extensions.server import ExtensionsServer
from pilothouse.extensions.server import Needs as ExtensionNeeds
from pilothouse.extensions.serving import Surroundings, Types
from pilothouse.kit.ids import UuidSource
from pilothouse.openapi import catalog as openapi
from pilothouse.openapi.model import CUSTOM, CUSTOM_WITH_CBOR
from pilothouse.registry.codec import ObjectCodec
from pilothouse.registry.resource import Resource
from pilothouse.serving.hooks import Hooks
from pilothouse.serving.webhook import Outside

_DEFINITIONS = "apiextensions.k8s.io", "customresourcedefinitions"
_SCALES = "k8s.io/api/autoscaling/v1"
SOURCE = "custom"

Build = Callable[[Aggregator, openapi.Catalog], ExtensionsServer]


def extensions(
    builtin: BuiltinServer,
    needs: Needs,
    hooks: Hooks,
    outside: Outside,
    custom: CustomKinds,
    measured: CustomMetrics,
) -> Build:
    """The server of custom resources, once there is an aggregator to tell what is served. `outside`: for webhooks;
    `custom`: who wants to read custom objects; `measured`: their rules.
    """

    def build(aggregator: Aggregator, documents: openapi.Catalog) -> ExtensionsServer:
        def publish(groups: Sequence[Group]) -> None:
            served = [(group.name, version.name) for group in groups for version in group.versions]
            aggregator.serve_local(SOURCE, groups, wanted_custom(served))

        types = Types(
            metadata=needs.types.get(META, "ObjectMeta"),
            delete_options=needs.types.get(META, "DeleteOptions"),
            scale=needs.types.get(_SCALES, "Scale"),
        )

        def binary(resource: Resource, codec: ObjectCodec) -> ProtobufForms:
            return ProtobufForms(resource, codec, needs.types, needs.options.aside)

        uids = UuidSource()
        around = Surroundings(
            builtin.chain, needs.options, needs.renderer, needs.now, uids, types, lambda: outside, binary, measured
        )
        style = CUSTOM_WITH_CBOR if CBOR in needs.options.offered else CUSTOM
        server = ExtensionsServer(
            ExtensionNeeds(
                definitions=builtin.stores[_DEFINITIONS],
                open_storage=needs.open_storage,
                surroundings=around,
                publish=publish,
                documents=Documents(documents, BuiltinDefinitions, style),
            )
        )
        custom.find = server.store
        hooks.add("start-apiextensions-informers", server.start)
        hooks.add("crd-informer-synced", server.synced)
        hooks.add("start-apiextensions-controllers", server.synced)

        hooks.at_end(server.stop)
        return server

    return build
