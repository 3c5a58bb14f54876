"""The scheme: kinds by group, version and kind, and the order of versions."""

from __future__ import annotations

import pytest

from pilothouse.machinery import schema as s
from pilothouse.machinery.schema import Schema
from pilothouse.machinery.scheme import (
    GroupVersion,
    GroupVersionKind,
    GroupVersionResource,
    Scheme,
    UnknownKind,
    group_version_kind,
    parse_group_version,
)

POD = GroupVersionKind("", "v1", "Pod")
OLD, NEW = GroupVersionKind("a.example.com", "v1beta1", "Thing"), GroupVersionKind("a.example.com", "v1", "Thing")


def a_struct() -> Schema:
    return Schema(s.STRUCT, name="Thing")


def test_names_are_written_as_the_original_writes_them() -> None:
    assert str(GroupVersion("apps", "v1")) == "apps/v1" and str(GroupVersion("", "v1")) == "v1"
    assert str(POD) == "/v1, Kind=Pod" and POD.api_version == "v1"
    assert str(GroupVersionResource("apps", "v1", "deployments")) == "apps/v1, Resource=deployments"
    assert GroupVersion("apps", "v1").kind("Deployment") == GroupVersionKind("apps", "v1", "Deployment")
    assert GroupVersion("apps", "v1").resource("x").group_version == GroupVersion("apps", "v1")
    assert POD.group_version == GroupVersion("", "v1")


def test_versions_are_read() -> None:
    assert parse_group_version("apps/v1") == ("apps", "v1") and parse_group_version("v1") == ("", "v1")
    assert parse_group_version("") == ("", "") and group_version_kind("v1", "Pod") == POD
    with pytest.raises(ValueError, match="unexpected GroupVersion string: a/b/c"):
        parse_group_version("a/b/c")


def test_kinds_are_found_by_name() -> None:
    scheme = Scheme("test")
    schema = a_struct()
    listed = GroupVersionKind("", "v1", "PodList")
    scheme.add(POD, schema)
    scheme.add(listed, a_struct(), list_of=POD)
    assert scheme.get(POD).schema is schema and scheme.knows(POD) and POD.kind == scheme.get(POD).gvk.kind
    assert scheme.list_kind(POD) == listed and scheme.get(listed).list_of == POD
    assert scheme.find(NEW) is None and scheme.list_kind(NEW) is None
    assert len(scheme) == 2 and {kind.gvk for kind in scheme} == {POD, listed}
    with pytest.raises(UnknownKind) as unknown:
        scheme.get(NEW)
    assert str(unknown.value) == 'no kind "Thing" is registered for version "a.example.com/v1" in scheme "test"'


def test_the_best_version_is_the_hub() -> None:
    scheme = Scheme()
    scheme.add(OLD, a_struct())
    scheme.add(NEW, a_struct())
    assert scheme.hub("a.example.com") == "v1beta1"
    scheme.prioritize("a.example.com", ["v1"])
    assert scheme.hub("a.example.com") == "v1" and scheme.versions("a.example.com") == ("v1", "v1beta1")
    assert [kind.gvk for kind in scheme.kinds_of("a.example.com", "Thing")] == [NEW, OLD]
    assert scheme.has_version("a.example.com", "v1") and not scheme.has_version("b", "v1")
    with pytest.raises(UnknownKind, match="group b has not been registered"):
        scheme.hub("b")


def test_a_kind_cannot_mean_two_types() -> None:
    scheme = Scheme()
    schema = a_struct()
    scheme.add(POD, schema)
    scheme.add(POD, schema)
    with pytest.raises(ValueError, match="registered twice"):
        scheme.add(POD, a_struct())
