"""ConfigMap extension-apiserver-authentication in kube-system: by it extension servers know whom to trust.

Several servers of one store may have different CAs: what others wrote stays, ours is added. The object is looked at
every few seconds, so a change by hand does not last.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from pilothouse.machinery.errors import APIError
from pilothouse.registry.store import GenericStore
from pilothouse.registry.writer import Writer, find_object
from pilothouse.storage.api import Read

Object = dict[str, Any]
NAMESPACE: Final = "kube-system"
NAME: Final = "extension-apiserver-authentication"
LOOK_SECONDS: Final = 10.0
_CERTIFICATE: Final = re.compile(r"-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----", re.DOTALL)
_log = logging.getLogger(__name__)


def authentication_info(
    client_ca: bytes, front_ca: bytes = b"", lists: Mapping[str, Sequence[str]] | None = None
) -> dict[str, str]:
    """The data of the ConfigMap. `front_ca`: PEM of the request header CA; `lists`: the flags beside it, by name."""
    data = {"client-ca-file": client_ca.decode()} if client_ca else {}
    if front_ca:
        data["requestheader-client-ca-file"] = front_ca.decode()
        for name, values in (lists or {}).items():
            data[name] = json.dumps(list(values), separators=(",", ":"))
    return data


def combined(ours: Mapping[str, str], theirs: Mapping[str, str]) -> dict[str, str]:
    """What several servers say: certificates and names of all, each once."""
    merged = dict(theirs)
    for key, value in ours.items():
        before = theirs.get(key)
        if before is None:
            merged[key] = value
        elif key.endswith("client-ca-file") or key == "client-ca-file":
            merged[key] = before + "".join(f"{one}\n" for one in _CERTIFICATE.findall(value) if one not in before)
        else:
            there = _texts(before)
            missing = [one for one in _texts(value) if one not in there]
            merged[key] = json.dumps([*there, *missing], separators=(",", ":")) if missing or not there else before
    return merged


def _texts(value: str) -> list[str]:
    try:
        found = json.loads(value)
    except ValueError:
        return []
    return [one for one in found if isinstance(one, str)] if isinstance(found, list) else []


class AuthInfo:
    """Keeps the ConfigMap. `data`: what it shall say."""

    def __init__(self, store: GenericStore, data: Mapping[str, str], now: Callable[[], datetime]) -> None:
        self._store = store
        self._data = data
        self._writer = Writer(store, now)

    async def ensure(self) -> None:
        """Make or complete it where that is needed. Raises APIError."""
        found = await find_object(self._store, NAMESPACE, NAME, Read.ANY)
        there = (found or {}).get("data") or {}
        if found is not None and combined(self._data, there) == there:
            return

        if found is None:
            metadata = {"name": NAME, "namespace": NAMESPACE}
            obj = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": metadata, "data": dict(self._data)}
            await self._writer.create(obj)
            return

        def change(obj: Object) -> None:
            obj["data"] = combined(self._data, obj.get("data") or {})

        await self._writer.update(NAMESPACE, NAME, change)

    async def run(self) -> None:
        """For ever."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            try:
                await self.ensure()
            except APIError as error:
                _log.info("ConfigMap %s could not be written: %s", NAME, error.message)
