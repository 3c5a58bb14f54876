"""Kinds that come while the controllers run are followed, emptied and collected like all others."""

from __future__ import annotations

from pathlib import Path

from .servers import Admin, owned_by, run, server

DEFAULT = "/api/v1/namespaces/default"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
GROUP = "/apis/example.com/v1"


async def define(admin: Admin) -> None:
    names = {"plural": "boats", "singular": "boat", "kind": "Boat", "listKind": "BoatList"}
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    version = {"name": "v1", "served": True, "storage": True, "schema": schema}
    spec = {"group": "example.com", "scope": "Namespaced", "names": names, "versions": [version]}
    await admin.make(DEFINITIONS, "boats.example.com", spec=spec)
    await admin.there(f"{GROUP}/namespaces/default/boats", lambda found: "items" in found)


async def boat(admin: Admin, namespace: str, name: str, **more: object) -> dict[str, object]:
    kind = {"apiVersion": "example.com/v1", "kind": "Boat"}
    return await admin.make(f"{GROUP}/namespaces/{namespace}/boats", name, **kind, **more)


async def followed(admin: Admin) -> None:
    """The end of a boat is noticed."""
    first = await boat(admin, "default", "first")
    owners = owned_by(first, "Boat", api_version="example.com/v1")
    await admin.make(f"{DEFAULT}/secrets", "first", ownerReferences=owners)
    await admin.remove(f"{GROUP}/namespaces/default/boats/first")
    await admin.gone(f"{DEFAULT}/secrets/first")


def test_custom_resources_own_and_are_owned(tmp_path: Path) -> None:
    async def story() -> None:
        async with server(tmp_path) as admin:
            await define(admin)
            owner = await admin.make(f"{DEFAULT}/configmaps", "harbour")
            middle = await boat(admin, "default", "middle", ownerReferences=owned_by(owner, "ConfigMap"))
            crew = owned_by(middle, "Boat", api_version="example.com/v1")
            await admin.make(f"{DEFAULT}/secrets", "crew", ownerReferences=crew)
            await admin.remove(f"{DEFAULT}/configmaps/harbour")
            await admin.gone(f"{GROUP}/namespaces/default/boats/middle", f"{DEFAULT}/secrets/crew")

    run(story())


def test_with_a_definition_go_its_resources_and_what_they_own(tmp_path: Path) -> None:
    async def story() -> None:
        async with server(tmp_path) as admin:
            await define(admin)
            await followed(admin)
            owner = await boat(admin, "default", "owner")
            crew = owned_by(owner, "Boat", api_version="example.com/v1")
            await admin.make(f"{DEFAULT}/secrets", "crew", ownerReferences=crew)
            await admin.remove(f"{DEFINITIONS}/boats.example.com")
            await admin.gone(f"{DEFINITIONS}/boats.example.com", f"{DEFAULT}/secrets/crew")

    run(story())


def test_a_namespace_is_emptied_of_kinds_that_came_just_now(tmp_path: Path) -> None:
    async def story() -> None:
        async with server(tmp_path) as admin:
            path = await admin.namespace("sea")
            await define(admin)
            await boat(admin, "sea", "one")
            await admin.remove(path)
            await admin.gone(path, f"{GROUP}/namespaces/sea/boats/one")

    run(story())
