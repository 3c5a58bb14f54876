"""Default classes of storage and ingress, claims that grow, and finalizers of what is in use."""

from __future__ import annotations

from typing import Any

from .world import World, play, refusal


def claim(name: str = "a", **spec: Any) -> dict[str, Any]:
    wanted = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    return {"metadata": {"name": name}, "spec": {**wanted, **spec}}


def storage_class(name: str, **more: Any) -> dict[str, Any]:
    annotations = {"storageclass.kubernetes.io/is-default-class": "true"}
    return {"metadata": {"name": name, "annotations": annotations}, "provisioner": "example.com/none", **more}


def test_a_claim_without_a_class_gets_the_newest_default() -> None:
    async def story(world: World) -> None:
        assert "storageClassName" not in (await world.create("persistentvolumeclaims", claim("none")))["spec"]
        await world.create("storageclasses", storage_class("z"))
        await world.create("storageclasses", storage_class("a"))
        made = await world.create("persistentvolumeclaims", claim())
        assert made["spec"]["storageClassName"] == "a"
        empty = await world.create("persistentvolumeclaims", claim("b", storageClassName=""))
        assert empty["spec"]["storageClassName"] == ""

    play(story)


def test_an_ingress_without_a_class_gets_the_default() -> None:
    async def story(world: World) -> None:
        annotations = {"ingressclass.kubernetes.io/is-default-class": "true"}
        one = {"metadata": {"name": "one", "annotations": annotations}, "spec": {"controller": "example.com/one"}}
        await world.create("ingressclasses", one)
        backend = {"service": {"name": "s", "port": {"number": 80}}}
        made = await world.create("ingresses", {"metadata": {"name": "a"}, "spec": {"defaultBackend": backend}})
        assert made["spec"]["ingressClassName"] == "one"
        old = {"name": "b", "annotations": {"kubernetes.io/ingress.class": "old"}}
        made = await world.create("ingresses", {"metadata": old, "spec": {"defaultBackend": backend}})
        assert "ingressClassName" not in made["spec"]

    play(story)


def test_claims_are_protected_while_in_use() -> None:
    async def story(world: World) -> None:
        mine = claim()
        mine["metadata"]["finalizers"] = ["example.com/mine"]
        made = await world.create("persistentvolumeclaims", mine)
        assert made["metadata"]["finalizers"] == ["example.com/mine", "kubernetes.io/pvc-protection"]

    play(story)


def test_a_bound_claim_grows_only_where_its_class_allows() -> None:
    async def story(world: World) -> None:
        await world.create("storageclasses", storage_class("fixed"))
        await world.create("storageclasses", storage_class("grows", allowVolumeExpansion=True))

        def bound(obj: dict[str, Any]) -> None:
            obj["status"] = {"phase": "Bound", "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"]}

        def more(obj: dict[str, Any]) -> None:
            obj["spec"]["resources"]["requests"]["storage"] = "2Gi"

        for name in ("fixed", "grows"):
            await world.create("persistentvolumeclaims", claim(name, storageClassName=name, volumeName="v"))
            await world.update("persistentvolumeclaims", name, bound, subresource="status")
        found = await refusal(world.update("persistentvolumeclaims", "fixed", more))
        assert found.code == 403
        assert "must support resize" in found.message
        grown = await world.update("persistentvolumeclaims", "grows", more)
        assert grown["spec"]["resources"]["requests"] == {"storage": "2Gi"}

    play(story)
