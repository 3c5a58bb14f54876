"""What a fresh server holds before anyone asks: the system namespaces."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Final

from pilothouse.machinery.errors import APIError
from pilothouse.registry.request import Write
from pilothouse.registry.store import GenericStore

SYSTEM_NAMESPACES: Final = ("default", "kube-node-lease", "kube-public", "kube-system")


async def ensure_system_namespaces(store: GenericStore, now: Callable[[], datetime]) -> int:
    """Make the namespaces that are not there; how many they were."""
    made = 0
    for name in SYSTEM_NAMESPACES:
        try:
            await store.get("", name)
        except APIError as error:
            if error.code != 404:
                raise
            await _create(store, name, now())
            made += 1
    return made


async def _create(store: GenericStore, name: str, now: datetime) -> None:
    obj = {"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": name}, "spec": {}, "status": {}}
    defaults = store.behaviour.defaults
    if defaults is not None:
        defaults(obj)
    try:
        await store.create(obj, Write(namespace="", name=name, version="v1", now=now, warn=_ignored))
    except APIError as error:
        if error.reason != "AlreadyExists":  # another server of the same store was quicker
            raise


def _ignored(text: str) -> None:
    """Warnings are for clients; there is none here."""
