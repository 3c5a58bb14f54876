"""The Lease by which a server says that it is there, and the removal of those of servers that are gone."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, Final

from pilothouse.kit.record import record
from pilothouse.machinery.errors import APIError
from pilothouse.machinery.times import TimeError, format_micro_time, parse_micro_time
from pilothouse.registry.store import GenericStore
from pilothouse.registry.writer import Writer
from pilothouse.storage.api import ListRequest, Read
from pilothouse.storage.errors import StorageError

Object = dict[str, Any]
NAMESPACE: Final = "kube-system"
IDENTITY_LABEL: Final = "apiserver.kubernetes.io/identity"
IDENTITY: Final = "kube-apiserver"
DURATION: Final = 3600  # seconds after which a Lease that is not renewed counts for nothing
RENEW_SECONDS: Final = 10.0
CLEAN_SECONDS: Final = 3600.0
_log = logging.getLogger(__name__)


@record
class Presence:
    """Who is there: the machine's name, something that is different at each start, and where other servers reach us."""

    hostname: str
    start: str
    address: str

    @property
    def name(self) -> str:
        """Of the Lease: the same at each start on a machine."""
        digest = hashlib.sha256(self.hostname.encode()).digest()[:16]
        return f"apiserver-{base64.b32encode(digest).decode().rstrip('=').lower()}"


class IdentityLease:
    """Keeps the Lease of this server."""

    def __init__(self, leases: GenericStore, presence: Presence, now: Callable[[], datetime]) -> None:
        self._leases = leases
        self._writer = Writer(leases, now)
        self._presence = presence
        self._now = now

    async def renew(self) -> None:
        """Raises APIError."""
        name = self._presence.name
        try:
            await self._writer.update(NAMESPACE, name, self._fill)
        except APIError as error:
            if error.code != 404:
                raise
            obj: Object = {
                "kind": "Lease",
                "apiVersion": self._leases.resource.hub_api_version,
                "metadata": {"name": name, "namespace": NAMESPACE},
            }
            self._fill(obj)
            await self._writer.create(obj)

    def _fill(self, obj: Object) -> None:
        presence = self._presence
        metadata = obj["metadata"]
        labels = {IDENTITY_LABEL: IDENTITY, "kubernetes.io/hostname": presence.hostname}
        metadata["labels"] = {**(metadata.get("labels") or {}), **labels}
        where = {"kubernetes.io/peer-advertise-address": presence.address}
        metadata["annotations"] = {**(metadata.get("annotations") or {}), **where}
        obj["spec"] = {
            "holderIdentity": f"{presence.name}_{presence.start}",
            "leaseDurationSeconds": DURATION,
            "renewTime": format_micro_time(self._now()),
        }

    async def run(self) -> None:
        """Renew for ever."""
        while True:
            await asyncio.sleep(RENEW_SECONDS)
            try:
                await self.renew()
            except APIError as error:
                _log.warning("the Lease of this server could not be renewed: %s", error.message)


class LeaseCleaner:
    """Removes Leases of servers that were not renewed in time."""

    def __init__(self, leases: GenericStore, now: Callable[[], datetime]) -> None:
        self._leases = leases
        self._writer = Writer(leases, now)
        self._now = now

    async def clean(self) -> int:
        """Do it now; how many were removed. Raises APIError, StorageError."""
        codec = self._leases.codec
        page = await self._leases.storage.list(
            ListRequest(
                self._leases.resource.folder(NAMESPACE),
                Read.ANY,
                accept=lambda stored: codec.index(stored).labels.get(IDENTITY_LABEL) == IDENTITY,
            )
        )
        removed = 0
        for item in page.items:
            obj = codec.decode(item)
            if self._is_over(obj.get("spec") or {}):
                await self._writer.delete(NAMESPACE, obj["metadata"]["name"])
                removed += 1
        return removed

    def _is_over(self, spec: Object) -> bool:
        try:
            renewed = parse_micro_time(spec["renewTime"])
        except (KeyError, TimeError):
            return True
        return renewed + timedelta(seconds=spec.get("leaseDurationSeconds") or 0) < self._now()

    async def run(self) -> None:
        """For ever."""
        while True:
            await asyncio.sleep(CLEAN_SECONDS)
            try:
                await self.clean()
            except (APIError, StorageError) as error:
                _log.warning("Leases of servers that are gone could not be removed: %s", error)
