"""Cluster addresses: each that is in use is an IPAddress object, and making that object is what takes the address.

So several servers of one store need not talk to each other: of two that want the same address, one finds the object
there.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any, Final

from pilothouse.admission.lookups import Reader, Stores
from pilothouse.builtin.allocation.addressrange import AddressRange, Below
from pilothouse.builtin.allocation.metrics import DYNAMIC, STATIC, AddressMetrics, AllocationMetrics
from pilothouse.kit.record import record
from pilothouse.machinery.errors import APIError
from pilothouse.registry.deleter import Deleter
from pilothouse.registry.ownership import Ownership
from pilothouse.registry.request import Caller, DeleteOptions, Write
from pilothouse.registry.resource import Object
from pilothouse.registry.store import GenericStore
from pilothouse.registry.writer import create_first, no_client
from pilothouse.storage.api import Read
from pilothouse.storage.errors import NotFound

MANAGED_BY: Final = "ipaddress.kubernetes.io/managed-by"
FAMILY: Final = "ipaddress.kubernetes.io/ip-family"
ALLOCATOR: Final = "ipallocator.k8s.io"
_SELF: Final = Caller("system:apiserver", "", ("system:masters", "system:authenticated"))
_MANAGER: Final = "kube-apiserver"


class AddressRefused(Exception):
    """An address cannot be had; the text says why, as the original does."""


@record
class Owner:
    """The service that has an address."""

    namespace: str
    name: str

    def reference(self) -> dict[str, str]:
        return {"resource": "services", "namespace": self.namespace, "name": self.name}


class Addresses:
    """Gives out cluster addresses of the ready ServiceCIDRs.

    `cidrs` reads the ServiceCIDRs; `configured` are the ranges to go on with while there are none. `stores` holds that
    of the IPAddresses.
    """

    def __init__(
        self,
        stores: Stores,
        cidrs: Reader,
        configured: Sequence[str],
        now: Callable[[], datetime],
        below: Below,
        metrics: AddressMetrics | None = None,
    ) -> None:
        self._metrics = metrics or AllocationMetrics().addresses
        self._stores = stores
        self._cidrs = cidrs
        self._configured = tuple(configured)
        self._now = now
        self._below = below
        self._ranges: dict[str, AddressRange] = {}
        self._owner: Ownership | None = None

    async def take(self, text: str, owner: Owner, *, dry: bool) -> str:
        """The address that was asked for, in its canonical form. Raises AddressRefused."""
        address = ipaddress.ip_address(text)
        started = self._metrics.clock()
        holding = [one for one in await self._ready() if address in one]
        if not holding:
            raise AddressRefused("the provided network does not match the current range")
        if not any(one.usable(address) for one in holding):
            shown = f"The range of valid IPs is {holding[0].network}"
            raise AddressRefused(f"the provided IP ({address}) is not in the valid range. {shown}")
        name = str(address)
        cidr = str(holding[0].network)
        if not await self._take(name, owner, dry):
            self._metrics.refused(cidr, STATIC)
            raise AddressRefused("provided IP is already allocated")
        if not dry:
            self._metrics.took(cidr, STATIC, started)
        return name

    async def take_any(self, family: str, owner: Owner, *, dry: bool) -> str:
        """Any free address of a family. Raises AddressRefused where there is none."""
        started = self._metrics.clock()
        ranges = [one for one in await self._ready() if one.family == family]
        if not ranges:
            raise AddressRefused("allocator not ready")
        for one in ranges:
            for name in one.candidates(self._below):
                if await self._is_free(name) and await self._take(name, owner, dry):
                    if not dry:
                        self._metrics.took(str(one.network), DYNAMIC, started)
                    return name
            self._metrics.refused(str(one.network), DYNAMIC)
        raise AddressRefused("range is full")

    async def give_back(self, name: str, owner: Owner) -> None:
        """Remove the object, if it is still the owner's."""
        store = self._store
        try:
            held = store.codec.decode(await store.get("", name))
            if held["spec"].get("parentRef") == owner.reference():
                await Deleter(store).delete(name, DeleteOptions(), self._write(name, dry=False))
                self._gave_back(name)
        except APIError as error:
            if error.code != 404:
                raise

    async def account(self, names: Iterable[str]) -> None:
        """Just these addresses are taken."""
        taken = [ipaddress.ip_address(name) for name in names]
        for one in await self._ready():
            self._metrics.account(str(one.network), one.size, sum(address in one for address in taken))

    def _gave_back(self, name: str) -> None:
        address = ipaddress.ip_address(name)
        for text, one in self._ranges.items():
            if address in one:
                self._metrics.gave_back(text)
                return

    async def _ready(self) -> list[AddressRange]:
        objects = await self._cidrs.all()
        if not objects:
            return [self._range(text) for text in self._configured]
        return [self._range(text) for one in objects if _is_ready(one) for text in one["spec"].get("cidrs") or ()]

    def _range(self, text: str) -> AddressRange:
        found = self._ranges.get(text)
        if found is None:
            found = self._ranges[text] = AddressRange(text)
        return found

    @property
    def _store(self) -> GenericStore:
        return self._stores["networking.k8s.io", "ipaddresses"]

    async def _is_free(self, name: str) -> bool:
        store = self._store
        try:
            await store.storage.get(store.resource.key("", name), Read.ANY)
        except NotFound:
            return True
        return False

    async def _take(self, name: str, owner: Owner, dry: bool) -> bool:
        """Whether we got it: False where somebody has it."""
        store = self._store
        if self._owner is None:
            self._owner = Ownership(store.resource, store.resource.hub)
        write = self._write(name, dry=dry)
        return await create_first(store, self._owner.created(_address(name, owner), write), write) is not None

    def _write(self, name: str, *, dry: bool) -> Write:
        now = self._now()
        return Write("", name, "v1", now, no_client, caller=_SELF, manager=_MANAGER, dry_run=dry)


def _is_ready(cidr: Object) -> bool:
    if cidr["metadata"].get("deletionTimestamp"):
        return False
    conditions = (cidr.get("status") or {}).get("conditions") or ()
    return any(one.get("type") == "Ready" and one.get("status") == "True" for one in conditions)


def _address(name: str, owner: Owner) -> dict[str, Any]:
    version = ipaddress.ip_address(name).version
    return {
        "kind": "IPAddress",
        "apiVersion": "networking.k8s.io/v1",
        "metadata": {"name": name, "labels": {FAMILY: f"IPv{version}", MANAGED_BY: ALLOCATOR}},
        "spec": {"parentRef": owner.reference()},
    }
