"""What is refused in the smaller kinds of the core group, beyond the recorded conversations."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from writes import Kind

CLAIMS = Kind("", "persistentvolumeclaims")
CLASS = "volume.beta.kubernetes.io/storage-class"
NODES = Kind("", "nodes")
SERVICES = Kind("", "services")
VOLUMES = Kind("", "persistentvolumes")


def claim(annotations: Any = None, **spec: Any) -> dict[str, Any]:
    metadata = {"annotations": annotations} if annotations else {}
    rest = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    return {"metadata": metadata, "spec": {**rest, **spec}}


def test_the_mode_of_a_claim_is_for_life() -> None:
    old, _ = CLAIMS.create(claim())
    causes = CLAIMS.causes({**old, "spec": {**old["spec"], "volumeMode": "Block"}}, old)
    assert [path for path, _ in causes] == ["spec", "volumeMode"]
    assert causes[1][1] == 'Invalid value: "Block": field is immutable'


def test_a_class_may_be_given_later() -> None:
    old, _ = CLAIMS.create(claim(volumeName="v"))
    CLAIMS.change(old, {"spec": {"storageClassName": "fast"}})
    old, _ = CLAIMS.create(claim({CLASS: "fast"}))
    CLAIMS.change(old, {"spec": {"storageClassName": "fast"}})
    causes = CLAIMS.causes({**old, "spec": {**old["spec"], "storageClassName": "slow"}}, old)
    assert [path for path, _ in causes] == ["spec"]
    other = {**old, "metadata": {**old["metadata"], "annotations": {CLASS: "slow"}}}
    assert CLAIMS.causes(other, old) == [(f"metadata.annotations.{CLASS}", 'Invalid value: "slow": field is immutable')]


@pytest.mark.parametrize(
    ("source", "path", "message"),
    [
        (
            {"glusterfs": {"endpoints": "e", "path": "p", "endpointsNamespace": ""}},
            "glusterfs.endpointsNamespace",
            None,
        ),
        ({"cinder": {"volumeID": "v", "secretRef": {"name": "s"}}}, "cinder.secretRef.namespace", "Required value"),
        ({"storageos": {"volumeName": "v", "secretRef": {"name": "s"}}}, "storageos.secretRef.namespace", None),
        (
            {"iscsi": {"targetPortal": "p", "iqn": "odd"}},
            "iscsi.iqn",
            'Invalid value: "odd": must be valid format',
        ),
        (
            {"csi": {"driver": "d", "volumeHandle": "h", "nodePublishSecretRef": {"name": "A", "namespace": "n"}}},
            "csi.nodePublishSecretRef.name",
            None,
        ),
    ],
)
def test_sources_of_persistent_volumes(source: Any, path: str, message: str | None) -> None:
    spec = {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], **source}
    [(told, why)] = VOLUMES.causes({"spec": spec})
    assert told == f"spec.{path}"
    assert message is None or why == message


def test_a_root_by_another_name_is_not_recycled() -> None:
    spec = {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "//."}}
    causes = VOLUMES.causes({"spec": {**spec, "persistentVolumeReclaimPolicy": "Recycle"}})
    assert causes == [
        ("spec.persistentVolumeReclaimPolicy", "Forbidden: may not be 'recycle' for a hostPath mount of '/'")
    ]


def test_limits_of_what_cannot_be_overcommitted() -> None:
    item = {"type": "Container", "default": {"example.com/d": "2"}, "defaultRequest": {"example.com/d": "1"}}
    assert Kind("", "limitranges").causes({"spec": {"limits": [item]}}) == [
        (
            "spec.limits[0].defaultRequest[example.com/d]",
            'Invalid value: "1": default value 2 must equal to defaultRequest value 1 in example.com/d',
        )
    ]
    causes = Kind("", "limitranges").causes({"spec": {"limits": [{"type": "Pod", "max": {"storage": "1Gi"}}]}})
    assert causes == [
        ("spec.limits[0].max[storage]", 'Invalid value: "storage": must be a standard resource for containers')
    ]


def test_quotas_count_within_scopes_what_scopes_tell_apart() -> None:
    quotas = Kind("", "resourcequotas")
    quotas.create({"spec": {"hard": {"requests.hugepages-2Mi": "4Mi"}}})
    assert quotas.causes({"spec": {"hard": {"requests.ephemeral-storage": "1Gi"}, "scopes": ["Terminating"]}}) == [
        ("spec.scopes", 'Invalid value: ["Terminating"]: unsupported scope applied to resource')
    ]


def test_docker_settings_are_objects() -> None:
    secrets = Kind("", "secrets")
    for text, kind in (("[1]", "array"), ("1", "number"), ('"a"', "string"), ("true", "bool")):
        data = {".dockerconfigjson": base64.b64encode(text.encode()).decode()}
        assert secrets.causes({"type": "kubernetes.io/dockerconfigjson", "data": data}) == [
            (
                "data[.dockerconfigjson]",
                'Invalid value: "<secret contents redacted>": '
                f"json: cannot unmarshal {kind} into Go value of type map[string]interface {{}}",
            )
        ]


def test_large_secrets_are_told_of_their_data() -> None:
    data = {"a": base64.b64encode(b"x" * (1 << 20)).decode(), "b": "eA=="}
    assert Kind("", "secrets").causes({"data": data}) == [("data", "Too long: may not be more than 1048576 bytes")]


def test_source_ranges_are_judged_for_every_type() -> None:
    sent = {"ports": [{"port": 10250}], "loadBalancerSourceRanges": ["all"]}
    assert [path for path, _ in Kind("", "services").causes({"spec": sent})] == [
        "spec.LoadBalancerSourceRanges",
        "spec.LoadBalancerSourceRanges[0]",
    ]
    Kind("", "services").create({"spec": {"type": "LoadBalancer", "ports": [{"port": 10250}]}})


def service(**spec: Any) -> dict[str, Any]:
    return {"spec": {"ports": [{"port": 80}], **spec}}


def test_no_address_stands_alone() -> None:
    told = [("spec.clusterIPs", 'Invalid value: ["None","10.0.0.9"]: \'None\' must be the first and only value')]
    assert SERVICES.causes(service(clusterIP="None", clusterIPs=["None", "10.0.0.9"])) == told


def test_a_headless_service_without_selector_may_change_its_family() -> None:
    made, _ = SERVICES.create(service(clusterIP="None", clusterIPs=["None"], ipFamilies=["IPv4"]))
    changed, _ = SERVICES.change(made, {"spec": {"ipFamilies": ["IPv6"]}})
    assert changed["spec"]["ipFamilies"] == ["IPv6"]


def test_only_load_balancers_have_such_a_status() -> None:
    made, _ = SERVICES.create(service())
    status = {"loadBalancer": {"ingress": [{"ip": "1.2.3.4"}]}}
    assert SERVICES.causes({**made, "status": status}, made, "status") == [
        ("status.loadBalancer.ingress", "Forbidden: may only be used when `spec.type` is 'LoadBalancer'")
    ]


def test_a_claim_is_allocated_storage_and_things_of_others() -> None:
    made, _ = CLAIMS.create(claim())
    resizing = {"example.com/x": "NodeResizePending", "cpu": "NodeResizePending"}
    status = {"allocatedResources": {"example.com/x": "1", "cpu": "1"}, "allocatedResourceStatuses": resizing}
    told = 'Unsupported value: "cpu": supported values: "storage"'
    assert CLAIMS.causes({**made, "status": status}, made, "status") == [
        ("status.allocatedResourceStatuses", told),
        ("status.allocatedResources", told),
    ]


def test_features_of_nodes_are_named_in_order() -> None:
    made, _ = NODES.create({"status": {"declaredFeatures": ["A/b", "Feature"]}})
    form = (
        "must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or "
        "MyFeature/mySubFeature), and contain only alphanumeric characters and slashes"
    )
    told = [
        ("status.declaredFeatures[1]", 'Invalid value: "A": list must be sorted alphabetically'),
        ("status.declaredFeatures[2]", 'Duplicate value: "A"'),
        ("status.declaredFeatures[3]", f'Invalid value: "b_": invalid feature name "b_": {form}'),
    ]
    status = {"declaredFeatures": ["B", "A", "A", "b_"]}
    assert NODES.causes({**made, "status": status}, made, "status") == told
    assert NODES.causes({"status": status}) == told


def test_amounts_of_nodes_are_told_before_addresses() -> None:
    made, _ = NODES.create({})
    again = {"type": "InternalIP", "address": "192.0.2.1"}
    status = {"capacity": {"cpu": "-1"}, "allocatable": {"cpu": "1"}, "addresses": [again, again]}
    assert [path for path, _ in NODES.causes({**made, "status": status}, made, "status")] == [
        "status.capacity.cpu",
        "status.addresses[1]",
    ]


def test_a_node_with_swap_has_some() -> None:
    told = [("metadata.nodeSwapStatus.capacity", "Invalid value: 0: must be greater than zero")]
    assert NODES.causes({"status": {"nodeInfo": {"swap": {"capacity": 0}}}}) == told


def test_where_configuration_came_from_is_told_no_more() -> None:
    made, _ = NODES.create({})
    changed, _ = NODES.update(made, {**made, "status": {"config": {"error": "x"}, "phase": "Running"}}, "status")
    assert changed["status"] == {**changed["status"], "phase": "Running"}
    assert "config" not in changed["status"]
