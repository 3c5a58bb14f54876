"""What every namespace has: the ServiceAccount `default` and the ConfigMap of the root CA."""

from __future__ import annotations

from pathlib import Path

from pilothouse.controllers import names

from .servers import ROOT_CA, run, server

NAMESPACES = "/api/v1/namespaces"
SYSTEM = ("default", "kube-node-lease", "kube-public", "kube-system")


def test_old_and_new_namespaces_have_both(tmp_path: Path) -> None:
    async def story() -> None:
        async with server(tmp_path) as admin:
            await admin.namespace("new")
            for name in (*SYSTEM, "new"):
                await admin.there(f"{NAMESPACES}/{name}/serviceaccounts/default")
                published = await admin.there(f"{NAMESPACES}/{name}/configmaps/kube-root-ca.crt")
                assert published["data"] == {"ca.crt": ROOT_CA}
                assert "kubernetes.io/description" in published["metadata"]["annotations"]

    run(story())


def test_what_is_deleted_or_changed_is_put_right(tmp_path: Path) -> None:
    async def story() -> None:
        async with server(tmp_path) as admin:
            account = await admin.there(f"{NAMESPACES}/default/serviceaccounts/default")
            published = await admin.there(f"{NAMESPACES}/default/configmaps/kube-root-ca.crt")
            await admin.remove(f"{NAMESPACES}/default/serviceaccounts/default")
            await admin.there(
                f"{NAMESPACES}/default/serviceaccounts/default",
                lambda found: found["metadata"]["uid"] != account["metadata"]["uid"],
            )
            change = {"data": {"ca.crt": "another", "more": "x"}, "metadata": {"annotations": None}}
            await admin.patch(f"{NAMESPACES}/default/configmaps/kube-root-ca.crt", change)
            right = await admin.there(
                f"{NAMESPACES}/default/configmaps/kube-root-ca.crt",
                lambda found: found["data"] == {"ca.crt": ROOT_CA} and bool(found["metadata"].get("annotations")),
            )
            assert right["metadata"]["uid"] == published["metadata"]["uid"], "it is changed, not made anew"

    run(story())


def test_without_a_root_ca_nothing_is_published(tmp_path: Path) -> None:
    async def story() -> None:
        async with server(tmp_path, root_ca="") as admin:
            await admin.there(f"{NAMESPACES}/kube-system/serviceaccounts/default")
            assert "kube-root-ca.crt" not in await admin.names(f"{NAMESPACES}/kube-system/configmaps")

    run(story())


def test_only_the_controllers_that_were_asked_for_run(tmp_path: Path) -> None:
    async def story() -> None:
        async with server(tmp_path, names.ROOT_CA) as admin:
            await admin.there(f"{NAMESPACES}/kube-system/configmaps/kube-root-ca.crt")
            assert await admin.names(f"{NAMESPACES}/kube-system/serviceaccounts") == set()
            spec = {"containers": [{"name": "c", "image": "i"}]}
            await admin.make(f"{NAMESPACES}/default/pods", "without-account", spec=spec)

    run(story())
