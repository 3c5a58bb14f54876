"""The ServiceCIDR that every server has, `kubernetes`: the ranges of its settings, ready at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, Final

from pilothouse.machinery.times import format_time
from pilothouse.registry.ownership import Ownership
from pilothouse.registry.request import Write
from pilothouse.registry.resource import Object
from pilothouse.registry.store import GenericStore
from pilothouse.registry.writer import MANAGER, create_first, find_object, no_client

NAME: Final = "kubernetes"
CONTROLLER: Final = "kubernetes-service-cidr-controller"
_READY: Final = "Kubernetes default Service CIDR is ready"
_KIND: Final = {"kind": "ServiceCIDR", "apiVersion": "networking.k8s.io/v1"}


async def ensure_default_service_cidr(store: GenericStore, cidrs: Sequence[str], now: Callable[[], datetime]) -> None:
    """Make it where it is not there, and say that it is ready. One that holds other ranges is left as it is."""
    held = await find_object(store, "", NAME)
    if held is None:
        held = await _create(store, list(cidrs), now())
    if held["spec"].get("cidrs") == list(cidrs) and not _says_ready(held):
        await _say_ready(store, now())


def _write(now: datetime, manager: str, subresource: str = "") -> Write:
    return Write("", NAME, "v1", now, no_client, subresource=subresource, manager=manager)


async def _create(store: GenericStore, cidrs: list[str], now: datetime) -> Object:
    obj: dict[str, Any] = {**_KIND, "metadata": {"name": NAME}, "spec": {"cidrs": cidrs}}
    write = _write(now, MANAGER)
    stored = await create_first(store, Ownership(store.resource, "v1").created(obj, write), write)
    return store.codec.decode(stored or await store.get("", NAME))


def _says_ready(held: Object) -> bool:
    return any(one.get("type") == "Ready" for one in (held.get("status") or {}).get("conditions") or ())


async def _say_ready(store: GenericStore, now: datetime) -> None:
    owner = Ownership(store.resource, "v1", "status")
    condition = {"type": "Ready", "status": "True", "lastTransitionTime": format_time(now), "message": _READY}
    config: dict[str, Any] = {**_KIND, "metadata": {"name": NAME}, "status": {"conditions": [condition]}}
    write = _write(now, CONTROLLER, "status")

    async def produce(current: Object | None) -> Object:
        applied = owner.applied(config, current, write, force=True)
        shown = applied["status"]["conditions"]
        applied["status"]["conditions"] = [{"reason": "", **one} for one in shown]  # shown empty, and nobody's own
        return applied

    await store.update(NAME, produce, write)
