"""What a service keeps, loses and gets when it is made, changed, and moved between types."""

from __future__ import annotations

from typing import Any

import pytest

from pilothouse.builtin.core.servicefields import (
    drop_of_other_types,
    fill,
    fill_families,
    keep_allocated,
    normalize_addresses,
)


def service(**spec: Any) -> dict[str, Any]:
    made = {"metadata": {"name": "s"}, "spec": spec}
    fill(made)
    return made["spec"]


def test_a_service_with_one_port_gets_the_rest() -> None:
    assert service(ports=[{"port": 80}]) == {
        "ports": [{"port": 80, "protocol": "TCP", "targetPort": 80}],
        "sessionAffinity": "None",
        "type": "ClusterIP",
        "internalTrafficPolicy": "Cluster",
    }


def test_external_services_have_a_policy_and_affinity_a_timeout() -> None:
    spec = service(type="LoadBalancer", sessionAffinity="ClientIP")
    assert spec["externalTrafficPolicy"] == "Cluster"
    assert spec["allocateLoadBalancerNodePorts"] is True
    assert spec["sessionAffinityConfig"] == {"clientIP": {"timeoutSeconds": 10800}}
    assert service(externalIPs=["8.8.8.8"])["externalTrafficPolicy"] == "Cluster"
    assert "externalTrafficPolicy" not in service(type="ExternalName")


@pytest.mark.parametrize(
    ("new", "old", "expected"),
    [
        ({"clusterIP": "10.0.0.1"}, None, ["10.0.0.1"]),
        ({"clusterIP": "", "clusterIPs": ["a"]}, {"clusterIP": "a", "clusterIPs": ["a"]}, None),
        ({"clusterIP": "b", "clusterIPs": ["a"]}, {"clusterIP": "a", "clusterIPs": ["a"]}, ["b"]),
    ],
)
def test_the_two_forms_of_an_address_agree(new: Any, old: Any, expected: Any) -> None:
    normalize_addresses(new, old)
    assert new.get("clusterIPs") == expected


def test_an_update_that_leaves_out_what_was_given_keeps_it() -> None:
    old = {
        "type": "NodePort",
        "clusterIP": "a",
        "clusterIPs": ["a"],
        "ports": [{"port": 80, "protocol": "TCP", "nodePort": 30001}],
    }
    new: dict[str, Any] = {
        "type": "NodePort",
        "ports": [{"port": 80, "protocol": "TCP"}, {"port": 81, "protocol": "TCP"}],
    }
    keep_allocated(new, old)
    assert new["clusterIP"] == "a"
    assert new["ports"] == [{"port": 80, "protocol": "TCP", "nodePort": 30001}, {"port": 81, "protocol": "TCP"}]


def test_what_belongs_to_the_old_type_goes_unless_it_was_changed() -> None:
    old = {"type": "NodePort", "clusterIP": "a", "clusterIPs": ["a"], "externalTrafficPolicy": "Cluster"}
    old["ports"] = [{"port": 80, "nodePort": 30001}]
    plain = {**old, "type": "ClusterIP", "ports": [{"port": 80, "nodePort": 30001}]}
    drop_of_other_types(plain, old)
    assert plain == {"type": "ClusterIP", "clusterIP": "a", "clusterIPs": ["a"], "ports": [{"port": 80}]}
    changed = {**old, "type": "ClusterIP", "ports": [{"port": 80, "nodePort": 30002}]}
    drop_of_other_types(changed, old)
    assert changed["ports"] == [{"port": 80, "nodePort": 30002}]
    named = {**old, "type": "ExternalName"}
    drop_of_other_types(named, old)
    assert "clusterIP" not in named and "clusterIPs" not in named


@pytest.mark.parametrize(
    ("spec", "policy", "families"),
    [
        ({}, "SingleStack", ["IPv4"]),
        ({"ipFamilyPolicy": "PreferDualStack"}, "PreferDualStack", ["IPv4"]),
        ({"clusterIPs": ["fd00::1"]}, "SingleStack", ["IPv6"]),
        ({"clusterIPs": ["None"]}, "RequireDualStack", ["IPv4", "IPv6"]),
        ({"clusterIPs": ["None"], "selector": {"a": "b"}}, "SingleStack", ["IPv4"]),
    ],
)
def test_families_follow_from_what_is_said(spec: Any, policy: str, families: list[str]) -> None:
    made = {"type": "ClusterIP", **spec}
    fill_families(made)
    assert (made["ipFamilyPolicy"], made["ipFamilies"]) == (policy, families)
