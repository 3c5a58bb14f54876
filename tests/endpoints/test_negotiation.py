"""Which form an answer takes, and which forms of bodies are taken."""

from __future__ import annotations

import pytest

from endpoints.served import JSON, PROTOBUF, YAML, Served, config_map
from pilothouse.endpoints.negotiation import Form, content_type, negotiate
from pilothouse.endpoints.scope import FORMS
from pilothouse.machinery.errors import APIError
from pilothouse.serving.body import NO_BODY
from pilothouse.serving.http import Request

META = "g=meta.k8s.io;v=v1"


def request(query: str = "", **headers: str) -> Request:
    sent = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return Request("GET", b"/", query, sent, NO_BODY)


ACCEPTED = [
    ("", Form(JSON)),
    ("*/*", Form(JSON)),
    (JSON, Form(JSON)),
    (YAML, Form(YAML)),
    (PROTOBUF, Form(PROTOBUF)),
    (f"{PROTOBUF},{JSON}", Form(PROTOBUF)),
    (f"text/html, {YAML}", Form(YAML)),
    (f"{YAML};q=0.5, {JSON};q=0.9", Form(JSON)),
    (f"{YAML};q=0.5, {JSON};q=0.5", Form(YAML)),
    (f"{YAML};q=x, {JSON}", Form(JSON)),  # counts as 0
    (f"{JSON};q=0, {YAML}", Form(YAML)),
    (f"{JSON};q=0", Form(JSON)),
    (f"*/*, {YAML}", Form(YAML)),  # what is told exactly comes first
    (f"{YAML};q=0.5, */*", Form(JSON)),
    (f"*/*, {YAML};q=0.5", Form(YAML)),
    (f"json, a/b/c, {YAML}", Form(YAML)),
    (f"{JSON};AS=Table;G=meta.k8s.io;V=v1", Form(JSON)),  # of names the case counts
    (f"{JSON};as=;g;v==x", Form(JSON)),
    (f"{JSON};pretty=1", Form(JSON, pretty=True)),
    (f"{JSON};pretty=true", Form(JSON)),
    (f"{JSON};sv=v1", Form(JSON)),
    ("application/*", Form(JSON)),
    (f"*/*;as=Nothing, {YAML}", Form(YAML)),
    ("text/html, */*", Form(JSON)),
    (f"{JSON};stream=watch", Form(JSON, stream=True)),
    (f"{YAML};stream=watch, {JSON};stream=", Form(JSON)),
    (f"{JSON};charset=utf-8", Form(JSON)),
    (f"{JSON};as=Table;{META}", Form(JSON, "Table", "v1")),
    (f"{JSON};as=Table;g=meta.k8s.io;v=v1beta1", Form(JSON, "Table", "v1beta1")),
    (f"{YAML};as=Table;{META}", Form(YAML, "Table", "v1")),
    (f"{JSON};as=PartialObjectMetadata;{META}", Form(JSON, "PartialObjectMetadata", "v1")),
    (f"{PROTOBUF};as=PartialObjectMetadata;{META}", Form(PROTOBUF, "PartialObjectMetadata", "v1")),
    (f"*/*;as=Table;{META}", Form(JSON, "Table", "v1")),
    (f"{JSON};as=Table;v=v2;g=meta.k8s.io,{JSON}", Form(JSON)),
    (f"{PROTOBUF};as=Table;{META},{JSON};as=Table;{META}", Form(JSON, "Table", "v1")),
]


@pytest.mark.parametrize(("accept", "form"), ACCEPTED)
def test_the_first_form_that_there_is(accept: str, form: Form) -> None:
    assert negotiate(request(accept=accept), forms=FORMS) == form


REFUSED = [
    "text/html",
    "application/cbor",
    "Application/JSON",
    f"{JSON};sv=v2",
    f'{JSON};as="Table";{META}',
    f"{JSON};as=Table",
    f"{JSON};as=Table;g=meta.k8s.io",
    f"{JSON};as=Table;v=v1",
    f"{JSON};as=Table;g=meta.k8s.io;v=v2",
    f"{JSON};as=List;{META}",
    f"{JSON};{META}",
    f"{PROTOBUF};as=Table;{META}",
    f"{JSON};stream=other",
    f"{YAML};stream=watch",
]


@pytest.mark.parametrize("accept", REFUSED)
def test_what_there_is_not_is_not_acceptable(accept: str) -> None:
    with pytest.raises(APIError) as found:
        negotiate(request(accept=accept), forms=FORMS)
    assert (found.value.code, found.value.reason) == (406, "NotAcceptable")


@pytest.mark.parametrize(
    ("query", "headers", "pretty"),
    [
        ("pretty=1", {}, True),
        ("pretty=true", {}, True),
        ("pretty=0", {}, False),
        ("pretty=false", {"user_agent": "curl/8"}, False),
        ("", {"user_agent": "curl/8"}, True),
        ("", {"user_agent": "Mozilla/5.0 (X11)"}, True),
        ("", {"user_agent": "kubectl/v1.37.1"}, False),
        ("", {"accept": f"{JSON};pretty=1"}, True),
        ("pretty=1", {"accept": YAML}, False),
        ("pretty=T", {}, True),
        ("pretty=yes", {"user_agent": "curl/8"}, False),
        ("pretty=", {"user_agent": "curl/8"}, True),
        ("labelSelector=pretty=1", {}, False),
        ("pretty=0", {"accept": f"{JSON};pretty=1"}, True),
    ],
)
def test_people_get_pretty_json(query: str, headers: dict[str, str], pretty: bool) -> None:
    assert negotiate(request(query, **headers)).pretty is pretty


