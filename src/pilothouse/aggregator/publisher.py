"""The merged documents: what all servers together serve, told in one discovery and one set of OpenAPI documents."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from pilothouse.aggregator.apiservice import APIService
from pilothouse.aggregator.keeper import Found, Keeper
from pilothouse.aggregator.merge import merge
from pilothouse.aggregator.openapi import unpack
from pilothouse.discovery.catalog import Catalog
from pilothouse.discovery.model import STALE, Group, Version
from pilothouse.kit.metrics import Counter, Registry
from pilothouse.openapi.catalog import Catalog as OpenAPICatalog
from pilothouse.openapi.catalog import Source


class Publisher:
    """Keeps the catalogs in step with `services` and `keepers` (both by name), which their owner changes."""

    def __init__(
        self,
        services: Mapping[str, APIService],
        keepers: Mapping[str, Keeper],
        catalog: Catalog,
        openapi: OpenAPICatalog,
        registry: Registry,
    ) -> None:
        self._services = services
        self._keepers = keepers
        self._catalog = catalog
        self._openapi = openapi
        self._local: dict[str, Sequence[Group]] = {}
        self._published: dict[str, tuple[str, Found]] = {}  # path of the v3 document, what is published
        self._touched = asyncio.Event()
        self.done = asyncio.Event()  # everything was merged once
        self._merges = registry.add(
            Counter(
                "aggregator_discovery_aggregation_count_total",
                "[ALPHA] Counter of number of times discovery was aggregated",
            )
        )

    def serve_local(self, source: str, groups: Sequence[Group]) -> None:
        """What this server itself serves, by who in it does."""
        self._local[source] = tuple(groups)
        self.touch()

    def touch(self) -> None:
        """Something changed: the documents will be merged anew."""
        self._touched.set()

    async def run(self) -> None:
        """For ever: merge after changes; those of one turn of the loop together."""
        while True:
            await self._touched.wait()
            await asyncio.sleep(0)
            self._touched.clear()
            self.publish()

    def publish(self) -> None:
        """Merge now."""
        self._publish_discovery()
        self._publish_openapi()
        self.done.set()

    def _publish_discovery(self) -> None:
        local: list[Group] = [group for groups in self._local.values() for group in groups]
        remote: dict[tuple[str, str], Version] = {}
        for keeper in self._keepers.values():
            found, service = keeper.found.version, keeper.backend.service
            if found is not None:
                remote[service.key] = found if service.available else replace(found, freshness=STALE)
        merged = merge(self._services.values(), local, remote)
        if merged.groups and not merged.groups[0].name:
            self._catalog.serve(merged.groups, aggregated_order=merged.aggregated_order)
            self._merges.bind().add()

    def _publish_openapi(self) -> None:
        for name in self._published.keys() - self._keepers.keys():
            self._withdraw(name, Found())
            del self._published[name]
        for name, keeper in self._keepers.items():
            service = keeper.backend.service
            path = f"apis/{service.group}/{service.version}"
            known, before = self._published.get(name, (path, Found()))
            after = keeper.found
            if after is before:
                continue
            self._withdraw(name, after)
            if after.openapi is not None and after.openapi is not before.openapi:
                self._openapi.set(known, Source(partial(_given, after.openapi), after.openapi_etag))
            if after.swagger is not None and after.swagger is not before.swagger:
                self._openapi.set_swagger(name, partial(unpack, after.swagger))
            self._published[name] = known, after

    def _withdraw(self, name: str, after: Found) -> None:
        """Take away what was published and is not any more."""
        path, before = self._published.get(name, ("", Found()))
        if before.openapi is not None and after.openapi is None:
            self._openapi.remove(path)
        if before.swagger is not None and after.swagger is None:
            self._openapi.remove_swagger(name)


def _given(data: bytes) -> bytes:
    return data
