"""Declared kinds being served: their stores and handlers, what discovery and OpenAPI tell of them."""

from __future__ import annotations

import random
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final

from pilothouse.admission.chain import Chain
from pilothouse.aggregator.delegation import Link
from pilothouse.builtin.binaryforms import MetaForms, ProtobufForms
from pilothouse.builtin.definitions import BuiltinDefinitions
from pilothouse.builtin.types import META, builtin_types
from pilothouse.cache.storage import CachedStorage
from pilothouse.discovery.model import Group
from pilothouse.endpoints.render import Renderer
from pilothouse.endpoints.requestinfo import RequestInfo
from pilothouse.endpoints.scope import ServerOptions
from pilothouse.extension.computed import ComputedStorage
from pilothouse.extensions import publish
from pilothouse.extensions.definition import Definition
from pilothouse.extensions.serving import Serving, Surroundings, Types
from pilothouse.kit.ids import UuidSource
from pilothouse.kit.record import record
from pilothouse.machinery.errors import method_not_allowed, not_found
from pilothouse.openapi import custom, text
from pilothouse.openapi.catalog import Catalog as OpenAPICatalog
from pilothouse.openapi.catalog import Source
from pilothouse.serving.http import Handler, Request
from pilothouse.storage.api import Engine, Storage

Object = dict[str, Any]
Compute = Callable[[], Awaitable[Iterable[Object]]]
_SCALE: Final = ("k8s.io/api/autoscaling/v1", "Scale")


@record
class Kind:
    """A declared kind. `compute` None: its objects are stored. `every`: seconds between looks of a watch."""

    definition: Definition
    verbs: tuple[str, ...]
    compute: Compute | None = None
    every: float = 1.0


class Served(Link):
    """The declared kinds as a link of the chain of delegates."""

    def __init__(self, group: str, version: str, kinds: Sequence[Kind], engine: Engine) -> None:
        self.group = group
        self.version = version
        self.kinds = list(kinds)
        self.renderer = Renderer(MetaForms(builtin_types))
        self._computed: list[ComputedStorage] = []
        around = _surroundings(self.renderer)
        self._servings = {
            kind.definition.wanted.plural: Serving(kind.definition, self._storage(kind, engine), around)
            for kind in kinds
        }
        self._verbs = {kind.definition.wanted.plural: frozenset(kind.verbs) for kind in kinds}

    def _storage(self, kind: Kind, engine: Engine) -> Storage:
        definition = kind.definition
        prefix = definition.key_prefix()
        if kind.compute is None:
            return CachedStorage(engine, prefix)

        def key(obj: Object) -> str:
            metadata = obj["metadata"]
            return (
                f"{prefix}{metadata['namespace']}/{metadata['name']}"
                if definition.namespaced
                else prefix + metadata["name"]
            )

        head = {"apiVersion": f"{self.group}/{self.version}", "kind": definition.names.kind}
        computed = ComputedStorage(prefix, head, kind.compute, key, kind.every)
        self._computed.append(computed)
        return computed

    def find(self, request: Request) -> Handler | None:
        info = request.attached(RequestInfo)
        if not info.is_resource or (info.group, info.version) != (self.group, self.version):
            return None
        serving = self._servings.get(info.resource)
        version = serving.version(info.version) if serving is not None else None
        if version is None:
            return None
        entry = version.entries.get(info.subresource)
        if entry is None:
            raise not_found(info.group, info.resource, info.name)
        handler = entry.handlers.get(info.verb) if info.verb in self._verbs[info.resource] else None
        if handler is None:
            raise method_not_allowed()
        return handler

    def groups(self) -> list[Group]:
        """What discovery tells."""
        found = publish.groups(publish.served([kind.definition for kind in self.kinds]))
        return [
            replace(
                group,
                versions=tuple(
                    replace(
                        version,
                        resources=tuple(
                            replace(one, verbs=tuple(sorted(self._verbs[one.name]))) for one in version.resources
                        ),
                    )
                    for version in group.versions
                ),
            )
            for group in found
        ]

    def openapi(self) -> OpenAPICatalog:
        """Its documents."""
        kinds = [
            custom.CustomKind(
                plural=kind.definition.names.plural,
                kind=kind.definition.names.kind,
                list_kind=kind.definition.names.list_kind,
                namespaced=kind.definition.namespaced,
                verbs=kind.verbs,
                schema=kind.definition.storage.schema,
                status=kind.definition.storage.status,
            )
            for kind in self.kinds
        ]
        catalog = OpenAPICatalog(time.time)
        group, version = self.group, self.version
        catalog.set(
            f"apis/{group}/{version}",
            Source(lambda: text.dumps(custom.document(group, version, kinds, BuiltinDefinitions()))),
        )
        catalog.set_swagger(group, lambda: custom.fragment(group, version, kinds, BuiltinDefinitions()))
        return catalog

    def close(self) -> None:
        for computed in self._computed:
            computed.close()
        for serving in self._servings.values():
            serving.close()


def _surroundings(renderer: Renderer) -> Surroundings:
    types = builtin_types()
    options = ServerOptions(now=now, random=random.random)
    wanted = Types(types.get(META, "ObjectMeta"), types.get(META, "DeleteOptions"), types.get(*_SCALE))

    def no_webhooks() -> Any:
        raise NotImplementedError("one version needs no conversion")

    def binary(resource: Any, codec: Any) -> ProtobufForms:
        return ProtobufForms(resource, codec, types, options.aside)

    return Surroundings(Chain([]), options, renderer, now, UuidSource(), wanted, no_webhooks, binary)


def now() -> datetime:
    return datetime.now(UTC)
