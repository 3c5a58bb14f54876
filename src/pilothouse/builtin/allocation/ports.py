"""Node ports: one map of all that are taken, in the store, so that several servers share it; every change is a
compare-and-swap.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from pilothouse.admission.lookups import Reader
from pilothouse.builtin.allocation import portmap
from pilothouse.builtin.allocation.addressrange import Below
from pilothouse.builtin.allocation.metrics import AllocationMetrics, PortMetrics
from pilothouse.builtin.allocation.portmap import PortRange, PortRefused
from pilothouse.registry.resource import Object
from pilothouse.storage.api import Storage, StoredObject
from pilothouse.storage.errors import NotFound

KEY: Final = "/registry/ranges/servicenodeports"
FOLDER: Final = "/registry/ranges/"


class Ports:
    """Gives out node ports. `storage` holds the map; where it has none, it is made from what `services` use."""

    def __init__(
        self,
        storage: Storage,
        services: Reader,
        ports: PortRange,
        below: Below,
        metrics: PortMetrics | None = None,
    ) -> None:
        self.metrics = metrics or AllocationMetrics().ports
        self._storage = storage
        self._services = services
        self._range = ports
        self._below = below

    async def take(self, wanted: Sequence[int], *, dry: bool) -> list[int]:
        """A port for each of `wanted`, 0 being any, all or none of them. Raises PortRefused."""
        if not wanted:
            return []
        found: list[int] = []

        def change(bits: int) -> int:
            found.clear()
            for number in wanted:
                try:
                    bits, got = self._one(bits, number)
                except PortRefused as refused:
                    refused.position = len(found)
                    self.metrics.refused(number)
                    raise
                found.append(got)
            return bits

        if dry:
            change(await self._bits())
        else:
            await self._change(change)
            for number in wanted:
                self.metrics.took(number)
        return found

    def _one(self, bits: int, number: int) -> tuple[int, int]:
        if number:
            return portmap.take(self._range, bits, number), number
        return portmap.take_any(self._range, bits, self._below)

    async def give_back(self, numbers: Iterable[int]) -> None:
        free = self._range.bits(numbers)
        if free:
            await self._change(lambda bits: bits & ~free)

    async def mark(self, numbers: Iterable[int]) -> None:
        """These are taken, whether they were before or not."""
        used = self._range.bits(numbers)
        if used:
            await self._change(lambda bits: bits | used)

    async def taken(self) -> set[int]:
        """All ports that are taken."""
        bits, first = await self._bits(), self._range.first
        self.metrics.account(self._range.size, bits.bit_count())
        return {first + offset for offset in range(bits.bit_length()) if bits >> offset & 1}

    async def _bits(self) -> int:
        try:
            stored: StoredObject | None = await self._storage.get(KEY)
        except NotFound:
            stored = None
        return await self._of(stored)

    async def _of(self, stored: StoredObject | None) -> int:
        """The map of a stored version, or what the services use where there is none for this range."""
        bits: int | None = None
        if stored is not None:
            bits = stored.forms.get("ports")
            if bits is None:
                bits = portmap.decode(self._range, stored.value)
                stored.forms["ports"] = bits
        if bits is None:
            bits = self._range.bits(number for one in await self._services.all() for number in numbers_of(one))
        return bits

    async def _change(self, change: Callable[[int], int]) -> None:
        taken = 0

        async def transform(current: StoredObject | None) -> bytes:
            nonlocal taken
            bits = change(await self._of(current))
            taken = bits.bit_count()
            return portmap.encode(self._range, bits)

        await self._storage.update(KEY, transform)
        self.metrics.account(self._range.size, taken)


def numbers_of(service: Object) -> list[int]:
    """The node ports that a service has, that of its health check too."""
    spec = service.get("spec") or {}
    found = [port["nodePort"] for port in spec.get("ports") or () if port.get("nodePort")]
    if spec.get("healthCheckNodePort"):
        found.append(spec["healthCheckNodePort"])
    return found
