"""A server's stores with their admission, without HTTP: what the tests of this folder write to."""

from __future__ import annotations

import asyncio
import copy
import datetime
import functools
import itertools
import random
from collections.abc import Awaitable, Callable
from typing import Any

from pilothouse.admission.certificates import Authorize
from pilothouse.admission.chain import Chain
from pilothouse.admission.defaults import Choice, PluginNeeds, default_plugins
from pilothouse.auth.attributes import Attributes, Decision
from pilothouse.builtin import table
from pilothouse.builtin.allocation.wiring import allocation, families
from pilothouse.builtin.bootstrap_priorityclasses import ensure_system_priority_classes
from pilothouse.builtin.bootstrap_servicecidr import ensure_default_service_cidr
from pilothouse.builtin.grace import grace_of
from pilothouse.builtin.types import builtin_types
from pilothouse.cache.storage import CachedStorage
from pilothouse.machinery.errors import APIError
from pilothouse.machinery.names import generate_name
from pilothouse.registry.deleter import Deleter
from pilothouse.registry.request import Caller, DeleteOptions, Write
from pilothouse.registry.resource import Object, Resource
from pilothouse.registry.store import GenericStore, Services
from pilothouse.storage.api import Engine
from pilothouse.storage.engines.memory import MemoryEngine

START = datetime.datetime(2026, 11, 29, 12, tzinfo=datetime.UTC)
NAMESPACE = "p"
DEFAULT_CHOICE = Choice()
ADMIN = Caller("admin", "", ("system:masters",))
GROUPS = {
    "configmaps": "", "limitranges": "", "namespaces": "", "nodes": "", "persistentvolumeclaims": "", "pods": "",
    "podtemplates": "", "resourcequotas": "", "secrets": "", "serviceaccounts": "", "services": "",
    "deployments": "apps", "cronjobs": "batch", "priorityclasses": "scheduling.k8s.io",
    "runtimeclasses": "node.k8s.io", "storageclasses": "storage.k8s.io", "ingresses": "networking.k8s.io",
    "ingressclasses": "networking.k8s.io", "ipaddresses": "networking.k8s.io", "servicecidrs": "networking.k8s.io",
    "certificatesigningrequests": "certificates.k8s.io", "clustertrustbundles": "certificates.k8s.io",
}  # fmt: skip


def allow_all(asked: Attributes) -> tuple[Decision, str]:
    return Decision.ALLOW, ""


@functools.cache
def resources() -> list[Resource]:
    return list(table.resources(builtin_types(), table.served_by_default))


class World:
    """One server. Several share an `engine`; each then has caches of its own. Time goes on a second with each write."""

    def __init__(
        self,
        engine: Engine,
        *,
        authorize: Authorize = allow_all,
        accounts: bool = False,
        choice: Choice = DEFAULT_CHOICE,
        ranges: tuple[str, ...] = ("10.0.0.0/24",),
        ports: str = "30000-32767",
        seed: int = 1,
    ) -> None:
        self.engine = engine
        self.warnings: list[str] = []
        self.stores: dict[tuple[str, str], GenericStore] = {}
        self.ranges = ranges
        self._seconds = itertools.count()
        chance = random.Random(seed)
        make_name = functools.partial(generate_name, choose=chance.choice)
        uids = (f"00000000-0000-4000-8000-{number:012}" for number in itertools.count(seed * 10**6))
        needs = PluginNeeds(self.stores, self.now, authorize, accounts, make_name, self.pause)
        chain = Chain(default_plugins(needs, choice))
        for one in resources():
            services = Services(self.now, lambda: next(uids), make_name, chain.bound(one))
            self.stores[one.group, one.plural] = GenericStore(one, self.storage(one.prefix), services)
        self.allocation = allocation(self.stores, self.storage, ranges, ports, self.now, chance.randrange)
        self.stores["", "services"].claims = self.allocation.claims

    def now(self) -> datetime.datetime:
        return START + datetime.timedelta(seconds=next(self._seconds))

    def later(self, seconds: int) -> None:
        self._seconds = itertools.count(next(self._seconds) + seconds)

    def storage(self, prefix: str) -> CachedStorage:
        return CachedStorage(self.engine, prefix)

    async def pause(self) -> None:
        await asyncio.sleep(0)

    async def bootstrap_again(self) -> None:
        await ensure_default_service_cidr(self.stores["networking.k8s.io", "servicecidrs"], self.ranges, self.now)
        await ensure_system_priority_classes(self.stores["scheduling.k8s.io", "priorityclasses"], self.now)

    async def bootstrap(self) -> None:
        await self.bootstrap_again()
        await self.create("namespaces", {"metadata": {"name": NAMESPACE}})

    def store(self, plural: str) -> GenericStore:
        return self.stores[GROUPS[plural], plural]

    def write(self, store: GenericStore, name: str = "", **more: Any) -> Write:
        space = NAMESPACE if store.resource.namespaced else ""
        more.setdefault("caller", ADMIN)
        more.setdefault("service_families", families(self.ranges))
        return Write(space, name, store.resource.hub, self.now(), self.warnings.append, **more)

    async def create(self, plural: str, obj: Object, **more: Any) -> Object:
        """The object as stored."""
        store = self.store(plural)
        made = copy.deepcopy(obj)
        made.setdefault("kind", store.resource.kind)
        made.setdefault("apiVersion", store.resource.hub_api_version)
        if store.behaviour.defaults is not None:
            store.behaviour.defaults(made)
        return store.codec.decode(await store.create(made, self.write(store, **more)))

    async def update(self, plural: str, name: str, change: Callable[[Object], object], **more: Any) -> Object:
        """`change` works on the object as it is, in place."""
        store = self.store(plural)

        async def produce(current: Object | None) -> Object:
            assert current is not None
            change(current)
            current["metadata"].pop("resourceVersion", None)
            if store.behaviour.defaults is not None:
                store.behaviour.defaults(current)
            return current

        stored, _ = await store.update(name, produce, self.write(store, name, **more))
        return store.codec.decode(stored)

    async def delete(self, plural: str, name: str, **more: Any) -> None:
        store = self.store(plural)
        deleter = Deleter(store, grace_of(store.resource.group, plural))
        options = DeleteOptions(dry_run=more.get("dry_run", False))
        await deleter.delete(name, options, self.write(store, name, **more))

    async def get(self, plural: str, name: str) -> Object:
        store = self.store(plural)
        return store.codec.decode(await store.get(NAMESPACE if store.resource.namespaced else "", name))


Story = Callable[[World], Awaitable[None]]


def play(story: Story, **settings: Any) -> None:
    """Run a story in a fresh world."""

    async def main() -> None:
        engine = MemoryEngine()
        engine.start()
        world = World(engine, **settings)
        await world.bootstrap()
        world.warnings.clear()
        try:
            await story(world)
        finally:
            await engine.close()

    asyncio.run(main())


async def refusal(write: Awaitable[object]) -> APIError:
    """How a write was refused."""
    try:
        await write
    except APIError as error:
        return error
    raise AssertionError("the write was not refused")


def pod(name: str = "a", **spec: Any) -> Object:
    containers = spec.pop("containers", [{"name": "c", "image": "i"}])
    return {"metadata": {"name": name}, "spec": {"containers": containers, **spec}}


def container(name: str = "c", requests: dict[str, str] | None = None, limits: dict[str, str] | None = None) -> Object:
    resources = {key: value for key, value in (("requests", requests), ("limits", limits)) if value is not None}
    return {"name": name, "image": "i", "resources": resources}
