"""Pieces of pods: image tags, quality of service, requests from limits, what an update may touch, the printed diff."""

from __future__ import annotations

import time
from typing import Any

import orjson
import pytest

from pilothouse.builtin.core.podchange import ephemeral_update, pod_update
from pilothouse.builtin.shared.internals import diff, internal
from pilothouse.builtin.shared.poddefaults import container_defaults, image_tag, pod_defaults, template_defaults
from pilothouse.builtin.shared.podspec import pod_spec
from pilothouse.builtin.shared.qos import qos_class
from pilothouse.builtin.shared.resources import claims
from pilothouse.builtin.shared.same import same
from pilothouse.builtin.shared.volumes import volumes
from pilothouse.builtin.types import builtin_types
from pilothouse.machinery.decode import Findings, compile_decoder
from pilothouse.machinery.errors import MOST_CAUSES
from pilothouse.machinery.rules import Field, at, rules


@pytest.mark.parametrize(
    ("image", "tag"),
    [
        ("nginx", "latest"),
        ("nginx:1.27", "1.27"),
        ("registry:5000/team/app", "latest"),
        ("registry:5000/team/app:v1", "v1"),
        ("app@sha256:" + "a" * 64, ""),
        ("app:v1@sha256:" + "a" * 64, "v1"),
        ("", ""),
        ("<YOUR-CONTAINER>", ""),
        ("Upper/Case", ""),
    ],
)
def test_image_tags(image: str, tag: str) -> None:
    assert image_tag(image) == tag


def container(**resources: Any) -> dict[str, Any]:
    return {"name": "a", "image": "x:1", "resources": resources}


@pytest.mark.parametrize(
    ("containers", "expected"),
    [
        ([container()], "BestEffort"),
        ([container(requests={"example.com/gpu": "1"}, limits={"example.com/gpu": "1"})], "BestEffort"),
        ([container(requests={"cpu": "0"})], "BestEffort"),
        ([container(requests={"cpu": "1"})], "Burstable"),
        (
            [container(limits={"cpu": "1", "memory": "1Gi"}, requests={"cpu": "1000m", "memory": "1024Mi"})],
            "Guaranteed",
        ),
        (
            [container(limits={"cpu": "1", "memory": "1Gi"}, requests={"cpu": "1", "memory": "1Gi"}), container()],
            "Burstable",
        ),
    ],
)
def test_quality_of_service(containers: list[Any], expected: str) -> None:
    assert qos_class({"containers": containers}) == expected


def test_pods_request_what_they_limit_and_templates_do_not() -> None:
    pod = {"spec": {"containers": [container(limits={"cpu": "1"}, requests={"memory": "1Gi"})]}}
    pod_defaults(pod)
    assert pod["spec"]["containers"][0]["resources"]["requests"] == {"memory": "1Gi", "cpu": "1"}
    template = {"spec": {"containers": [container(limits={"cpu": "1"})]}}
    template_defaults(template)
    assert template["spec"]["containers"][0]["resources"] == {"limits": {"cpu": "1"}}
    assert "enableServiceLinks" not in template["spec"]


def test_defaults_change_nothing_the_second_time() -> None:
    pod: dict[str, Any] = {"spec": {"hostNetwork": True, "serviceAccount": "sa", "volumes": [{"name": "v"}]}}
    pod["spec"]["containers"] = [{"name": "a", "image": "x", "ports": [{"containerPort": 80}], "resources": {}}]
    pod_defaults(pod)
    once = repr(pod)
    pod_defaults(pod)
    assert repr(pod) == once
    assert pod["spec"]["volumes"] == [{"name": "v", "emptyDir": {}}]
    assert pod["spec"]["serviceAccountName"] == "sa"
    assert pod["spec"]["containers"][0]["ports"] == [{"containerPort": 80, "protocol": "TCP", "hostPort": 80}]


def causes(rule: Any, new: Any, old: Any) -> list[tuple[str, str]]:
    found = rules(at("spec", rule))({"spec": new}, {"spec": old}, None)
    return [(one.field, one.message.splitlines()[0]) for one in found]


