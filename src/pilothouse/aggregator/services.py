"""From a Service to an address: by its cluster address, its name elsewhere, or the endpoints behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, Protocol

from pilothouse.aggregator.apiservice import ServiceReference
from pilothouse.kit.record import record

Object = dict[str, Any]
SERVICE_LABEL: Final = "kubernetes.io/service-name"
_MOST_KNOWN: Final = 1000
_HEADLESS: Final = "None"


class Lookups(Protocol):
    """Reads of the present state; from memory, as each request makes one."""

    async def service(self, namespace: str, name: str) -> Object | None: ...

    async def slices(self, namespace: str, service: str) -> Sequence[Object]:
        """The EndpointSlices of a Service."""
        ...


class Unresolved(Exception):
    """There is no address to connect to."""


@record
class Trouble:
    """Why a Service can serve nobody, as a condition tells it."""

    reason: str
    message: str


class Resolver:
    """`to_endpoints`: connect to the endpoints themselves (`--enable-aggregator-routing`). `random`: 0 to 1.

    `remember`: addresses are kept until `changed` is called.
    """

    def __init__(
        self, lookups: Lookups, to_endpoints: bool, random: Callable[[], float], *, remember: bool = False
    ) -> None:
        self._lookups = lookups
        self._to_endpoints = to_endpoints
        self._random = random
        self._remembers = remember
        self._known: dict[ServiceReference, tuple[str, int]] = {}

    def changed(self, namespace: str, name: str) -> None:
        """A Service was changed: what was known of it is not any more."""
        for reference in [one for one in self._known if (one.namespace, one.name) == (namespace, name)]:
            del self._known[reference]

    def known(self, reference: ServiceReference) -> tuple[str, int] | None:
        """Where to connect, if that is remembered: the same object until the Service changes."""
        return self._known.get(reference)

    async def address(self, reference: ServiceReference) -> tuple[str, int]:
        """Where to connect. Raises Unresolved."""
        known = self._known.get(reference)
        if known is not None:
            return known
        service = await self._lookups.service(reference.namespace, reference.name)
        if service is None:
            raise Unresolved(f'service "{reference.name}" not found')
        spec = service.get("spec") or {}
        if spec.get("type") == "ExternalName":
            return self._remember(reference, str(spec.get("externalName", "")))
        port = service_port(service, reference.port)
        if port is None:
            raise Unresolved(f'no service port {reference.port} found for service "{reference.name}"')
        cluster = spec.get("clusterIP") or _HEADLESS
        if cluster != _HEADLESS and not self._to_endpoints:
            return self._remember(reference, str(cluster))
        slices = await self._lookups.slices(reference.namespace, reference.name)
        found = list(ready_addresses(slices, port.get("name", "")))
        if not found:
            raise Unresolved(f'no endpoints available for service "{reference.name}"')
        return found[int(self._random() * len(found)) % len(found)]

    def _remember(self, reference: ServiceReference, host: str) -> tuple[str, int]:
        address = host, reference.port
        if self._remembers:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[reference] = address
        return address

    async def trouble(self, reference: ServiceReference) -> Trouble | None:
        """What stands in the way before anything is sent. None: nothing that can be seen from here."""
        where = f'service/{reference.name} in "{reference.namespace}"'
        service = await self._lookups.service(reference.namespace, reference.name)
        if service is None:
            return Trouble("ServiceNotFound", f"{where} is not present")
        if (service.get("spec") or {}).get("type", "ClusterIP") != "ClusterIP":
            return None
        port = service_port(service, reference.port)
        if port is None:
            return Trouble("ServicePortError", f"{where} is not listening on port {reference.port}")
        slices = await self._lookups.slices(reference.namespace, reference.name)
        if not slices:
            return Trouble("EndpointsNotFound", f"cannot find endpointslices for {where}")
        name = port.get("name", "")
        if next(ready_addresses(slices, name), None) is None:
            return Trouble("MissingEndpoints", f'endpointslices for {where} have no addresses with port name "{name}"')
        return None


def service_port(service: Object, number: int) -> Object | None:
    for port in (service.get("spec") or {}).get("ports") or ():
        if port.get("port") == number:
            return dict(port)
    return None


def ready_addresses(slices: Sequence[Object], port_name: str) -> Iterator[tuple[str, int]]:
    """Address and port of every ready endpoint of a port."""
    for one in slices:
        numbers = [
            port["port"]
            for port in one.get("ports") or ()
            if (port.get("name") or "") == port_name and port.get("port")
        ]
        if not numbers:
            continue
        for endpoint in one.get("endpoints") or ():
            if (endpoint.get("conditions") or {}).get("ready") is False:
                continue
            for address in endpoint.get("addresses") or ():
                yield address, numbers[0]
