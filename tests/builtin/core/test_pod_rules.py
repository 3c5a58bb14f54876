"""What is refused in pods beyond the recorded conversations: annotations, volumes, references, changes."""

from __future__ import annotations

from typing import Any

import pytest
from writes import Kind

PODS = Kind("", "pods")
ARMOR = "container.apparmor.security.beta.kubernetes.io/"
SECCOMP = "seccomp.security.alpha.kubernetes.io/pod"
COST = "controller.kubernetes.io/pod-deletion-cost"
MIRROR = "kubernetes.io/config.mirror"


def pod(annotations: Any = None, *, name: str = "a", **spec: Any) -> dict[str, Any]:
    metadata = {"name": name, **({"annotations": annotations} if annotations else {})}
    return {"metadata": metadata, "spec": {"containers": [{"name": "c", "image": "i"}], **spec}}


def container(**fields: Any) -> dict[str, Any]:
    return pod(containers=[{"name": "c", "image": "i", **fields}])


def volume(**source: Any) -> dict[str, Any]:
    return pod(volumes=[{"name": "v", **source}])


@pytest.mark.parametrize(
    ("annotations", "path", "message"),
    [
        ({MIRROR: "x"}, f"[{MIRROR}]", 'Invalid value: "x": must set spec.nodeName if mirror pod annotation is set'),
        ({COST: "+1"}, f"[{COST}]", 'Invalid value: "+1": must be a 32bit integer'),
        ({COST: "007"}, f"[{COST}]", 'Invalid value: "007": must be a 32bit integer'),
        ({COST: "3000000000"}, f"[{COST}]", 'Invalid value: "3000000000": must be a 32bit integer'),
        ({SECCOMP: "x"}, f".{SECCOMP}", 'Invalid value: "x": must be a valid seccomp profile'),
        ({SECCOMP: "localhost//x"}, f".{SECCOMP}", 'Invalid value: "/x": must be a relative path'),
        ({ARMOR + "d": "unconfined"}, f"[{ARMOR}d]", 'Invalid value: "d": container not found'),
        ({ARMOR + "c": "odd"}, f"[{ARMOR}c]", 'Invalid value: "odd": invalid AppArmor profile name: "odd"'),
    ],
)
def test_annotations_with_a_meaning_are_judged(annotations: Any, path: str, message: str) -> None:
    assert PODS.causes(pod(annotations)) == [(f"metadata.annotations{path}", message)]
    template = {"metadata": {"annotations": annotations, "labels": {"a": "b"}}, "spec": pod()["spec"]}
    sets = Kind("apps", "replicasets")
    assert sets.causes({"spec": {"selector": {"matchLabels": {"a": "b"}}, "template": template}}) == [
        (f"spec.template.annotations{path}", message)
    ]


def test_costs_that_are_good() -> None:
    for cost in ("0", "-5", "-008", "2147483647", "-2147483648"):
        PODS.create(pod({COST: cost}))


def test_annotations_agree_with_fields() -> None:
    profile = {"securityContext": {"seccompProfile": {"type": "RuntimeDefault"}}}
    assert PODS.causes(pod({SECCOMP: "unconfined"}, **profile)) == [
        (
            "spec.securityContext.seccompProfile.type",
            "Forbidden: seccomp type in annotation and field must match",
        )
    ]
    context = {"appArmorProfile": {"type": "Localhost", "localhostProfile": "a"}}
    sent = pod({ARMOR + "c": "localhost/b"}, containers=[{"name": "c", "image": "i", "securityContext": context}])
    assert PODS.causes(sent) == [
        (
            "spec.containers[0].securityContext.appArmorProfile.localhostProfile",
            "Forbidden: apparmor profile in annotation and field must match",
        )
    ]


def test_some_annotations_are_for_life() -> None:
    old, _ = PODS.create(pod({ARMOR + "c": "unconfined"}, nodeName="n"))
    changed = {"metadata": {"annotations": {ARMOR + "c": None, ARMOR + "d": "unconfined", MIRROR: "x"}}}
    with pytest.raises(Exception, match="may not remove or update AppArmor annotations") as refused:
        PODS.change(old, changed)
    assert refused.value.causes == [  # type: ignore[attr-defined]
        (f"metadata.annotations[{ARMOR}d]", 'Invalid value: "d": container not found'),
        (f"metadata.annotations[{ARMOR}c]", "Forbidden: may not remove or update AppArmor annotations"),
        (f"metadata.annotations[{ARMOR}d]", "Forbidden: may not add AppArmor annotations"),
        (f"metadata.annotations[{MIRROR}]", "Forbidden: may not add mirror pod annotation"),
    ]
    PODS.change(old, {"metadata": {"annotations": {"other": "x"}}})


