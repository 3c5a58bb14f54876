"""Which versions are served, as the flags say."""

from __future__ import annotations

from pathlib import Path

import pytest
from inside import run, server

from pilothouse.app.settings import BadSetting, read_settings
from pilothouse.builtin import enablement, facts

NO_BOOLEAN = 'strconv.ParseBool: parsing "maybe": invalid syntax'
ALL = (("api/all", "true"),)


def names(runtime_config: enablement.Pairs = (), feature_gates: enablement.Pairs = ()) -> set[str]:
    served = enablement.served(runtime_config, feature_gates)
    return {f"{row.api_version}/{row.plural}" for row in facts.load() if served(row)}


def test_without_flags_the_default_versions_are_served() -> None:
    assert names() == {f"{row.api_version}/{row.plural}" for row in facts.load() if row.default}


def test_a_level_switches_all_its_versions() -> None:
    beta = names((("api/beta", "true"),))
    assert "resource.k8s.io/v1beta1/resourceclaims" in beta
    assert "resource.k8s.io/v1alpha3/devicetaintrules" not in beta


def test_a_gated_kind_needs_its_version_and_its_gate() -> None:
    kind = "scheduling.k8s.io/v1beta1/workloads"
    gate = (("GenericWorkload", "true"),)
    assert kind not in names(ALL)
    assert kind not in names((), gate)
    assert kind in names(ALL, gate)


def test_the_narrower_word_wins() -> None:
    found = names((("api/all", "false"), ("apps/v1", None), ("apps/v1/deployments", "false")))
    assert "apps/v1/daemonsets" in found
    assert "apps/v1/deployments" not in found
    assert "v1/pods" not in found


@pytest.mark.parametrize(
    ("flag", "why"),
    [
        ("--runtime-config=api/all=maybe", "invalid value api/all=maybe"),
        ("--runtime-config=nosuch.io/v1=true", "unknown api groups nosuch.io/v1"),
        ("--runtime-config=apps/v9=true", "group version apps/v9 that has not been registered"),
        ("--runtime-config=api/all=false", "invalid key with only api/all=false"),
        ("--runtime-config=junk=true", "runtime-config invalid key junk"),
        ("--feature-gates=Nonsense=true", "unrecognized feature gate: Nonsense"),
        ("--feature-gates=GenericWorkload", "missing bool value for GenericWorkload"),
        ("--feature-gates=GenericWorkload=maybe", f"invalid value of GenericWorkload=maybe, err: {NO_BOOLEAN}"),
    ],
)
def test_what_is_not_understood_is_refused_by_name(flag: str, why: str) -> None:
    with pytest.raises(BadSetting) as refused:
        read_settings([flag], {})
    assert str(refused.value) == why


def test_a_gate_that_changes_nothing_here_keeps_its_value() -> None:
    assert read_settings(["--feature-gates=InPlacePodVerticalScaling=true"], {}).feature_gates
    with pytest.raises(BadSetting, match="InPlacePodVerticalScaling can't be switched off"):
        read_settings(["--feature-gates=InPlacePodVerticalScaling=false"], {})


def test_objects_outlive_the_version_they_were_made_in(tmp_path: Path) -> None:
    """The hub stays the same whatever is served, so what is stored can be read with other flags."""

    async def test() -> None:
        async with server(tmp_path, runtime_config=(("autoscaling/v2", "false"),)) as inside:
            assert (await inside.send("GET", "/apis/autoscaling/v2/horizontalpodautoscalers")).status == 404
            path = "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers"
            spec = {"maxReplicas": 3, "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "a"}}
            made = await inside.make(path, {"metadata": {"name": "a"}, "spec": spec})
            assert made["spec"]["targetCPUUtilizationPercentage"] == 80
            listed = await inside.get(path)
            assert listed["apiVersion"] == "autoscaling/v1"

    run(test())


def test_a_server_of_nothing_but_the_core_group_runs(tmp_path: Path) -> None:
    """What is switched off is not served; the server itself goes on to use it."""
    off = tuple(
        (f"{group.name}/{version.version}", "false")
        for group in facts.groups()
        for version in group.versions
        if group.name
    )

    async def test() -> None:
        async with server(tmp_path, runtime_config=off) as inside:
            assert (await inside.send("GET", "/apis/rbac.authorization.k8s.io/v1/clusterroles")).status == 404
            pod = {"metadata": {"name": "a"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
            made = await inside.make("/api/v1/namespaces/default/pods", pod)
            assert made["spec"]["priority"] == 0
            groups = {group["name"] for group in (await inside.get("/apis"))["groups"]}
            assert not groups & {"rbac.authorization.k8s.io", "scheduling.k8s.io", "apps"}

    run(test())
