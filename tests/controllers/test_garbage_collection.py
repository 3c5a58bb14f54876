"""Garbage collection: who goes with whom, who stays, and who is let go."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pilothouse.controllers import names

from .servers import Admin, Object, owned_by, run, server

DEFAULT = "/api/v1/namespaces/default"
APPS = "/apis/apps/v1/namespaces/default"
MAPS = f"{DEFAULT}/configmaps"
SECRETS = f"{DEFAULT}/secrets"
POD_SPEC = {"containers": [{"name": "c", "image": "i"}]}
LABELS = {"app": "web"}
TEMPLATE = {"metadata": {"labels": LABELS}, "spec": POD_SPEC}


async def deployment(admin: Admin) -> tuple[str, str, list[str]]:
    """What kubectl create deployment and its controllers would make, made by hand; the paths."""
    spec = {"selector": {"matchLabels": LABELS}, "template": TEMPLATE}
    top = await admin.make(f"{APPS}/deployments", "web", spec=spec)
    middle = await admin.make(
        f"{APPS}/replicasets", "web-1", spec=spec, labels=LABELS,
        ownerReferences=owned_by(top, "Deployment", api_version="apps/v1", block=True),
    )  # fmt: skip
    pods = []
    for number in range(3):
        owners = owned_by(middle, "ReplicaSet", api_version="apps/v1", block=True)
        await admin.make(f"{DEFAULT}/pods", f"web-1-{number}", spec=POD_SPEC, ownerReferences=owners, labels=LABELS)
        pods.append(f"{DEFAULT}/pods/web-1-{number}")
    return f"{APPS}/deployments/web", f"{APPS}/replicasets/web-1", pods


def test_a_deployment_takes_its_replica_set_and_pods_along(tmp_path: Path) -> None:
    async def story() -> None:
        async with server(tmp_path) as admin:
            top, middle, pods = await deployment(admin)
            await admin.remove(top)
            await admin.gone(top, middle, *pods)

    run(story())


def test_in_the_foreground_the_owner_waits_for_those_that_block_it(tmp_path: Path) -> None:
    async def story() -> None:
        async with server(tmp_path) as admin:
            top, middle, pods = await deployment(admin)
            await admin.patch(pods[0], {"metadata": {"finalizers": ["example.com/wait"]}})
            await admin.remove(top, "Foreground")
            await admin.gone(*pods[1:])
            for path in (top, middle):
                held = await admin.there(path, lambda found: "deletionTimestamp" in found["metadata"])
                assert held["metadata"]["finalizers"] == ["foregroundDeletion"]
            await admin.patch(pods[0], {"metadata": {"finalizers": None}})
            await admin.gone(top, middle, *pods)

    run(story())


def test_orphans_stay_and_name_no_owner(tmp_path: Path) -> None:
    async def story() -> None:
        async with server(tmp_path) as admin:
            top, middle, pods = await deployment(admin)
            await admin.remove(top, "Orphan")
            await admin.gone(top)
            left = await admin.there(middle)
            assert "ownerReferences" not in left["metadata"]
            assert all([(await admin.get(pod))["metadata"]["ownerReferences"] for pod in pods])

    run(story())


def test_an_object_stays_while_one_of_its_owners_does(tmp_path: Path) -> None:
    async def story() -> None:
        async with server(tmp_path) as admin:
            one, two = await admin.make(MAPS, "one"), await admin.make(MAPS, "two")
            owners = owned_by(one, "ConfigMap") + owned_by(two, "ConfigMap")
            await admin.make(SECRETS, "shared", ownerReferences=owners)
            await admin.remove(f"{MAPS}/one")
            kept = await admin.there(f"{SECRETS}/shared", lambda found: len(found["metadata"]["ownerReferences"]) == 1)
            assert kept["metadata"]["ownerReferences"][0]["name"] == "two"
            await admin.remove(f"{MAPS}/two")
            await admin.gone(f"{SECRETS}/shared")

    run(story())


def test_an_owner_that_never_was_counts_as_gone(tmp_path: Path) -> None:
    async def story() -> None:
        async with server(tmp_path) as admin:
            owner = {"metadata": {"name": "nobody", "uid": "11111111-2222-4333-8444-555555555555"}}
            await admin.make(SECRETS, "lost", ownerReferences=owned_by(owner, "ConfigMap"))
            await admin.gone(f"{SECRETS}/lost")
            same_name = await admin.make(MAPS, "nobody")
            await admin.make(SECRETS, "mistaken", ownerReferences=owned_by(owner, "ConfigMap"))
            await admin.gone(f"{SECRETS}/mistaken")
            assert same_name["metadata"]["uid"] != owner["metadata"]["uid"]

    run(story())


def test_owners_of_an_unknown_kind_are_left_to_those_who_know_it(tmp_path: Path) -> None:
    async def story() -> None:
        async with server(tmp_path) as admin:
            owner = {"metadata": {"name": "a", "uid": "11111111-2222-4333-8444-555555555555"}}
            strange = owned_by(owner, "Strange", api_version="example.com/v1")
            await admin.make(SECRETS, "whose", ownerReferences=strange)
            await settled(admin)
            assert await admin.find(f"{SECRETS}/whose")

    run(story())


async def settled(admin: Admin) -> None:
    """When an owner made now is gone with its dependent, all that came before has been looked at."""
    owner = await admin.make(MAPS, "sentinel")
    await admin.make(SECRETS, "sentinel", ownerReferences=owned_by(owner, "ConfigMap"))
    await admin.remove(f"{MAPS}/sentinel")
    await admin.gone(f"{SECRETS}/sentinel")


async def events(admin: Admin, path: str) -> list[Object]:
    found: list[Object] = (await admin.get(f"{path}/events"))["items"]
    return found


def test_an_owner_in_another_namespace_is_refused_and_an_event_says_so(tmp_path: Path) -> None:
    async def story() -> None:
        async with server(tmp_path) as admin:
            await admin.namespace("other")
            owner = await admin.make("/api/v1/namespaces/other/configmaps", "far")
            await settled(admin)
            lost = await admin.make(SECRETS, "lost", ownerReferences=owned_by(owner, "ConfigMap"))
            await admin.gone(f"{SECRETS}/lost")
            (event,) = await events(admin, DEFAULT)
            uid = owner["metadata"]["uid"]
            assert event["type"] == "Warning"
            assert event["reason"] == "OwnerRefInvalidNamespace"
            ref = f"[v1/ConfigMap, namespace: default, name: far, uid: {uid}]"
            assert event["message"] == f'ownerRef {ref} does not exist in namespace "default"'
            assert event["source"]["component"] == "garbage-collector-controller"
            assert event["involvedObject"]["kind"] == "Secret"
            assert event["involvedObject"]["uid"] == lost["metadata"]["uid"]
            assert await admin.find("/api/v1/namespaces/other/configmaps/far")

    run(story())


def test_a_cluster_wide_object_is_not_deleted_for_an_owner_in_a_namespace(tmp_path: Path) -> None:
    async def story() -> None:
        async with server(tmp_path) as admin:
            owner = await admin.make(MAPS, "inside")
            roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
            await admin.make(roles, "outside", ownerReferences=owned_by(owner, "ConfigMap"))
            await admin.remove(f"{MAPS}/inside")
            await settled(admin)
            assert await admin.find(f"{roles}/outside")
            uid = owner["metadata"]["uid"]
            texts = [event["message"] for event in await events(admin, DEFAULT)]
            assert texts == [
                f'ownerRef [v1/ConfigMap, namespace: , name: inside, uid: {uid}] does not exist in namespace ""'
            ]

    run(story())


def test_a_circle_that_waits_for_itself_is_broken(tmp_path: Path) -> None:
    async def story() -> None:
        async with server(tmp_path) as admin:
            first = await admin.make(MAPS, "ring-0")
            last = first
            for number in (1, 2):
                owners = owned_by(last, "ConfigMap", block=True)
                last = await admin.make(MAPS, f"ring-{number}", ownerReferences=owners)
            await admin.patch(
                f"{MAPS}/ring-0", {"metadata": {"ownerReferences": owned_by(last, "ConfigMap", block=True)}}
            )
            await admin.remove(f"{MAPS}/ring-0", "Foreground")
            await admin.gone(*(f"{MAPS}/ring-{number}" for number in range(3)))

    run(story())


def test_an_object_that_owns_itself_can_go(tmp_path: Path) -> None:
    async def story() -> None:
        async with server(tmp_path) as admin:
            own = await admin.make(MAPS, "self")
            await admin.patch(f"{MAPS}/self", {"metadata": {"ownerReferences": owned_by(own, "ConfigMap", block=True)}})
            await admin.remove(f"{MAPS}/self", "Foreground")
            await admin.gone(f"{MAPS}/self")

    run(story())


def test_after_a_restart_what_was_begun_is_finished(tmp_path: Path) -> None:
    async def before() -> dict[str, Any]:
        async with server(tmp_path, names.SERVICE_ACCOUNT, storage="sqlite") as admin:
            paths = {}
            for policy in ("Background", "Foreground", "Orphan"):
                name = policy.lower()
                owner = await admin.make(MAPS, name)
                await admin.make(SECRETS, name, ownerReferences=owned_by(owner, "ConfigMap", block=True))
                await admin.remove(f"{MAPS}/{name}", policy)
                paths[policy] = (f"{MAPS}/{name}", f"{SECRETS}/{name}")
                assert await admin.find(f"{SECRETS}/{name}"), "nobody collects yet"
            return paths

    async def story() -> None:
        paths = await before()
        async with server(tmp_path, storage="sqlite") as admin:
            await admin.gone(*paths["Background"], *paths["Foreground"], paths["Orphan"][0])
            left = await admin.there(paths["Orphan"][1], lambda found: "ownerReferences" not in found["metadata"])
            assert left

    run(story())


def test_many_dependents_of_one_owner_all_go(tmp_path: Path) -> None:
    async def story() -> None:
        async with server(tmp_path) as admin:
            owner = await admin.make(MAPS, "owner")
            for number in range(300):
                await admin.make(SECRETS, f"s-{number}", ownerReferences=owned_by(owner, "ConfigMap"))
            await admin.remove(f"{MAPS}/owner")
            await admin.gone(*(f"{SECRETS}/s-{number}" for number in range(300)))

    run(story())