OLD: dict[str, Any] = {"containers": [{"name": "a", "image": "x:1", "resources": {}}], "restartPolicy": "Always"}


def test_a_pods_image_deadline_and_tolerations_may_change() -> None:
    new = {**OLD, "containers": [{"name": "a", "image": "x:2", "resources": {}}], "activeDeadlineSeconds": 5}
    assert causes(pod_update, new, OLD) == []
    old = {**OLD, "tolerations": [{"key": "a", "operator": "Exists"}]}
    more = {**OLD, "tolerations": [{"key": "b"}, {"key": "a", "operator": "Exists", "tolerationSeconds": 3}]}
    assert causes(pod_update, more, old) == []
    assert [field for field, _ in causes(pod_update, OLD, old)] == ["spec.tolerations"]


def test_quantities_written_otherwise_are_no_change() -> None:
    old = {"containers": [container(requests={"cpu": "1000m"})]}
    new = {"containers": [container(requests={"cpu": "1"})]}
    assert causes(pod_update, new, old) == []
    assert same(old, new)
    assert same({"sizeLimit": "1Gi"}, {"sizeLimit": "1073741824"})
    assert not same(old, {"containers": [container(requests={"cpu": "2"})]})


def test_gated_pods_may_become_stricter() -> None:
    gated = {**OLD, "schedulingGates": [{"name": "g"}], "nodeSelector": {"a": "b"}}
    assert causes(pod_update, {**gated, "nodeSelector": {"a": "b", "c": "d"}}, gated) == []
    assert [one[0] for one in causes(pod_update, {**gated, "nodeSelector": {"c": "d"}}, gated)] == ["spec.nodeSelector"]
    assert causes(pod_update, {**OLD, "nodeSelector": {"a": "b"}}, gated) == []


def test_debugging_containers_stay_as_they_are() -> None:
    one = {"name": "d", "image": "busybox", "resources": {}}
    old = {**OLD, "ephemeralContainers": [one]}
    assert causes(ephemeral_update, {**OLD, "ephemeralContainers": [one, {**one, "name": "e"}]}, old) == []
    assert causes(ephemeral_update, OLD, old) == [
        ("spec.ephemeralContainers", 'Forbidden: existing ephemeral containers "d" may not be removed')
    ]


def test_the_internal_form_has_every_field_in_the_originals_order() -> None:
    assert internal("SeccompProfile", {"type": "Localhost"}) == {"Type": "Localhost", "LocalhostProfile": None}
    spec = internal("PodSpec", {"hostNetwork": True, "restartPolicy": "Never", "containers": []})
    assert list(spec)[:5] == ["Volumes", "InitContainers", "Containers", "EphemeralContainers", "RestartPolicy"]
    assert spec["SecurityContext"]["HostNetwork"] is True
    assert "ServiceAccount" not in spec


def test_diffs_are_unified_and_without_a_head() -> None:
    shown = diff("SeccompProfile", {"type": "Localhost"}, {"type": "Unconfined"})
    assert (
        shown
        == '@@ -1,4 +1,4 @@\n {\n- "Type": "Localhost",\n+ "Type": "Unconfined",\n  "LocalhostProfile": null\n }\n'
    )


def test_the_difference_of_very_long_structs_is_not_shown() -> None:
    volumes = [{"name": "a", "emptyDir": {}}] * 60_000
    assert diff("PodSpec", {"containers": []}, {"containers": [], "volumes": volumes}) == ""
    assert "+" in diff("PodSpec", {"containers": []}, {"containers": [], "volumes": volumes[:2]})


def test_the_shortest_container_is_no_longer_than_what_becomes_of_the_least_one() -> None:
    """What is longer than it may be by this count is refused unread, so the count must not be too high."""
    for name in ("Container", "EphemeralContainer"):
        schema = builtin_types().get("k8s.io/api/core/v1", name)
        least = compile_decoder(schema)({}, Findings())
        container_defaults(least)
        texts = [one for one in least.values() if isinstance(one, str) and one]
        assert 0 < schema.shortest <= len(orjson.dumps(least)) - sum(map(len, texts)) + len(texts)


