"""Admission webhooks and policies: what calls of webhooks need, and the configurations, followed from the start."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable
from typing import Any, Final, Protocol

import orjson

from pilothouse.admission.conditionmetrics import ConditionMetrics
from pilothouse.admission.criteria import GROUP
from pilothouse.admission.defaults import Webhooks
from pilothouse.admission.lookups import Stores
from pilothouse.admission.policies.known import Policies
from pilothouse.admission.policies.metrics import PolicyMetrics
from pilothouse.admission.policies.params import CustomKinds
from pilothouse.admission.policies.policy import MutatingPolicy, ValidatingPolicy
from pilothouse.admission.webhooks.calls import Calling
from pilothouse.admission.webhooks.hooks import Hooks
from pilothouse.admission.webhooks.metrics import WebhookMetrics
from pilothouse.admission.webhooks.review import KIND, VERSIONS
from pilothouse.aggregator.apiservice import ServiceReference
from pilothouse.aggregator.lookups import StoreLookups
from pilothouse.aggregator.services import Resolver, Unresolved
from pilothouse.builtin.types import TypeTable
from pilothouse.cache.follow import Follower
from pilothouse.kit.aside import Aside
from pilothouse.kit.ids import UuidSource
from pilothouse.kit.metrics import Registry
from pilothouse.serving.client import Client
from pilothouse.serving.hooks import Hooks as StartHooks
from pilothouse.serving.tls_metrics import distrust
from pilothouse.serving.webhook import Outside, Resolve
from pilothouse.serving.webhook_metrics import CallMetrics
from pilothouse.storage.api import Storage, StoredObject

_HOOK: Final = "start-apiserver-admission-initializer"
Set = Callable[[str, "dict[str, Any] | None"], None]  # name, the object or None: it is gone


class Known(Protocol):
    """What is kept up to date."""

    def know_all(self) -> None:
        """What was stored has been told."""


def outside(stores: Stores, registry: Registry, *, to_endpoints: bool) -> Outside:
    """What all webhooks are called with. `stores` may be empty yet. `to_endpoints`: past the addresses of Services."""
    client = Client(distrust(registry, "apiserver_webhooks", "BETA"))
    return Outside(client, _resolver(stores, to_endpoints), UuidSource(), CallMetrics(registry, time.perf_counter))


def _resolver(stores: Stores, to_endpoints: bool) -> Resolve:
    """Where webhooks of Services are."""
    made: list[Resolver] = []

    async def resolve(namespace: str, name: str, port: int) -> tuple[str, int]:
        if not made:
            lookups = StoreLookups(stores["", "services"], stores["discovery.k8s.io", "endpointslices"])
            made.append(Resolver(lookups, to_endpoints, random.random))
        try:
            return await made[0].address(ServiceReference(namespace, name, port))
        except Unresolved as error:
            raise OSError(str(error)) from error

    return resolve


def build_webhooks(outside: Outside, types: TypeTable, registry: Registry, aside: Aside) -> Webhooks:
    """None are known until `follow_webhooks`."""
    schemas = {version: types.get(f"k8s.io/api/admission/{version}", KIND) for version in VERSIONS}
    calling = Calling(
        outside.new_uid, schemas, WebhookMetrics(registry), time.perf_counter, aside, ConditionMetrics(registry)
    )
    judging, changing = Policies(ValidatingPolicy), Policies(MutatingPolicy)
    return Webhooks(Hooks(outside), Hooks(outside), calling, judging, changing, CustomKinds(), PolicyMetrics(registry))


def follow_webhooks(webhooks: Webhooks, stores: Stores, hooks: StartHooks, tasks: list[asyncio.Task[None]]) -> None:
    """Keep them up to date from the start on. `tasks`: those of the server."""
    kinds: tuple[tuple[Known, dict[str, Set]], ...] = (
        (webhooks.mutating, {"mutatingwebhookconfigurations": webhooks.mutating.set}),
        (webhooks.validating, {"validatingwebhookconfigurations": webhooks.validating.set}),
        (webhooks.judging, _of_policies("validating", webhooks.judging)),
        (webhooks.changing, _of_policies("mutating", webhooks.changing)),
    )

    async def follow() -> None:
        for known, takers in kinds:
            for plural, take in takers.items():
                if (GROUP, plural) in stores:
                    await _follow(stores[GROUP, plural].storage, take, tasks)
            known.know_all()

    hooks.add(_HOOK, follow)


def _of_policies(kind: str, policies: Policies[Any]) -> dict[str, Set]:
    return {
        f"{kind}admissionpolicies": policies.set_policy,
        f"{kind}admissionpolicybindings": policies.set_binding,
    }


async def _follow(storage: Storage, take: Set, tasks: list[asyncio.Task[None]]) -> None:
    """Tell of all objects and each change from now on; returns when those that were stored are told."""
    prefix = len(storage.prefix)

    def changed(key: str, stored: StoredObject | None) -> None:
        take(key[prefix:], None if stored is None else orjson.loads(stored.value))

    follower = Follower(storage, changed)
    tasks.append(asyncio.get_running_loop().create_task(follower.run(), name=f"follow {storage.prefix}"))
    await follower.synced.wait()
