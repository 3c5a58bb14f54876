"""Quotas: what is charged, what is refused, and that two writes at once cannot both have the last place."""

from __future__ import annotations

import asyncio
from typing import Any

from pilothouse.machinery.errors import APIError
from pilothouse.registry.resource import Object
from pilothouse.storage.engines.memory import MemoryEngine

from .world import World, container, play, pod, refusal


async def quota(
    world: World, hard: dict[str, str], used: dict[str, str] | None = None, name: str = "q", **spec: Any
) -> None:
    """A quota whose controller has spoken: `used` None is nothing of anything."""
    await world.create("resourcequotas", {"metadata": {"name": name}, "spec": {"hard": hard, **spec}})

    def say(obj: Object) -> None:
        obj["status"] = {"hard": hard, "used": dict.fromkeys(hard, "0") if used is None else used}

    await world.update("resourcequotas", name, say, subresource="status")


async def used(world: World, name: str = "q") -> dict[str, str]:
    found: dict[str, str] = (await world.get("resourcequotas", name))["status"]["used"]
    return found


def config_map(name: str) -> Object:
    return {"metadata": {"name": name}}


def test_objects_are_counted_and_refused_beyond() -> None:
    async def story(world: World) -> None:
        await quota(world, {"configmaps": "1", "count/secrets": "0"})
        await world.create("configmaps", config_map("a"))
        assert await used(world) == {"configmaps": "1", "count/secrets": "0"}
        found = await refusal(world.create("configmaps", config_map("b")))
        assert (found.code, found.reason) == (403, "Forbidden")
        assert found.message == (
            'configmaps "b" is forbidden: exceeded quota: q, requested: configmaps=1, used: configmaps=1, '
            "limited: configmaps=1"
        )
        found = await refusal(world.create("secrets", config_map("s")))
        assert "exceeded quota: q, requested: count/secrets=1" in found.message

    play(story)


def test_a_quota_counts_by_its_status_alone() -> None:
    async def story(world: World) -> None:
        await world.create("resourcequotas", {"metadata": {"name": "q"}, "spec": {"hard": {"configmaps": "0"}}})
        await world.create("configmaps", config_map("a"))
        await quota(world, {"configmaps": "5"}, used={}, name="unsure")
        found = await refusal(world.create("configmaps", config_map("b")))
        assert found.message.endswith("status unknown for quota: unsure, resources: configmaps")

    play(story)


def test_a_dry_run_is_refused_but_never_charged() -> None:
    async def story(world: World) -> None:
        await quota(world, {"configmaps": "1"})
        await world.create("configmaps", config_map("a"), dry_run=True)
        assert await used(world) == {"configmaps": "0"}
        await world.create("configmaps", config_map("a"))
        assert (await refusal(world.create("configmaps", config_map("b"), dry_run=True))).code == 403

    play(story)


def test_pods_are_charged_for_what_they_ask() -> None:
    async def story(world: World) -> None:
        hard = {"pods": "9", "cpu": "2", "requests.memory": "1Gi", "limits.cpu": "4", "requests.example.com/gpu": "3"}
        await quota(world, hard)
        gpu = {"example.com/gpu": "2"}
        first = container("a", {"cpu": "500m", "memory": "64Mi", **gpu}, {"cpu": "1", **gpu})
        second = container("b", {"cpu": "250m", "memory": "64Mi"}, {"cpu": "1"})
        starting = container("i", {"cpu": "1", "memory": "1Mi"}, {"cpu": "1"})
        await world.create("pods", pod(containers=[first, second], initContainers=[starting]))
        assert await used(world) == {
            "cpu": "1",
            "limits.cpu": "2",
            "pods": "1",
            "requests.example.com/gpu": "2",
            "requests.memory": "128Mi",
        }

    play(story)


def test_a_pod_must_say_what_is_counted() -> None:
    async def story(world: World) -> None:
        await quota(world, {"requests.cpu": "1", "limits.memory": "1Gi"})
        two = [container("a"), container("b", {"cpu": "1m"}, {"memory": "1Mi"})]
        found = await refusal(world.create("pods", pod(containers=two)))
        assert found.message.endswith("failed quota: q: must specify limits.memory for: a; requests.cpu for: a")

    play(story)


