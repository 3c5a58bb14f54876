"""One object, several versions: what one version can't say is not lost on the way through it."""

from __future__ import annotations

import json
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from pilothouse.builtin import facts
from pilothouse.builtin.autoscaling.convert import BEHAVIOR, CONDITIONS, CURRENT, METRICS, autoscalers
from pilothouse.builtin.certificates.convert import requests
from pilothouse.builtin.conversions import conversion, hub_version
from pilothouse.builtin.events.convert import events
from pilothouse.builtin.resource.convert import claims, slices, templates
from pilothouse.builtin.types import builtin_types
from pilothouse.machinery.decode import Findings, compile_decoder

Object = dict[str, Any]
TARGET = {"kind": "Deployment", "name": "web", "apiVersion": "apps/v1"}


def autoscaler(spec: Object, status: Object | None = None, **metadata: Any) -> Object:
    return {
        "kind": "HorizontalPodAutoscaler",
        "apiVersion": "autoscaling/v2",
        "metadata": {"name": "web", **metadata},
        "spec": {"scaleTargetRef": TARGET, "maxReplicas": 5, **spec},
        "status": {"desiredReplicas": 0, "currentMetrics": None, **(status or {})},
    }


def metric(kind: str, target: str, amount: Any, **source: Any) -> Object:
    """A metric: the type of its source, and of its target with the amount."""
    member = {"Utilization": "averageUtilization", "AverageValue": "averageValue", "Value": "value"}[target]
    return {"type": kind, kind[0].lower() + kind[1:]: {**source, "target": {"type": target, member: amount}}}


INGRESS = {"kind": "Ingress", "name": "front"}
CPU = metric("Resource", "Utilization", 65, name="cpu")
MEMORY = metric("Resource", "AverageValue", "512Mi", name="memory")
PODS = metric("Pods", "AverageValue", "1500m", metric={"name": "q", "selector": {"matchLabels": {"a": "b"}}})
OBJECT = metric("Object", "Value", "10k", metric={"name": "hits"}, describedObject=INGRESS)
OBJECT_AVERAGE = metric("Object", "AverageValue", "3", metric={"name": "hits"}, describedObject=INGRESS)
EXTERNAL = metric("External", "AverageValue", "30", metric={"name": "lag"})
CONTAINER = metric("ContainerResource", "Utilization", 80, name="cpu", container="app")
UP = {"type": "Pods", "value": 4, "periodSeconds": 15}
DOWN = {"type": "Percent", "value": 10, "periodSeconds": 30}
BEHAVIOUR = {
    "scaleUp": {"stabilizationWindowSeconds": 0, "selectPolicy": "Max", "policies": [UP]},
    "scaleDown": {"selectPolicy": "Min", "policies": [DOWN]},
}


def through_v1(obj: Object) -> Object:
    return autoscalers.to_hub(autoscalers.from_hub(obj, "v1"), "v1")


@settings(max_examples=60, deadline=None)
@given(st.permutations([MEMORY, PODS, OBJECT, OBJECT_AVERAGE, EXTERNAL, CONTAINER]), st.booleans(), st.booleans())
def test_an_autoscaler_comes_back_whole_from_v1(metrics: list[Object], with_cpu: bool, with_behaviour: bool) -> None:
    """But for the order: v1 moves the metric that it has a field for to the end."""
    spec: Object = {"metrics": [*metrics, *([CPU] if with_cpu else [])]}
    if with_behaviour:
        spec["behavior"] = BEHAVIOUR
    obj = autoscaler(spec, annotations={"team": "blue"})
    assert through_v1(obj) == obj


def test_v1_shows_the_cpu_metric_as_its_number() -> None:
    shown = autoscalers.from_hub(autoscaler({"metrics": [CPU, MEMORY]}), "v1")
    assert shown["spec"] == {"scaleTargetRef": TARGET, "maxReplicas": 5, "targetCPUUtilizationPercentage": 65}
    assert list(shown["metadata"]["annotations"]) == [METRICS]


def test_the_status_goes_through_annotations() -> None:
    current = {"name": "cpu", "current": {"averageUtilization": 90, "averageValue": "450m"}}
    condition = {"type": "AbleToScale", "status": "True", "lastTransitionTime": None, "reason": "Ready"}
    status = {
        "currentReplicas": 2,
        "desiredReplicas": 3,
        "currentMetrics": [{"type": "Resource", "resource": current}],
        "conditions": [condition],
    }
    obj = autoscaler({"metrics": [CPU]}, status)
    shown = autoscalers.from_hub(obj, "v1")
    assert shown["status"] == {"currentReplicas": 2, "desiredReplicas": 3, "currentCPUUtilizationPercentage": 90}
    assert set(shown["metadata"]["annotations"]) == {CONDITIONS, CURRENT}
    back = autoscalers.to_hub(shown, "v1")["status"]
    assert back["currentMetrics"] == status["currentMetrics"]
    assert [one["type"] for one in back["conditions"]] == ["AbleToScale"]


@pytest.mark.parametrize("text", ["not json", "{", "3", '[{"type": 1}]', '["a"]'])
def test_annotations_that_say_nothing_are_dropped(text: str) -> None:
    obj = autoscaler({}, annotations={METRICS: text, BEHAVIOR: text, "kept": "x"})
    found = autoscalers.to_hub({**obj, "apiVersion": "autoscaling/v1"}, "v1")
    assert found["metadata"]["annotations"] == {"kept": "x"}
    assert "metrics" not in found["spec"]


