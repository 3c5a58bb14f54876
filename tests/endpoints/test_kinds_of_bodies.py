"""What a body says it is: of which group, version and kind, in text and in protobuf."""

from __future__ import annotations

import pytest

from endpoints.served import JSON, PROTOBUF, YAML, Served, config_map
from pilothouse.machinery import cbor
from support.protobuf import field

CBOR = "application/cbor"
NAMED = field(1, field(1, "x"))  # a message whose metadata has a name
SCHEME = 'in scheme "pkg/runtime/scheme.go:111"'


def envelope(api_version: str, kind: str, message: bytes = NAMED) -> bytes:
    return b"k8s\0" + field(1, field(1, api_version) + field(2, kind)) + field(2, message)


def created(served: Served, place: str, body: bytes, kind: str = JSON) -> tuple[int, str]:
    found = served.ask(f"POST {place}/configmaps?dryRun=All", body, kind)
    return found.status, found.json().get("message", "")


@pytest.mark.parametrize(
    ("api_version", "kind"),
    [("v1", "ConfigMap"), ("", ""), ("", "ConfigMap"), ("v1", ""), ("/", "ConfigMap"), ("/v1", ""), ("a/b/c", "")],
)
def test_protobuf_that_leaves_out_what_it_is(served: Served, place: str, api_version: str, kind: str) -> None:
    assert created(served, place, envelope(api_version, kind), PROTOBUF) == (201, "")


REFUSED = [
    ("apps/v1", "", f'ConfigMap in version "v1" cannot be handled as a ConfigMap: no kind "ConfigMap" is registered'
     f' for version "apps/v1" {SCHEME}'),
    ("v1", "Pod", 'Pod in version "v1" cannot be handled as a ConfigMap: converting (v1.Pod) to (core.ConfigMap): '
     "unknown conversion"),
]  # fmt: skip


@pytest.mark.parametrize(("api_version", "kind", "message"), REFUSED)
def test_another_kind_in_any_form(served: Served, place: str, api_version: str, kind: str, message: str) -> None:
    text = f'{{"apiVersion":"{api_version}","kind":"{kind}","metadata":{{"name":"x"}}}}'.encode()
    assert created(served, place, envelope(api_version, kind), PROTOBUF) == (400, message)
    assert created(served, place, text) == created(served, place, text, YAML) == (400, message)


def test_an_envelope_of_nothing(served: Served, place: str) -> None:
    message = "the object provided is unrecognized (must be of type ConfigMap): empty body (6b387300)"
    assert created(served, place, b"k8s\0", PROTOBUF) == (400, message)


@pytest.mark.parametrize("told", ["/", "/v1", "v1", ""])
def test_a_version_without_a_group(served: Served, place: str, told: str) -> None:
    assert created(served, place, f'{{"apiVersion":"{told}","metadata":{{"name":"x"}}}}'.encode()) == (201, "")


def test_a_group_without_a_version(served: Served, place: str) -> None:
    body = b'{"apiVersion":"apps/","kind":"ConfigMap"}'
    assert created(served, place, body) == (
        400,
        'ConfigMap in version "" cannot be handled as a ConfigMap: '
        f"""Object 'apiVersion' is missing in '{body.decode()}'""",
    )


def test_kind_and_version_are_looked_for_in_any_case(served: Served, place: str) -> None:
    status, message = created(served, place, b'{"kind":"ConfigMap","Kind":"Pod","APIVERSION":"v1"}')
    assert (status, message.rpartition(": ")[0]) == (
        400,
        'Pod in version "v1" cannot be handled as a ConfigMap: converting (v1.Pod) to (core.ConfigMap)',
    )
    found = served.ask(f"POST {place}/configmaps?dryRun=All", b'{"Kind":"ConfigMap","metadata":{"name":"x"}}')
    assert found.status == 201  # as a field it is unknown all the same
    assert created(served, place, b'{"KIND":5}')[1].endswith(
        'json: cannot unmarshal number into Go struct field .kind of type string ({"KIND":5})'
    )


OPTIONS = field(5, "All")


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (envelope("v1", "DeleteOptions", OPTIONS), PROTOBUF),
        (envelope("nowhere/v1", "DeleteOptions", OPTIONS), PROTOBUF),
        (envelope("", "", OPTIONS), PROTOBUF),
        (b'{"kind":"DeleteOptions","apiVersion":"nowhere/v1","dryRun":["All"]}', JSON),
        (b"dryRun: [All]", YAML),
    ],
)
def test_options_of_a_deletion_are_of_any_version(served: Served, place: str, body: bytes, kind: str) -> None:
    served.make(f"{place}/configmaps", config_map("d"))
    assert served.ask(f"DELETE {place}/configmaps/d", body, kind).status == 200
    assert served.ask(f"GET {place}/configmaps/d").status == 200


@pytest.mark.parametrize(
    ("body", "kind", "message"),
    [
        (envelope("v1", "ConfigMap", b""), PROTOBUF, f'no kind "ConfigMap" is registered for version "v1" {SCHEME}'),
        (b'{"kind":"Pod"}', JSON, f'no kind "Pod" is registered for version "meta.k8s.io/v1" {SCHEME}'),
        (b'{"kind":"DeleteOptions","apiVersion":"a/b/c"}', JSON, "unexpected GroupVersion string: a/b/c"),
        (b"k8s\0", PROTOBUF, "empty body"),
    ],
)
def test_what_are_no_options_of_a_deletion(served: Served, place: str, body: bytes, kind: str, message: str) -> None:
    served.make(f"{place}/configmaps", config_map("d"))
    found = served.ask(f"DELETE {place}/configmaps/d", body, kind)
    assert (found.status, found.message) == (400, message)
    assert served.ask(f"GET {place}/configmaps/d").status == 200


def test_cbor_knows_one_spelling(speaking: Served) -> None:
    body = cbor.dumps({"Kind": "Pod", "metadata": {"name": "x"}})
    assert speaking.ask("POST /api/v1/namespaces/default/configmaps?dryRun=All", body, CBOR).status == 201
    options = speaking.ask("DELETE /api/v1/namespaces/default/configmaps/x", cbor.dumps([]), CBOR)
    assert (options.status, options.message) == (
        400,
        "unable to determine group/version/kind: cbor: cannot unmarshal array into Go value of type v1.TypeMeta",
    )


def test_the_servers_of_definitions_and_api_services_know_no_kinds_of_others(served: Served) -> None:
    def told(path: str, api_version: str, kind: str) -> str:
        body = {"apiVersion": api_version, "kind": kind}
        found = served.ask(f"POST {path}?dryRun=All", body)
        assert found.status == 400
        return found.message.partition(": ")[2]

    maps, definitions = (
        "/api/v1/namespaces/default/configmaps",
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    )
    own = "apiextensions.k8s.io/v1"
    assert told(definitions, "v1", "ConfigMap") == f'no kind "ConfigMap" is registered for version "v1" {SCHEME}'
    assert told(maps, own, "CustomResourceDefinition") == (
        f'no kind "CustomResourceDefinition" is registered for version "{own}" {SCHEME}'
    )
    assert told(definitions, "v1", "Status").endswith("unknown conversion")
    assert (
        served.ask(f"POST {definitions}", {"apiVersion": f"{own}beta1", "kind": "CustomResourceDefinition"}).message
        == f"the API version in the data ({own}beta1) does not match the expected API version ({own})"
    )