def test_labels_of_templates_are_told_without_metadata() -> None:
    labels = {"a": "b", "c": "-"}
    sent = {"selector": {"matchLabels": {"a": "b"}}, "template": {"metadata": {"labels": labels}, **pod()}}
    sent["template"]["metadata"] = {"labels": labels}
    causes = Kind("apps", "deployments").causes({"spec": sent})
    assert [path for path, _ in causes] == ["spec.template.labels"]


@pytest.mark.parametrize(
    ("source", "path", "message"),
    [
        ({"nfs": {"server": "s"}}, "nfs.path", "Required value"),
        ({"gcePersistentDisk": {}}, "persistentDisk.pdName", "Required value"),
        (
            {"awsElasticBlockStore": {"volumeID": "v", "partition": 256}},
            "awsElasticBlockStore.partition",
            "Invalid value: 256: must be between 1 and 255, inclusive",
        ),
        (
            {"emptyDir": {}, "cephfs": {"monitors": ["a"]}},
            "cephFS",
            "Forbidden: may not specify more than 1 volume type",
        ),
        (
            {"iscsi": {"targetPortal": "p", "iqn": "naa.5000000000000000"}},
            "iscsi.iqn",
            'Invalid value: "naa.5000000000000000": must be valid format',
        ),
        (
            {"flexVolume": {"driver": "d", "options": {"a.K8S.io/x": "y"}}},
            "flexVolume.options[a.K8S.io/x]",
            'Invalid value: "a.K8S.io/x": kubernetes.io and k8s.io namespaces are reserved',
        ),
        (
            {"csi": {"driver": "d", "nodePublishSecretRef": {"name": "A"}}},
            "csi.name",
            'Invalid value: "A": a lowercase RFC 1123 subdomain must',
        ),
        (
            {"quobyte": {"registry": "a", "volume": "v"}},
            "quobyte.registry",
            'Invalid value: "a": must be a host:port pair or multiple pairs separated by commas',
        ),
        (
            {"projected": {"sources": [{"clusterTrustBundle": {"name": "A", "path": "p"}}]}},
            "projected.sources[0].clusterTrustBundle.name",
            'Invalid value: "A": not a valid clustertrustbundlename: a lowercase RFC 1123 subdomain must',
        ),
    ],
)
def test_sources_of_volumes(source: Any, path: str, message: str) -> None:
    first = PODS.causes(volume(**source))[0]
    assert first[0] == f"spec.volumes[0].{path}"
    assert first[1].startswith(message)


def test_every_source_of_a_projection_is_judged() -> None:
    both = {"configMap": {"name": ""}, "secret": {"name": ""}}
    assert PODS.causes(volume(projected={"sources": [both]})) == [
        ("spec.volumes[0].projected.sources[0].secret.name", "Required value"),
        ("spec.volumes[0].projected.sources[0].configMap.name", "Required value"),
        (
            "spec.volumes[0].projected.sources[0]",
            "Forbidden: may not specify more than 1 volume type per source",
        ),
    ]


def test_in_a_long_projection_what_is_wrong_is_told_where_it_is() -> None:
    sources: list[Any] = [{"secret": {"name": f"s{number}"}} for number in range(500)]
    sources[130] = {}
    sources[200] = {"secret": {"name": ""}}
    sources[300:450] = [{"secret": {"name": "s", "items": [{"key": "k", "path": "p"}]}}] * 2 + [{}] * 148
    sources[460] = {"serviceAccountToken": {"path": "t"}}
    whole = "spec.volumes[0].projected"
    assert PODS.causes(volume(projected={"sources": sources})) == [
        (f"{whole}.sources[200].secret.name", "Required value"),
        (whole, 'Invalid value: "s": conflicting duplicate paths'),
        (
            f"{whole}.sources[460].serviceAccountToken",
            "Forbidden: must not be specified when serviceAccountName is not set",
        ),
    ]


