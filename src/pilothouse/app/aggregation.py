"""Wires the aggregator: the stores it follows, what extension servers are shown, the API services made at start."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Collection
from datetime import UTC, datetime
from typing import Final

from pilothouse.aggregator.apiservice import ON_START
from pilothouse.aggregator.autoregister import Wanted
from pilothouse.aggregator.server import Aggregator, Needs, Options
from pilothouse.app.settings import Settings
from pilothouse.builtin import facts
from pilothouse.discovery.catalog import Catalog, served
from pilothouse.discovery.model import Group
from pilothouse.kit.metrics import Registry
from pilothouse.machinery.groupversion import api_version
from pilothouse.openapi.catalog import Catalog as OpenAPICatalog
from pilothouse.registry.store import GenericStore
from pilothouse.serving.hooks import Hooks

# Hooks of the aggregator, by what each waits for.
_ONCE_STARTED: Final = ("aggregator-reload-proxy-client-cert", "apiservice-status-local-available-controller")
_ONCE_SYNCED: Final = ("apiservice-registration-controller", "apiservice-status-remote-available-controller")
_ONCE_MERGED: Final = (
    "apiservice-discovery-controller",
    "apiservice-openapi-controller",
    "apiservice-openapiv3-controller",
)


def build_aggregator(
    settings: Settings,
    stores: dict[tuple[str, str], GenericStore],
    catalog: Catalog,
    openapi: OpenAPICatalog,
    registry: Registry,
) -> Aggregator:
    chain, key = settings.proxy_client_cert_file, settings.proxy_client_key_file
    needs = Needs(
        apiservices=stores["apiregistration.k8s.io", "apiservices"],
        services=stores["", "services"],
        slices=stores["discovery.k8s.io", "endpointslices"],
        catalog=catalog,
        openapi=openapi,
        registry=registry,
        now=lambda: datetime.now(UTC),
        random=random.random,
        offload=asyncio.to_thread,
    )
    options = Options(
        certificate=(chain, key) if chain is not None and key is not None else None,
        to_endpoints=settings.enable_aggregator_routing,
        request_timeout=settings.request_timeout,
    )
    return Aggregator(needs, options)


def wanted_at_start(groups: Collection[Group]) -> list[Wanted]:
    """The API services of the built-in groups that are served, with the original's priorities."""
    there = served(groups)
    return [
        Wanted(group.name, version.version, group.priority, version.priority, ON_START)
        for group in facts.groups()
        for version in group.versions
        if version.priority and api_version(group.name, version.version) in there
    ]


def add_hooks(aggregator: Aggregator, hooks: Hooks) -> None:
    """What of the aggregator readiness waits for."""

    async def start() -> None:
        aggregator.start()
        await aggregator.synced()

    hooks.add("start-kube-aggregator-informers", start)
    for name in _ONCE_STARTED:
        hooks.add(name, lambda: _wait(aggregator.started))
    for name in _ONCE_SYNCED:
        hooks.add(name, aggregator.synced)
    hooks.add("kube-apiserver-autoregistration", lambda: _wait(aggregator.autoregister.complete))
    for name in _ONCE_MERGED:
        hooks.add(name, lambda: _wait(aggregator.publisher.done))
    hooks.at_end(aggregator.stop)


async def _wait(event: asyncio.Event) -> None:
    await event.wait()
