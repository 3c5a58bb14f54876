"""What the server says of itself in its own store."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from pilothouse.builtin.presence.leases import IdentityLease, LeaseCleaner, Presence
from pilothouse.builtin.presence.storageversions import Kept, StorageVersions
from pilothouse.machinery.times import format_micro_time

from .support import Front, front, run

LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
START = datetime(2026, 11, 29, tzinfo=UTC)


def leases_of(here: Front) -> Any:
    assert here.application.front is not None
    return here.application.front.stores["coordination.k8s.io", "leases"]


def test_a_server_that_runs_has_a_lease(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with front(tmp_path) as here:
            found = await here.get(f"{LEASES}?labelSelector=apiserver.kubernetes.io/identity%3Dkube-apiserver")
            (lease,) = found["items"]
            name = lease["metadata"]["name"]
            assert name.startswith("apiserver-") and len(name) == len("apiserver-") + 26
            assert lease["spec"]["holderIdentity"].startswith(f"{name}_")
            assert lease["spec"]["leaseDurationSeconds"] == 3600
            assert lease["metadata"]["managedFields"][0]["manager"] == "kube-apiserver"
            tracking = "/api/v1/namespaces/kube-system/configmaps/kube-apiserver-legacy-service-account-token-tracking"
            assert len((await here.get(tracking))["data"]["since"]) == len("2026-11-29")

    run(scenario)


def test_the_lease_is_renewed_and_comes_back(tmp_path: Path) -> None:
    now = [START]

    async def scenario() -> None:
        async with front(tmp_path) as here:
            store = leases_of(here)
            lease = IdentityLease(store, Presence("a-machine", "1", "10.0.0.1:6443"), lambda: now[0])
            path = f"{LEASES}/{Presence('a-machine', '', '').name}"
            await lease.renew()
            assert (await here.get(path))["spec"]["renewTime"] == format_micro_time(START)
            now[0] += timedelta(seconds=10)
            await lease.renew()
            found = await here.get(path)
            assert found["spec"]["renewTime"] == format_micro_time(now[0])
            assert found["metadata"]["annotations"] == {"kubernetes.io/peer-advertise-address": "10.0.0.1:6443"}
            await here.call("DELETE", path)
            await lease.renew()
            assert await here.exists(path)

    run(scenario)


def test_leases_of_servers_that_are_gone_are_removed(tmp_path: Path) -> None:
    now = [START]

    async def scenario() -> None:
        async with front(tmp_path) as here:
            store = leases_of(here)
            for machine, age in (("old", 3601), ("young", 3500)):
                lease = IdentityLease(store, Presence(machine, "1", ""), lambda age=age: START - timedelta(seconds=age))
                await lease.renew()
            await here.make(LEASES, {"metadata": {"name": "someone-elses"}, "spec": {}})
            assert await LeaseCleaner(store, lambda: now[0]).clean() == 1
            names = {item["metadata"]["name"] for item in (await here.get(LEASES))["items"]}
            assert Presence("young", "", "").name in names and "someone-elses" in names
            assert Presence("old", "", "").name not in names

    run(scenario)


STORAGE_VERSIONS = "/apis/internal.apiserver.k8s.io/v1alpha1/storageversions"
ON = {
    "runtime_config": (("internal.apiserver.k8s.io/v1alpha1", "true"),),
    "feature_gates": (("StorageVersionAPI", "true"),),
}


def test_others_are_told_how_each_kind_is_kept_where_that_is_wanted(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with front(tmp_path, **ON) as here:
            listed = {one["metadata"]["name"]: one["status"] for one in (await here.get(STORAGE_VERSIONS))["items"]}
            assert {"core.pods", "apps.deployments", "autoscaling.horizontalpodautoscalers"} <= listed.keys()
            scaler = listed["autoscaling.horizontalpodautoscalers"]
            assert scaler["commonEncodingVersion"] == "autoscaling/v2"
            (own,) = scaler["storageVersions"]
            assert own["apiServerID"].startswith("apiserver-")
            assert (own["encodingVersion"], own["servedVersions"]) == (
                "autoscaling/v2",
                ["autoscaling/v1", "autoscaling/v2"],
            )
            (condition,) = scaler["conditions"]
            assert (condition["type"], condition["status"]) == ("AllEncodingVersionsEqual", "True")
            assert condition["reason"] == "CommonEncodingVersionSet"
            hook = "/readyz/poststarthook/built-in-resources-storage-version-updater"
            assert (await here.call("GET", hook))[0] == 200

    run(scenario)


def test_servers_that_do_not_agree_have_no_common_version(tmp_path: Path) -> None:
    now = datetime(2026, 11, 29, tzinfo=UTC)
    pods = Kept("core.pods", "v1", ("v1",), ("v1",))

    async def scenario() -> None:
        async with front(tmp_path, **ON) as here:
            assert here.application.front is not None
            store = here.application.front.stores["internal.apiserver.k8s.io", "storageversions"]
            other = StorageVersions(store, "apiserver-other", lambda: now)
            await other.tell([replace(pods, encoding="v2", decodable=("v2",))])
            status = (await here.get(f"{STORAGE_VERSIONS}/core.pods"))["status"]
            assert [one["encodingVersion"] for one in status["storageVersions"]] == ["v1", "v2"]
            assert "commonEncodingVersion" not in status
            assert status["conditions"][0]["reason"] == "CommonEncodingVersionUnset"
            await other.tell([pods])
            status = (await here.get(f"{STORAGE_VERSIONS}/core.pods"))["status"]
            assert status["commonEncodingVersion"] == "v1"
            assert [one["apiServerID"] for one in status["storageVersions"]][-1] == "apiserver-other"

    run(scenario)
