"""A pod on a node is resized only to what that node has and can do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pilothouse.machinery.errors import APIError

from .world import Object, World, container, play, pod, refusal

HAS = {"cpu": "1", "memory": "1Gi"}


async def on_node(world: World, pod: Object, *, labels: Any = None, features: tuple[str, ...] = ()) -> None:
    node = {"metadata": {"name": "n", "labels": labels or {}}, "status": {"allocatable": HAS}}
    if features:
        node["status"]["declaredFeatures"] = list(features)
    await world.create("nodes", node)
    pod["spec"]["nodeName"] = "n"
    await world.create("pods", pod)


async def resize(world: World, change: Callable[[Any], object]) -> Object:
    return await world.update("pods", "a", lambda obj: change(obj["spec"]), subresource="resize")


def asking(cpu: str = "500m", memory: str = "256Mi") -> Callable[[Any], object]:
    def change(spec: Any) -> None:
        spec["containers"][0]["resources"]["requests"] = {"cpu": cpu, "memory": memory}

    return change


def small(**spec: Any) -> Object:
    return pod(containers=[container(requests={"cpu": "100m", "memory": "128Mi"})], **spec)


def causes(error: APIError) -> list[Any]:
    return list((error.details or {})["causes"])


def test_a_pod_grows_up_to_what_its_node_has() -> None:
    async def story(world: World) -> None:
        await on_node(world, small())
        await resize(world, asking("1", "1Gi"))
        refused = await refusal(resize(world, asking("1500m", "2Gi")))
        assert refused.code == 403
        assert refused.message == (
            'pods "a" is forbidden: node didn\'t have enough allocatable resources: cpu, requested: 1500, '
            "allocatable: 1000; memory, requested: 2147483648, allocatable: 1073741824"
        )
        assert causes(refused) == [{"reason": "NodeCapacity"}]

    play(story)


def test_resizes_need_linux() -> None:
    async def story(world: World) -> None:
        await on_node(world, small(), labels={"kubernetes.io/os": "windows"})
        refused = await refusal(resize(world, asking()))
        assert refused.message.endswith('pod resize is only supported on linux nodes, node "n" is "windows"')
        assert causes(refused) == [{"reason": "UnsupportedPlatform"}]
        await resize(world, lambda spec: spec)  # changes nothing

    play(story)


def test_the_node_must_be_there() -> None:
    async def story(world: World) -> None:
        await world.create("pods", small(nodeName="gone"))
        refused = await refusal(resize(world, asking()))
        assert refused.message == 'pods "a" is forbidden: node "gone" not found'

    play(story)


def test_pods_without_a_node_grow_freely() -> None:
    async def story(world: World) -> None:
        await world.create("pods", small())
        await resize(world, asking("64", "1Ti"))

    play(story)


def whole(spec: Any) -> None:
    spec["resources"]["requests"]["cpu"] = "300m"


def start(spec: Any) -> None:
    spec["initContainers"][0]["resources"]["requests"]["cpu"] = "200m"


def sidecar(spec: Any) -> None:
    spec["initContainers"][1]["resources"]["requests"]["cpu"] = "150m"


@pytest.mark.parametrize(
    ("change", "feature"),
    [
        (whole, "InPlacePodLevelResourcesVerticalScaling"),
        (start, "InPlacePodVerticalScalingInitContainers"),
        (sidecar, None),
    ],
)
def test_some_resizes_need_a_feature_of_the_node(change: Callable[[Any], object], feature: str | None) -> None:
    begin = [container("i", {"cpu": "100m"}), {**container("s", {"cpu": "100m"}), "restartPolicy": "Always"}]
    asked = {"requests": {"cpu": "250m", "memory": "128Mi"}}

    async def without(world: World) -> None:
        await on_node(world, small(initContainers=begin, resources=asked))
        if feature is None:
            await resize(world, change)
            return
        refused = await refusal(resize(world, change))
        assert refused.message == (
            f'pods "a" is forbidden: pod update requires features {feature} which are not available on node "n"'
        )

    async def having(world: World) -> None:
        await on_node(world, small(initContainers=begin, resources=asked), features=(feature,) if feature else ())
        await resize(world, change)

    play(without)
    play(having)
