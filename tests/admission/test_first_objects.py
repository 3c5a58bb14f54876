"""What a new store is given: classes, ranges, and the address of the API."""

from __future__ import annotations

from pilothouse.builtin.bootstrap_kubernetes import ensure_kubernetes_service
from pilothouse.builtin.bootstrap_priorityclasses import ensure_system_priority_classes
from pilothouse.registry.request import Write

from .world import World, play


def test_first_objects_are_made_once_and_left_alone() -> None:
    async def story(world: World) -> None:
        before = await world.get("servicecidrs", "kubernetes")
        await world.bootstrap_again()
        assert await world.get("servicecidrs", "kubernetes") == before
        managers = [(one["manager"], one["operation"]) for one in before["metadata"]["managedFields"]]
        assert managers == [("kubernetes-service-cidr-controller", "Apply"), ("kube-apiserver", "Update")]
        classes = world.stores["scheduling.k8s.io", "priorityclasses"]
        await ensure_system_priority_classes(classes, world.now)
        made = await world.get("priorityclasses", "system-node-critical")
        assert (made["value"], made["metadata"]["generation"]) == (2000001000, 1)

    play(story)


def test_the_api_has_the_first_address() -> None:
    async def story(world: World) -> None:
        spaces = world.store("namespaces")
        space = {"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": "default"}, "spec": {}, "status": {}}
        await spaces.create(space, Write("", "", "v1", world.now(), world.warnings.append))
        services = world.store("services")
        for _ in range(2):
            await ensure_kubernetes_service(services, "10.0.0.0/24", 6443, ("IPv4",), world.now)
        made = services.codec.decode(await services.get("default", "kubernetes"))
        assert made["spec"]["clusterIPs"] == ["10.0.0.1"]
        assert made["spec"]["ports"] == [{"name": "https", "protocol": "TCP", "port": 443, "targetPort": 6443}]
        held = await world.get("ipaddresses", "10.0.0.1")
        assert held["spec"]["parentRef"] == {"resource": "services", "namespace": "default", "name": "kubernetes"}

    play(story)
