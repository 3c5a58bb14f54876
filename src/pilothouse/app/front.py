"""The front of the server: what is served outside the resources, and the order in which the delegates are asked."""

from __future__ import annotations

import asyncio
import platform
import time
from collections.abc import Callable
from functools import partial

import pilothouse
from pilothouse.aggregator.delegation import Delegate, PathRoutes, delegation
from pilothouse.aggregator.server import Aggregator
from pilothouse.app.aggregation import add_hooks, build_aggregator, wanted_at_start
from pilothouse.app.customresources import Build
from pilothouse.app.metrics import add_server_metrics
from pilothouse.app.pages import KUBERNETES_VERSION, add_pages
from pilothouse.app.poststart import FORGIVEN, health_checks
from pilothouse.app.settings import Settings
from pilothouse.builtin import documents, facts, published
from pilothouse.builtin.binaryforms import encode_document
from pilothouse.builtin.server import BuiltinServer
from pilothouse.builtin.types import builtin_types
from pilothouse.discovery.catalog import Catalog
from pilothouse.discovery.handlers import discovery_handler, root_handler, version_handler
from pilothouse.discovery.issuer import Issuer, issuer_handlers
from pilothouse.discovery.version import version_info
from pilothouse.endpoints.installer import Router
from pilothouse.endpoints.negotiation import CBOR, PROTOBUF, YAML, Form
from pilothouse.endpoints.render import Renderer
from pilothouse.kit.metrics import Registry
from pilothouse.kit.record import record
from pilothouse.machinery.jsoncodec import dumps, dumps_pretty
from pilothouse.openapi import catalog as openapi
from pilothouse.openapi.handlers import PATHS as OPENAPI_PATHS
from pilothouse.openapi.handlers import openapi_handler
from pilothouse.openapi.model import USUAL, WITH_CBOR
from pilothouse.registry.store import GenericStore
from pilothouse.serving.debug_fairness import fairness_handlers
from pilothouse.serving.health import Check, CheckFailed, Health, HealthMetrics, health_handler
from pilothouse.serving.hooks import Hooks
from pilothouse.serving.http import Handler
from pilothouse.storage.api import Engine
from pilothouse.storage.errors import StorageError

_INFORMERS = ("generic-apiserver-start-informers", "start-kube-aggregator-informers")
_ETCD_SECONDS = 2.0  # the store must answer a check within


@record
class Parts:
    """What the front is put together from.

    `stopping` is true once the server shall end; `running` tells how many requests are being answered; `began`: when
    the process did, in seconds since 1970.
    """

    settings: Settings
    engine: Engine
    builtin: BuiltinServer
    router: Router
    renderer: Renderer
    registry: Registry
    hooks: Hooks
    issuer: Issuer
    stopping: Callable[[], bool]
    running: Callable[[], int]
    began: float
    extensions: Build


@record
class Front:
    """`handler` stands behind all filters. Further servers of this process tell `aggregator` what they serve."""

    handler: Handler
    aggregator: Aggregator
    openapi: openapi.Catalog
    stores: dict[tuple[str, str], GenericStore]


def build_front(parts: Parts) -> Front:
    """Put the delegates in a row. Call it on the loop."""
    settings = parts.settings
    catalog = Catalog(document_encoder(parts.renderer), lambda: f"{settings.host}:{settings.port}")
    groups = published.discovery_groups(facts.groups(), parts.builtin.rows, lambda row: True)
    catalog.serve(groups)
    published_documents = openapi.Catalog(time.time)
    style = WITH_CBOR if CBOR in parts.renderer.offered else USUAL
    documents.publish(published_documents, parts.builtin.rows, style)
    aggregator = build_aggregator(settings, parts.builtin.stores, catalog, published_documents, parts.registry)
    aggregator.serve_local("built-in", groups, wanted_at_start(groups))
    add_hooks(aggregator, parts.hooks)
    routes = PathRoutes()
    slis = Registry()
    _health_pages(parts, routes, aggregator, slis)
    add_server_metrics(parts.registry, settings, KUBERNETES_VERSION)
    add_pages(routes, settings, parts.registry, slis, parts.began)
    for path, page in fairness_handlers(parts.running).items():
        routes.at(path, page)
    _pages(parts, routes, catalog)
    custom = parts.extensions(aggregator, published_documents)
    last = delegation([routes, aggregator, Delegate(parts.router), custom])
    pages = openapi_handler(published_documents, asyncio.to_thread, time.time, last)
    handler = discovery_handler(catalog, pages, parts.renderer.offered)
    return Front(handler, aggregator, published_documents, parts.builtin.stores)


