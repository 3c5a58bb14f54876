"""How many cluster addresses and node ports are taken and free, and how it goes to take one. Names, labels and buckets
are the original's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import perf_counter
from typing import Final

from pilothouse.kit.metrics import Counter, Gauge, Histogram, Registry, Unheard, Value

STATIC: Final = "static"  # asked for by its name or number
DYNAMIC: Final = "dynamic"
_ADDRESSES: Final = "kube_apiserver_clusterip_allocator_"
_PORTS: Final = "kube_apiserver_nodeport_allocator_"
_BOUNDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_ALLOCATED: Final = "[ALPHA] Gauge measuring the number of allocated IPs for Services"
_AVAILABLE: Final = "[ALPHA] Gauge measuring the number of available IPs for Services"
_TOTAL: Final = "[ALPHA] Number of Cluster IPs allocations"
_ERRORS: Final = "[ALPHA] Number of errors trying to allocate Cluster IPs"
_SECONDS: Final = "[ALPHA] Duration in seconds to allocate a Cluster IP by ServiceCIDR"
_TAKEN: Final = "[ALPHA] Gauge measuring the number of allocated NodePorts for Services"
_FREE: Final = "[ALPHA] Gauge measuring the number of available NodePorts for Services"
_PORT_TOTAL: Final = "[ALPHA] Number of NodePort allocations"
_PORT_ERRORS: Final = "[ALPHA] Number of errors trying to allocate NodePort"
_REPAIRS: Final = "[ALPHA] Number of reconciliation failures on the nodeport repair reconcile loop"


class AddressMetrics:
    """`clock`: seconds, monotonic. `cidr`: the range, as text."""

    def __init__(self, registry: Registry, clock: Callable[[], float]) -> None:
        add, scoped = registry.add, ("cidr", "scope")
        self.clock = clock
        self._taken = add(Gauge(f"{_ADDRESSES}allocated_ips", _ALLOCATED, ("cidr",)))
        add(Gauge(f"{_ADDRESSES}available_ips", _AVAILABLE, ("cidr",), self._free))
        self._total = add(Counter(f"{_ADDRESSES}allocation_total", _TOTAL, scoped))
        self._errors = add(Counter(f"{_ADDRESSES}allocation_errors_total", _ERRORS, scoped))
        self._seconds = add(Histogram(f"{_ADDRESSES}allocation_duration_seconds", _SECONDS, ("cidr",), _BOUNDS))
        self._sizes: dict[str, int] = {}

    def account(self, cidr: str, size: int, taken: int) -> None:
        """So many of the addresses of a range are taken."""
        self._sizes[cidr] = size
        self._taken.bind(cidr).set(taken)

    def took(self, cidr: str, scope: str, started: float) -> None:
        """One more is. `started` by the clock."""
        self._taken.bind(cidr).add()
        self._total.bind(cidr, scope).add()
        self._seconds.bind(cidr).observe(self.clock() - started)

    def gave_back(self, cidr: str) -> None:
        self._taken.bind(cidr).add(-1.0)

    def refused(self, cidr: str, scope: str) -> None:
        self._errors.bind(cidr, scope).add()

    def _free(self) -> Iterator[tuple[tuple[str, ...], float]]:
        for (cidr,), taken in self._taken.samples():
            if cidr in self._sizes:
                yield (cidr,), self._sizes[cidr] - taken


class PortMetrics:
    """`repair_failed`: what services have could not be compared with what is taken."""

    def __init__(self, registry: Registry) -> None:
        add = registry.add
        self._taken = add(Gauge(f"{_PORTS}allocated_ports", _TAKEN)).bind()
        self._free = add(Gauge(f"{_PORTS}available_ports", _FREE)).bind()
        total = add(Counter(f"{_PORTS}allocation_total", _PORT_TOTAL, ("scope",)))
        errors = add(Counter(f"{_PORTS}allocation_errors_total", _PORT_ERRORS, ("scope",)))
        self._total: dict[bool, Value] = {True: total.bind(STATIC), False: total.bind(DYNAMIC)}
        self._errors: dict[bool, Value] = {True: errors.bind(STATIC), False: errors.bind(DYNAMIC)}
        self.repair_failed = add(Counter("apiserver_nodeport_repair_reconcile_errors_total", _REPAIRS)).bind().add

    def account(self, size: int, taken: int) -> None:
        """So many of the ports of the range are taken."""
        self._taken.set(taken)
        self._free.set(size - taken)

    def took(self, wanted: int) -> None:
        """`wanted`: the number that was asked for, 0 for any."""
        self._total[wanted != 0].add()

    def refused(self, wanted: int) -> None:
        self._errors[wanted != 0].add()


class AllocationMetrics:
    def __init__(self, registry: Registry | None = None, clock: Callable[[], float] = perf_counter) -> None:
        registry = registry or Unheard()
        self.addresses = AddressMetrics(registry, clock)
        self.ports = PortMetrics(registry)
