"""The aggregator put together: it follows the API services and keeps routes, conditions and merged documents in step.

Everything that changes is swapped whole: a request sees the table of routes, and in it a backend, of one moment.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import field
from datetime import datetime
from pathlib import Path
from typing import Final

from pilothouse.aggregator.apiservice import APIService, ServiceReference, parse, same_registration
from pilothouse.aggregator.autoregister import AutoRegister, Wanted
from pilothouse.aggregator.availability import LOCAL, Conditions, Examiner
from pilothouse.aggregator.call import Reader
from pilothouse.aggregator.identity import Rewriter
from pilothouse.aggregator.keeper import Keeper, Pace, Tools
from pilothouse.aggregator.lookups import StoreLookups
from pilothouse.aggregator.proxy import Backend, Route, Shared
from pilothouse.aggregator.publisher import Publisher
from pilothouse.aggregator.services import SERVICE_LABEL, Resolver
from pilothouse.aggregator.trust import CHECK_SECONDS, Trust
from pilothouse.cache.follow import Follower
from pilothouse.discovery.catalog import Catalog
from pilothouse.discovery.model import Group
from pilothouse.endpoints.requestinfo import RequestInfo
from pilothouse.kit.metrics import Registry
from pilothouse.kit.record import record
from pilothouse.machinery.errors import APIError
from pilothouse.openapi.catalog import Catalog as OpenAPICatalog
from pilothouse.registry.store import GenericStore
from pilothouse.serving.client import Client
from pilothouse.serving.http import Handler, Request
from pilothouse.serving.tls_metrics import distrust
from pilothouse.storage.api import StoredObject

_PAUSE: Final = 1.0  # seconds until a condition that could not be written is tried again
_log = logging.getLogger(__name__)


@record
class Options:
    """`certificate`: PEM files (chain, key) shown to extension servers. `request_timeout`: seconds, 0 for none."""

    certificate: tuple[Path, Path] | None = None
    to_endpoints: bool = False
    request_timeout: float = 60.0
    pace: Pace = field(default_factory=Pace)


@record
class Needs:
    """What the aggregator takes from outside. `random`: 0 to 1. `offload` runs blocking work off the loop."""

    apiservices: GenericStore
    services: GenericStore
    slices: GenericStore
    catalog: Catalog
    openapi: OpenAPICatalog
    registry: Registry
    now: Callable[[], datetime]
    random: Callable[[], float]
    offload: Callable[..., Awaitable[object]]


class Aggregator:
    """A link of the delegation chain, and the tasks behind it. Make it on the loop; `start`, then `stop` it."""

    def __init__(self, needs: Needs, options: Options) -> None:
        self._needs = needs
        self._services: dict[str, APIService] = {}
        self._keepers: dict[str, Keeper] = {}
        self._routes: dict[tuple[str, str], Route] = {}
        self._local_dirty: dict[str, None] = {}
        self._local_wake = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._ending: set[asyncio.Task[None]] = set()
        self.started = asyncio.Event()  # all tasks run
        self._trust = Trust(options.certificate)
        self._client = Client(distrust(needs.registry, "apiserver_kube_aggregator", "ALPHA"))
        self._resolver = resolver = Resolver(
            StoreLookups(needs.services, needs.slices), options.to_endpoints, needs.random, remember=True
        )
        reader = Reader(self._client, resolver)
        self._conditions = Conditions(needs.apiservices, needs.now, needs.registry)
        self._tools = Tools(Examiner(resolver, reader), self._conditions, reader, needs.offload, options.pace)
        self._proxy = Shared(self._client, resolver, options.request_timeout, self._suspect, Rewriter())
        self._followers = (
            Follower(needs.apiservices.storage, self._told),
            Follower(needs.services.storage, self._service_changed),
            Follower(needs.slices.storage, self._slice_changed),
        )
        self.autoregister = AutoRegister(needs.apiservices, self._services, needs.now)
        self.publisher = Publisher(self._services, self._keepers, needs.catalog, needs.openapi, needs.registry)

    # As a link of the chain

    def find(self, request: Request) -> Handler | None:
        routes = self._routes
        if not routes:
            return None
        info = request.attached(RequestInfo)
        if info.is_resource:
            return routes.get((info.group, info.version)) if info.group else None
        segments = info.path.split("/", 4)  # "", apis, group, version
        if len(segments) < 4 or segments[1] != "apis":
            return None
        return routes.get((segments[2], segments[3]))

    # What this server serves itself

    def serve_local(self, source: str, groups: Sequence[Group], wanted: Iterable[Wanted]) -> None:
        """From now on `source` (the built-in kinds, the custom ones) serves these groups; API services follow."""
        self.autoregister.want(source, wanted)
        self.publisher.serve_local(source, groups)

    # Tasks

    def start(self) -> None:
        """Begin to follow and to keep."""
        loop = asyncio.get_running_loop()
        parts = {
            "own API services": self._register,
            "local API services": self._keep_local,
            "merged documents": self._keep_merged,
            "certificate for API services": self._keep_certificate,
        }
        self._tasks = [loop.create_task(run(), name=name) for name, run in parts.items()]
        self._tasks += [loop.create_task(follower.run(), name="follower") for follower in self._followers]
        self.started.set()

    async def synced(self) -> None:
        """Wait until every stored API service has its route."""
        for follower in self._followers:
            await follower.synced.wait()

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, *self._ending, return_exceptions=True)
        for keeper in list(self._keepers.values()):
            await keeper.stop()
        self._keepers.clear()
        self._client.close()

    async def _register(self) -> None:
        await self.synced()
        await self.autoregister.run()

    async def _keep_merged(self) -> None:
        await self.autoregister.complete.wait()  # until then the groups stand as they were put into the catalog
        self.publisher.touch()
        await self.publisher.run()

    async def _keep_local(self) -> None:
        """API services without a service are always available."""
        while True:
            await self._local_wake.wait()
            self._local_wake.clear()
            while self._local_dirty:
                name = next(iter(self._local_dirty))
                del self._local_dirty[name]
                try:
                    await self._conditions.write(name, LOCAL)
                except APIError as error:
                    _log.info("the condition of %s could not be written: %s", name, error.message)
                    self._local_dirty[name] = None
                    await asyncio.sleep(_PAUSE)

    async def _keep_certificate(self) -> None:
        while True:
            await asyncio.sleep(CHECK_SECONDS)
            self.refresh_certificate()

    def refresh_certificate(self) -> None:
        """Read the files of the certificate that is shown to extension servers again, if they changed."""
        if self._trust.changed():
            _log.info("the certificate that is shown to extension servers changed and was read again")
            for keeper in self._keepers.values():
                service, reference = keeper.backend.service, keeper.backend.reference
                self._exchange(keeper, Backend(service, reference, self._trust.of(service, reference)))
            self._reroute()

    # Changes of API services

    def _told(self, key: str, stored: StoredObject | None) -> None:
        name = key.removeprefix(self._needs.apiservices.resource.prefix)
        if stored is None:
            self._services.pop(name, None)
            self._conditions.forget(name)
            self._end(name)
        else:
            service = self._services[name] = parse(self._needs.apiservices.codec.decode(stored))
            if service.service is not None:
                self._keep(service, service.service)
            else:
                self._end(name)
                if service.condition != LOCAL.shown:
                    self._local_dirty[name] = None
                    self._local_wake.set()
        self._reroute()
        self.autoregister.touched(name)
        self.publisher.touch()

    def _keep(self, service: APIService, reference: ServiceReference) -> None:
        """Bring the keeper of one API service to what it says now."""
        keeper = self._keepers.get(service.name)
        if keeper is None:
            backend = Backend(service, reference, self._trust.of(service, reference))
            self._keepers[service.name] = Keeper(backend, self._tools, self.publisher.touch)
        elif same_registration(keeper.backend.service, service):
            keeper.refresh(Backend(service, reference, keeper.backend.tls))
        else:
            self._exchange(keeper, Backend(service, reference, self._trust.of(service, reference)))

    def _exchange(self, keeper: Keeper, backend: Backend) -> None:
        self._client.forget(keeper.backend.tls)
        keeper.replace(backend)

    def _end(self, name: str) -> None:
        keeper = self._keepers.pop(name, None)
        if keeper is not None:
            self._client.forget(keeper.backend.tls)
            task = asyncio.get_running_loop().create_task(keeper.stop())
            self._ending.add(task)
            task.add_done_callback(self._ending.discard)

    def _reroute(self) -> None:
        routes = [Route(self._proxy, keeper.backend) for keeper in self._keepers.values()]
        self._routes = {route.backend.service.key: route for route in routes}

    # What may have changed availability

    def _suspect(self, name: str) -> None:
        keeper = self._keepers.get(name)
        if keeper is not None:
            keeper.wake()

    def _service_changed(self, key: str, stored: StoredObject | None) -> None:
        namespace, _, name = key.removeprefix(self._needs.services.resource.prefix).partition("/")
        self._resolver.changed(namespace, name)
        if self._keepers:
            self._wake(namespace, name)

    def _slice_changed(self, key: str, stored: StoredObject | None) -> None:
        if not self._keepers:
            return
        store = self._needs.slices
        namespace = key.removeprefix(store.resource.prefix).partition("/")[0]
        if any(keeper.backend.reference.namespace == namespace for keeper in self._keepers.values()):
            self._wake(namespace, "" if stored is None else store.codec.index(stored).labels.get(SERVICE_LABEL, ""))

    def _wake(self, namespace: str, name: str) -> None:
        """Examine what stands behind a Service; "" for all of the namespace."""
        for keeper in self._keepers.values():
            reference = keeper.backend.reference
            if reference.namespace == namespace and name in ("", reference.name):
                keeper.wake()
