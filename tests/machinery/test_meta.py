"""Accessors of object metadata."""

from __future__ import annotations

from typing import Any

import pytest

from pilothouse.machinery import meta


def an_object() -> dict[str, Any]:
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {
            "name": "web",
            "namespace": "shop",
            "uid": "u",
            "resourceVersion": "7",
            "generation": 2,
            "creationTimestamp": "2026-01-02T03:04:05Z",
            "labels": {"b": "2"},
            "annotations": {"note": "x"},
            "finalizers": ["a/b"],
            "ownerReferences": [{"uid": "1"}, {"uid": "2", "controller": True}],
        },
    }


def test_everything_can_be_read() -> None:
    obj = an_object()
    assert (meta.name(obj), meta.namespace(obj), meta.uid(obj), meta.resource_version(obj)) == ("web", "shop", "u", "7")
    assert meta.generation(obj) == 2 and meta.creation_timestamp(obj) == "2026-01-02T03:04:05Z"
    assert meta.labels(obj) == {"b": "2"} and meta.annotations(obj) == {"note": "x"}
    assert meta.key(obj) == "shop/web" and str(meta.gvk(obj)) == "apps/v1, Kind=Deployment"
    assert meta.controller(obj) == {"uid": "2", "controller": True}
    assert meta.has_finalizer(obj, "a/b") and not meta.being_deleted(obj)


def test_what_is_missing_reads_as_empty_and_makes_nothing() -> None:
    for obj in ({}, {"metadata": None}, {"metadata": {}}):
        before = dict(obj)
        assert meta.name(obj) == meta.namespace(obj) == meta.uid(obj) == meta.generate_name(obj) == ""
        assert meta.deletion_timestamp(obj) == "" and meta.deletion_grace_period(obj) is None
        assert meta.labels(obj) == {} == meta.annotations(obj)
        assert meta.finalizers(obj) == meta.owner_references(obj) == meta.managed_fields(obj) == []
        assert meta.controller(obj) is None and meta.generation(obj) == 0
        assert obj == before


def test_setting_makes_what_is_missing_and_empty_takes_away() -> None:
    obj: dict[str, Any] = {}
    meta.set_resource_version(obj, "5")
    meta.set_label(obj, "b", "2")
    meta.set_label(obj, "a", "1")
    meta.set_annotation(obj, "n", "x")
    meta.set_finalizers(obj, ["f"])
    assert obj == {
        "metadata": {
            "resourceVersion": "5",
            "labels": {"a": "1", "b": "2"},
            "annotations": {"n": "x"},
            "finalizers": ["f"],
        }
    }
    assert list(obj["metadata"]["labels"]) == ["a", "b"]
    meta.set_resource_version(obj, "")
    assert meta.drop_finalizer(obj, "f") and not meta.drop_finalizer(obj, "f")
    assert obj["metadata"].keys() == {"labels", "annotations"}


def test_shared_maps_and_lists_are_not_changed_in_place() -> None:
    obj = an_object()
    labels, finalizers = obj["metadata"]["labels"], obj["metadata"]["finalizers"]
    meta.set_label(obj, "a", "1")
    meta.drop_finalizer(obj, "a/b")
    assert labels == {"b": "2"} and finalizers == ["a/b"]


def test_a_version_with_two_slashes_is_refused() -> None:
    with pytest.raises(ValueError, match="unexpected GroupVersion string: a/b/c"):
        meta.gvk({"apiVersion": "a/b/c", "kind": "K"})
