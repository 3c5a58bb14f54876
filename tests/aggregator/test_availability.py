"""Conditions of API services: what they say, how soon, and what they lead to."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path
from typing import Any

import pytest

from pilothouse.aggregator.apiservice import ServiceReference
from pilothouse.aggregator.services import Resolver, Unresolved

from .support import APISERVICES, GROUP, Front, conditions, far, front, run, until

DEFAULT = "/api/v1/namespaces/default"
SLICES = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices"
MERGE = "application/merge-patch+json"


def api_service(port: int, service: str = "s", **spec: Any) -> dict[str, Any]:
    reference = {"namespace": "default", "name": service, "port": port}
    whole = {
        "group": GROUP,
        "version": "v1",
        "groupPriorityMinimum": 900,
        "versionPriority": 10,
        "insecureSkipTLSVerify": True,
        "service": reference,
        **spec,
    }
    return {
        "apiVersion": "apiregistration.k8s.io/v1",
        "kind": "APIService",
        "metadata": {"name": f"v1.{GROUP}"},
        "spec": whole,
    }


async def ports(here: Front, *listed: int) -> None:
    obj = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "s"},
        "spec": {"ports": [{"name": f"p{port}", "port": port} for port in listed]},
    }
    await here.make(f"{DEFAULT}/services", obj)


def slice_of(name: str, ready: bool, port: int, address: str = "10.1.1.1") -> dict[str, Any]:
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {"name": name, "labels": {"kubernetes.io/service-name": "s"}},
        "addressType": "IPv4",
        "ports": [{"name": f"p{port}", "port": port}],
        "endpoints": [{"addresses": [address], "conditions": {"ready": ready}}],
    }


def test_each_lack_has_its_own_reason(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with front(tmp_path) as here:
            name = f"v1.{GROUP}"
            await here.make(APISERVICES, api_service(443))
            found = await here.condition(name, "ServiceNotFound")
            assert found["message"] == 'service/s in "default" is not present' and found["status"] == "False"
            status, _, body = await here.call("GET", f"/apis/{GROUP}/v1/echoes")
            assert (status, body) == (503, b"service unavailable\n")
            await ports(here, 444)
            found = await here.condition(name, "ServicePortError")
            assert found["message"] == 'service/s in "default" is not listening on port 443'
            patch = {"spec": {"service": {"port": 444}}}
            await here.call("PATCH", f"{APISERVICES}/{name}", patch, Content_Type=MERGE)
            found = await here.condition(name, "EndpointsNotFound")
            assert found["message"] == 'cannot find endpointslices for service/s in "default"'
            await here.make(SLICES, slice_of("s-1", False, 444))
            found = await here.condition(name, "MissingEndpoints")
            assert (
                found["message"] == 'endpointslices for service/s in "default" have no addresses with port name "p444"'
            )
            await here.call("DELETE", f"{APISERVICES}/{name}")
            await here.until(f"/apis/{GROUP}/v1/echoes", lambda status, body: status == 404)

    run(scenario)


class Held:
    """Services and slices as they are given."""

    def __init__(self, service: dict[str, Any] | None, *slices: dict[str, Any]) -> None:
        self._service = service
        self._slices = slices

    async def service(self, namespace: str, name: str) -> dict[str, Any] | None:
        return self._service

    async def slices(self, namespace: str, service: str) -> tuple[dict[str, Any], ...]:
        return self._slices


@pytest.mark.parametrize(
    ("spec", "to_endpoints", "address"),
    [
        ({"clusterIP": "10.0.0.7"}, False, ("10.0.0.7", 443)),
        ({"clusterIP": "10.0.0.7"}, True, ("10.1.1.2", 8443)),
        ({"clusterIP": "None"}, False, ("10.1.1.2", 8443)),
        ({"type": "ExternalName", "externalName": "far.example.com"}, True, ("far.example.com", 443)),
        ({"clusterIP": "10.0.0.7", "ports": [{"port": 444}]}, False, "no service port 443 found"),
        ({"clusterIP": "None", "ports": [{"port": 443, "name": "q"}]}, False, "no endpoints available"),
        (None, False, 'service "s" not found'),
    ],
)
def test_services_are_resolved(spec: Any, to_endpoints: bool, address: Any) -> None:
    ports = [{"name": "p", "port": 8443}]
    slices = (
        {"ports": ports, "endpoints": [{"addresses": ["10.1.1.1"], "conditions": {"ready": False}}]},
        {"ports": ports, "endpoints": [{"addresses": ["10.1.1.2"]}]},
        {"ports": [{"name": "other", "port": 1}], "endpoints": [{"addresses": ["10.1.1.3"]}]},
    )
    service = None if spec is None else {"spec": {"ports": [{"name": "p", "port": 443}], **spec}}
    resolver = Resolver(Held(service, *slices), to_endpoints, lambda: 0.99)

    async def scenario() -> None:
        reference = ServiceReference("default", "s", 443)
        if isinstance(address, tuple):
            assert await resolver.address(reference) == address
        else:
            with pytest.raises(Unresolved, match=address):
                await resolver.address(reference)

    run(scenario)


def test_a_server_that_comes_is_noticed_within_a_second(tmp_path: Path, pki: Path) -> None:
    async def scenario() -> None:
        async with front(tmp_path) as here:
            async with far(pki) as there:
                name = await here.register(there)
                await here.available(name)
                port = there.port
            await here.call("GET", f"/apis/{GROUP}/v1/echoes")  # the failure is a hint
            found = await here.condition(name, "FailedDiscoveryCheck")
            url = f"https://localhost:{port}/apis/{GROUP}/v1"
            assert found["message"].startswith(f'failing or missing response from {url}: Get "{url}": dial tcp ')
            assert found["message"].endswith("connection refused")
            since = found["lastTransitionTime"]
            async with far(pki, port=port):
                began = time.monotonic()
                await here.available(name)
                assert time.monotonic() - began < 1.0
            now = conditions(await here.get(f"{APISERVICES}/{name}"))[0]
            assert now["lastTransitionTime"] >= since
            metrics = (await here.call("GET", "/metrics"))[2].decode()
            assert f'aggregator_unavailable_apiservice{{name="{name}"}} 0' in metrics
            assert f'aggregator_unavailable_apiservice_total{{name="{name}",reason="FailedDiscoveryCheck"}} ' in metrics

    run(scenario)


def test_what_others_write_to_the_status_does_not_stay(tmp_path: Path, pki: Path) -> None:
    async def scenario() -> None:
        async with front(tmp_path) as here, far(pki) as there:
            name = await here.register(there)
            await here.available(name)
            lie = {
                "status": {"conditions": [{"type": "Available", "status": "False", "reason": "Lie", "message": "no"}]}
            }
            status, _, _ = await here.call("PATCH", f"{APISERVICES}/{name}/status", lie, Content_Type=MERGE)
            assert status == 200
            await here.available(name)
            local = "v1.apps"
            await here.call("PATCH", f"{APISERVICES}/{local}/status", lie, Content_Type=MERGE)
            await here.condition(local, "Local")

    run(scenario)


def test_a_bad_status_is_told_and_no_object_is_written_without_need(tmp_path: Path, pki: Path) -> None:
    async def scenario() -> None:
        async with front(tmp_path) as here, far(pki) as there:
            there.documents[f"/apis/{GROUP}/v1"] = (503, "text/plain", b"not today")
            name = await here.register(there)
            found = await here.condition(name, "FailedDiscoveryCheck")
            url = f"https://localhost:{there.port}/apis/{GROUP}/v1"
            assert found["message"] == f"failing or missing response from {url}: bad status from {url}: 503"
            before = (await here.get(f"{APISERVICES}/{name}"))["metadata"]["resourceVersion"]
            examined = len(there.asked)
            await until(lambda: len(there.asked) > examined + 2)
            assert (await here.get(f"{APISERVICES}/{name}"))["metadata"]["resourceVersion"] == before

    run(scenario)


def test_a_server_that_hangs_does_not_hold_others_up(tmp_path: Path, pki: Path) -> None:
    async def silence(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    async def scenario() -> None:
        mute = await asyncio.start_server(silence, "127.0.0.1", 0)
        async with mute, front(tmp_path) as here, far(pki, group="good.example.com") as good:
            stand_in = type(good)(good.serve)
            stand_in.port = mute.sockets[0].getsockname()[1]
            await here.register(stand_in)
            began = time.monotonic()
            await here.available(await here.register(good, "good.example.com"))
            assert time.monotonic() - began < 2.0
            document = json.loads((await here.call("GET", "/apis"))[2])
            assert {GROUP, "good.example.com"} <= {group["name"] for group in document["groups"]}

    run(scenario)
