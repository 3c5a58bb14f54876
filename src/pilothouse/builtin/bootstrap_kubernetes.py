"""Service default/kubernetes: the first cluster address is that of the API itself."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, Final

from pilothouse.registry.ownership import Ownership
from pilothouse.registry.request import Write
from pilothouse.registry.store import GenericStore
from pilothouse.registry.writer import MANAGER, create_first, find, no_client

NAMESPACE: Final = "default"
NAME: Final = "kubernetes"
_LABELS: Final = {"component": "apiserver", "provider": "kubernetes"}


def first_address(cidr: str) -> str:
    """The address of the API in a range."""
    return str(ipaddress.ip_network(cidr.strip())[1])


async def ensure_kubernetes_service(
    store: GenericStore, cidr: str, port: int, families: Sequence[str], now: Callable[[], datetime]
) -> None:
    """Make it where it is not there. `cidr`: the first range; `port`: where the API listens."""
    if await find(store, NAMESPACE, NAME) is None:
        await _create(store, first_address(cidr), port, tuple(families), now())


async def _create(store: GenericStore, address: str, port: int, families: tuple[str, ...], now: datetime) -> None:
    listening = {"name": "https", "protocol": "TCP", "port": 443, "targetPort": port}
    spec: dict[str, Any] = {
        "ports": [listening],
        "clusterIP": address,
        "type": "ClusterIP",
        "sessionAffinity": "None",
        "ipFamilyPolicy": "SingleStack",
        "internalTrafficPolicy": "Cluster",
    }
    obj = {
        "kind": "Service",
        "apiVersion": "v1",
        "metadata": {"name": NAME, "namespace": NAMESPACE, "labels": dict(_LABELS)},
        "spec": spec,
        "status": {"loadBalancer": {}},
    }
    write = Write(NAMESPACE, "", "v1", now, no_client, manager=MANAGER, service_families=families)
    await create_first(store, Ownership(store.resource, "v1").created(obj, write), write)
