"""Which form of which discovery document answers a request (recorded: conformance discovery.yaml, wire/accept.json)."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import orjson
import pytest

from pilothouse.discovery.catalog import Catalog
from pilothouse.discovery.handlers import discovery_handler, root_handler, version_handler
from pilothouse.discovery.model import Group, Resource, Version
from pilothouse.discovery.version import version_info
from pilothouse.endpoints.negotiation import Form
from pilothouse.machinery.errors import APIError
from pilothouse.serving.http import Answer, Handler, Request, Response

V2 = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
GONE = "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList"
OFFERED = "application/json, application/yaml, application/vnd.kubernetes.protobuf"
ONLY = f"only the following media types are accepted: {OFFERED}"
NOTHING_FITS = f"406: Not Acceptable\n\nAvailable representations: {OFFERED}"
PODS = Resource("pods", "pod", "Pod", True, ("get", "list"))
CORE = Group("", (Version("v1", (PODS,)),))
APPS = Group("apps", (Version("v1", ()),))


class NoBody:
    async def read(self, limit: int) -> bytes:
        return b""

    async def chunk(self) -> bytes:
        return b""


def encode(kind: str, document: dict[str, Any], form: Form) -> bytes:
    return form.media_type.encode() + b" " + orjson.dumps(document)


async def nobody(request: Request) -> Answer:
    return Response(404, [], b"404 page not found\n")


def ask(handler: Handler, path: str, accept: str | None = None, method: str = "GET", **headers: str) -> Response:
    sent = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    if accept is not None:
        sent.append((b"accept", accept.encode()))
    answer = asyncio.run(handler(Request(method, path.encode(), "", sent, NoBody())))  # type: ignore[arg-type]
    assert isinstance(answer, Response)
    return answer


def body(answer: Response) -> dict[str, Any]:
    assert isinstance(answer.body, bytes)
    found: dict[str, Any] = json.loads(answer.body.partition(b" ")[2])
    return found


@pytest.fixture
def catalog() -> Catalog:
    made = Catalog(encode, lambda: "10.0.0.1:6443")
    made.serve([CORE, APPS])
    return made


@pytest.fixture
def handler(catalog: Catalog) -> Handler:
    return discovery_handler(catalog, nobody)


@pytest.mark.parametrize("path", ["/api", "/api/v1", "/apis", "/apis/apps", "/apis/apps/v1"])
def test_documents_answer_with_and_without_a_slash_at_the_end(handler: Handler, path: str) -> None:
    assert ask(handler, path).body == ask(handler, path + "/").body
    assert ask(handler, path).status == 200


@pytest.mark.parametrize("path", ["/apis/nope", "/apis/apps/v9", "/api/v2", "/apis/apps/v1/deployments"])
def test_other_paths_are_left_to_others(handler: Handler, path: str) -> None:
    assert ask(handler, path).status == 404


@pytest.mark.parametrize("path", ["/apis", "/apis/apps"])
def test_group_documents_answer_any_method(handler: Handler, path: str) -> None:
    assert ask(handler, path, method="DELETE").status == 200


@pytest.mark.parametrize("path", ["/api", "/api/v1", "/apis/apps/v1"])
def test_the_other_documents_are_only_read(handler: Handler, path: str) -> None:
    with pytest.raises(APIError) as refused:
        ask(handler, path, method="PUT")
    assert refused.value.code == 405


@pytest.mark.parametrize(
    ("path", "accept", "kind"),
    [
        ("/apis", V2, "APIGroupDiscoveryList"),
        ("/apis", "application/json," + V2, "APIGroupDiscoveryList"),
        ("/api", f"{V2},{GONE},application/json", "APIGroupDiscoveryList"),
        ("/api", f"{GONE},application/json", "APIVersions"),
        ("/api/v1", V2 + ",application/json", "APIResourceList"),
        ("/apis/apps", "text/html,*/*;q=0.1", "APIGroup"),
        ("/apis/apps", "application/*", "APIGroup"),
        ("/apis/apps", "", "APIGroup"),
    ],
)
def test_the_accepted_form_is_chosen(handler: Handler, path: str, accept: str, kind: str) -> None:
    answer = ask(handler, path, accept)
    assert body(answer)["kind"] == kind
    expected = V2.encode() if kind == "APIGroupDiscoveryList" else b"application/json"
    assert dict(answer.headers)[b"Content-Type"] == expected


@pytest.mark.parametrize(
    ("path", "accept", "message"),
    [
        ("/apis", GONE, ONLY),
        ("/api", GONE, ONLY),
        ("/apis", V2.replace("DiscoveryList", "Discovery"), ONLY),
        ("/apis", "application/json;as=Table;g=meta.k8s.io;v=v1", ONLY),
        ("/apis/apps", V2, ONLY),
        ("/apis/apps/v1", V2, ONLY),
        ("/apis/apps", "application/cbor", ONLY),
        ("/apis", "text/plain", ONLY),
        ("/apis/apps/v1", "text/html", NOTHING_FITS),
        ("/api", "text/plain", NOTHING_FITS),
        ("/api/v1", "application/*", NOTHING_FITS),
    ],
)
def test_what_is_not_spoken_is_refused_in_the_words_of_the_original(
    handler: Handler, path: str, accept: str, message: str
) -> None:
    with pytest.raises(APIError) as refused:
        ask(handler, path, accept)
    assert (refused.value.code, refused.value.message) == (406, message)
    assert (refused.value.details is None) == (message == ONLY)


@pytest.mark.parametrize("media_type", ["application/yaml", "application/vnd.kubernetes.protobuf"])
def test_the_aggregated_form_comes_in_every_media_type_with_one_etag(handler: Handler, media_type: str) -> None:
    accept = media_type + V2.removeprefix("application/json")
    answer = ask(handler, "/apis", accept)
    headers = dict(answer.headers)
    assert headers[b"Content-Type"] == accept.encode()
    assert headers[b"Etag"] == dict(ask(handler, "/apis", V2).headers)[b"Etag"]


def test_the_aggregated_form_may_be_cached_and_is_not_sent_twice(handler: Handler) -> None:
    headers = dict(ask(handler, "/apis", V2).headers)
    assert (headers[b"Cache-Control"], headers[b"Vary"]) == (b"public", b"Accept")
    tag = headers[b"Etag"].decode()
    assert len(tag) == 130
    again = ask(handler, "/apis", V2, if_none_match=tag)
    assert (again.status, again.body) == (304, b"")
    assert dict(again.headers) == {b"Cache-Control": b"public", b"Vary": b"Accept", b"Etag": headers[b"Etag"]}
    for other in (tag.strip('"'), f'"x", {tag}', "*"):
        assert ask(handler, "/apis", V2, if_none_match=other).status == 200


def test_documents_are_made_once_until_something_changes(catalog: Catalog, handler: Handler) -> None:
    first = ask(handler, "/apis")
    assert ask(handler, "/apis").body is first.body
    old = dict(ask(handler, "/apis", V2).headers)[b"Etag"]
    catalog.serve([CORE, APPS, Group("boats.example.com", (Version("v1", ()),))])
    assert [group["name"] for group in body(ask(handler, "/apis"))["groups"]] == ["apps", "boats.example.com"]
    assert ask(handler, "/apis/boats.example.com/v1").status == 200
    assert dict(ask(handler, "/apis", V2).headers)[b"Etag"] != old
    catalog.serve([CORE, APPS])
    assert ask(handler, "/apis/boats.example.com/v1").status == 404


def test_groups_of_one_priority_may_be_ordered_differently_in_the_aggregated_form(
    catalog: Catalog, handler: Handler
) -> None:
    boats = Group("boats.example.com", (Version("v1", ()),))
    catalog.serve([CORE, boats, APPS], aggregated_order=["apps", "boats.example.com"])
    assert [group["name"] for group in body(ask(handler, "/apis"))["groups"]] == ["boats.example.com", "apps"]
    items = body(ask(handler, "/apis", V2))["items"]
    assert [item["metadata"]["name"] for item in items] == ["apps", "boats.example.com"]


def test_the_list_of_paths_is_indented_json_whatever_is_asked_for(catalog: Catalog) -> None:
    handler = root_handler(lambda: sorted([*catalog.paths(), "/version"]))
    answer = ask(handler, "/", "application/yaml")
    assert answer.body == (
        b'{\n  "paths": [\n    "/api",\n    "/api/v1",\n    "/apis",\n    "/apis/",\n    "/apis/apps",\n'
        b'    "/apis/apps/v1",\n    "/version"\n  ]\n}'
    )


def test_version_is_read_as_json_only() -> None:
    handler = version_handler(version_info(release="pilothouse-0", compiler="cpython", platform="linux/amd64"))
    assert json.loads(ask(handler, "/version", "*/*").body)["minor"] == "37"  # type: ignore[arg-type]
    with pytest.raises(APIError) as refused:
        ask(handler, "/version", "application/yaml")
    assert refused.value.message == "406: Not Acceptable\n\nAvailable representations: application/json"
    with pytest.raises(APIError) as wrong:
        ask(handler, "/version", method="POST")
    assert wrong.value.code == 405