def test_a_spec_is_not_taken_for_good_because_enough_was_wrong_before() -> None:
    bad = {"containers": [{"name": "not-a-Label", "image": "i"}]}
    full, empty = Field({}), Field({})
    for _ in range(MOST_CAUSES):
        full.required("x")
    pod_spec(bad, full)
    pod_spec(bad, empty)
    assert any("name" in path for path, _, _ in empty.found)


def told(rule: Any, items: Any) -> list[tuple[str, str]]:
    return [(one.field, one.message) for one in rules(at("spec", rule))({"spec": items}, None, None)]


@pytest.mark.parametrize("requests", [[""], ["", "a"], ["a"]])
def test_thousands_of_claims_are_not_each_compared_with_all_others(requests: list[str]) -> None:
    items = [{"name": f"c{number}", "request": requests[number % len(requests)]} for number in range(40_000)]
    started = time.process_time()
    assert told(claims([one["name"] for one in items]), items) == []
    assert told(claims([]), items)[0][1].startswith('Not found: "c0"')
    assert time.process_time() - started < 2


def test_a_claim_is_used_once_as_a_whole_or_once_for_each_request() -> None:
    items = [{"name": "a"}, {"name": "a", "request": "x"}, {"name": "b", "request": "x"}, {"name": "b", "request": "y"}]
    items += [{"name": "b", "request": "y"}, {"name": "b"}, {"name": "a"}]
    assert told(claims(["a", "b"]), items) == [
        ("spec[1]", 'Duplicate value: "a"'),
        ("spec[4]", 'Duplicate value: "b/y"'),
        ("spec[5]", 'Duplicate value: "b"'),
        ("spec[6]", 'Duplicate value: "a"'),
    ]


@pytest.mark.parametrize("many", [40, 400])  # a long list is judged many volumes at a time
def test_volumes_are_judged_one_by_one_however_many_there_are(many: int) -> None:
    plain = [{"name": f"v{number}", "emptyDir": {}} for number in range(many)]
    odd = [{"name": "Bad", "emptyDir": {}}, {"name": "h", "hostPath": {"path": ""}}, {"emptyDir": {}}]
    mounts = [{"name": name, "mountPath": f"/{name}"} for name in ("v3", "Bad", "none")]
    container = {"name": "c", "image": "i", "imagePullPolicy": "Always", "terminationMessagePolicy": "File"}
    spec = {
        "containers": [{**container, "volumeMounts": mounts, "resources": {}}],
        "restartPolicy": "Always",
        "dnsPolicy": "ClusterFirst",
        "volumes": plain + odd,
    }

    def run(value: Any, field: Field) -> None:
        pod_spec(value["spec"], field)

    found = [(one.field, one.reason) for one in rules(run)({"spec": spec}, None, None)]
    assert found == [
        (f"volumes[{many}].name", "FieldValueInvalid"),
        (f"volumes[{many + 1}].hostPath.path", "FieldValueRequired"),
        (f"volumes[{many + 2}].name", "FieldValueRequired"),
        ("containers[0].volumeMounts[1].name", "FieldValueNotFound"),
        ("containers[0].volumeMounts[2].name", "FieldValueNotFound"),
    ]


@pytest.mark.parametrize("many", [40, 400])
def test_a_volume_that_is_there_twice_is_told_however_many_there_are(many: int) -> None:
    items = [{"name": f"v{number}", "emptyDir": {}} for number in range(many)] + [{"name": "v7", "emptyDir": {}}]

    def run(value: Any, field: Field) -> None:
        volumes(value["volumes"], field)

    found = [(one.field, one.reason) for one in rules(run)({"volumes": items}, None, None)]
    assert found == [(f"[{many}].name", "FieldValueDuplicate")]
