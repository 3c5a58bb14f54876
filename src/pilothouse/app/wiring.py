"""Puts the rooms together: engine, stores, delegates, filters. It holds no behaviour of the API."""

from __future__ import annotations

import asyncio
import logging
import random
import secrets
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from pilothouse.admission.chain import Chain
from pilothouse.admission.createrights import CreateRights
from pilothouse.admission.defaults import Choice, PluginNeeds, Webhooks, default_plugins
from pilothouse.admission.lookups import Stores
from pilothouse.admission.metrics import AdmissionMetrics
from pilothouse.admission.roleescalation import RoleEscalation
from pilothouse.app.authorization import Authorization, build_authorization
from pilothouse.app.caches import Caches
from pilothouse.app.clusterservices import cluster_services, ranges_of
from pilothouse.app.customresources import extensions
from pilothouse.app.flowcontrol import flow_control
from pilothouse.app.front import Front, Parts, build_front
from pilothouse.app.frontproxy import build_front_proxy
from pilothouse.app.identity import build_identity
from pilothouse.app.metrics import keep_settled
from pilothouse.app.poststart import ROUTES, hook_names
from pilothouse.app.presence import keep_presence, tells_storage_versions
from pilothouse.app.settings import Settings
from pilothouse.app.tracing import Tracing, build_tracing
from pilothouse.app.webhooks import build_webhooks, follow_webhooks, outside
from pilothouse.auth.actingmetrics import ImpersonationMetrics
from pilothouse.auth.identity import Identity
from pilothouse.auth.metrics import AuthenticationMetrics, AuthorizationMetrics, FilterTimes
from pilothouse.builtin import enablement
from pilothouse.builtin.allocation.wiring import families
from pilothouse.builtin.binaryforms import MetaForms
from pilothouse.builtin.bootstrap_priorityclasses import ensure_system_priority_classes
from pilothouse.builtin.core.connect.kubelets import Outgoing
from pilothouse.builtin.core.connect.metrics import LogMetrics
from pilothouse.builtin.rbac_bootstrap.hook import ensure_bootstrap_rbac
from pilothouse.builtin.server import BuiltinServer, Needs
from pilothouse.builtin.types import builtin_types
from pilothouse.controllers.clock import LoopClock
from pilothouse.controllers.identity import LoopbackTokens
from pilothouse.controllers.manager import Controllers, ControllerSettings
from pilothouse.controllers.queuemetrics import QueueMetrics
from pilothouse.controllers.selfrequests import self_requests
from pilothouse.discovery.issuer import KEYS_PATH, Issuer
from pilothouse.endpoints.installer import Router
from pilothouse.endpoints.metrics import EndpointMetrics
from pilothouse.endpoints.negotiation import OFFERED, WITH_CBOR
from pilothouse.endpoints.render import Renderer
from pilothouse.endpoints.scope import ServerOptions
from pilothouse.extensions.metrics import CustomMetrics
from pilothouse.filters.audit_id import audit_id
from pilothouse.filters.authentication import authentication
from pilothouse.filters.authorization import authorization
from pilothouse.filters.cache_control import cache_control
from pilothouse.filters.chain import compose
from pilothouse.filters.compression import compression
from pilothouse.filters.cors import cors
from pilothouse.filters.deadline import deadline
from pilothouse.filters.errors import errors
from pilothouse.filters.front_proxy import front_proxy
from pilothouse.filters.impersonation import impersonation
from pilothouse.filters.in_flight import InFlight, in_flight
from pilothouse.filters.metrics import RequestMetrics, metrics
from pilothouse.filters.not_ready import not_ready
from pilothouse.filters.recovery import recovery
from pilothouse.filters.request_info import request_info
from pilothouse.filters.wait_group import WaitGroup, wait_group
from pilothouse.filters.warnings import warnings
from pilothouse.kit.aside import Aside
from pilothouse.kit.ids import UuidSource
from pilothouse.kit.metrics import Registry
from pilothouse.registry.store import GenericStore
from pilothouse.serving.hooks import Hooks
from pilothouse.serving.http import Answer, Handler, Request
from pilothouse.serving.tls_metrics import handshake_errors
from pilothouse.storage.api import Engine
from pilothouse.storage.engines.memory import MemoryEngine

FIRST_READABLE = 2  # revision
_log = logging.getLogger(__name__)


def utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass
class Application:
    """A server without its sockets: what it handles, and how it begins and ends."""

    handler: Handler
    engine: Engine
    running: WaitGroup
    hooks: Hooks
    metrics: Registry
    controllers: Controllers | None = None
    front: Front | None = None
    stopping: bool = False
    tasks: list[asyncio.Task[None]] = field(default_factory=list)
    closers: Sequence[Callable[[], None]] = ()
    tracing: Tracing | None = None

    def __post_init__(self) -> None:
        self._handshake_broke = handshake_errors(self.metrics)

    async def start(self) -> None:
        """Run what comes after listening began; readiness waits for it."""
        self.tasks.append(asyncio.create_task(keep_settled(self.metrics), name="settle metrics"))
        await self.hooks.start()
        if self.controllers is not None:
            self.controllers.start()

    def handshake_broke(self) -> None:
        """A client's connection ended before its handshake was done."""
        self._handshake_broke()

    async def begin_shutdown(self) -> None:
        """Readiness fails from now on."""
        self.stopping = True

    async def stop(self) -> None:
        """After the last request: end the tasks, close the store."""
        if self.controllers is not None:
            await self.controllers.stop()
        await self.hooks.stop()
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)
        for close in self.closers:
            close()
        if self.tracing is not None:
            await self.tracing.stop()
        await self.engine.close()


async def build_application(
    settings: Settings,
    client_ca: bytes,
    controllers: ControllerSettings | None = None,
    signing_keys: Sequence[bytes] = (),
) -> Application:
    """Open the store and wire everything. `client_ca`: PEM of the authorities of client certificates.
    `controllers`: those of the friendly mode, None for the bare API. `signing_keys`: PEM of the keys of service account
    tokens, the first one signs; none for a key that lives as long as the server.
    """
    began = time.time()
    engine = await _open_engine(settings)
    registry = Registry()
    registry.show_itself()
    caches = Caches(registry, engine)
    options = _options(settings, EndpointMetrics(registry, caches.lists))
    renderer = Renderer(MetaForms(builtin_types), options.offered)
    router = Router()
    outgoing = _outgoing(settings, registry)
    served = enablement.served(settings.runtime_config, settings.feature_gates)
    needs = Needs(builtin_types(), caches.open, options, renderer, utc_now, outgoing, served)
    builtin = BuiltinServer(needs, router)
    caches.stores = builtin.stores
    loopback = LoopbackTokens(secrets.token_bytes)
    modes = build_authorization(settings.authorization_mode, registry)
    identity = build_identity(settings, client_ca, [loopback], signing_keys, builtin.stores, utc_now, registry)
    identity = replace(identity, authorizer=modes.authorizer, rules=modes.rules)
    accounts = controllers is not None and controllers.make_accounts
    plugins = Choice.of(settings.enable_admission_plugins, settings.disable_admission_plugins)
    calls = outside(builtin.stores, registry, to_endpoints=settings.enable_aggregator_routing)
    webhooks = build_webhooks(calls, needs.types, registry, options.aside)
    builtin.install(partial(_admission, identity, modes, accounts, plugins, webhooks, registry), identity)
    running = WaitGroup()
    hooks = Hooks(hook_names(tells_storage_versions(settings, builtin.stores)))
    _first_objects(engine, builtin.stores, hooks)
    keep_presence(settings, client_ca, builtin.stores, hooks, utc_now, UuidSource())
    _rights(modes, builtin.stores, hooks)
    application = Application(
        _unset, engine, running, hooks, registry, tasks=modes.tasks,
        closers=[outgoing.close, calls.client.close], tracing=build_tracing(settings.tracing_config_file),
    )  # fmt: skip
    cluster_services(settings, builtin.stores, needs.open_storage, hooks, application.tasks, utc_now, registry)
    follow_webhooks(webhooks, builtin.stores, hooks, application.tasks)
    flow_control(builtin.stores, hooks, application.tasks, utc_now)
    issuer = _issuer(settings, identity)
    measured = CustomMetrics(registry, time.perf_counter)
    parts = Parts(
        settings, engine, builtin, router, renderer, registry, hooks, issuer, lambda: application.stopping,
        lambda: running.running, began, extensions(builtin, needs, hooks, calls, webhooks.custom, measured),
    )  # fmt: skip
    front = application.front = build_front(parts)
    application.handler = _chain(
        settings, application, front.handler, renderer, registry, running, identity, options.aside
    )
    _control(application, controllers, loopback)
    return application


def _control(application: Application, controllers: ControllerSettings | None, tokens: LoopbackTokens) -> None:
    """Let controllers ask the server, each with a token of its own."""
    own, queues = self_requests(application.metrics, application.handler), QueueMetrics(application.metrics)
    if controllers is not None:
        application.controllers = Controllers(controllers, own, tokens, LoopClock(), random.random, queues)


def _options(settings: Settings, metrics: EndpointMetrics) -> ServerOptions:
    return ServerOptions(
        now=utc_now,
        max_body=settings.max_request_bytes,
        allow_privileged=settings.allow_privileged,
        service_families=families(ranges_of(settings)),
        random=random.random,
        offered=WITH_CBOR if enablement.gates(settings.feature_gates)["CBORServingAndStorage"] else OFFERED,
        metrics=metrics,
    )


