"""Definitions of well-known projects are accepted, and a schema that is not structural is told so."""

import tarfile

import pytest
import yaml
from recorded import SHARED
from writes import Kind

DEFINITIONS = Kind("apiextensions.k8s.io", "customresourcedefinitions")


class Loader(yaml.CSafeLoader):
    """YAML 1.1 as definitions are written: a lone `=` is a text."""


Loader.add_constructor("tag:yaml.org,2002:value", lambda loader, node: node.value)


def definition(schema, **spec):
    names = {"plural": "widgets", "kind": "Widget"}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    whole = {"group": "example.com", "scope": "Namespaced", "names": names, "versions": [version], **spec}
    return {"metadata": {"name": "widgets.example.com"}, "spec": whole}


def test_definitions_of_projects_are_accepted():
    corpus = SHARED / "corpus" / "crds.tar.gz"
    if not corpus.exists():
        pytest.skip("the shared folder is not here")
    found = 0
    with tarfile.open(corpus) as archive:
        for member in archive.getmembers()[::4]:
            if not member.isfile():
                continue
            for one in yaml.load_all(archive.extractfile(member), Loader=Loader):
                if one and one.get("kind") == "CustomResourceDefinition":
                    DEFINITIONS.create_exactly(one)
                    found += 1
    assert found > 40


def test_names_are_filled_in_from_the_kind():
    made, _ = DEFINITIONS.create(definition({"type": "object"}))
    assert made["spec"]["names"] == {
        "plural": "widgets",
        "singular": "widget",
        "kind": "Widget",
        "listKind": "WidgetList",
    }
    assert made["spec"]["conversion"] == {"strategy": "None"}
    assert made["status"]["storedVersions"] == ["v1"]


def test_every_field_needs_a_type():
    body = definition({"type": "object", "properties": {"spec": {"description": "anything"}}})
    assert DEFINITIONS.causes(body) == [
        (
            "spec.validation.openAPIV3Schema.properties[spec].type",
            "Required value: must not be empty for specified object fields",
        )
    ]


def test_schemas_that_differ_are_told_at_their_versions():
    body = definition({"type": "object"})
    second = {"name": "v2", "served": True, "storage": False, "schema": {"openAPIV3Schema": {"type": "array"}}}
    body["spec"]["versions"].append(second)
    fields = [field for field, _ in DEFINITIONS.causes(body)]
    assert fields == ["spec.versions[1].schema.openAPIV3Schema.items", "spec.versions[1].schema.openAPIV3Schema.type"]


def test_scope_and_kind_are_fixed_once_the_definition_is_established():
    made, _ = DEFINITIONS.create(definition({"type": "object"}))
    DEFINITIONS.change(made, {"spec": {"scope": "Cluster"}})
    established = {"type": "Established", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}
    made["status"]["conditions"] = [established]
    body = {**made, "spec": {**made["spec"], "scope": "Cluster"}}
    assert DEFINITIONS.causes(body, made) == [("spec.scope", 'Invalid value: "Cluster": field is immutable')]


def test_a_version_that_holds_objects_must_stay():
    made, _ = DEFINITIONS.create(definition({"type": "object"}))
    body = {**made, "spec": {**made["spec"], "versions": [{**made["spec"]["versions"][0], "name": "v2"}]}}
    [(field, message)] = DEFINITIONS.causes(body, made)
    assert field == "status.storedVersions[0]"
    assert "v1 was previously a storage version" in message


def test_old_mistakes_do_not_stand_in_the_way_of_other_changes():
    made, _ = DEFINITIONS.create(definition({"type": "object"}))
    del made["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["type"]
    changed, _ = DEFINITIONS.change(made, {"spec": {"names": {"shortNames": ["wd"]}}})
    assert changed["spec"]["names"]["shortNames"] == ["wd"]