@pytest.mark.parametrize(
    ("header", "media_type"),
    [("", JSON), (JSON, JSON), ("Application/JSON; charset=utf-8", JSON), (YAML, YAML), (f" {PROTOBUF} ", PROTOBUF)],
)
def test_bodies_say_what_they_are(header: str, media_type: str) -> None:
    assert content_type(request(content_type=header)) == media_type


@pytest.mark.parametrize("header", ["text/plain", "application/cbor", "*/*", "application/x-www-form-urlencoded"])
def test_other_bodies_are_refused_with_those_that_are_taken(header: str) -> None:
    with pytest.raises(APIError) as found:
        content_type(request(content_type=header))
    assert found.value.code == 415
    assert found.value.message.endswith(f"accepted media types include: {JSON}, {YAML}, {PROTOBUF}")


@pytest.mark.parametrize("header", ["application/json; ;;=x", "application/json;charset", "application/json;a=1;a=2"])
def test_bodies_whose_type_cannot_be_read_are_refused(header: str) -> None:
    with pytest.raises(APIError) as found:
        content_type(request(content_type=header))
    assert found.value.code == 415


@pytest.mark.parametrize("header", [f"{JSON};", f'{JSON} ; a="b;c" ; d=e', f"{JSON};a=1;A=1"])
def test_parameters_of_a_body_are_passed_over(header: str) -> None:
    assert content_type(request(content_type=header)) == JSON


ONE = f"{JSON};as=PartialObjectMetadata;{META}"
MANY = f"{JSON};as=PartialObjectMetadataList;{META}"


def test_metadata_that_does_not_fit_the_answer_is_told_of_the_answer(served: Served, place: str) -> None:
    maps = f"{place}/configmaps"
    made = served.ask(f"POST {maps}", config_map("made"), headers={"Accept": f"{MANY}, {JSON}"})
    assert made.message.endswith("the requested object is not a list (*core.ConfigMap)")
    assert served.ask(f"GET {maps}/made", headers={"Accept": ONE}).status == 200  # it was made before
    assert served.ask(f"GET {maps}/none", headers={"Accept": MANY}).status == 404
    assert served.ask(f"GET {maps}", headers={"Accept": MANY}).status == 200
    listed = served.ask(f"GET {maps}", headers={"Accept": f"{ONE}, {JSON}"})
    assert (listed.status, listed.message) == (
        406,
        "you requested PartialObjectMetadata, but the requested object is a list (*core.ConfigMapList)",
    )


def test_what_is_not_stored_is_named_by_its_own_kind(served: Served) -> None:
    found = served.ask("POST /apis/authentication.k8s.io/v1/selfsubjectreviews", {}, headers={"Accept": MANY})
    assert found.message.endswith("is not a list (*authentication.SelfSubjectReview)")


def test_routes_know_no_wildcards_of_types_but_what_is_behind_them_does(served: Served, place: str) -> None:
    served.make(f"{place}/configmaps", config_map("a"))

    def get(accept: str) -> int:
        return served.ask(f"GET {place}/configmaps/a", headers={"Accept": accept}).status

    assert get("application/*") == get("*") == 406
    assert get(f"{JSON};as=Nothing, application/*") == get(f"{JSON};as=Nothing, *") == 200


def test_a_write_without_a_body_is_told_that_it_has_none(served: Served, place: str) -> None:
    found = served.ask(f"POST {place}/configmaps", headers={"Accept": "text/html"})
    assert (found.status, found.message) == (
        415,
        f"415: Unsupported Media Type\n\nAvailable representations: {JSON}, {YAML}, {PROTOBUF}",
    )


def test_an_object_in_all_its_forms(served: Served, place: str) -> None:
    served.make(f"{place}/configmaps", config_map("a", k="v"))

    def get(accept: str) -> tuple[str, bytes]:
        found = served.ask(f"GET {place}/configmaps/a", headers={"Accept": accept})
        assert found.status == 200, found.body
        return found.kind, found.body

    assert get(JSON)[0] == JSON
    kind, body = get(YAML)
    assert kind == YAML
    assert body.startswith(b"apiVersion: v1\ndata:\n  k: v\nkind: ConfigMap\n")
    kind, body = get(PROTOBUF)
    assert kind == PROTOBUF
    assert body.startswith(b"k8s\0")
    assert b'"kind":"Table"' in get(f"{JSON};as=Table;{META}")[1]
    partial = get(f"{JSON};as=PartialObjectMetadata;{META}")[1]
    assert b'"kind":"PartialObjectMetadata"' in partial and b'"data"' not in partial


@pytest.mark.parametrize("accept", ["text/html", "application/cbor", f"{JSON};as=Table;g=meta.k8s.io;v=v7"])
def test_a_refused_form_is_explained_in_json(served: Served, accept: str) -> None:
    found = served.ask("GET /api/v1/namespaces/default", headers={"Accept": accept})
    assert (found.status, found.kind) == (406, JSON)
    assert found.json()["reason"] == "NotAcceptable"


def test_the_wrong_form_of_metadata_names_what_there_is(served: Served) -> None:
    found = served.ask("GET /api/v1/namespaces", headers={"Accept": f"{JSON};as=PartialObjectMetadata;{META}"})
    assert found.status == 406
    assert (
        found.message == "you requested PartialObjectMetadata, but the requested object is a list (*core.NamespaceList)"
    )