def _issuer(settings: Settings, identity: Identity) -> Issuer:
    def keys_at() -> str:
        return settings.service_account_jwks_uri or f"https://{settings.host}:{settings.port}{KEYS_PATH}"

    signer = identity.signer
    return Issuer(identity.tokens.issuer, keys_at, lambda: [key.public() for key in signer.keys], signer.ready)


def _outgoing(settings: Settings, registry: Registry) -> Outgoing:
    """Connections to kubelets, and to pods and services."""
    authority = settings.kubelet_certificate_authority
    chain, key = settings.kubelet_client_certificate, settings.kubelet_client_key
    return Outgoing(
        authority.read_bytes() if authority else b"",
        (chain, key) if chain and key else None,
        settings.kubelet_preferred_address_types,
        LogMetrics(registry),
    )


async def _unset(request: Request) -> Answer:
    raise RuntimeError("the application is not wired yet")


async def _open_engine(settings: Settings) -> Engine:
    if settings.storage == "memory":
        memory = MemoryEngine()
        memory.start()
        return memory
    from pilothouse.storage.engines.sqlite import SqliteEngine

    settings.data.mkdir(mode=0o700, parents=True, exist_ok=True)
    engine = await SqliteEngine.open(str(Path(settings.data) / "store.db"))
    engine.start()
    return engine


def _admission(
    identity: Identity,
    modes: Authorization,
    accounts: bool,
    choice: Choice,
    webhooks: Webhooks,
    registry: Registry,
    stores: dict[tuple[str, str], GenericStore],
) -> Chain:
    """`accounts`: whether pods need a service account; only controllers make the default ones."""
    needs = PluginNeeds(stores, utc_now, identity.authorizer.authorize, accounts, webhooks=webhooks, registry=registry)
    plugins = default_plugins(needs, choice)
    # Rights come first where a write is judged, and last where it is still changed: the one looks at the request, the
    # other at what became of it.
    every = [CreateRights(modes.authorizer), *plugins, RoleEscalation(modes.authorizer, modes.policy)]
    return Chain(
        every, lambda: [store.resource for store in stores.values()], AdmissionMetrics(registry, time.perf_counter)
    )


def _chain(
    settings: Settings,
    application: Application,
    handler: Handler,
    renderer: Renderer,
    registry: Registry,
    running: WaitGroup,
    identity: Identity,
    aside: Aside,
) -> Handler:
    clock, times = time.perf_counter, FilterTimes(registry)
    authenticated = AuthenticationMetrics(registry, clock, times)
    counts = InFlight()
    counts.show(registry)
    return compose(
        [
            recovery(),
            audit_id(UuidSource()),
            metrics(RequestMetrics(registry), clock),
            cache_control(),
            errors(renderer),
            not_ready(application.hooks.all_finished(*ROUTES)),
            wait_group(running),
            cors(settings.cors_allowed_origins),
            warnings(),
            request_info(aside),
            deadline(settings.request_timeout),
            front_proxy(build_front_proxy(settings, utc_now), authentication(identity.authenticators, authenticated)),
            impersonation(identity.authorizer, ImpersonationMetrics(registry, clock, times)),
            in_flight(settings.max_requests_inflight, settings.max_mutating_requests_inflight, counts),
            authorization(identity.authorizer, aside, AuthorizationMetrics(registry, clock, times)),
            *([] if application.tracing is None else [application.tracing.filter()]),
            compression(),
        ],
        handler,
    )


def _rights(modes: Authorization, stores: Stores, hooks: Hooks) -> None:
    """The default roles and bindings, and what authorizers know of what is stored."""

    async def bootstrap() -> None:
        await hooks.done("start-system-namespaces-controller")
        await ensure_bootstrap_rbac(stores, utc_now)

    hooks.add("generic-apiserver-start-informers", lambda: modes.follow(stores))
    hooks.add("rbac/bootstrap-roles", bootstrap)


def _first_objects(engine: Engine, stores: dict[tuple[str, str], GenericStore], hooks: Hooks) -> None:
    """What a new store is given."""
    classes = stores["scheduling.k8s.io", "priorityclasses"]
    hooks.add("start-system-namespaces-controller", _system_namespaces(engine, stores))
    hooks.add("scheduling/bootstrap-system-priority-classes", lambda: ensure_system_priority_classes(classes, utc_now))


def _system_namespaces(engine: Engine, stores: dict[tuple[str, str], GenericStore]) -> Callable[[], Awaitable[None]]:
    from pilothouse.builtin.bootstrap import ensure_system_namespaces

    async def hook() -> None:
        made = await ensure_system_namespaces(stores["", "namespaces"], utc_now)
        if made:  # a new store: what was before is out of reach, as revision 1 is "long ago" for every client
            await engine.compact(FIRST_READABLE)

    return hook
