"""kr8s, an asynchronous client, as its users use it, against a running server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import kr8s
import kr8s.asyncio
import pytest
from kr8s.asyncio.objects import APIObject, ConfigMap, Deployment, Pod, new_class

from clients.boats import boat, definition
from support.server import Server

LIMIT = 30.0  # seconds for a story
Story = Callable[[Any], Awaitable[None]]

# It tells of every version that is newer than itself.
pytestmark = pytest.mark.filterwarnings("ignore:Kubernetes version .* is not supported")


@pytest.fixture
def tell(server: Server, namespace: str) -> Callable[[Story], None]:
    """Runs a story with a client of the kubeconfig, in a namespace of its own."""

    async def run(story: Story) -> None:
        async with asyncio.timeout(LIMIT):
            api = await kr8s.asyncio.api(kubeconfig=str(server.kubeconfig), namespace=namespace)
            await story(api)
            await api._session.aclose()

    return lambda story: asyncio.run(run(story))


def config_map(api: Any, name: str, **data: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": api.namespace},
        "data": data,
    }


def pod(api: Any, name: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": api.namespace},
        "spec": {"containers": [{"name": "c", "image": "nginx"}]},
    }


async def listed(api: Any, kind: Any, **where: Any) -> list[str]:
    return [one.name async for one in api.get(kind, **where)]


def test_a_config_map_lives_and_dies(tell: Callable[[Story], None]) -> None:
    async def story(api: Any) -> None:
        one = await ConfigMap(config_map(api, "sea", depth="10"), api=api)
        await one.create()
        assert await one.exists()
        await one.patch({"data": {"salt": "yes"}})
        await one.patch([{"op": "replace", "path": "/data/depth", "value": "20"}], type="json")
        await one.label({"colour": "red"})
        await one.annotate({"note": "x"})
        found = await ConfigMap.get("sea", namespace=api.namespace, api=api)
        assert found.raw["data"] == {"depth": "20", "salt": "yes"}
        assert await listed(api, "configmaps", label_selector={"colour": "red"}) == ["sea"]
        await one.delete()
        assert not await one.exists()
        with pytest.raises(kr8s.NotFoundError):
            await ConfigMap.get("sea", namespace=api.namespace, api=api, timeout=0.1)

    tell(story)


def test_a_deployment_is_scaled(tell: Callable[[Story], None]) -> None:
    async def story(api: Any) -> None:
        template = {
            "metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "c", "image": "nginx"}]},
        }
        one = await Deployment(
            {
                "apiVersion": "apps/v1",
                "kind": "Deployment",
                "metadata": {"name": "web", "namespace": api.namespace},
                "spec": {"selector": {"matchLabels": {"app": "web"}}, "template": template},
            },
            api=api,
        )
        await one.create()
        assert one.replicas == 1
        await one.patch({"spec": {"replicas": 4}}, subresource="scale")
        await one.refresh()
        assert one.replicas == 4

    tell(story)


def test_waiting_ends_when_the_condition_is_there(tell: Callable[[Story], None]) -> None:
    async def story(api: Any) -> None:
        one = await Pod(pod(api, "p"), api=api)
        await one.create()
        waiting = asyncio.create_task(one.wait("condition=Ready=True", timeout=LIMIT))
        other = await Pod.get("p", namespace=api.namespace, api=api)
        await other.patch({"status": {"conditions": [{"type": "Ready", "status": "True"}]}}, subresource="status")
        await waiting
        gone = asyncio.create_task(one.wait("delete", timeout=LIMIT))
        await other.delete(force=True)
        await gone

    tell(story)


def test_a_watch_tells_what_happens(tell: Callable[[Story], None]) -> None:
    async def story(api: Any) -> None:
        first = await ConfigMap(config_map(api, "first"), api=api)
        await first.create()
        seen = []
        stream = api.watch("configmaps", namespace=api.namespace, since=first.metadata.resourceVersion)
        second = await ConfigMap(config_map(api, "second"), api=api)
        await second.create()
        await first.patch({"data": {"a": "b"}})
        await second.delete()
        async for event, thing in stream:
            seen.append((event, thing.name))
            if event == "DELETED":
                break
        await stream.aclose()
        assert seen == [("ADDED", "second"), ("MODIFIED", "first"), ("DELETED", "second")]

    tell(story)


def test_applying(tell: Callable[[Story], None]) -> None:
    async def apply(api: Any, name: str, **data: str) -> Any:
        async with api.call_api(
            "PATCH",
            version="v1",
            url=f"configmaps/{name}",
            namespace=api.namespace,
            params={"fieldManager": "kr8s"},
            content=json.dumps(config_map(api, name, **data)),
            headers={"Content-Type": "application/apply-patch+yaml"},
        ) as answer:
            return answer.json()

    async def story(api: Any) -> None:
        await apply(api, "a", one="1", two="2")
        assert (await apply(api, "a", one="1"))["data"] == {"one": "1"}

    tell(story)


def test_objects_of_a_definition(tell: Callable[[Story], None], words: Iterator[str]) -> None:
    word = next(words)

    async def story(api: Any) -> None:
        made = new_class("CustomResourceDefinition", "apiextensions.k8s.io/v1", namespaced=False)
        crd: APIObject = await made(definition(word), api=api)
        await crd.create()
        async with asyncio.timeout(LIMIT):
            while not crd.raw["status"].get("conditions"):  # this client's wait takes no null
                await crd.refresh()
        await crd.wait("condition=Established", timeout=LIMIT)
        boats = new_class("Boat", f"{word}.example.com/v1", namespaced=True)
        one = boat(word, "b")
        one["metadata"]["namespace"] = api.namespace
        mine: APIObject = await boats(one, api=api)
        while True:
            try:
                await mine.create()
                break
            except kr8s.NotFoundError:  # the path comes a moment behind the condition
                continue
            except kr8s.ServerError as error:
                assert error.response is not None and error.response.status_code == 404
        await mine.patch({"status": {"phase": "Afloat"}}, subresource="status")
        assert mine.status.phase == "Afloat"
        assert await listed(api, boats, namespace=api.namespace) == ["b"]
        await crd.delete()

    tell(story)
