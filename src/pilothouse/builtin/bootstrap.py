"""What a fresh server holds before anyone asks: the system namespaces."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Final

from pilothouse.registry.request import Write
from pilothouse.registry.store import GenericStore
from pilothouse.registry.writer import create_first, find, no_client

SYSTEM_NAMESPACES: Final = ("default", "kube-node-lease", "kube-public", "kube-system")


async def ensure_system_namespaces(store: GenericStore, now: Callable[[], datetime]) -> int:
    """Make the namespaces that are not there; how many they were."""
    made = 0
    for name in SYSTEM_NAMESPACES:
        if await find(store, "", name) is None:
            await _create(store, name, now())
            made += 1
    return made


async def _create(store: GenericStore, name: str, now: datetime) -> None:
    obj = {"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": name}, "spec": {}, "status": {}}
    defaults = store.behaviour.defaults
    if defaults is not None:
        defaults(obj)
    await create_first(store, obj, Write(namespace="", name=name, version="v1", now=now, warn=no_client))
