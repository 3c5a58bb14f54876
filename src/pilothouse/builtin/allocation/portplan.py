"""Which node ports a service wants anew and which it no longer needs: a comparison of two specs. No I/O."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from pilothouse.builtin.core.servicefields import needs_health_check_port, needs_node_port
from pilothouse.kit.record import record
from pilothouse.registry.resource import Object

HEALTH: Final = -1
"""The place of the health check port among `wanted`; others are indexes of spec.ports."""

_EXTERNAL: Final = ("NodePort", "LoadBalancer")


@record
class PortPlan:
    """`wanted`: (place, number or 0 for any); `shared`: index of a port -> the index whose number it shares."""

    wanted: list[tuple[int, int]]
    released: list[int]
    shared: dict[int, int]

    def fill(self, spec: Object, numbers: Sequence[int]) -> None:
        """Write the numbers that were taken for `wanted` into the spec."""
        ports = spec.get("ports") or []
        for (place, _), number in zip(self.wanted, numbers, strict=True):
            if place == HEALTH:
                spec["healthCheckNodePort"] = number
            else:
                ports[place]["nodePort"] = number
        for index, source in self.shared.items():
            ports[index]["nodePort"] = ports[source]["nodePort"]


def plan_ports(spec: Object, before: Object) -> PortPlan:
    """`before` is {} for a new service."""
    had = {port["nodePort"] for port in _external_ports(before) if port.get("nodePort")}
    wanted: list[tuple[int, int]] = []
    shared: dict[int, int] = {}
    kept: set[int] = set()
    if spec.get("type") in _EXTERNAL:
        _plan(spec, had, wanted, shared, kept)
    released = sorted(had - kept)
    health, held = needs_health_check_port(spec), before.get("healthCheckNodePort")
    if health and not needs_health_check_port(before):
        wanted.append((HEALTH, spec.get("healthCheckNodePort") or 0))
    elif held and not health and needs_health_check_port(before):
        released.append(held)
    return PortPlan(wanted, released, shared)


def _external_ports(spec: Object) -> Sequence[dict[str, Any]]:
    return spec.get("ports") or () if spec.get("type") in _EXTERNAL else ()


def _plan(spec: Object, had: set[int], wanted: list[tuple[int, int]], shared: dict[int, int], kept: set[int]) -> None:
    """One number serves all protocols of a port; a number of its own may be asked for each."""
    ports: Sequence[dict[str, Any]] = spec.get("ports") or ()
    first: dict[Any, tuple[int, int]] = {}  # port -> (index, node port) of the first one that has it
    asked: dict[Any, int] = {}  # port -> the first number that any protocol of it asks for
    for port in ports:
        if port.get("nodePort"):
            asked.setdefault(port.get("port"), port["nodePort"])
    for index, port in enumerate(ports):
        number, same = port.get("nodePort") or 0, first.get(port.get("port"))
        if same is not None and number in (0, same[1]):
            if not number and needs_node_port(spec):
                shared[index] = same[0]
            continue
        if not number:
            number = asked.get(port.get("port"), 0)
        if number in had:
            kept.add(number)
            port["nodePort"] = number
        elif number or needs_node_port(spec):
            wanted.append((index, number))
        first.setdefault(port.get("port"), (index, number))
