"""What kubectl prints of the built-in kinds: recorded rows, counts of columns, ages, objects with anything missing."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import pilothouse
from pilothouse.builtin import facts
from pilothouse.builtin.columns import columns_for, known, plain_columns
from pilothouse.builtin.types import builtin_types
from pilothouse.endpoints.table import make_row
from pilothouse.machinery import schema as s
from pilothouse.machinery.schema import Schema

HERE = pathlib.Path(__file__).resolve().parent
FACTS = HERE.parents[2] / "shared" / "facts"
NOW = 1704844800.0  # 2024-01-10T00:00:00Z, when the rows of columns_recorded.json are shown
RECORDED: list[dict[str, Any]] = json.loads((HERE / "columns_recorded.json").read_text())
EXTRA_CELLS = {("networking.k8s.io", "ipaddresses"): 1}  # an age without a column, as the original


def cells_of(group: str, resource: str, obj: dict[str, Any], now: float = NOW) -> list[Any]:
    columns = columns_for(group, resource)
    assert columns is not None
    return columns.cells(obj, now)


@pytest.mark.parametrize("pair", RECORDED, ids=[f"{pair['case']}:{pair['cells'][0]}" for pair in RECORDED])
def test_the_original_prints_this_row(pair: dict[str, Any]) -> None:
    group, _, resource = pair["resource"].partition("/")
    columns = columns_for(group, resource)
    assert columns is not None
    assert columns.cells(pair["object"], NOW) == pair["cells"]
    assert columns.conditions(pair["object"]) == pair.get("conditions")


@pytest.mark.parametrize(("group", "resource"), known())
def test_a_row_has_a_cell_for_each_column(group: str, resource: str) -> None:
    columns = columns_for(group, resource)
    assert columns is not None
    cells = columns.cells({"metadata": {"name": "a", "creationTimestamp": "2024-01-01T00:00:00Z"}}, NOW)
    assert len(cells) == len(columns.definitions) + EXTRA_CELLS.get((group, resource), 0)
    for definition in columns.definitions:
        assert list(definition) == ["name", "type", "format", "description", "priority"]


@pytest.mark.shared
@pytest.mark.skipif(not FACTS.exists(), reason="the facts are not beside the checkout")
@pytest.mark.parametrize("file", ["printcolumns.json", "printcolumns-all.json"])
def test_columns_are_those_of_the_original(file: str) -> None:
    for key, wanted in json.loads((FACTS / file).read_text()).items():
        group, resource = ("", key.partition("/")[2]) if key.count("/") == 1 else tuple(key.split("/")[::2])
        columns = columns_for(group, resource)
        assert columns is not None, key
        assert list(columns.definitions) == wanted


def test_a_kind_that_is_not_in_the_table_has_none_of_its_own() -> None:
    assert columns_for("example.com", "cars") is None
    assert columns_for("apps", "cars") is None
    assert [one["name"] for one in plain_columns().definitions] == ["Name", "Created At"]
    assert plain_columns().cells({"metadata": {"name": "a"}}, NOW) == ["a", "0001-01-01T00:00:00Z"]


def test_one_kind_loads_only_its_group() -> None:
    code = (
        "import sys; from pilothouse.builtin.columns import columns_for; columns_for('node.k8s.io', 'runtimeclasses');"
        "print([m for m in sys.modules if m.startswith('pilothouse.builtin.columns.')])"
    )
    root = str(pathlib.Path(pilothouse.__file__).resolve().parents[1])
    shown = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ | {"PYTHONPATH": root}
    ).stdout
    assert "columns.node" in shown
    assert "columns.core" not in shown


@pytest.mark.parametrize(
    ("created", "shown"),
    [
        ("2024-01-10T00:00:00Z", "0s"),
        ("2024-01-10T00:00:01Z", "0s"),
        ("2024-01-10T00:00:05Z", "<invalid>"),
        ("2024-01-09T23:58:01Z", "119s"),
        ("2024-01-09T23:55:30Z", "4m30s"),
        ("2024-01-09T10:00:00Z", "14h"),
        ("2024-01-01T00:00:00Z", "9d"),
        ("2020-01-10T00:00:00Z", "4y1d"),
        (None, "<unknown>"),
    ],
)
def test_ages_are_counted_from_now(created: str | None, shown: str) -> None:
    assert cells_of("", "serviceaccounts", {"metadata": {"name": "a", "creationTimestamp": created}}) == ["a", shown]


def test_a_restarted_pod_says_when() -> None:
    status = {
        "phase": "Running",
        "containerStatuses": [
            {"restartCount": 1, "lastState": {"terminated": {"finishedAt": "2024-01-09T23:00:00Z"}}, "ready": True},
            {"restartCount": 2, "lastState": {"terminated": {"finishedAt": "2024-01-09T23:57:00Z"}}},
        ],
    }
    pod = {"metadata": {"name": "a"}, "spec": {"containers": [{}, {}]}, "status": status}
    assert cells_of("", "pods", pod)[3] == "3 (3m ago)"
    assert cells_of("", "pods", pod, NOW + 3600)[3] == "3 (63m ago)"


def test_an_unfinished_job_grows_older() -> None:
    job: dict[str, Any] = {
        "metadata": {"name": "a"},
        "spec": {"completions": 1},
        "status": {"startTime": "2024-01-09T23:00:00Z"},
    }
    assert cells_of("batch", "jobs", job)[3] == "60m"
    job["status"]["completionTime"] = "2024-01-09T23:00:07Z"
    assert cells_of("batch", "jobs", job, NOW + 9999)[3] == "7s"


def test_the_default_class_of_ingresses_says_so() -> None:
    mark = "ingressclass.kubernetes.io/is-default-class"
    for value, shown in (("true", "a (default)"), ("false", "a")):
        metadata = {"name": "a", "annotations": {mark: value}}
        assert cells_of("networking.k8s.io", "ingressclasses", {"metadata": metadata})[0] == shown


def test_an_ipv6_endpoint_is_bracketed() -> None:
    subsets = [{"addresses": [{"ip": "fd00::1"}], "ports": [{"port": 80}]}]
    assert cells_of("", "endpoints", {"subsets": subsets})[1] == "[fd00::1]:80"


def test_a_selector_with_terms_is_shown_as_the_internal_type() -> None:
    selector = {"matchExpressions": [{"key": "k", "operator": "In", "values": ["a", "b"]}]}
    binding = {"spec": {"paramRef": {"selector": selector}}}
    assert cells_of("admissionregistration.k8s.io", "validatingadmissionpolicybindings", binding)[2] == (
        "&LabelSelector{MatchLabels:map[string]string{},MatchExpressions:"
        "[]LabelSelectorRequirement{LabelSelectorRequirement{Key:k,Operator:In,Values:[a b],},},}"
    )


# ---- any object of the type will do ----------------------------------------------------------------------------------

_WORDS = st.sampled_from(["", "a", "Ready", "True", "Always", "Resource", "ExternalName", "In", "fd00::1"])
_SCALARS: dict[str, st.SearchStrategy[Any]] = {
    s.STRING: _WORDS,
    s.BOOL: st.booleans(),
    s.INT32: st.integers(0, 5),
    s.INT64: st.integers(0, 5),
    s.FLOAT64: st.just(0.5),
    s.BYTES: st.just("AAE="),
    s.QUANTITY: st.just("1Gi"),
    s.INT_OR_STRING: st.sampled_from([1, "25%"]),
    s.TIME: st.sampled_from(["2024-01-01T00:00:00Z", None]),
    s.MICRO_TIME: st.sampled_from(["2024-01-01T00:00:00.000001Z", None]),
    s.DURATION: st.just("1s"),
}


def draw_value(draw: st.DrawFn, schema: Schema, depth: int) -> Any:
    if schema.kind == s.STRUCT:
        wanted = draw(st.sets(st.sampled_from(sorted(schema.properties)), max_size=8)) if schema.properties else ()
        return {name: draw_value(draw, schema.properties[name].schema, depth - 1) for name in wanted if depth}
    if schema.kind == s.LIST:
        return [draw_value(draw, schema.items, depth) for _ in range(draw(st.integers(0, 3)))] if depth else []
    if schema.kind == s.MAP:
        return draw(st.none() | st.just({})) if not depth else {draw(_WORDS): draw_value(draw, schema.items, depth - 1)}
    return draw(_SCALARS.get(schema.kind, st.just({})))


def draw_object(draw: st.DrawFn, schema: Schema) -> dict[str, Any]:
    obj: dict[str, Any] = {}
    for name in draw(st.sets(st.sampled_from(sorted(set(schema.properties) - {"metadata"})))):
        obj[name] = draw_value(draw, schema.properties[name].schema, 6)
    obj["metadata"] = draw_value(draw, schema.properties["metadata"].schema, 3)
    return obj


SCHEMAS = {(one.group, one.plural): (one.package, one.type_name) for one in facts.load()}


@pytest.mark.parametrize(("group", "resource"), [key for key in known() if key in SCHEMAS])
@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck), database=None)
@given(data=st.data())
def test_an_object_may_lack_anything(group: str, resource: str, data: st.DataObject) -> None:
    schema = builtin_types().get(*SCHEMAS[group, resource])
    obj = data.draw(st.composite(lambda draw: draw_object(draw, schema))())
    columns = columns_for(group, resource)
    assert columns is not None
    cells = columns.cells(obj, NOW)
    assert len(cells) == len(columns.definitions) + EXTRA_CELLS.get((group, resource), 0)
    assert json.loads(make_row(columns, obj).json(NOW))["cells"] == cells


def test_a_year_that_clocks_do_not_know_is_very_long_ago() -> None:
    event = {"metadata": {"name": "e"}, "lastTimestamp": "0000-01-01T00:00:00Z", "involvedObject": {}}
    assert "292y" in cells_of("", "events", event)