def test_a_token_is_for_a_named_account() -> None:
    sources = {"projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]}}
    path = "spec.volumes[0].projected.sources[0].serviceAccountToken"
    why = "Forbidden: must not be specified when serviceAccountName is not set"
    assert PODS.causes(volume(**sources)) == [(path, why)]
    named = volume(**sources)
    named["spec"]["serviceAccountName"] = "sa"
    PODS.create(named)


def test_claims_made_for_ephemeral_volumes() -> None:
    template = {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}
    ephemeral = {"name": "v", "ephemeral": {"volumeClaimTemplate": template}}
    taken = {"name": "w", "persistentVolumeClaim": {"claimName": "a-v"}}
    why = "must not reference a PVC that gets created for an ephemeral volume"
    assert PODS.causes(pod(volumes=[ephemeral, taken])) == [
        ("spec.volumes[1].persistentVolumeClaim.claimName", f'Invalid value: "a-v": {why}')
    ]
    long = "a" * 252
    assert PODS.causes(pod(name=long, volumes=[ephemeral])) == [
        (
            "spec.volumes[0].name",
            f'Invalid value: "v": PVC name "{long}-v": must be no more than 253 characters',
        )
    ]


def test_without_nameservers_the_rest_of_dns_is_not_looked_at() -> None:
    config = {"dnsPolicy": "None", "dnsConfig": {"searches": ["A_!"], "options": [{"value": "x"}]}}
    assert [path for path, _ in PODS.causes(pod(**config))] == ["spec.dnsConfig.nameservers"]


def test_ports_of_an_init_container_clash_with_each_other_only() -> None:
    ports = [{"containerPort": 1, "hostPort": 5}, {"containerPort": 2, "hostPort": 5}]
    init = [{"name": "i", "image": "i", "ports": ports[:1]}, {"name": "j", "image": "i", "ports": ports}]
    assert PODS.causes(pod(initContainers=init)) == [
        ("spec.initContainers[0].ports[1].hostPort", 'Duplicate value: "TCP//5"')
    ]


def test_field_references() -> None:
    def sent(path: str) -> dict[str, Any]:
        return container(env=[{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": path}}}])

    path, message = PODS.causes(sent("spec['a']"))[0]
    assert path == "spec.containers[0].env[0].valueFrom.fieldRef.fieldPath"
    assert message.endswith(": error converting fieldPath: field label does not support subscript: spec['a']")
    PODS.create(sent("spec.host"))


def test_values_of_selectors_are_label_values() -> None:
    selector = {"matchExpressions": [{"key": "a", "operator": "In", "values": ["not ok"]}]}
    spread = [{"maxSkew": 1, "topologyKey": "z", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector}]
    term = {"topologyKey": "z", "labelSelector": selector}
    affinity = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    paths = [path for path, _ in PODS.causes(pod(affinity=affinity, topologySpreadConstraints=spread))]
    where = "labelSelector.matchExpressions[0].values[0]"
    assert paths == [
        f"spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].{where}",
        f"spec.topologySpreadConstraints[0].{where}",
    ]


def test_a_label_key_is_in_the_selector_once() -> None:
    selector = {"matchLabels": {"a": "b"}}
    spread = {"maxSkew": 1, "topologyKey": "z", "whenUnsatisfiable": "DoNotSchedule"}
    sent = pod(topologySpreadConstraints=[{**spread, "labelSelector": selector, "matchLabelKeys": ["a"]}])
    sent["metadata"]["labels"] = {"a": "b"}
    assert PODS.causes(sent) == [
        (
            "spec.topologySpreadConstraints[0][0]",
            'Invalid value: "a": exists in both matchLabelKeys and labelSelector',
        )
    ]


def test_a_change_of_more_than_one_kind_is_told_of_each() -> None:
    old, _ = PODS.create(pod(tolerations=[{"key": "a", "operator": "Exists"}]))
    with pytest.raises(Exception, match="existing toleration") as refused:
        PODS.change(old, {"spec": {"tolerations": [], "hostname": "h"}})
    causes = refused.value.causes  # type: ignore[attr-defined]
    assert [path for path, _ in causes] == ["spec.tolerations", "spec"]


def test_a_deadline_that_is_raised_ends_the_comparison() -> None:
    old, _ = PODS.create(pod(activeDeadlineSeconds=5))
    with pytest.raises(Exception, match="less than or equal") as refused:
        PODS.change(old, {"spec": {"activeDeadlineSeconds": 6, "hostname": "h"}})
    assert len(refused.value.causes) == 1  # type: ignore[attr-defined]


MIRRORED = {MIRROR: "x"}


@pytest.mark.parametrize(
    ("part", "change", "message"),
    [
        (
            "ephemeralcontainers",
            {"ephemeralContainers": [{"name": "d", "image": "i"}]},
            "Forbidden: static pods do not support ephemeral containers",
        ),
        ("resize", {}, "Forbidden: static pods cannot be resized"),
    ],
)
def test_static_pods_stay_as_their_kubelet_says(part: str, change: Any, message: str) -> None:
    old, _ = PODS.create(pod(MIRRORED, nodeName="n"))
    assert PODS.causes({**old, "spec": {**old["spec"], **change}}, old, part) == [("[]", message)]


def test_pods_are_resized_where_the_kubelet_can() -> None:
    old, _ = PODS.create(container(resources={"requests": {"cpu": "1", "ephemeral-storage": "1Gi"}}))
    old["status"]["containerStatuses"] = [{"name": "c", "image": "i", "state": {"running": {}}}]
    new = {**old, "spec": {**old["spec"], "containers": [{"name": "c", "resources": {"requests": {"cpu": "2"}}}]}}
    assert PODS.causes(new, old, "resize") == [
        ("spec", "Forbidden: Pod running on node without support for resize"),
        ("spec.containers[0].resources.requests", "Forbidden: resource requests cannot be removed"),
        ("spec", "Forbidden: only cpu and memory resources are mutable"),
    ]


def test_node_affinity_of_a_gated_pod_is_extended_at_its_end() -> None:
    def affinity(*keys: str) -> dict[str, Any]:
        expressions = [{"key": key, "operator": "Exists"} for key in keys]
        terms = {"nodeSelectorTerms": [{"matchExpressions": expressions}]}
        return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}

    old, _ = PODS.create(pod(schedulingGates=[{"name": "g"}], affinity=affinity("a")))
    PODS.change(old, {"spec": {"affinity": affinity("a", "b")}})
    new = {**old, "spec": {**old["spec"], "affinity": affinity("b", "a")}}
    [(path, message)] = PODS.causes(new, old)
    assert path.endswith(".requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0]")
    assert message.endswith(": only additions are allowed (no mutations or deletions)")


def ended_then_running(policy: str, code: int, **fields: Any) -> list[tuple[str, str]]:
    body = container(**fields)
    body["spec"]["restartPolicy"] = policy
    old, _ = PODS.create(body)
    status = {"name": "c", "image": "i", "state": {"terminated": {"exitCode": code}}}
    old["status"]["containerStatuses"] = [status]
    again = {**status, "state": {"running": {}}}
    return PODS.causes({**old, "status": {**old["status"], "containerStatuses": [again]}}, old, "status")


@pytest.mark.parametrize(
    ("policy", "code", "fields"),
    [
        ("Never", 1, {}),
        ("OnFailure", 0, {}),
        ("Always", 1, {"restartPolicy": "Never"}),
        ("Always", 0, {"restartPolicy": "OnFailure"}),
    ],
)
def test_a_container_that_has_ended_for_good_stays_so(policy: str, code: int, fields: dict[str, Any]) -> None:
    told = ("status.containerStatuses[0].state", "Forbidden: may not be transitioned to non-terminated state")
    assert ended_then_running(policy, code, **fields) == [told]


def test_a_container_starts_again_by_its_rules() -> None:
    rule = {"action": "Restart", "exitCodes": {"operator": "In", "values": [42]}}
    body = container(restartPolicy="Never", restartPolicyRules=[rule])
    body["spec"]["restartPolicy"] = "Never"
    old, _ = PODS.create(body)
    status = {"name": "c", "image": "i", "imageID": "x", "state": {"terminated": {"exitCode": 42}}}
    old["status"]["containerStatuses"] = [status]
    changed, _ = PODS.change(old, {"status": {"containerStatuses": [{**status, "state": {"running": {}}}]}}, "status")
    assert "running" in changed["status"]["containerStatuses"][0]["state"]


def test_a_bound_pod_is_nominated_for_no_node() -> None:
    body = container()
    body["spec"]["nodeName"] = "n"
    old, _ = PODS.create(body)
    assert PODS.causes({**old, "status": {**old["status"], "nominatedNodeName": "m"}}, old, "status") == [
        ("status.nominatedNodeName", "Forbidden: may not be set on pods that are already bound to a node")
    ]


def test_the_claim_for_extended_resources_maps_requests_of_containers() -> None:
    old, _ = PODS.create(container(resources={"limits": {"example.com/d": "1"}}))
    good = {"containerName": "c", "resourceName": "example.com/d", "requestName": "r"}
    mappings = [good, good, {**good, "containerName": "x"}, {**good, "resourceName": "y"}]
    claim = {"resourceClaimName": "", "requestMappings": mappings}
    found = PODS.causes({**old, "status": {**old["status"], "extendedResourceClaimStatus": claim}}, old, "status")
    path = "status.extendedResourceClaimStatus"
    assert [field.removeprefix(f"{path}.") for field, _ in found] == [
        "requestMappings[1].containerName",
        "requestMappings[1].resourceName",
        "requestMappings[1].requestName",
        "requestMappings[2].containerName",
        "requestMappings[3].resourceName",
        "resourceClaimName",
    ]
    empty = {**old, "status": {**old["status"], "extendedResourceClaimStatus": {"resourceClaimName": "a"}}}
    assert PODS.causes(empty, old, "status") == [
        (f"{path}.requestMappings", "Required value: at least one request mapping is required")
    ]


def test_users_tell_a_signer_in_domains_of_their_own() -> None:
    certificate = {"signerName": "example.com/s", "keyType": "ED25519", "keyPath": "k"}
    source = {"podCertificate": {**certificate, "userAnnotations": {"a.b/c": "d", "bare": "x"}}}
    body = container()
    body["spec"]["volumes"] = [{"name": "v", "projected": {"sources": [source]}}]
    assert PODS.causes(body) == [
        (
            "spec.volumes[0].projected.sources[0].podCertificate.userAnnotations",
            'Invalid value: "bare": must be a domain-prefixed key (such as "acme.io/foo")',
        )
    ]


def test_what_statuses_of_containers_may_say() -> None:
    old, _ = PODS.create(container(resources={"limits": {"example.com/d": "1"}}))
    ended = {"name": "e", "image": "i", "state": {"terminated": {"exitCode": 0}}}
    old["status"]["ephemeralContainerStatuses"] = [ended]
    devices = {"resources": [{"resourceID": "1", "health": "Odd"}, {"resourceID": "1", "health": "Healthy"}]}
    statuses = [
        {
            "name": "c",
            "image": "i",
            "user": {"linux": {"uid": -1, "gid": 0}},
            "allocatedResourcesStatus": [{"name": "example.com/d"}, {"name": "claim:x/y", **devices}],
        }
    ]
    again = {"name": "e", "image": "i", "state": {"running": {}}, "allocatedResourcesStatus": [{"name": "x"}]}
    new = {**old, "status": {**old["status"], "containerStatuses": statuses, "ephemeralContainerStatuses": [again]}}
    where = "status.containerStatuses[0].allocatedResourcesStatus[1]"
    assert PODS.causes(new, old, "status") == [
        ("status.ephemeralContainerStatuses[0].state", "Forbidden: may not be transitioned to non-terminated state"),
        ("status.containerStatuses[0].linux.uid", "Invalid value: -1: must be between 0 and 2147483647, inclusive"),
        (
            f"{where}.name",
            'Invalid value: "claim:x/y": must match one of the container\'s resource claims in a format '
            "'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty",
        ),
        (
            f"{where}.resources[0].health",
            'Unsupported value: "Odd": supported values: "Healthy", "Unhealthy", "Unknown"',
        ),
        (f"{where}.resources[1].resourceID", 'Duplicate value: "1"'),
        (
            "status.ephemeralContainerStatuses[0].allocatedResourcesStatus",
            "Forbidden: must not be specified in container status",
        ),
    ]


@pytest.mark.parametrize(
    ("user", "messages"),
    [
        ("a" * 104, []),
        ("a" * 105, ["runAsUserName's User length must not be longer than 104 characters"]),
        ("a\\b\\c", ["runAsUserName cannot contain more than one backslash"]),
        ("\\a", ["runAsUserName's Domain doesn't match the NetBios nor the DNS format"]),
        ("D\\", ["runAsUserName's User cannot be empty"]),
        ("D\\. ", ["runAsUserName's User cannot contain only periods or spaces"]),
        ("a@b", ["runAsUserName's User cannot contain the following characters: \"/\\:;|=,+*?<>@[]"]),
    ],
)  # fmt: skip
def test_users_of_windows(user: str, messages: list[str]) -> None:
    sent = pod(securityContext={"windowsOptions": {"runAsUserName": user}})
    if not messages:
        PODS.create(sent)
        return
    assert [message.split(": ", 2)[2] for _, message in PODS.causes(sent)] == messages


def test_templates_leave_to_pods_what_is_open() -> None:
    ports = [{"name": "c", "image": "i", "ports": [{"containerPort": 80}]}]
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"hostNetwork": True, "containers": ports}}
    made, _ = Kind("apps", "deployments").create(
        {"spec": {"selector": {"matchLabels": {"a": "b"}}, "template": template}}
    )
    assert made["spec"]["template"]["spec"]["containers"][0]["ports"] == [{"containerPort": 80, "protocol": "TCP"}]
    made, _ = PODS.create(pod(hostNetwork=True, containers=ports))
    assert made["spec"]["containers"][0]["ports"][0]["hostPort"] == 80


def test_a_volume_of_an_image_names_it_in_templates_too() -> None:
    named = "volumes[0].image.reference"
    assert PODS.causes(volume(image={})) == [(f"spec.{named}", "Required value")]
    template = {"metadata": {"labels": {"a": "b"}}, "spec": volume(image={})["spec"]}
    sent = {"spec": {"selector": {"matchLabels": {"a": "b"}}, "template": template}}
    assert Kind("apps", "deployments").causes(sent) == [(f"spec.template.spec.{named}", "Required value")]


def test_requests_of_a_pod_cover_what_its_containers_ask_for() -> None:
    own = [{"name": "c", "image": "i", "resources": {"requests": {"memory": "64Mi"}}}]
    made, _ = PODS.create(pod(resources={"limits": {"cpu": "1"}}, containers=own))
    assert made["spec"]["resources"]["requests"] == {"cpu": "1", "memory": "64Mi"}


def whole(resources: Any, *limits: dict[str, str]) -> dict[str, Any]:
    """A pod with resources of its own, and a container for each of `limits`."""
    own = [{"name": f"c{i}", "image": "i", "resources": {"limits": one}} for i, one in enumerate(limits)]
    return pod(resources=resources, containers=own)


@pytest.mark.parametrize(
    ("sent", "limits"),
    [
        (whole({"requests": {"cpu": "1"}}, {"cpu": "400m"}, {"cpu": "300m"}), {"cpu": "1"}),
        (whole({"requests": {"memory": "2Gi"}}, {"cpu": "1"}, {"cpu": "500m"}), {"cpu": "1500m"}),
        (whole({"requests": {"cpu": "1"}}, {"cpu": "400m"}, {}), None),
        (whole({"limits": {"cpu": "2"}}, {"cpu": "1", "memory": "1Gi"}), {"cpu": "2", "memory": "1Gi"}),
        (
            whole({"requests": {"cpu": "1"}}, {"hugepages-2Mi": "4Mi", "cpu": "1"}, {"memory": "1Mi"}),
            {"hugepages-2Mi": "4Mi"},
        ),
    ],
)
def test_limits_of_a_pod_are_those_of_containers_that_all_have_one(sent: Any, limits: Any) -> None:
    made, _ = PODS.create(sent)
    assert made["spec"]["resources"].get("limits") == limits


def test_what_was_filled_in_for_a_pod_stays_though_it_is_not_told_again() -> None:
    sent = whole({"requests": {"cpu": "1"}}, {"cpu": "1", "memory": "1Gi"})
    made, _ = PODS.create(sent)
    assert made["spec"]["resources"] == {
        "limits": {"cpu": "1", "memory": "1Gi"},
        "requests": {"cpu": "1", "memory": "1Gi"},
    }
    again, _ = PODS.update(made, {**sent, "metadata": {"name": "a", "labels": {"x": "y"}}})
    assert again["spec"]["resources"] == made["spec"]["resources"]
    assert again["metadata"]["generation"] == 1


def test_a_resize_that_gives_a_pod_resources_fills_in_the_rest() -> None:
    made, _ = PODS.create(whole(None, {"cpu": "1"}))
    grown, _ = PODS.change(made, {"spec": {"resources": {"requests": {"cpu": "1500m"}}}}, "resize")
    assert grown["spec"]["resources"] == {"limits": {"cpu": "1500m"}, "requests": {"cpu": "1500m"}}


def test_policies_of_resizing_where_nothing_restarts() -> None:
    policy = [{"resourceName": "cpu", "restartPolicy": "RestartContainer"}]
    sent = pod(restartPolicy="Never", containers=[{"name": "c", "image": "i", "resizePolicy": policy}])
    assert PODS.causes(sent) == [
        (
            "spec.containers[0].resizePolicy",
            "Invalid value: \"RestartContainer\": must be 'NotRequired' when `restartPolicy` is 'Never'",
        )
    ]
