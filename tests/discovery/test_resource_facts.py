"""The table of facts says of every resource what the original was measured to do."""

from __future__ import annotations

import base64
import hashlib
import json
import pathlib
from typing import Any

import pytest

from pilothouse.builtin import facts
from pilothouse.builtin.types import builtin_types

RECORDED = pathlib.Path(__file__).resolve().parents[3] / "shared/facts"
_METADATA_PARTS = frozenset({"labels", "annotations", "finalizers", "ownerReferences"})
BY_NAME = {(fact.group, fact.version, fact.plural): fact for fact in facts.load()}


def fact(plural: str, group: str = "", version: str = "v1") -> facts.ResourceFacts:
    return BY_NAME[group, version, plural]


def recorded(name: str) -> Any:
    path = RECORDED / name
    if not path.exists():
        pytest.skip("no recorded answers beside the checkout")
    return json.loads(path.read_text())


def test_every_kind_has_a_type() -> None:
    types = builtin_types()
    for found in facts.load():
        assert types.has(found.package, found.type_name), found.plural
        for part in found.subresources:
            assert types.has(part.package, part.type_name), f"{found.plural}/{part.name}"


def test_every_version_has_a_group_and_the_first_is_preferred() -> None:
    listed = {(group.name, version.version): version for group in facts.groups() for version in group.versions}
    assert {(found.group, found.version) for found in facts.load()} == listed.keys()
    preferred = {group.name: group.versions[0].version for group in facts.groups()}
    assert preferred["autoscaling"] == "v2"
    assert all(
        version == "v1"
        for group, version in preferred.items()
        if listed[group, version].default and group != "autoscaling"
    )


def test_groups_come_by_priority() -> None:
    priorities = [group.priority for group in facts.groups() if group.priority]
    assert priorities == sorted(priorities, reverse=True)
    for group in facts.groups():
        own = [version.priority for version in group.versions]
        assert own == sorted(own, reverse=True)


def test_the_storage_version_hash_follows_from_the_stored_kind() -> None:
    for found in facts.load():
        if found.stored is None:
            assert not found.storage_version_hash
            continue
        group, _, version = found.stored.api_version.rpartition("/")
        text = f"{group}/{version}/{found.kind}".encode()
        assert found.storage_version_hash == base64.b64encode(hashlib.sha256(text).digest()[:8]).decode(), found.plural


@pytest.mark.parametrize(
    ("plural", "group", "prefix", "version", "json_form"),
    [
        ("pods", "", "pods", "v1", False),
        ("services", "", "services/specs", "v1", False),
        ("nodes", "", "minions", "v1", False),
        ("events", "events.k8s.io", "events", "v1", False),
        ("horizontalpodautoscalers", "autoscaling", "horizontalpodautoscalers", "autoscaling/v2", False),
        ("clustertrustbundles", "certificates.k8s.io", "clustertrustbundles", "certificates.k8s.io/v1beta1", False),
        (
            "apiservices",
            "apiregistration.k8s.io",
            "apiregistration.k8s.io/apiservices",
            "apiregistration.k8s.io/v1",
            True,
        ),
    ],
)
def test_where_and_as_what_objects_are_kept(
    plural: str, group: str, prefix: str, version: str, json_form: bool
) -> None:
    stored = fact(plural, group).stored
    assert stored is not None
    assert (stored.prefix, stored.api_version, stored.json) == (prefix, version, json_form)


def test_a_version_behaves_as_its_v1_where_only_that_was_measured() -> None:
    assert fact("deviceclasses", "resource.k8s.io", "v1beta1").rules == fact("deviceclasses", "resource.k8s.io").rules
    assert not fact("podgroups", "scheduling.k8s.io", "v1beta1").rules.measured


def test_what_is_off_by_default_and_what_it_waits_for() -> None:
    assert fact("podgroups", "scheduling.k8s.io", "v1beta1").gate == "GenericWorkload"
    assert not fact("podgroups", "scheduling.k8s.io", "v1beta1").default
    assert fact("leasecandidates", "coordination.k8s.io", "v1beta1").gate == ""
    assert fact("leases", "coordination.k8s.io").default


@pytest.mark.parametrize(
    ("plural", "group", "rule"),
    [
        ("configmaps", "", facts.SUBDOMAIN),
        ("services", "", facts.LABEL),
        ("roles", "rbac.authorization.k8s.io", facts.PATH_SEGMENT),
        ("replicationcontrollers", "", facts.DECLARED_SUBDOMAIN),
        ("cronjobs", "batch", facts.CRON_JOB),
        ("customresourcedefinitions", "apiextensions.k8s.io", facts.DEFINITION),
        ("apiservices", "apiregistration.k8s.io", facts.API_SERVICE),
        ("ipaddresses", "networking.k8s.io", facts.ADDRESS),
        ("clustertrustbundles", "certificates.k8s.io", facts.TRUST_BUNDLE),
    ],
)
def test_how_names_are_checked(plural: str, group: str, rule: str) -> None:
    assert fact(plural, group).rules.name_rule == rule


def test_a_selectable_field_that_is_not_one_is_refused_in_the_words_of_the_kind() -> None:
    usual = fact("configmaps").rules.field_label_refused.format(label="data.a")
    assert usual == '"data.a" is not a known field selector: only "metadata.name", "metadata.namespace"'
    assert fact("pods").rules.field_label_refused.format(label="x") == "field label not supported: x"
    slices = fact("resourceslices", "resource.k8s.io", "v1beta1").rules.field_label_refused
    assert slices.format(label="x") == "field label not supported for resource.k8s.io/v1beta1, Kind=ResourceSlice: x"


def test_the_rules_are_those_that_were_measured() -> None:
    for row in recorded("strategies.json")["resources"]:
        found = BY_NAME.get((row["group"], row["version"], row["resource"]))
        if found is None or row.get("virtual"):
            continue
        rules, status, gone = found.rules, row.get("status", {}), row["delete"]
        assert rules.measured
        assert rules.create_on_update == row["createOnUpdate"]
        assert rules.unconditional_update == row["unconditionalUpdate"]
        assert rules.delete_answers_object == (gone["answer"] == "object")
        assert rules.orphan_by_default == (gone["default"] == "Orphan")
        assert rules.gc_finalizers == gone["gcFinalizers"]
        assert list(rules.field_labels) == row["fieldLabels"]
        assert (rules.generation is None) == (row["generation"] == "never")
        assert rules.status.unconditional == status.get("unconditional", True)
        taken = _METADATA_PARTS - rules.status.ignores
        assert not status or taken == set(status["statusPutTakes"]), found.plural
        assert found.stored is not None
        assert row["stored"]["key"].startswith(f"/registry/{found.stored.prefix}/")
        assert row["stored"]["apiVersion"] == found.stored.api_version
