"""What is taken of cluster addresses and node ports, and what is left."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from support.measured import Measured, measured

RANGE = "10.0.0.0/28"
ADDRESSES = "kube_apiserver_clusterip_allocator_"
PORTS = "kube_apiserver_nodeport_allocator_"
SERVICES = "/api/v1/namespaces/default/services"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Measured]:
    with measured(tmp_path_factory.mktemp("services"), service_cluster_ip_range=RANGE) as server:
        server.reaches(f"{ADDRESSES}allocated_ips", 1, cidr=RANGE)  # that of the API
        yield server


def service(**spec: Any) -> dict[str, Any]:
    return {"metadata": {"generateName": "a-"}, "spec": {"ports": [{"port": 80}], **spec}}


def test_an_address_is_taken_and_given_back(server: Measured) -> None:
    scrape = server.scrape()
    taken, free = scrape.value(f"{ADDRESSES}allocated_ips", cidr=RANGE), scrape.value(f"{ADDRESSES}available_ips")
    assert taken + free == 14
    with (
        server.grows(f"{ADDRESSES}allocated_ips", cidr=RANGE),
        server.grows(f"{ADDRESSES}available_ips", -1, cidr=RANGE),
        server.grows(f"{ADDRESSES}allocation_total", cidr=RANGE, scope="dynamic"),
        server.grows(f"{ADDRESSES}allocation_duration_seconds_count", cidr=RANGE),
    ):
        server.make(SERVICES, {**service(), "metadata": {"name": "one"}})
    with server.grows(f"{ADDRESSES}allocated_ips", -1), server.grows(f"{ADDRESSES}available_ips", 1):
        server.ask(f"DELETE {SERVICES}/one")


def test_an_address_that_is_asked_for_may_be_somebody_s(server: Measured) -> None:
    with server.grows(f"{ADDRESSES}allocation_total", cidr=RANGE, scope="static"):
        server.make(SERVICES, service(clusterIP="10.0.0.9"))
    with (
        server.grows(f"{ADDRESSES}allocation_errors_total", cidr=RANGE, scope="static"),
        server.grows(f"{ADDRESSES}allocated_ips", 0),
    ):
        assert server.ask(f"POST {SERVICES}", service(clusterIP="10.0.0.9")).status == 422


def test_nothing_is_taken_on_trial(server: Measured) -> None:
    with server.grows(f"{ADDRESSES}allocation_total", 0), server.grows(f"{PORTS}allocation_total", 0):
        assert server.ask(f"POST {SERVICES}?dryRun=All", service(type="NodePort")).status == 201


def test_ports_are_taken_and_given_back(server: Measured) -> None:
    size = 32767 - 30000 + 1
    scrape = server.scrape()
    assert scrape.value(f"{PORTS}allocated_ports") + scrape.value(f"{PORTS}available_ports") == size
    with (
        server.grows(f"{PORTS}allocated_ports", 2),
        server.grows(f"{PORTS}available_ports", -2),
        server.grows(f"{PORTS}allocation_total", scope="static"),
        server.grows(f"{PORTS}allocation_total", scope="dynamic"),
    ):
        ports = [{"name": "a", "port": 80, "nodePort": 30001}, {"name": "b", "port": 81}]
        server.make(SERVICES, {**service(type="NodePort", ports=ports), "metadata": {"name": "two"}})
    with server.grows(f"{PORTS}allocation_errors_total", scope="static"):
        again = service(type="NodePort", ports=[{"port": 80, "nodePort": 30001}])
        assert server.ask(f"POST {SERVICES}", again).status == 422
    with server.grows(f"{PORTS}allocated_ports", -2):
        server.ask(f"DELETE {SERVICES}/two")
    assert server.scrape().value("apiserver_nodeport_repair_reconcile_errors_total") == 0
