"""The OpenAPI documents are those of a real server, member by member and in order; only some prose is left out."""

from __future__ import annotations

import gzip
import json
import pathlib
import subprocess
import sys
from typing import Any

import pytest

from pilothouse.builtin import documents, facts
from pilothouse.builtin.definitions import BuiltinDefinitions
from pilothouse.openapi import text, v3
from pilothouse.openapi.catalog import Catalog
from pilothouse.openapi.model import WITH_CBOR

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECORDED = ROOT.parent / "shared/facts/openapi"
DEFAULT = [resource for resource in facts.load() if resource.default]
OFF = sorted({(resource.group, resource.version) for resource in facts.load() if not resource.default})


def recorded(name: str) -> bytes:
    path = RECORDED / name
    if not path.exists():
        pytest.skip("no recorded answers beside the checkout")
    return gzip.decompress(path.read_bytes()).rstrip(b"\n")


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    made = Catalog(lambda: 0.0)
    documents.publish(made, DEFAULT)
    return made


PROSE = "\n\nPossible enum values:"
OWN_WORDS = (
    "io.k8s.apimachinery.pkg.api.resource.Quantity",
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString",
)


def plain(document: bytes) -> Any:
    """The document without what is told in other words: the meaning of enum values, parameters, two definitions."""
    made = json.loads(document)
    definitions = made["definitions"] if "definitions" in made else made["components"].get("schemas", {})
    for name in OWN_WORDS:
        definitions.get(name, {}).pop("description", None)
    for definition in definitions.values():
        for prop in definition.get("properties", {}).values():
            if "description" in prop:
                prop["description"] = prop["description"].partition(PROSE)[0].rstrip("\n")
    forget_parameters(made)
    return made


def forget_parameters(value: Any) -> None:
    """Parameters of exec, log and the like are told in our own words."""
    if isinstance(value, list):
        for item in value:
            forget_parameters(item)
    elif isinstance(value, dict):
        if "in" in value and "name" in value and value["in"] != "body":
            value.pop("description", None)
        for item in value.values():
            forget_parameters(item)


def first_difference(ours: Any, theirs: Any, path: str = "") -> str:
    """Where two documents differ first: a whole diff of megabytes helps nobody."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for name in [*ours, *(name for name in theirs if name not in ours)]:
            if name not in ours or name not in theirs:
                return f"{path}/{name}: only {'theirs' if name not in ours else 'ours'}"
            if ours[name] != theirs[name]:
                return first_difference(ours[name], theirs[name], f"{path}/{name}")
        return f"{path}: order of members" if list(ours) != list(theirs) else ""
    if isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for index, (one, other) in enumerate(zip(ours, theirs, strict=True)):
            if one != other:
                return first_difference(one, other, f"{path}[{index}]")
    return "" if ours == theirs else f"{path}: {str(ours)[:200]} but {str(theirs)[:200]}"


def test_every_document_of_a_default_server_is_the_original(catalog: Catalog) -> None:
    index = RECORDED / "v3-index.json"
    if not index.exists():
        pytest.skip("no recorded answers beside the checkout")
    assert catalog.paths() == sorted(json.loads(index.read_text())["paths"])
    for path in catalog.paths():
        content = catalog.document(path)
        assert content is not None
        ours, theirs = plain(content.read()), plain(recorded(f"v3/{path.replace('/', '_')}.json.gz"))
        if text.dumps(ours) != text.dumps(theirs):
            pytest.fail(f"{path}{first_difference(ours, theirs)}")


def test_the_index_is_known_without_making_the_documents() -> None:
    fresh = Catalog(lambda: 0.0)
    documents.publish(fresh, DEFAULT)
    shown = json.loads(fresh.index().read())
    assert all(fresh.made(path) is None for path in fresh.paths())
    path = RECORDED / "v3-index.json"
    if path.exists():
        assert list(shown["paths"]) == list(json.loads(path.read_text())["paths"])


@pytest.mark.parametrize(("group", "version"), OFF)
def test_documents_of_versions_that_are_off_by_default(group: str, version: str) -> None:
    served = [resource for resource in facts.load() if (resource.group, resource.version) == (group, version)]
    described = documents.openapi_version(group, version, served)
    ours = plain(text.dumps(v3.group_version_document(described, BuiltinDefinitions(), WITH_CBOR)))
    theirs = plain(recorded(f"v3-off-by-default/{described.path.replace('/', '_')}.json.gz"))
    if text.dumps(ours) != text.dumps(theirs):
        pytest.fail(first_difference(ours, theirs))


def test_the_swagger_document_has_the_same_members(catalog: Catalog) -> None:
    shown, told = plain(catalog.swagger().read()), plain(recorded("v2.json.gz"))
    assert list(shown) == list(told)
    if shown != told:
        pytest.fail(first_difference(shown, told))
    assert list(shown["paths"]) == list(told["paths"])
    assert list(shown["definitions"]) == list(told["definitions"])


def test_a_document_of_one_version_knows_nothing_of_others(catalog: Catalog) -> None:
    content = catalog.document("apis/coordination.k8s.io/v1")
    assert content is not None
    document = json.loads(content.read())
    kinds = document["components"]["schemas"]["io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions"]
    shown = {(kind["group"], kind["version"]) for kind in kinds["x-kubernetes-group-version-kind"]}
    assert shown == {("", "v1"), ("coordination.k8s.io", "v1")}
    assert not any(name.startswith("io.k8s.api.core") for name in document["components"]["schemas"])


def test_a_version_that_is_switched_on_gets_a_digest_of_its_own() -> None:
    made = Catalog(lambda: 0.0)
    documents.publish(made, [*DEFAULT, *(r for r in facts.load() if r.api_version == "certificates.k8s.io/v1beta1")])
    content = made.document("apis/certificates.k8s.io/v1beta1")
    assert content is not None
    link = json.loads(made.index().read())["paths"]["apis/certificates.k8s.io/v1beta1"]["serverRelativeURL"]
    assert link == f"/openapi/v3/apis/certificates.k8s.io/v1beta1?hash={text.digest(content.read())}"


def test_the_table_of_resources_is_what_the_facts_say() -> None:
    if not RECORDED.exists():
        pytest.skip("no recorded answers beside the checkout")
    found = subprocess.run(
        [sys.executable, str(ROOT / "scripts/generate-resources"), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0, found.stderr


def test_the_known_digests_are_true(catalog: Catalog) -> None:
    for path, etag in documents.known_etags().items():
        content = catalog.document(path)
        assert content is not None
        assert text.digest(content.read()) == etag, f"{path}: run scripts/generate-openapi-etags"
