"""The discovery.k8s.io group."""

from __future__ import annotations

from typing import Final

from pilothouse.builtin.columns.cells import UNSET, Object, Template, age, first_three, items, name, row, text


def _ports(obj: Object) -> str:
    """Numbers; the name of a port without one; `*` for all ports."""
    return first_three([_port(port) for port in items(obj, "ports")]) or UNSET


def _port(port: Object) -> str:
    number, named = port.get("port"), port.get("name")
    return str(number) if number is not None else "*" if named is None else named


def _addresses(obj: Object) -> str:
    return first_three([address for one in items(obj, "endpoints") for address in items(one, "addresses")]) or UNSET


ROWS: Final[dict[str, Template]] = {"endpointslices": row(name, text("addressType"), _ports, _addresses, age)}