def test_scopes_choose_the_pods() -> None:
    async def story(world: World) -> None:
        await quota(world, {"pods": "0"}, scopes=["BestEffort"])
        assert (await refusal(world.create("pods", pod()))).code == 403
        await world.create("pods", pod("b", containers=[container("c", {"cpu": "1m"})]))
        critical = {"scopeName": "PriorityClass", "operator": "In", "values": ["system-node-critical"]}
        selector = {"matchExpressions": [critical]}
        await quota(world, {"pods": "0"}, name="critical", scopeSelector=selector)
        asks = [container("c", {"cpu": "1m"})]
        found = await refusal(world.create("pods", pod("d", priorityClassName="system-node-critical", containers=asks)))
        assert "exceeded quota: critical" in found.message
        await world.create("configmaps", config_map("other kinds have no such scope"[:5]))

    play(story)


def test_services_and_claims_have_costs_of_their_own() -> None:
    async def story(world: World) -> None:
        slow = "slow.storageclass.storage.k8s.io/requests.storage"
        hard = {"services": "9", "services.nodeports": "3", "services.loadbalancers": "1", "requests.storage": "9Gi"}
        await quota(world, {**hard, slow: "2Gi"})
        ports = [{"name": name, "port": port} for name, port in (("a", 80), ("b", 81))]
        await world.create("services", {"metadata": {"name": "s"}, "spec": {"type": "LoadBalancer", "ports": ports}})
        counted = await used(world)
        assert (counted["services"], counted["services.nodeports"], counted["services.loadbalancers"]) == (
            "1",
            "2",
            "1",
        )
        found = await refusal(
            world.create("services", {"metadata": {"name": "t"}, "spec": {"type": "NodePort", "ports": ports}})
        )
        assert "requested: services.nodeports=2, used: services.nodeports=2" in found.message
        wanted = {"accessModes": ["ReadWriteOnce"], "storageClassName": "slow"}
        claim = {"metadata": {"name": "c"}, "spec": {**wanted, "resources": {"requests": {"storage": "3Gi"}}}}
        assert (
            f"exceeded quota: q, requested: {slow}=3Gi"
            in (await refusal(world.create("persistentvolumeclaims", claim))).message
        )

    play(story)


def test_an_update_pays_the_difference() -> None:
    async def story(world: World) -> None:
        await quota(world, {"services": "1", "services.nodeports": "1"})
        spec = {"ports": [{"port": 80}]}
        await world.create("services", {"metadata": {"name": "s"}, "spec": spec})
        await world.update("services", "s", lambda obj: obj["spec"].update(type="NodePort"))
        assert await used(world) == {"services": "1", "services.nodeports": "1"}
        await world.update("services", "s", lambda obj: obj["metadata"].update(labels={"a": "b"}))
        assert await used(world) == {"services": "1", "services.nodeports": "1"}

    play(story)


def test_what_one_quota_refuses_is_not_charged_to_another() -> None:
    async def story(world: World) -> None:
        await quota(world, {"configmaps": "5"}, name="a")
        await quota(world, {"count/configmaps": "0"}, name="b")
        assert (await refusal(world.create("configmaps", config_map("x")))).code == 403
        assert await used(world, "a") == {"configmaps": "0"}

    play(story)


def test_the_last_place_goes_to_one_of_two_servers() -> None:
    async def main() -> None:
        engine = MemoryEngine()
        engine.start()
        servers = [World(engine, seed=seed) for seed in (1, 2)]
        await servers[0].bootstrap()
        await quota(servers[0], {"configmaps": "5"})
        tries = [servers[number % 2].create("configmaps", config_map(f"c{number}")) for number in range(12)]
        answers = await asyncio.gather(*tries, return_exceptions=True)
        refused = [one for one in answers if isinstance(one, APIError)]
        assert (len(answers) - len(refused), {one.code for one in refused}) == (5, {403})
        assert await used(servers[1]) == {"configmaps": "5"}
        await engine.close()

    asyncio.run(main())
