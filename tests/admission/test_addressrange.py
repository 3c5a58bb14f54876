"""The order in which addresses and ports are tried."""

from __future__ import annotations

import ipaddress
import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pilothouse.builtin.allocation import portmap
from pilothouse.builtin.allocation.addressrange import AddressRange
from pilothouse.builtin.allocation.portmap import PortRange, PortRefused
from pilothouse.builtin.allocation.portplan import plan_ports

PORTS = PortRange(30000, 32767)


@pytest.mark.parametrize("network", ["10.0.0.0/30", "10.0.0.0/29", "10.0.0.0/24", "fd00::/120"])
def test_every_usable_address_is_tried(network: str) -> None:
    found = AddressRange(network)
    tried = {ipaddress.ip_address(text) for text in found.candidates(random.Random(1).randrange)}
    assert tried == set(found.network.hosts())
    assert all(found.usable(one) for one in tried)


def test_the_lowest_addresses_come_last() -> None:
    order = list(AddressRange("10.0.0.0/24").candidates(random.Random(1).randrange))
    assert {int(text.rpartition(".")[2]) for text in order[-16:]} == set(range(1, 17))
    assert all(int(text.rpartition(".")[2]) > 16 for text in order[:-16])


def test_a_huge_range_costs_no_more_than_a_small_one() -> None:
    first = next(iter(AddressRange("fd00::/64").candidates(random.Random(1).randrange)))
    assert ipaddress.ip_address(first) in ipaddress.ip_network("fd00::/64")


def test_the_map_is_kept_as_one_number() -> None:
    bits = PORTS.bits([30005, 30011])
    assert portmap.encode(PORTS, bits).endswith(b'"range":"30000-32767","data":"CCA="}')
    assert portmap.decode(PortRange(30000, 30010), portmap.encode(PORTS, bits)) is None


@given(st.sets(st.integers(30000, 32767)))
def test_the_map_survives_the_store(numbers: set[int]) -> None:
    bits = PORTS.bits(numbers)
    assert portmap.decode(PORTS, portmap.encode(PORTS, bits)) == bits


def test_ports_are_refused_with_their_reason() -> None:
    bits = portmap.take(PORTS, 0, 30001)
    with pytest.raises(PortRefused, match="provided port is already allocated"):
        portmap.take(PORTS, bits, 30001)
    with pytest.raises(PortRefused, match="The range of valid ports is 30000-32767"):
        portmap.take(PORTS, bits, 80)
    few = PortRange(1, 2)
    bits, first = portmap.take_any(few, 0, lambda below: 0)
    bits, second = portmap.take_any(few, bits, lambda below: 0)
    assert {first, second} == {1, 2}
    with pytest.raises(PortRefused, match="range is full"):
        portmap.take_any(few, bits, lambda below: 0)


@given(st.sets(st.integers(1, 40)), st.integers(0, 39))
def test_the_first_free_port_from_a_chance_place_on_is_taken_and_the_band_at_last(taken: set[int], chance: int) -> None:
    few = PortRange(1, 40)
    upper, band = range(few.band + 1, 41), range(1, few.band + 1)
    in_turn = [
        one for part in (upper, band) for place in [chance % len(part)] for one in (*part[place:], *part[:place])
    ]
    free = [one for one in in_turn if one not in taken]
    try:
        bits, got = portmap.take_any(few, few.bits(taken), lambda below: chance % below)
    except PortRefused:
        assert not free
        return
    assert got == free[0]
    assert bits == few.bits({*taken, got})


def test_a_hundred_thousand_ports_are_planned_at_once() -> None:
    ports = [{"port": number, "nodePort": 30000 * (number % 7 == 0)} for number in range(1, 100_001)]
    began = time.process_time()
    plan = plan_ports({"type": "NodePort", "ports": ports}, {})
    assert len(plan.wanted) == 100_000
    assert time.process_time() - began < 2.0  # once it was a second for each ten thousand, squared
