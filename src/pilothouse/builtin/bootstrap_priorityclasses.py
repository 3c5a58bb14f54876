"""The two priority classes that every server has: critical to the cluster, critical to a node."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, Final

from pilothouse.machinery.errors import APIError
from pilothouse.registry.ownership import Ownership
from pilothouse.registry.request import Write
from pilothouse.registry.store import GenericStore

MANAGER: Final = "kube-apiserver"
_CLASSES: Final[tuple[tuple[str, int, str], ...]] = (
    (
        "system-node-critical",
        2000001000,
        "Used for system critical pods that must not be moved from their current node.",
    ),
    (
        "system-cluster-critical",
        2000000000,
        "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.",
    ),
)


async def ensure_system_priority_classes(store: GenericStore, now: Callable[[], datetime]) -> None:
    """Make the classes that are not there."""
    for name, value, description in _CLASSES:
        try:
            await store.get("", name)
        except APIError as error:
            if error.code != 404:
                raise
            await _create(store, name, value, description, now())


async def _create(store: GenericStore, name: str, value: int, description: str, now: datetime) -> None:
    obj: dict[str, Any] = {
        "kind": "PriorityClass",
        "apiVersion": "scheduling.k8s.io/v1",
        "metadata": {"name": name},
        "value": value,
        "description": description,
        "preemptionPolicy": "PreemptLowerPriority",
    }
    write = Write(namespace="", name=name, version="v1", now=now, warn=_ignored, manager=MANAGER)
    try:
        await store.create(Ownership(store.resource, "v1").created(obj, write), write)
    except APIError as error:
        if error.reason != "AlreadyExists":  # another server of the same store was quicker
            raise


def _ignored(text: str) -> None:
    """Warnings are for clients; there is none here."""
