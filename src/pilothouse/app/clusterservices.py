"""Addresses and node ports of services: who gives them out, the ranges of a new store, and the Service of the API."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime

from pilothouse.app.settings import Settings
from pilothouse.builtin.allocation.metrics import AllocationMetrics
from pilothouse.builtin.allocation.repair import PERIOD
from pilothouse.builtin.allocation.wiring import allocation, families
from pilothouse.builtin.bootstrap_kubernetes import ensure_kubernetes_service
from pilothouse.builtin.bootstrap_servicecidr import ensure_default_service_cidr
from pilothouse.builtin.server import OpenStorage
from pilothouse.kit.metrics import Registry
from pilothouse.registry.store import GenericStore
from pilothouse.serving.hooks import Hooks

NODE_PORTS = "30000-32767"
_CIDRS = "start-kubernetes-service-cidr-controller"
_HTTPS = 6443  # what the Service leads to where the port is chosen by the system


def ranges_of(settings: Settings) -> list[str]:
    """The ranges of cluster addresses, the cluster's own family first."""
    return [cidr.strip() for cidr in settings.service_cluster_ip_range.split(",")]


def cluster_services(
    settings: Settings,
    stores: dict[tuple[str, str], GenericStore],
    open_storage: OpenStorage,
    hooks: Hooks,
    tasks: list[asyncio.Task[None]],
    now: Callable[[], datetime],
    registry: Registry,
) -> None:
    """Services take addresses and node ports, which are accounted for now and then. `tasks`: those of the server."""
    ranges = ranges_of(settings)
    made = allocation(stores, open_storage, ranges, NODE_PORTS, now, metrics=AllocationMetrics(registry))
    services, cidrs = stores["", "services"], stores["networking.k8s.io", "servicecidrs"]
    services.claims = made.claims

    async def account() -> None:
        await hooks.done(_CIDRS)
        await made.repair.once()
        keeping = made.repair.keep(lambda: asyncio.sleep(PERIOD))
        tasks.append(asyncio.get_running_loop().create_task(keeping, name="service addresses and ports"))

    async def kubernetes() -> None:
        await hooks.done(_CIDRS)
        await hooks.done("start-system-namespaces-controller")
        await ensure_kubernetes_service(services, ranges[0], settings.port or _HTTPS, families(ranges), now)

    hooks.add(_CIDRS, lambda: ensure_default_service_cidr(cidrs, ranges, now))
    hooks.add("start-service-ip-repair-controllers", account)
    hooks.add("bootstrap-controller", kubernetes)
