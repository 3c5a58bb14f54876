"""Service default/kubernetes: the first cluster address is that of the API itself."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, Final

from pilothouse.machinery.errors import APIError
from pilothouse.registry.ownership import Ownership
from pilothouse.registry.request import Write
from pilothouse.registry.store import GenericStore

NAMESPACE: Final = "default"
NAME: Final = "kubernetes"
MANAGER: Final = "kube-apiserver"
_LABELS: Final = {"component": "apiserver", "provider": "kubernetes"}


def first_address(cidr: str) -> str:
    """The address of the API in a range."""
    return str(ipaddress.ip_network(cidr.strip())[1])


async def ensure_kubernetes_service(
    store: GenericStore, cidr: str, port: int, families: Sequence[str], now: Callable[[], datetime]
) -> None:
    """Make it where it is not there. `cidr`: the first range; `port`: where the API listens."""
    try:
        await store.get(NAMESPACE, NAME)
    except APIError as error:
        if error.code != 404:
            raise
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
    write = Write(NAMESPACE, "", "v1", now, _ignored, manager=MANAGER, service_families=families)
    try:
        await store.create(Ownership(store.resource, "v1").created(obj, write), write)
    except APIError as error:
        if error.reason != "AlreadyExists":  # another server of the same store was quicker
            raise


def _ignored(text: str) -> None:
    """Warnings are for clients; there is none here."""
