"""Plug-ins that are off unless asked for, and how they are asked for."""

from __future__ import annotations

from typing import Any

import pytest

from pilothouse.admission.defaults import NAMES, Choice, UnknownPlugin
from pilothouse.auth.attributes import Attributes, Decision
from pilothouse.registry.request import Caller

from .world import NAMESPACE, World, container, play, pod, refusal

NODE = Caller("system:node:n1", "", ("system:nodes",))
OWNER = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d", "uid": "11111111-1111-1111-1111-111111111111"}


def config_map(name: str, **metadata: Any) -> dict[str, Any]:
    return {"metadata": {"name": name, **metadata}}


async def annotate(world: World, **annotations: str) -> None:
    chosen = {f"scheduler.alpha.kubernetes.io/{key.replace('_', '-')}": value for key, value in annotations.items()}
    await world.update("namespaces", NAMESPACE, lambda obj: obj["metadata"].update(annotations=chosen))


def test_a_choice_is_of_known_plugins() -> None:
    with pytest.raises(UnknownPlugin, match='"NoSuch" is not an admission plug-in'):
        Choice.of(on=["NoSuch"])
    assert len(set(NAMES)) == len(NAMES)


def test_default_plugins_can_be_switched_off() -> None:
    async def story(world: World) -> None:
        made = await world.create("pods", pod(priority=5))
        assert "tolerations" not in made["spec"]

    play(story, choice=Choice.of(off=["Priority", "DefaultTolerationSeconds"]))


def test_images_are_always_pulled() -> None:
    async def story(world: World) -> None:
        made = await world.create("pods", pod(containers=[{"name": "c", "image": "i:1", "imagePullPolicy": "Never"}]))
        assert made["spec"]["containers"][0]["imagePullPolicy"] == "Always"

    play(story, choice=Choice.of(on=["AlwaysPullImages"]))


def test_extended_resources_are_tolerated() -> None:
    async def story(world: World) -> None:
        gpu = {"example.com/gpu": "1"}
        made = await world.create("pods", pod(containers=[container("c", gpu, gpu)]))
        assert made["spec"]["tolerations"][-1] == {
            "key": "example.com/gpu",
            "operator": "Exists",
            "effect": "NoSchedule",
        }

    play(story, choice=Choice.of(on=["ExtendedResourceToleration"]))


def test_anti_affinity_is_by_host_alone() -> None:
    async def story(world: World) -> None:
        term = {"topologyKey": "zone", "labelSelector": {}}
        affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
        refused = await refusal(world.create("pods", pod(affinity=affinity)))
        assert refused.message.endswith(
            "affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey zone but only key "
            "kubernetes.io/hostname is allowed"
        )

    play(story, choice=Choice.of(on=["LimitPodHardAntiAffinityTopology"]))


def test_external_addresses_may_stay_but_not_come() -> None:
    async def story(world: World) -> None:
        service = {"metadata": {"name": "s"}, "spec": {"ports": [{"port": 80}], "externalIPs": ["1.2.3.4"]}}
        refused = await refusal(world.create("services", service))
        assert refused.message.endswith("Use of external IPs is denied by admission control")

    play(story, choice=Choice.of(on=["DenyServiceExternalIPs"]))


def test_a_missing_namespace_is_made() -> None:
    async def story(world: World) -> None:
        store = world.store("namespaces")
        await store.storage.delete(f"/registry/namespaces/{NAMESPACE}")
        await world.create("configmaps", config_map("a"))
        made = await world.get("namespaces", NAMESPACE)
        assert made["metadata"]["labels"] == {"kubernetes.io/metadata.name": NAMESPACE}

    play(story, choice=Choice.of(on=["NamespaceAutoProvision"]))


def test_a_namespace_chooses_the_nodes_of_its_pods() -> None:
    async def story(world: World) -> None:
        await annotate(world, node_selector="pool=a")
        made = await world.create("pods", pod(nodeSelector={"x": "y"}))
        assert made["spec"]["nodeSelector"] == {"pool": "a", "x": "y"}
        refused = await refusal(world.create("pods", pod("b", nodeSelector={"pool": "b"})))
        assert refused.message.endswith("pod node label selector conflicts with its namespace node label selector")

    play(story, choice=Choice.of(on=["PodNodeSelector"]))


