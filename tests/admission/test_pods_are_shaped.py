"""What a pod gets from its namespace, its classes and the server, and what it may not say against them."""

from __future__ import annotations

from typing import Any

from .world import World, container, play, pod, refusal

STAYS = {"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}


def test_a_pod_stays_a_while_on_a_lost_node() -> None:
    async def story(world: World) -> None:
        made = await world.create("pods", pod())
        assert made["spec"]["tolerations"] == [
            {"key": "node.kubernetes.io/not-ready", **STAYS},
            {"key": "node.kubernetes.io/unreachable", **STAYS},
        ]

    play(story)


def test_tolerations_of_its_own_are_kept() -> None:
    async def story(world: World) -> None:
        mine: list[Any] = [{"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute"}]
        made = await world.create("pods", pod(tolerations=mine))
        assert made["spec"]["tolerations"] == [*mine, {"key": "node.kubernetes.io/not-ready", **STAYS}]
        everything = [{"operator": "Exists"}]
        assert (await world.create("pods", pod("b", tolerations=everything)))["spec"]["tolerations"] == everything
        for_scheduling = [{"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoSchedule"}]
        third = await world.create("pods", pod("c", tolerations=for_scheduling))
        assert len(third["spec"]["tolerations"]) == 3

    play(story)


def test_priority_comes_from_the_class() -> None:
    async def story(world: World) -> None:
        made = await world.create("pods", pod("critical", priorityClassName="system-node-critical"))
        assert (made["spec"]["priority"], made["spec"]["preemptionPolicy"]) == (2000001000, "PreemptLowerPriority")
        assert (await world.create("pods", pod()))["spec"]["priority"] == 0
        missing = await refusal(world.create("pods", pod("b", priorityClassName="none")))
        assert missing.code == 403
        assert missing.message == 'pods "b" is forbidden: no PriorityClass with name none was found'
        other = await refusal(world.create("pods", pod("b", priority=5)))
        assert other.message.endswith(
            "the integer value of priority (5) must not be provided in pod spec; priority admission controller "
            "computed 0 from the given PriorityClass name"
        )

    play(story)


def test_one_class_may_be_everybodys() -> None:
    async def story(world: World) -> None:
        one = {"metadata": {"name": "one"}, "value": 7, "globalDefault": True, "preemptionPolicy": "Never"}
        await world.create("priorityclasses", one)
        made = await world.create("pods", pod())
        assert (made["spec"]["priority"], made["spec"]["priorityClassName"]) == (7, "one")
        second = await refusal(world.create("priorityclasses", {**one, "metadata": {"name": "two"}}))
        assert second.code == 403
        assert second.message.endswith("PriorityClass one is already marked as default. Only one default can exist")
        changed = await world.update("priorityclasses", "one", lambda obj: obj.update(description="x"))
        assert changed["globalDefault"]

    play(story)


def test_a_runtime_class_adds_what_it_costs_and_where_it_runs() -> None:
    async def story(world: World) -> None:
        scheduling = {"nodeSelector": {"box": "yes"}, "tolerations": [{"key": "box", "operator": "Exists"}]}
        box = {
            "metadata": {"name": "box"},
            "handler": "box",
            "overhead": {"podFixed": {"memory": "64Mi"}},
            "scheduling": scheduling,
        }
        await world.create("runtimeclasses", box)
        made = await world.create("pods", pod(runtimeClassName="box", nodeSelector={"a": "b"}))
        assert made["spec"]["overhead"] == {"memory": "64Mi"}
        assert made["spec"]["nodeSelector"] == {"a": "b", "box": "yes"}
        assert made["spec"]["tolerations"][-1] == {"key": "box", "operator": "Exists"}
        clash = await refusal(world.create("pods", pod("b", runtimeClassName="box", nodeSelector={"box": "no"})))
        assert clash.message.endswith(
            "conflict: runtimeClass.scheduling.nodeSelector[box] = yes; pod.spec.nodeSelector[box] = no"
        )
        dear = await refusal(world.create("pods", pod("b", runtimeClassName="box", overhead={"memory": "1Mi"})))
        assert dear.message.endswith("pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead")
        alone = await refusal(world.create("pods", pod("b", overhead={"memory": "1Mi"})))
        assert "without corresponding RuntimeClass" in alone.message
        missing = await refusal(world.create("pods", pod("b", runtimeClassName="none")))
        assert missing.message.endswith('pod rejected: RuntimeClass "none" not found')

    play(story)


def test_a_pod_that_comes_with_its_node_says_where_that_is() -> None:
    async def story(world: World) -> None:
        labels = {"topology.kubernetes.io/zone": "z", "topology.kubernetes.io/region": "r", "other": "x"}
        await world.create("nodes", {"metadata": {"name": "n", "labels": labels}})
        made = await world.create("pods", pod(nodeName="n"))
        assert made["metadata"]["labels"] == {
            "topology.kubernetes.io/zone": "z",
            "topology.kubernetes.io/region": "r",
        }
        assert "labels" not in (await world.create("pods", pod("b", nodeName="gone")))["metadata"]

    play(story)


def test_a_new_node_takes_no_pods_yet() -> None:
    async def story(world: World) -> None:
        made = await world.create("nodes", {"metadata": {"name": "n"}})
        assert made["spec"]["taints"] == [{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}]

    play(story)


LIMITS = {
    "type": "Container",
    "max": {"cpu": "1"},
    "min": {"cpu": "100m"},
    "default": {"cpu": "500m", "memory": "128Mi"},
    "defaultRequest": {"cpu": "200m", "memory": "128Mi"},
}


def limit_range(*limits: dict[str, Any]) -> dict[str, Any]:
    return {"metadata": {"name": "l"}, "spec": {"limits": list(limits)}}


def test_a_limit_range_fills_in_what_containers_leave_out() -> None:
    async def story(world: World) -> None:
        await world.create("limitranges", limit_range(LIMITS))
        made = await world.create("pods", pod(containers=[container("c", {"cpu": "300m"})]))
        assert made["spec"]["containers"][0]["resources"] == {
            "requests": {"cpu": "300m", "memory": "128Mi"},
            "limits": {"cpu": "500m", "memory": "128Mi"},
        }
        told = "LimitRanger plugin set: memory request for container c; cpu, memory limit for container c"
        assert made["metadata"]["annotations"] == {"kubernetes.io/limit-ranger": told}

    play(story)


def test_a_limit_range_bounds_containers_pods_and_claims() -> None:
    async def story(world: World) -> None:
        each = {"type": "Container", "max": {"cpu": "1"}, "maxLimitRequestRatio": {"memory": "2"}}
        whole = {"type": "Pod", "max": {"memory": "1Gi"}}
        storage = {"type": "PersistentVolumeClaim", "max": {"storage": "10Gi"}}
        await world.create("limitranges", limit_range(each, whole, storage))
        big = container("c", {"memory": "1Mi"}, {"cpu": "2", "memory": "3Mi"})
        found = await refusal(world.create("pods", pod(containers=[big])))
        assert found.message == (
            'pods "a" is forbidden: [maximum cpu usage per Container is 1, but limit is 2, memory max limit to request '
            "ratio per Container is 2, but provided ratio is 3.000000]"
        )
        half = {"cpu": "1", "memory": "600Mi"}
        two = [container(name, half, half) for name in ("c", "d")]
        found = await refusal(world.create("pods", pod(containers=two)))
        assert found.message.endswith("maximum memory usage per Pod is 1Gi, but limit is 1200Mi")
        claim = {
            "metadata": {"name": "a"},
            "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "11Gi"}}},
        }
        found = await refusal(world.create("persistentvolumeclaims", claim))
        assert found.message.endswith("maximum storage usage per PersistentVolumeClaim is 10Gi, but request is 11Gi")

    play(story)


def test_a_pod_without_a_bounded_resource_is_told_so() -> None:
    async def story(world: World) -> None:
        await world.create("limitranges", limit_range({"type": "Pod", "max": {"cpu": "1"}, "min": {"cpu": "1m"}}))
        found = await refusal(world.create("pods", pod()))
        assert found.message == (
            'pods "a" is forbidden: [minimum cpu usage per Pod is 1m.  No request is specified, maximum cpu usage per '
            "Pod is 1.  No limit is specified]"
        )

    play(story)
