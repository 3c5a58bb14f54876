"""Who owns what after creates, updates and applies: the rules that the recorded conversations do not reach, or only
in passing.
"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from crds import BLOB, GATEWAY, NUMBER, TEXT, items, kind, struct
from hypothesis import given, settings
from hypothesis import strategies as st

from pilothouse.builtin.types import CORE, builtin_types
from pilothouse.machinery.errors import APIError
from pilothouse.machinery.schema import Schema
from pilothouse.machinery.typed import applied, problems
from pilothouse.machinery.typed.fieldset import of_paths
from pilothouse.registry.managed.conflicts import ConflictError
from pilothouse.registry.managed.entries import Entry
from pilothouse.registry.managed.objects import resets, settled
from pilothouse.registry.managed.steps import drive
from pilothouse.registry.managed.tracker import Tracker

VERSION = "example.com/v1"


def tracker(schema: Schema, **more: Any) -> Tracker:
    return Tracker(schema, VERSION, "Thing", schemas={VERSION: schema}, custom=True, **more)


def thing(**more: Any) -> dict[str, Any]:
    return {"apiVersion": VERSION, "kind": "Thing", "metadata": {"name": "t"}, **more}


def at(second: int) -> str:
    return f"2024-01-01T00:00:{second:02d}Z"


def owners(obj: dict[str, Any]) -> dict[str, Any]:
    """manager/operation -> fieldsV1"""
    entries = obj["metadata"].get("managedFields", ())
    return {f"{entry['manager']}/{entry['operation']}": entry["fieldsV1"] for entry in entries}


def test_a_custom_resource_owns_spec_itself_on_create_and_never_its_identity() -> None:
    obj = thing(spec={"class": "x", "options": {}})
    obj["metadata"] |= {"labels": {"a": "1"}, "resourceVersion": "5"}
    made = tracker(GATEWAY).create(obj, "maker", at(1))
    assert owners(made) == {
        "maker/Update": {
            "f:metadata": {"f:labels": {".": {}, "f:a": {}}},
            "f:spec": {".": {}, "f:class": {}, "f:options": {}},
        }
    }
    assert list(made["metadata"]["managedFields"][0]) == [
        "manager", "operation", "apiVersion", "time", "fieldsType", "fieldsV1",
    ]  # fmt: skip


def test_nothing_owned_is_no_entry_and_no_field() -> None:
    made = tracker(GATEWAY).create(thing(), "maker", at(1))
    assert "managedFields" not in made["metadata"]


def test_an_object_without_entries_is_not_tracked_by_updates() -> None:
    t = tracker(GATEWAY)
    assert owners(t.update(thing(), thing(spec={"class": "x"}), "late", at(2))) == {}


def test_removing_takes_fields_from_everybody_and_moves_no_time() -> None:
    t = tracker(GATEWAY)
    live = t.create(thing(spec={"class": "x", "options": {"a": "1", "b": "1"}}), "maker", at(1))
    new = {**live, "spec": {"class": "x", "options": {"a": "1"}}}
    after = t.update(live, new, "maker", at(9))
    assert after["metadata"]["managedFields"][0]["time"] == at(1)
    assert owners(after) == {"maker/Update": {"f:spec": {".": {}, "f:class": {}, "f:options": {".": {}, "f:a": {}}}}}


def test_an_update_that_changes_nothing_passes_the_entries_through() -> None:
    t = tracker(GATEWAY)
    live = t.create(thing(spec={"class": "x"}), "maker", at(1))
    after = t.update(live, thing(spec={"class": "x"}), "other", at(2))
    assert after["metadata"]["managedFields"] == live["metadata"]["managedFields"]


def test_fields_that_the_endpoint_does_not_write_are_not_owned() -> None:
    t = tracker(GATEWAY, reset={VERSION: of_paths(("f:spec", "f:options"))})
    live = t.create(thing(spec={"class": "x", "options": {"a": "1"}}), "maker", at(1))
    assert owners(live) == {"maker/Update": {"f:spec": {".": {}, "f:class": {}}}}
    after = t.update(live, thing(spec={"class": "x", "options": {"a": "2"}}), "other", at(2))
    assert owners(after) == owners(live)
    applied = t.apply(live, thing(spec={"options": {"a": "3"}}), "ann", at(3))
    assert owners(applied) == owners(live)


def test_more_than_ten_updaters_become_ancient_changes() -> None:
    t = tracker(GATEWAY)
    obj = t.create(thing(spec={"options": {"k0": "v"}}), "m0", at(0))
    for number in range(1, 13):
        options = {**obj["spec"]["options"], f"k{number}": "v"}
        obj = t.update(obj, {**obj, "spec": {"options": options}}, f"m{number}", at(number))
    entries = obj["metadata"]["managedFields"]
    assert len(entries) == 10
    ancient = entries[0]
    assert (ancient["manager"], ancient["operation"], ancient["time"]) == ("ancient-changes", "Update", at(3))
    assert ancient["fieldsV1"]["f:spec"]["f:options"] == {".": {}, "f:k0": {}, "f:k1": {}, "f:k2": {}, "f:k3": {}}
    assert [entry["manager"] for entry in entries[1:]] == [f"m{number}" for number in range(4, 13)]


def test_updaters_of_one_moment_are_merged_in_order_of_name() -> None:
    """One that is older by name stays beside the ancient changes once there are some."""
    t = tracker(GATEWAY)
    obj = t.create(thing(spec={"options": {"a-1": "v"}}), "a-1", at(0))
    for number in range(2, 13):
        options = {**obj["spec"]["options"], f"a-{number}": "v"}
        obj = t.update(obj, {**obj, "spec": {"options": options}}, f"a-{number}", at(0))
    entries = {entry["manager"]: entry["fieldsV1"]["f:spec"].get("f:options") for entry in obj_entries(obj)}
    assert set(entries) == {"ancient-changes", "a-11", *(f"a-{number}" for number in range(2, 10))}
    assert set(entries["ancient-changes"]) == {".", "f:a-1", "f:a-10", "f:a-12"}


def obj_entries(obj: dict[str, Any]) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = obj["metadata"]["managedFields"]
    return entries


def test_conflicts_are_told_in_order_of_name_operation_and_version() -> None:
    def entry(name: str, operation: str, subresource: str = "") -> Entry:
        return Entry(name, operation, VERSION, subresource, "", of_paths(("f:spec", "f:class")))

    held = of_paths(("f:spec", "f:class"))
    entries = [entry("b", "Apply"), entry("a", "Update"), entry("a-b", "Apply"), entry("a", "Apply", "status")]
    refused = ConflictError([(one, held) for one in entries])
    assert [cause["message"] for cause in refused.details["causes"]] == [
        'conflict with "a" with subresource "status"',
        f'conflict with "a" using {VERSION}',
        'conflict with "a-b"',
        'conflict with "b"',
    ]


def test_entries_that_make_no_sense_leave_the_old_ones() -> None:
    t = tracker(GATEWAY)
    live = t.create(thing(spec={"class": "x"}), "maker", at(1))
    for wrong in (
        [{"manager": "x", "operation": "Create", "apiVersion": VERSION, "fieldsType": "FieldsV1", "fieldsV1": {}}],
        [
            {
                "manager": "x",
                "operation": "Update",
                "apiVersion": VERSION,
                "fieldsType": "FieldsV1",
                "fieldsV1": {"x": {}},
            }
        ],
        [
            {
                "manager": "x",
                "operation": "Update",
                "apiVersion": VERSION,
                "fieldsType": "FieldsV1",
                "fieldsV1": {"k:[1": {}},
            }
        ],
        [{"manager": "x", "operation": "Update", "fieldsType": "FieldsV1"}],
        [{}, {}],
    ):
        sent = thing(spec={"class": "x"})
        sent["metadata"]["managedFields"] = wrong
        assert owners(t.update(live, sent, "other", at(2))) == owners(live)


def test_entries_of_a_version_that_is_gone_are_dropped() -> None:
    t = tracker(GATEWAY)
    live = t.create(thing(spec={"class": "x"}), "maker", at(1))
    live["metadata"]["managedFields"][0]["apiVersion"] = "example.com/v0"
    assert owners(t.update(live, thing(spec={"class": "y"}), "other", at(2))) == {
        "other/Update": {"f:spec": {"f:class": {}}}
    }


def test_empty_entries_forget_the_owners() -> None:
    t = tracker(GATEWAY)
    live = t.create(thing(spec={"class": "x"}), "maker", at(1))
    for empty in ([], [{}]):
        sent = thing(spec={"class": "x"})
        sent["metadata"]["managedFields"] = empty
        assert resets(sent)
        assert "managedFields" not in t.update(live, sent, "other", at(2))["metadata"]
    assert "managedFields" not in t.update(live, thing(), "other", at(2), forget=True)["metadata"]
    assert not resets(live)


def test_a_subresource_cannot_rewrite_entries() -> None:
    t = tracker(GATEWAY, subresource="status")
    live = tracker(GATEWAY).create(thing(spec={"class": "x"}), "maker", at(1))
    sent = thing(spec={"class": "x"})
    sent["metadata"]["managedFields"] = []
    assert owners(t.update(live, sent, "other", at(2))) == owners(live)


def test_without_a_schema_maps_are_owned_key_by_key_and_lists_whole() -> None:
    t = tracker(BLOB)
    config = thing(spec={"deep": {"map": {"k": "v", "z": None}, "list": [{"a": 1}], "empty": {}}}, free="text")
    live = t.apply(None, config, "ann", at(1))
    deep = {".": {}, "f:empty": {}, "f:list": {}, "f:map": {".": {}, "f:k": {}, "f:z": {}}}
    assert owners(live) == {"ann/Apply": {"f:free": {}, "f:spec": {".": {}, "f:deep": deep}}}
    with pytest.raises(ConflictError) as refused:
        t.apply(live, thing(spec={"deep": {"list": []}}, free="words"), "bob", at(2))
    assert refused.value.message == ('Apply failed with 2 conflicts: conflicts with "ann":\n- .free\n- .spec.deep.list')


def test_a_list_map_merges_by_keys_with_their_defaults() -> None:
    t = tracker(GATEWAY)
    live = t.apply(None, thing(spec={"listeners": [{"port": 80, "name": "http"}, {"port": 443}]}), "ann", at(1))
    assert list(owners(live)["ann/Apply"]["f:spec"]["f:listeners"]) == [
        'k:{"port":80,"protocol":"TCP"}',
        'k:{"port":443,"protocol":"TCP"}',
    ]
    after = t.apply(
        live,
        thing(spec={"listeners": [{"port": 80, "protocol": "UDP"}, {"port": 80, "protocol": "TCP"}]}),
        "bob",
        at(2),
    )
    assert after["spec"]["listeners"] == [
        {"port": 80, "protocol": "UDP"},
        {"port": 80, "name": "http", "protocol": "TCP"},
        {"port": 443},
    ]


def test_what_a_manager_no_longer_applies_goes_unless_somebody_else_owns_it() -> None:
    t = tracker(GATEWAY)
    live = t.apply(None, thing(spec={"options": {"a": "1", "b": "1"}, "hosts": ["x", "y"]}), "ann", at(1))
    live = t.apply(live, thing(spec={"options": {"b": "1"}, "hosts": ["y"]}), "bob", at(2))
    live = t.apply(live, thing(spec={"class": "c"}), "ann", at(3))
    assert live["spec"] == {"options": {"b": "1"}, "hosts": ["y"], "class": "c"}
    live = t.apply(live, thing(), "bob", at(4))
    assert live["spec"] == {"class": "c"}


def test_a_container_that_its_only_owner_empties_becomes_null() -> None:
    t = tracker(GATEWAY)
    live = t.apply(None, thing(spec={"options": {"a": "1"}}), "ann", at(1))
    live = t.apply(live, thing(spec={"options": {}}), "ann", at(2))
    assert live["spec"] == {"options": None}


def test_forcing_takes_fields_from_their_owners() -> None:
    t = tracker(GATEWAY)
    live = t.apply(None, thing(spec={"class": "a", "plain": ["x"]}), "ann", at(1))
    with pytest.raises(ConflictError) as refused:
        t.apply(live, thing(spec={"class": "b"}), "bob", at(2))
    assert refused.value.status()["details"]["causes"] == [
        {"reason": "FieldManagerConflict", "message": 'conflict with "ann"', "field": ".spec.class"}
    ]
    after = t.apply(live, thing(spec={"class": "b"}), "bob", at(2), force=True)
    assert owners(after) == {"ann/Apply": {"f:spec": {"f:plain": {}}}, "bob/Apply": {"f:spec": {"f:class": {}}}}


def test_an_applied_configuration_must_fit_its_type() -> None:
    t = tracker(GATEWAY)
    config = thing(spec={"class": 5, "hosts": ["a", "a"], "nothing": 1, "options": ["x"]})
    with pytest.raises(APIError) as refused:
        t.apply(None, config, "ann", at(1))
    assert (refused.value.code, refused.value.reason) == (500, "")
    assert refused.value.message == (
        "failed to create typed patch object (/t; example.com/v1, Kind=Thing): errors:\n"
        "  .spec.class: expected string, got &value.valueUnstructured{Value:5}\n"
        '  .spec.hosts: duplicate entries for key [="a"]\n'
        "  .spec.nothing: field not declared in schema\n"
        "  .spec.options: expected map, got &{[x]}"
    )


def test_of_very_many_problems_a_thousand_are_told() -> None:
    config = thing(spec={"hosts": [str(number // 2) for number in range(4000)]})
    with pytest.raises(APIError) as refused:
        tracker(GATEWAY).apply(None, config, "ann", at(1))
    lines = refused.value.message.splitlines()
    assert (len(lines), lines[-1]) == (1001, '  .spec.hosts: duplicate entries for key [="999"]')


def test_managed_fields_may_not_be_applied() -> None:
    config = thing()
    config["metadata"]["managedFields"] = []
    with pytest.raises(APIError, match=r"metadata\.managedFields must be nil"):
        tracker(GATEWAY).apply(None, config, "ann", at(1))


def test_a_type_that_became_atomic_is_owned_whole_by_those_who_owned_parts() -> None:
    before = kind(struct({"parts": struct({"a": TEXT, "b": TEXT})}))
    after = kind(struct({"parts": struct({"a": TEXT, "b": TEXT}, map_type="atomic")}))
    live = tracker(before).apply(None, thing(spec={"parts": {"a": "1"}}), "ann", at(1))
    with pytest.raises(ConflictError, match=r"\.spec\.parts$"):
        tracker(after).apply(live, thing(spec={"parts": {"b": "1"}}), "bob", at(2))


def test_what_was_applied_may_not_decode() -> None:
    error = Tracker(GATEWAY, "v1", "Secret").unconvertible(
        {"metadata": {"name": "s"}}, "cannot convert float64 to int32"
    )
    assert error.message == (
        "failed to convert new object (/s; /v1, Kind=Secret) to proper version: "
        "unable to convert unstructured object to /v1, Kind=Secret: cannot convert float64 to int32"
    )


# ---------------------------------------------------------------------- versions

SHELF = kind(struct({"size": NUMBER, "theme": TEXT, "color": TEXT}))
SHELF_BETA = kind(struct({"size": NUMBER, "theme": TEXT}))
BETA = "example.com/v1beta1"
SHELVES = {VERSION: SHELF, BETA: SHELF_BETA}


def renamed(obj: dict[str, Any], api_version: str) -> dict[str, Any]:
    return {**obj, "apiVersion": api_version}


def shelf(api_version: str, **spec: Any) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": "Shelf", "metadata": {"name": "s"}, "spec": spec}


def shelves(api_version: str) -> Tracker:
    return Tracker(SHELVES[api_version], api_version, "Shelf", schemas=SHELVES, convert=renamed, custom=True)


def test_entries_of_another_version_are_compared_in_that_version() -> None:
    live = shelves(BETA).apply(None, shelf(BETA, size=1), "ann", at(1))
    live = renamed(live, VERSION)
    with pytest.raises(ConflictError, match=r"\.spec\.size"):
        shelves(VERSION).apply(live, shelf(VERSION, size=2), "bob", at(2))
    live = shelves(VERSION).apply(live, shelf(VERSION, size=1, theme="oak"), "bob", at(2))
    assert [entry["apiVersion"] for entry in live["metadata"]["managedFields"]] == [BETA, VERSION]
    with pytest.raises(APIError) as refused:
        shelves(VERSION).apply(live, shelf(VERSION, size=1, theme="oak", color="red"), "bob", at(3))
    assert refused.value.message == (
        "failed to prune fields: failed add back owned items: failed to convert merged object at version "
        "example.com/v1beta1: .spec.color: field not declared in schema"
    )


def test_an_applier_may_change_versions_and_keeps_one_entry() -> None:
    live = shelves(VERSION).apply(None, shelf(VERSION, size=1, theme="oak"), "bob", at(1))
    after = shelves(BETA).apply(renamed(live, BETA), shelf(BETA, size=1), "bob", at(2))
    assert after["spec"] == {"size": 1}
    assert [(entry["manager"], entry["apiVersion"]) for entry in after["metadata"]["managedFields"]] == [("bob", BETA)]


def test_conversions_that_must_be_waited_for() -> None:
    live = shelves(BETA).apply(None, shelf(BETA, size=1), "ann", at(1))

    async def convert(obj: dict[str, Any], api_version: str) -> dict[str, Any]:
        await asyncio.sleep(0)
        return renamed(obj, api_version)

    new = shelf(VERSION, size=2)
    steps = shelves(VERSION).update_steps(renamed(live, VERSION), new, "bob", at(2))
    after = asyncio.run(drive(steps, convert))
    assert owners(after) == {"bob/Update": {"f:spec": {"f:size": {}}}}


# ---------------------------------------------------------------------- histories

_options = st.dictionaries(st.sampled_from("abc"), st.sampled_from("xy"), min_size=1, max_size=3)
_listeners = st.lists(
    st.fixed_dictionaries({"port": st.integers(1, 3)}, optional={"name": st.sampled_from("xy")}),
    min_size=1,  # empty lists and maps have their own rules, told above
    max_size=3,
    unique_by=lambda item: item["port"],
)
_specs = st.fixed_dictionaries(
    {},
    optional={
        "class": st.sampled_from("xy"),
        "options": _options,
        "listeners": _listeners,
        "hosts": st.lists(st.sampled_from("abc"), min_size=1, max_size=3, unique=True),
        "plain": st.lists(st.sampled_from("ab"), max_size=2),
    },
)
_writes = st.tuples(st.sampled_from(["apply", "force", "update"]), st.sampled_from(["ann", "bob"]), _specs)


@given(st.lists(_writes, max_size=6))
@settings(deadline=None, max_examples=100)
def test_whatever_happened_entries_are_in_order_and_writing_again_changes_nothing(history: list[Any]) -> None:
    t = tracker(GATEWAY)
    live = t.create(thing(spec={"class": "z"}), "maker", at(0))
    for second, (kind_of_write, manager, spec) in enumerate(history, start=1):

        def write(
            obj: dict[str, Any], now: str, verb: str = kind_of_write, who: str = manager, sent: Any = spec
        ) -> Any:
            if verb == "update":
                return t.update(obj, thing(spec=sent), who, now)
            return t.apply(obj, thing(spec=sent), who, now, force=verb == "force")

        try:
            live = write(live, at(second))
        except ConflictError:
            continue
        if live.get("spec", {}) is None or None in live.get("spec", {}).values():
            return  # emptied by its only owner: the type refuses that
        entries = live["metadata"].get("managedFields", [])
        assert all(entry["fieldsV1"] for entry in entries)
        order = [(entry["operation"], entry.get("time", ""), entry["manager"]) for entry in entries]
        assert order == sorted(order)
        if entries:
            assert settled(live, write(live, at(50))) == live


# ---------------------------------------------------------------------- times and hostile input


def test_a_write_that_only_moves_times_is_none() -> None:
    t = tracker(GATEWAY)
    live = t.apply(None, thing(spec={"class": "x"}), "ann", at(1))
    later = t.apply(None, thing(spec={"class": "x"}), "ann", at(5))
    assert settled(live, later) == live
    changed = t.apply(None, thing(spec={"class": "y"}), "ann", at(5))
    assert settled(live, changed) is changed


def nested(depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(depth):
        value = {"a": value}
    return value


def test_deep_nesting_is_refused_and_not_fatal() -> None:
    t = tracker(BLOB)
    with pytest.raises(APIError):
        t.create(thing(spec=nested(5000)), "maker", at(1))
    live = t.create(thing(spec={"x": "1"}), "maker", at(1))
    sent = thing(spec={"x": "1"})
    fields: dict[str, Any] = {}
    for _ in range(3000):
        fields = {"f:a": fields}
    sent["metadata"]["managedFields"] = [
        {"manager": "x", "operation": "Update", "apiVersion": VERSION, "fieldsType": "FieldsV1", "fieldsV1": fields}
    ]
    assert owners(t.update(live, sent, "other", at(2))) == owners(live)


def test_values_of_the_wrong_type_in_the_live_object_do_no_harm() -> None:
    t = tracker(GATEWAY)
    live = t.create(thing(spec={"listeners": {"not": "a list"}, "hosts": "text", "options": [1]}), "maker", at(1))
    new = thing(spec={"listeners": [{"port": 1}, "odd", None], "hosts": ["a"], "options": {"a": "1"}})
    assert "other/Update" in owners(t.update(live, new, "other", at(2)))


def test_finalizers_are_owned_one_by_one() -> None:
    t = tracker(kind(struct({"names": items(TEXT, "set")})))
    live = t.apply(None, thing(spec={"names": ["b", "a"]}), "ann", at(1))
    live = t.apply(live, thing(spec={"names": ["b", "c"]}), "bob", at(2))
    assert live["spec"]["names"] == ["a", "b", "c"] or set(live["spec"]["names"]) == {"a", "b", "c"}
    live = t.apply(live, thing(), "ann", at(3))
    assert live["spec"]["names"] == ["b", "c"]


def test_keys_that_are_left_out_have_their_defaults() -> None:
    account = builtin_types().get(CORE, "ServiceAccount")
    pod = builtin_types().get(CORE, "Pod")

    def told(config: dict[str, Any], schema: Schema = pod) -> list[str]:
        return problems(schema, config)

    assert told({"spec": {"containers": [{"image": "a"}, {"name": "", "image": "b"}]}}) == [
        '.spec.containers: duplicate entries for key [name=""]'
    ]
    assert told({"spec": {"containers": [{"name": "c", "ports": [{}, {"containerPort": 0, "protocol": "TCP"}]}]}}) == [
        '.spec.containers[name="c"].ports: duplicate entries for key [containerPort=0,protocol="TCP"]'
    ]
    assert told({"secrets": [{}]}, account) == [
        '.secrets: element 0: associative list with keys has an element that omits all key fields ["name"]'
        " (and doesn't have default values for any key fields)"
    ]
    assert applied(pod)({"spec": {"imagePullSecrets": [{}]}}) == {
        "f:spec": {"f:imagePullSecrets": {'k:{"name":""}': {}}}
    }
