"""Accounts for what services hold: gives back what a crash left behind, and takes what is used without being taken."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable
from datetime import datetime, timedelta
from typing import Final

from pilothouse.admission.lookups import Reader
from pilothouse.builtin.allocation.addresses import ALLOCATOR, MANAGED_BY, Addresses, AddressRefused, Owner
from pilothouse.builtin.allocation.claims import addresses_of
from pilothouse.builtin.allocation.ports import Ports, numbers_of
from pilothouse.machinery.errors import APIError
from pilothouse.machinery.times import parse_time
from pilothouse.registry.resource import Object

PERIOD: Final = 180.0  # seconds between two rounds
_ROUNDS: Final = 3  # in which a port must be found unused before it is given back
_GRACE: Final = timedelta(seconds=60)  # age of an address that may still be waiting for its service
_log = logging.getLogger(__name__)


class Repair:
    """`services` and `held` read services and IPAddresses; `now` is the time of the store."""

    def __init__(
        self, addresses: Addresses, ports: Ports, services: Reader, held: Reader, now: Callable[[], datetime]
    ) -> None:
        self._addresses = addresses
        self._ports = ports
        self._services = services
        self._held = held
        self._now = now
        self._unused: dict[int, int] = {}  # port -> rounds

    async def keep(self, pause: Callable[[], Awaitable[None]]) -> None:
        """A round after each pause, for ever."""
        while True:
            await pause()
            try:
                await self.once()
            except APIError as error:
                _log.warning("service addresses and ports could not be accounted for: %s", error)

    async def once(self) -> None:
        """One round. Addresses are read before services: a service is written after its address."""
        held = await self._held.all()
        services = await self._services.all()
        try:
            await self._account_ports(services)
        except APIError:
            self._ports.metrics.repair_failed()
            raise
        await self._account_addresses(held, services)

    async def _account_ports(self, services: Iterable[Object]) -> None:
        taken = await self._ports.taken()
        used = {number for one in services for number in numbers_of(one)}
        await self._ports.mark(used - taken)
        self._unused = {number: self._unused.get(number, 0) + 1 for number in taken - used}
        leaked = [number for number, rounds in self._unused.items() if rounds >= _ROUNDS]
        if leaked:
            _log.warning("node ports that no service has are given back: %s", leaked)
            await self._ports.give_back(leaked)

    async def _account_addresses(self, held: Iterable[Object], services: Iterable[Object]) -> None:
        used = {address: _owner(one) for one in services for address in addresses_of(one.get("spec") or {})}
        known = {one["metadata"]["name"] for one in held}
        await self._addresses.account(known)
        for one in held:
            name, owner = one["metadata"]["name"], _parent(one)
            if owner is not None and used.get(name) != owner and self._is_old(one):
                _log.warning(
                    "address %s is given back: service %s/%s has it no more", name, owner.namespace, owner.name
                )
                await self._addresses.give_back(name, owner)
                known.discard(name)
        for address, owner in used.items():
            if address not in known:
                await self._take(address, owner)

    async def _take(self, address: str, owner: Owner) -> None:
        try:
            await self._addresses.take(address, owner, dry=False)
        except AddressRefused as refused:
            _log.warning("service %s/%s has the address %s: %s", owner.namespace, owner.name, address, refused)

    def _is_old(self, obj: Object) -> bool:
        return self._now() - parse_time(obj["metadata"]["creationTimestamp"]) > _GRACE


def _owner(service: Object) -> Owner:
    return Owner(service["metadata"].get("namespace", ""), service["metadata"]["name"])


def _parent(address: Object) -> Owner | None:
    """The service that an address of ours belongs to; None for those that others manage."""
    if (address["metadata"].get("labels") or {}).get(MANAGED_BY) != ALLOCATOR:
        return None
    reference = address["spec"].get("parentRef") or {}
    if reference.get("resource") != "services" or reference.get("group"):
        return None
    return Owner(reference.get("namespace", ""), reference.get("name", ""))