def _pages(parts: Parts, routes: PathRoutes, catalog: Catalog) -> None:
    release = f"pilothouse-{pilothouse.__version__}"
    compiler = f"cpython-{platform.python_version()}"
    version = version_handler(version_info(release=release, compiler=compiler, platform=f"linux/{_machine()}"))
    routes.at("/version", version)
    routes.at("/version/", version)
    root = root_handler(lambda: sorted({*catalog.paths(), *OPENAPI_PATHS, *routes.paths()}))
    routes.at("/", root)
    routes.at("/index.html", root)
    for path, page in issuer_handlers(parts.issuer).items():
        routes.at(path, page)


def _machine() -> str:
    return {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())


def document_encoder(renderer: Renderer) -> Callable[[str, dict[str, object], Form], bytes]:
    """How discovery writes its documents."""

    def encode(kind: str, document: dict[str, object], form: Form) -> bytes:
        if form.media_type == PROTOBUF:
            return encode_document(builtin_types(), published.discovery_package(kind), kind, document)
        if form.media_type in (YAML, CBOR):
            return renderer.encode(document, form)
        return dumps_pretty(document) if form.pretty else dumps(document) + b"\n"

    return encode


def _health_pages(parts: Parts, routes: PathRoutes, aggregator: Aggregator, slis: Registry) -> None:
    metrics = HealthMetrics(parts.registry, slis)
    others = _checks(parts, aggregator)
    parts.hooks.add("storage-readiness", others[0].probe)
    checks = health_checks(parts.hooks.checks(FORGIVEN), others)
    began = time.monotonic()
    for name, listed in checks.items():
        grace = parts.settings.livez_grace_period if name == "livez" else 0.0
        health = Health(name, listed, metrics, partial(_within, began + grace))
        routes.under(f"/{name}", health_handler(health))
        for check in listed:
            routes.at(f"/{name}/{check.name}", health_handler(health))


def _within(end: float) -> bool:
    return time.monotonic() < end


def _checks(parts: Parts, aggregator: Aggregator) -> list[Check]:
    """What is checked beside the hooks; the store comes first."""
    engine, registered = parts.engine, aggregator.autoregister.complete.is_set
    informed = parts.hooks.all_finished(*_INFORMERS)

    async def etcd() -> None:
        try:
            if not engine.shared:  # it is in this process
                await engine.revision()
                return
            async with asyncio.timeout(_ETCD_SECONDS):
                await engine.revision()
        except (StorageError, OSError, TimeoutError) as error:
            raise CheckFailed(f"the store does not answer: {error!r}") from error

    async def informers() -> None:
        missing = [name for name in _INFORMERS if not parts.hooks.finished(name)]
        if missing:
            raise CheckFailed(f"waits for {', '.join(missing)}")

    async def registration() -> None:
        if not registered():
            raise CheckFailed("not all API services of our own are registered")

    async def shutdown() -> None:
        if parts.stopping():
            raise CheckFailed("process is shutting down")

    return [
        Check("etcd", etcd),
        Check("informer-sync", informers, settled=informed),
        Check("autoregister-completion", registration, forgiven=True, settled=registered),
        Check("shutdown", shutdown),
    ]
