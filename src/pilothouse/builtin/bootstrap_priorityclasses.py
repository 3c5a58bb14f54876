"""The two priority classes that every server has: critical to the cluster, critical to a node."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Final

from pilothouse.registry.store import GenericStore
from pilothouse.registry.writer import Writer, find

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
    writer = Writer(store, now)
    for name, value, description in _CLASSES:
        if await find(store, "", name) is None:
            await writer.create(
                {
                    "kind": "PriorityClass",
                    "apiVersion": "scheduling.k8s.io/v1",
                    "metadata": {"name": name},
                    "value": value,
                    "description": description,
                    "preemptionPolicy": "PreemptLowerPriority",
                }
            )
