"""Puts the allocators together for a server."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import NamedTuple

from pilothouse.admission.lookups import StoreReader, Stores
from pilothouse.builtin.allocation.addresses import Addresses
from pilothouse.builtin.allocation.addressrange import AddressRange, Below
from pilothouse.builtin.allocation.claims import ServiceClaims
from pilothouse.builtin.allocation.metrics import AllocationMetrics
from pilothouse.builtin.allocation.portmap import PortRange
from pilothouse.builtin.allocation.ports import FOLDER, Ports
from pilothouse.builtin.allocation.repair import Repair
from pilothouse.storage.api import Storage


def families(cidrs: Sequence[str]) -> tuple[str, ...]:
    """The families of ranges, in their order, each once."""
    return tuple(dict.fromkeys(AddressRange(cidr.strip()).family for cidr in cidrs))


class Allocation(NamedTuple):
    """The claims of services, what accounts for them, and the node ports behind both."""

    claims: ServiceClaims
    repair: Repair
    ports: Ports


def allocation(
    stores: Stores,
    open_storage: Callable[[str], Storage],
    cidrs: Sequence[str],
    node_ports: str,
    now: Callable[[], datetime],
    below: Below = random.randrange,
    metrics: AllocationMetrics | None = None,
) -> Allocation:
    """`cidrs`: configured ranges; `node_ports`: "first-last"; `open_storage`: of a prefix."""
    metrics = metrics or AllocationMetrics()
    ranges = StoreReader(stores, "networking.k8s.io", "servicecidrs")
    addresses = Addresses(stores, ranges, cidrs, now, below, metrics.addresses)
    services = StoreReader(stores, "", "services")
    ports = Ports(open_storage(FOLDER), services, PortRange.parse(node_ports), below, metrics.ports)
    held = StoreReader(stores, "networking.k8s.io", "ipaddresses")
    claims = ServiceClaims(addresses, ports, stores["", "services"].services.aside)
    return Allocation(claims, Repair(addresses, ports, services, held, now), ports)