def test_a_namespace_gives_and_limits_tolerations() -> None:
    async def story(world: World) -> None:
        everything = '{"operator": "Exists", "effect": "NoExecute"}'
        mine = '{"key": "k", "operator": "Exists"}'
        await annotate(world, defaultTolerations=f"[{mine}]", tolerationsWhitelist=f"[{mine}, {everything}]")
        made = await world.create("pods", pod())
        assert made["spec"]["tolerations"][-1] == {"key": "k", "operator": "Exists"}
        refused = await refusal(world.create("pods", pod("b", tolerations=[{"key": "z", "operator": "Exists"}])))
        assert (refused.code, refused.reason) == (500, "")
        assert "conflict with its namespace whitelist" in refused.message

    play(story, choice=Choice.of(on=["PodTolerationRestriction"]))


def test_owners_are_changed_by_who_may() -> None:
    def authorize(asked: Attributes) -> tuple[Decision, str]:
        return Decision.NO_OPINION, ""

    async def story(world: World) -> None:
        blocking = config_map("o", ownerReferences=[{**OWNER, "blockOwnerDeletion": True}])
        refused = await refusal(world.create("configmaps", blocking))
        assert refused.message.endswith(
            "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: , "
            "<nil>"
        )
        await world.create("configmaps", config_map("o", ownerReferences=[OWNER]))
        refused = await refusal(world.update("configmaps", "o", lambda obj: obj["metadata"].update(ownerReferences=[])))
        assert refused.message.endswith("cannot set an ownerRef on a resource you can't delete: , <nil>")

    play(story, authorize=authorize, choice=Choice.of(on=["OwnerReferencesPermissionEnforcement"]))


def test_a_node_changes_itself_alone() -> None:
    async def story(world: World) -> None:
        refused = await refusal(world.create("nodes", {"metadata": {"name": "n2"}}, caller=NODE))
        assert refused.message == 'nodes "n2" is forbidden: node "n1" is not allowed to modify node "n2"'
        await world.create("nodes", {"metadata": {"name": "n1"}}, caller=NODE)

        def labels(**chosen: str) -> Any:
            return lambda obj: obj["metadata"].update(labels=chosen)

        for key in ("node-restriction.kubernetes.io/x", "kubernetes.io/mine"):
            refused = await refusal(world.update("nodes", "n1", labels(**{key: "1"}), caller=NODE))
            assert refused.message.endswith(f"is not allowed to modify labels: {key}")
        fine = {"kubernetes.io/os": "linux", "kubelet.kubernetes.io/x": "1", "example.com/y": "1"}
        await world.update("nodes", "n1", labels(**fine), caller=NODE)
        refused = await refusal(world.update("nodes", "n1", lambda obj: obj["spec"].update(taints=[]), caller=NODE))
        assert refused.message.endswith('node "n1" is not allowed to modify taints')

    play(story, choice=Choice.of(on=["NodeRestriction"]))


def test_a_node_makes_only_copies_of_its_own_pods() -> None:
    async def story(world: World) -> None:
        refused = await refusal(world.create("pods", pod(nodeName="n1"), caller=NODE))
        assert 'node "n1" can only create mirror pods' in refused.message
        mirror = pod(nodeName="n3")
        mirror["metadata"]["annotations"] = {"kubernetes.io/config.mirror": "x"}
        refused = await refusal(world.create("pods", mirror, caller=NODE))
        assert refused.message.endswith('node "n1" can only create pods with spec.nodeName set to itself')
        mirror["spec"]["nodeName"] = "n1"
        owner = {"apiVersion": "v1", "kind": "Node", "name": "n1", "uid": "u", "controller": True}
        mirror["metadata"]["ownerReferences"] = [owner]
        mirror["spec"]["containers"][0]["envFrom"] = [{"secretRef": {"name": "s"}}]
        refused = await refusal(world.create("pods", mirror, caller=NODE))
        assert refused.message.endswith('node "n1" can not create pods that reference secrets')
        del mirror["spec"]["containers"][0]["envFrom"]
        await world.create("pods", mirror, caller=NODE)
        await world.create("pods", pod("elsewhere", nodeName="n2"))
        refused = await refusal(world.delete("pods", "elsewhere", caller=NODE))
        assert refused.message.endswith('node "n1" can only delete pods with spec.nodeName set to itself')

    play(story, choice=Choice.of(on=["NodeRestriction"]))