def test_a_behaviour_is_read_whatever_the_case_of_its_members() -> None:
    text = json.dumps({"scaleup": {"POLICIES": [{"Type": "Pods", "value": 2, "periodseconds": 20}]}})
    obj = autoscaler({}, annotations={BEHAVIOR: text})
    found = autoscalers.to_hub(obj, "v1")["spec"]["behavior"]
    assert found["scaleUp"]["policies"] == [{"type": "Pods", "value": 2, "periodSeconds": 20}]


def claim(*asked: Object) -> Object:
    return {"spec": {"devices": {"requests": list(asked)}}}


def test_a_flat_request_is_an_exact_one() -> None:
    selectors = [{"cel": {"expression": "true"}}]
    flat = claim({"name": "r", "deviceClassName": "c", "selectors": selectors, "count": 2})
    hub = claims.to_hub(flat, "v1beta1")
    request = hub["spec"]["devices"]["requests"][0]
    assert list(request) == ["name", "exactly"]
    assert claims.from_hub(hub, "v1beta1") == flat
    assert claims.from_hub(hub, "v1beta2") == hub


def test_alternatives_look_alike_in_every_version() -> None:
    flat = {"spec": claim({"name": "r", "firstAvailable": [{"name": "s", "deviceClassName": "c"}]})}
    hub = templates.to_hub(flat, "v1beta1")
    assert hub == flat
    assert templates.from_hub(hub, "v1beta1")["spec"]["spec"]["devices"]["requests"][0]["deviceClassName"] == ""


def test_a_request_that_asks_for_nothing_stays_empty() -> None:
    assert claims.to_hub(claim({"name": "r", "deviceClassName": ""}), "v1beta1") == claim({"name": "r"})


def test_properties_of_a_device_move_below_basic() -> None:
    hub = {"spec": {"devices": [{"name": "d", "attributes": {"a": {"int": 1}}}, {"name": "e"}]}}
    old = slices.from_hub(hub, "v1beta1")
    assert old["spec"]["devices"] == [
        {"name": "d", "basic": {"attributes": {"a": {"int": 1}}}},
        {"name": "e", "basic": {}},
    ]
    assert slices.to_hub(old, "v1beta1") == hub


def test_v1_hides_the_separate_key_of_a_pod_certificate_request() -> None:
    hub = {
        "spec": {"signerName": "a/b", "pkixPublicKey": "QQ==", "proofOfPossession": "Qg==", "stubPKCS10Request": None}
    }
    shown = requests.from_hub(hub, "v1")
    assert shown["spec"] == {"signerName": "a/b", "stubPKCS10Request": None}
    assert requests.to_hub(shown, "v1")["spec"]["pkixPublicKey"] is None


def test_an_event_says_the_same_in_both_groups() -> None:
    core = {
        "kind": "Event", "apiVersion": "v1", "metadata": {"name": "e"}, "involvedObject": {"kind": "Pod"},
        "reason": "R", "message": "m", "source": {"component": "c"}, "firstTimestamp": None, "lastTimestamp": None,
        "count": 2, "type": "Normal", "eventTime": None, "reportingComponent": "x", "reportingInstance": "y",
    }  # fmt: skip
    shown = events.from_hub(core, "v1")
    assert (shown["note"], shown["regarding"], shown["deprecatedCount"]) == ("m", {"kind": "Pod"}, 2)
    assert events.to_hub(shown, "v1") == core


def _versions() -> list[tuple[str, str, str, str]]:
    rows: dict[tuple[str, str], list[str]] = {}
    for row in facts.load():
        if row.stored is not None:
            rows.setdefault((row.group, row.plural), []).append(row.version)
    return [
        (group, plural, one, other)
        for (group, plural), found in rows.items()
        for one in found
        for other in found
        if one < other
    ]


@pytest.mark.parametrize(("group", "plural", "one", "other"), _versions())
def test_versions_without_a_converter_have_one_shape(group: str, plural: str, one: str, other: str) -> None:
    """The zero object of the one version is read by the other without a word."""
    if conversion(group, plural) is not None:
        return
    rows = [row for row in facts.load() if (row.group, row.plural) == (group, plural)]
    schemas = [builtin_types().get(row.package, row.type_name) for row in rows if row.version in (one, other)]
    first, second = (_fields(schema, 6) for schema in schemas)
    assert first == second
    assert hub_version(group, plural, one) == one


def _fields(schema: Any, depth: int) -> Any:
    if depth == 0:
        return schema.kind
    if schema.kind == "struct":
        return {name: _fields(field.schema, depth - 1) for name, field in schema.properties.items()}
    if schema.kind in ("list", "map"):
        return [schema.kind, _fields(schema.items, depth - 1)]
    return schema.kind


def test_what_v1_says_is_what_its_type_has() -> None:
    obj = autoscalers.from_hub(autoscaler({"metrics": [CPU, PODS], "behavior": BEHAVIOUR}), "v1")
    findings = Findings()
    decode = compile_decoder(builtin_types().get("k8s.io/api/autoscaling/v1", "HorizontalPodAutoscaler"))
    decode({"spec": obj["spec"], "status": obj["status"]}, findings)
    assert not findings.strict
