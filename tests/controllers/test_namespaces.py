"""Deleting a namespace: its content goes first, its conditions tell how far that is, what holds content holds it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pilothouse.controllers import names
from pilothouse.controllers.namespaces.conditions import Findings, conditions_of

from .servers import Admin, Object, run, server

NAMESPACES = "/api/v1/namespaces"


def conditions(namespace: Object) -> dict[str, tuple[str, str, str]]:
    found = namespace.get("status", {}).get("conditions") or ()
    return {one["type"]: (one["status"], one["reason"], one["message"]) for one in found}


async def fill(admin: Admin, path: str) -> list[str]:
    """A few objects of several groups; their paths."""
    name = path.rpartition("/")[2]
    collections = [
        f"{path}/configmaps",
        f"{path}/secrets",
        f"/apis/coordination.k8s.io/v1/namespaces/{name}/leases",
        f"/apis/rbac.authorization.k8s.io/v1/namespaces/{name}/roles",
    ]
    for collection in collections:
        for number in range(3):
            await admin.make(collection, f"thing-{number}")
    return [f"{collection}/thing-{number}" for collection in collections for number in range(3)]


def test_a_deleted_namespace_goes_with_all_that_is_in_it(tmp_path: Path) -> None:
    async def story() -> None:
        async with server(tmp_path) as admin:
            paths = [*await fill(admin, await admin.namespace("one")), *await fill(admin, await admin.namespace("two"))]
            await admin.remove(f"{NAMESPACES}/one")
            await admin.gone(f"{NAMESPACES}/one", *paths[:12])
            assert all([await admin.find(path) for path in paths[12:]]), "the other namespace is left alone"

    run(story())


def test_content_with_a_finalizer_holds_its_namespace_which_says_so(tmp_path: Path) -> None:
    async def story() -> None:
        async with server(tmp_path) as admin:
            path = await admin.namespace("held")
            await admin.make(f"{path}/configmaps", "stays", finalizers=["example.com/wait"])
            await admin.make(f"{path}/configmaps", "goes")
            await admin.remove(path)
            await admin.gone(f"{path}/configmaps/goes")
            namespace = await admin.there(path, lambda found: "NamespaceContentRemaining" in conditions(found))
            assert namespace["status"]["phase"] == "Terminating"
            assert conditions(namespace) == {
                "NamespaceDeletionDiscoveryFailure": (
                    "False", "ResourcesDiscovered", "All resources successfully discovered",
                ),
                "NamespaceDeletionGroupVersionParsingFailure": (
                    "False", "ParsedGroupVersions", "All legacy kube types successfully parsed",
                ),
                "NamespaceDeletionContentFailure": (
                    "False", "ContentDeleted", "All content successfully deleted, may be waiting on finalization",
                ),
                "NamespaceContentRemaining": (
                    "True", "SomeResourcesRemain",
                    "Some resources are remaining: configmaps. has 1 resource instances",
                ),
                "NamespaceFinalizersRemaining": (
                    "True", "SomeFinalizersRemain",
                    "Some content in the namespace has finalizers remaining: example.com/wait in 1 resource instances",
                ),
            }  # fmt: skip
            await admin.patch(f"{path}/configmaps/stays", {"metadata": {"finalizers": None}})
            await admin.gone(path)

    run(story())


def test_pods_go_before_anything_else(tmp_path: Path) -> None:
    async def story() -> None:
        async with server(tmp_path) as admin:
            path = await admin.namespace("pods")
            spec = {"containers": [{"name": "c", "image": "i"}], "terminationGracePeriodSeconds": 5}
            await admin.make(f"{path}/pods", "runs", spec={**spec, "nodeName": "somewhere"})
            await admin.make(f"{path}/configmaps", "needed")
            await admin.remove(path)
            namespace = await admin.there(path, lambda found: "NamespaceContentRemaining" in conditions(found))
            assert conditions(namespace)["NamespaceContentRemaining"][2] == (
                "Some resources are remaining: pods. has 1 resource instances"
            )
            assert await admin.find(f"{path}/configmaps/needed"), "what a pod may need is there until it has stopped"
            await admin.delete(f"{path}/pods/runs", {"gracePeriodSeconds": 0})
            await admin.gone(path)

    run(story())


def test_pods_of_a_node_that_does_not_exist_go_when_their_time_is_over(tmp_path: Path) -> None:
    async def story() -> None:
        async with server(tmp_path) as admin:
            path = await admin.namespace("lost")
            spec = {"containers": [{"name": "c", "image": "i"}], "terminationGracePeriodSeconds": 1}
            await admin.make(f"{path}/pods", "lost", spec={**spec, "nodeName": "nowhere"})
            await admin.remove(path)
            await admin.gone(path)

    run(story())


def test_a_namespace_with_a_finalizer_of_its_own_stays_after_its_content(tmp_path: Path) -> None:
    async def story() -> None:
        async with server(tmp_path) as admin:
            spec = {"finalizers": ["example.com/mine"]}
            await admin.make(NAMESPACES, "own", spec=spec)
            path = f"{NAMESPACES}/own"
            await admin.make(f"{path}/configmaps", "goes")
            await admin.remove(path)
            namespace = await admin.there(path, lambda found: found["spec"].get("finalizers") == ["example.com/mine"])
            assert await admin.names(f"{path}/configmaps") == set()
            namespace["spec"] = {"finalizers": []}
            await admin.update(f"{path}/finalize", namespace)
            await admin.gone(path)

    run(story())


def test_a_deletion_that_was_interrupted_is_finished_after_a_restart(tmp_path: Path) -> None:
    async def before() -> None:
        async with server(tmp_path, names.NAMESPACE, storage="sqlite") as admin:
            path = await admin.namespace("slow")
            await fill(admin, path)
            await admin.make(f"{path}/configmaps", "stays", finalizers=["example.com/wait"])
            await admin.remove(path)
            await admin.there(path, lambda found: "NamespaceContentRemaining" in conditions(found))

    async def nobody() -> None:
        async with server(tmp_path, names.SERVICE_ACCOUNT, storage="sqlite") as admin:
            await admin.patch(f"{NAMESPACES}/slow/configmaps/stays", {"metadata": {"finalizers": None}})
            assert await admin.find(f"{NAMESPACES}/slow")

    async def after() -> None:
        async with server(tmp_path, storage="sqlite") as admin:
            await admin.gone(f"{NAMESPACES}/slow")

    run(before())
    run(nobody())
    run(after())


def test_conditions_keep_the_time_of_their_last_change() -> None:
    first = conditions_of([], Findings(remaining={"pods.": 2, "secrets.": 1}), "T1")
    assert first is not None
    assert len(first) == 5
    assert conditions_of(first, Findings(remaining={"pods.": 2, "secrets.": 1}), "T2") is None
    second = conditions_of(first, Findings(remaining={"pods.": 1}), "T3")
    assert second is not None
    remaining: Any = next(one for one in second if one["type"] == "NamespaceContentRemaining")
    assert remaining["message"] == "Some resources are remaining: pods. has 1 resource instances"
    assert remaining["lastTransitionTime"] == "T1"
    third = conditions_of(second, Findings(), "T4")
    assert third is not None
    assert [one["lastTransitionTime"] for one in third if one["type"] == "NamespaceContentRemaining"] == ["T4"]


def test_conditions_name_what_could_not_be_discovered_and_deleted() -> None:
    stale = ("metrics.k8s.io/v1beta1", "stale GroupVersion discovery: metrics.k8s.io/v1beta1")
    found = conditions_of([], Findings(undiscovered=[stale], failures=["b failed", "a failed"]), "T")
    assert found is not None
    by_type = {one["type"]: one for one in found}
    assert by_type["NamespaceDeletionDiscoveryFailure"]["reason"] == "DiscoveryFailed"
    assert by_type["NamespaceDeletionDiscoveryFailure"]["message"] == (
        "Discovery failed for some groups, 1 failing: unable to retrieve the complete list of server APIs: "
        "metrics.k8s.io/v1beta1: stale GroupVersion discovery: metrics.k8s.io/v1beta1"
    )
    assert by_type["NamespaceDeletionContentFailure"]["message"] == (
        "Failed to delete all resource types, 2 remaining: a failed, b failed"
    )
