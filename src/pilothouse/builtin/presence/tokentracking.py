"""ConfigMap kube-apiserver-legacy-service-account-token-tracking: since which day uses of old tokens are noted."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Final

from pilothouse.machinery.errors import APIError
from pilothouse.registry.store import GenericStore
from pilothouse.registry.writer import Writer

NAMESPACE: Final = "kube-system"
NAME: Final = "kube-apiserver-legacy-service-account-token-tracking"


async def ensure_token_tracking(configmaps: GenericStore, now: Callable[[], datetime]) -> None:
    """Make it where it is missing; the day stays that of the first start. Raises APIError."""
    try:
        await configmaps.get(NAMESPACE, NAME)
    except APIError as error:
        if error.code != 404:
            raise
        metadata = {"name": NAME, "namespace": NAMESPACE}
        since = now().strftime("%Y-%m-%d")
        obj = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": metadata, "data": {"since": since}}
        await Writer(configmaps, now).create(obj)
