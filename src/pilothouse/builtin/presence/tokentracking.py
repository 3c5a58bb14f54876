"""ConfigMap kube-apiserver-legacy-service-account-token-tracking: since which day uses of old tokens are noted."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Final

from pilothouse.registry.store import GenericStore
from pilothouse.registry.writer import Writer, find

NAMESPACE: Final = "kube-system"
NAME: Final = "kube-apiserver-legacy-service-account-token-tracking"


async def ensure_token_tracking(configmaps: GenericStore, now: Callable[[], datetime]) -> None:
    """Make it where it is missing; the day stays that of the first start. Raises APIError."""
    if await find(configmaps, NAMESPACE, NAME) is None:
        metadata = {"name": NAME, "namespace": NAMESPACE}
        since = now().strftime("%Y-%m-%d")
        obj = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": metadata, "data": {"since": since}}
        await Writer(configmaps, now).create(obj)
