"""What a service takes before it is written and gives back after: cluster addresses, node ports, a health check port.

The generic store asks between the kind's own `prepare`, which filled in families and kept what an update left out, and
validation. So an address or a port that cannot be had is told before other mistakes, as in the original.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from pilothouse.builtin.allocation.addresses import Addresses, AddressRefused, Owner
from pilothouse.builtin.allocation.portmap import PortRefused
from pilothouse.builtin.allocation.portplan import HEALTH, PortPlan, plan_ports
from pilothouse.builtin.allocation.ports import Ports, numbers_of
from pilothouse.builtin.core.serviceaddresses import related
from pilothouse.builtin.core.servicefields import HEADLESS, needs_cluster_ip
from pilothouse.kit.aside import Aside
from pilothouse.machinery.errors import APIError, Cause, internal, invalid
from pilothouse.machinery.jsoncodec import dumps
from pilothouse.machinery.names import parse_address
from pilothouse.machinery.rules import at, rules
from pilothouse.registry.claims import Settle
from pilothouse.registry.request import Write
from pilothouse.registry.resource import Object

_NOTHING: Final[dict[str, Any]] = {}
_address_mistakes: Final = rules(at("spec", related))


@dataclass(slots=True)
class _Held:
    """What one claim took, what is to go once the service is written, and the spec as it was."""

    owner: Owner
    addresses: list[str] = field(default_factory=list)
    ports: list[int] = field(default_factory=list)
    old_addresses: list[str] = field(default_factory=list)
    old_ports: list[int] = field(default_factory=list)
    undo: list[Callable[[], None]] = field(default_factory=list)


class ServiceClaims:
    """The Claims of services."""

    def __init__(self, addresses: Addresses, ports: Ports, aside: Aside) -> None:
        self._addresses = addresses
        self._ports = ports
        self._aside = aside.run

    async def claim(self, obj: Object, old: Object | None, write: Write) -> Settle | None:
        """Raises Invalid for what was asked for by name or number, Internal where nothing is left."""
        spec = obj.get("spec") or {}
        before = _NOTHING if old is None else old.get("spec") or _NOTHING
        if spec == before:
            return None
        _single_stack(spec, before)
        mistakes = await self._aside(write.load.size, _address_mistakes, obj, old, write.context())
        if mistakes:
            raise invalid("", "Service", obj["metadata"].get("name", ""), mistakes)
        held = _Held(Owner(write.namespace, obj["metadata"].get("name", "")))
        try:
            await self._claim_addresses(spec, before, held, write.dry_run)
            plan = await self._aside(write.load.size, plan_ports, spec, before)
            await self._claim_ports(spec, plan, held, write.dry_run)
        except APIError:
            await self._give_back(held)
            raise
        return self._settled(held)

    async def removed(self, obj: Object) -> None:
        metadata, spec = obj["metadata"], obj.get("spec") or {}
        owner = Owner(metadata.get("namespace", ""), metadata["name"])
        for address in addresses_of(spec):
            await self._addresses.give_back(address, owner)
        await self._ports.give_back(numbers_of(obj))

    def _settled(self, held: _Held) -> Settle | None:
        if not (held.addresses or held.ports or held.old_addresses or held.old_ports or held.undo):
            return None

        async def settle(written: bool) -> None:
            if not written:
                await self._give_back(held)
                return
            for address in held.old_addresses:
                await self._addresses.give_back(address, held.owner)
            await self._ports.give_back(held.old_ports)

        return settle

    async def _give_back(self, held: _Held) -> None:
        for undo in reversed(held.undo):
            undo()
        for address in held.addresses:
            await self._addresses.give_back(address, held.owner)
        await self._ports.give_back(held.ports)

    # Addresses

    async def _claim_addresses(self, spec: Object, before: Object, held: _Held, dry: bool) -> None:
        had = addresses_of(before)
        if not needs_cluster_ip(spec):
            held.old_addresses = had
            return
        if HEADLESS in (spec.get("clusterIPs") or ()) or before.get("clusterIP") == HEADLESS:
            return
        given: list[str] = list(spec.get("clusterIPs") or [])
        if had and given[:1] != had[:1]:
            return  # the first address stays: validation says so
        addresses: list[str] = []
        for index, family in enumerate(spec.get("ipFamilies") or ()):
            wanted = given[index] if index < len(given) else ""
            if wanted and (wanted in had or parse_address(wanted) is None):
                addresses.append(wanted)
                continue
            got = await self._one_address(wanted, family, spec, held, dry)
            addresses.append(got)
            if not dry:
                held.addresses.append(got)
        held.undo.append(_keeper(spec, ("clusterIP", "clusterIPs")))
        if addresses:
            spec["clusterIP"], spec["clusterIPs"] = addresses[0], addresses
        held.old_addresses = [one for one in had if one not in addresses]

    async def _one_address(self, wanted: str, family: str, spec: Object, held: _Held, dry: bool) -> str:
        try:
            if wanted:
                return await self._addresses.take(wanted, held.owner, dry=dry)
            return await self._addresses.take_any(family, held.owner, dry=dry)
        except AddressRefused as refused:
            if not wanted:
                raise internal(f"failed to allocate a serviceIP: {refused}") from None
            text = f"Invalid value: {_shown(spec.get('clusterIPs'))}: failed to allocate IP {wanted}: {refused}"
            raise _invalid(held.owner, "spec.clusterIPs", text) from None

    # Ports

    async def _claim_ports(self, spec: Object, plan: PortPlan, held: _Held, dry: bool) -> None:
        held.old_ports = plan.released
        if not plan.wanted and not plan.shared:
            return
        try:
            numbers = await self._ports.take([number for _, number in plan.wanted], dry=dry)
        except PortRefused as refused:
            raise self._port_refusal(refused, plan, held.owner) from None
        if not dry:
            held.ports.extend(numbers)
        held.undo.append(_port_keeper(spec))
        plan.fill(spec, numbers)

    def _port_refusal(self, refused: PortRefused, plan: PortPlan, owner: Owner) -> APIError:
        place, number = plan.wanted[refused.position]
        if place == HEALTH:
            what = f"requested HealthCheck NodePort {number}" if number else "a HealthCheck NodePort 0"
        elif number:
            return _invalid(owner, f"spec.ports[{place}].nodePort", f"Invalid value: {number}: {refused}")
        else:
            what = "a nodePort"
        return internal(f"failed to allocate {what}: {refused}")


def addresses_of(spec: Object) -> list[str]:
    """The cluster addresses that a service has taken."""
    if not needs_cluster_ip(spec):
        return []
    return [one for one in spec.get("clusterIPs") or () if one and one != HEADLESS]


def _single_stack(spec: Object, before: Object) -> None:
    """Who goes back to one family need not take the second one out of the lists."""
    if spec.get("ipFamilyPolicy") != "SingleStack" or before.get("ipFamilyPolicy") in (None, "SingleStack"):
        return
    for member in ("ipFamilies", "clusterIPs"):
        if len(spec.get(member) or ()) == 2 and spec[member] == before.get(member):
            spec[member] = spec[member][:1]


def _keeper(spec: Object, members: Iterable[str]) -> Callable[[], None]:
    """Puts members of a spec back as they are now."""
    kept = {member: spec[member] for member in members if member in spec}
    absent = [member for member in members if member not in spec]

    def put_back() -> None:
        spec.update(kept)
        for member in absent:
            spec.pop(member, None)

    return put_back


def _port_keeper(spec: Object) -> Callable[[], None]:
    ports = [(port, port.get("nodePort")) for port in spec.get("ports") or ()]
    health = _keeper(spec, ("healthCheckNodePort",))

    def put_back() -> None:
        health()
        for port, number in ports:
            if number is None:
                port.pop("nodePort", None)
            else:
                port["nodePort"] = number

    return put_back


def _shown(addresses: Any) -> str:
    return dumps(addresses).decode()


def _invalid(owner: Owner, path: str, message: str) -> APIError:
    return invalid("", "Service", owner.name, [Cause("FieldValueInvalid", message, path)])
