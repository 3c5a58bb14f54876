"""How the OpenAPI documents are served (recorded: conformance discovery.yaml, server/http.json, wire/headers.json)."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Callable
from typing import Any

import pytest

from pilothouse.openapi.catalog import Catalog, Source
from pilothouse.openapi.handlers import V2_PROTOBUF, V3_PROTOBUF, openapi_handler
from pilothouse.openapi.text import digest
from pilothouse.serving.http import Answer, Handler, Request, Response

NOON = 1_780_000_000.0
DOCUMENT = b'{"openapi":"3.0.0","info":{"title":"Kubernetes","version":"1.37"}}'
SWAGGER = {"swagger": "2.0", "info": {"title": "Kubernetes", "version": "1.37"}, "paths": {}}


class NoBody:
    async def read(self, limit: int) -> bytes:
        return b""

    async def chunk(self) -> bytes:
        return b""


async def nobody(request: Request) -> Answer:
    return Response(404, [(b"Content-Type", b"text/plain; charset=utf-8")], b"404 page not found\n")


@pytest.fixture
def catalog() -> Catalog:
    made = Catalog(lambda: NOON)
    made.set("version", Source(lambda: DOCUMENT))
    made.set_swagger("builtin", lambda: SWAGGER)
    return made


@pytest.fixture
def handler(catalog: Catalog) -> Handler:
    return openapi_handler(catalog, asyncio.to_thread, lambda: NOON, nobody)


def ask(handler: Handler, target: str, method: str = "GET", **headers: str) -> Response:
    path, _, query = target.partition("?")
    sent = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    answer = asyncio.run(handler(Request(method, path.encode(), query, sent, NoBody())))  # type: ignore[arg-type]
    assert isinstance(answer, Response)
    return answer


def test_the_index_is_json_that_is_not_called_so(handler: Handler) -> None:
    answer = ask(handler, "/openapi/v3", accept="application/yaml")
    assert dict(answer.headers)[b"Content-Type"] == b"text/plain; charset=utf-8"
    assert json.loads(answer.body) == {  # type: ignore[arg-type]
        "paths": {"version": {"serverRelativeURL": f"/openapi/v3/version?hash={digest(DOCUMENT)}"}}
    }
    assert b"Etag" not in dict(answer.headers)
    assert ask(handler, "/openapi/v3", if_none_match=f'"{digest(DOCUMENT)}"').status == 200
    assert ask(handler, "/openapi/v3", if_none_match="*").status == 304


def test_a_document_is_found_by_its_path_only(handler: Handler) -> None:
    assert ask(handler, "/openapi/v3/version").body == DOCUMENT
    for path in ("/openapi/v3/", "/openapi/v3/apps/v1", "/openapi/v3/version/"):
        assert (ask(handler, path).status, ask(handler, path).body) == (404, b"")
    assert ask(handler, "/openapi/v2/definitions").body == b"404 page not found\n"


def test_any_method_reads(handler: Handler) -> None:
    assert ask(handler, "/openapi/v3/version", "POST").body == DOCUMENT
    assert ask(handler, "/openapi/v2", "POST").status == 200


def test_the_link_with_the_digest_may_be_kept_for_ever(handler: Handler) -> None:
    answer = ask(handler, f"/openapi/v3/version?hash={digest(DOCUMENT)}&timeout=32s")
    headers = dict(answer.headers)
    assert headers[b"Cache-Control"] == b"public, immutable"
    assert headers[b"Expires"].endswith(b"2027 20:26:40 UTC")
    assert headers[b"Etag"] == f'"{digest(DOCUMENT)}"'.encode()
    assert b"Cache-Control" not in dict(ask(handler, "/openapi/v3/version?hash=").headers)


def test_another_digest_leads_to_the_right_one(handler: Handler) -> None:
    answer = ask(handler, "/openapi/v3/version?hash=other")
    assert (answer.status, answer.body) == (301, b"")
    assert dict(answer.headers)[b"Location"] == f"/openapi/v3/version?hash={digest(DOCUMENT)}".encode()


@pytest.mark.parametrize(
    "headers",
    [
        {"if_none_match": "*"},
        {"if_none_match": f'"{digest(DOCUMENT)}"'},
        {"if_none_match": f'W/"x", W/"{digest(DOCUMENT)}"'},
        {"if_modified_since": "Thu, 28 May 2026 20:26:40 GMT"},
    ],
)
def test_what_a_client_has_is_not_sent_again(handler: Handler, headers: dict[str, str]) -> None:
    answer = ask(handler, "/openapi/v3/version", **headers)
    assert (answer.status, answer.body) == (304, b"")
    assert b"Content-Type" not in dict(answer.headers)


@pytest.mark.parametrize(
    "headers",
    [
        {"if_none_match": '"other"'},
        {"if_modified_since": "Thu, 28 May 2026 20:26:39 GMT"},
        {"if_modified_since": "yesterday"},
        {"if_none_match": '"other"', "if_modified_since": "Thu, 28 May 2026 20:26:40 GMT"},
    ],
)
def test_what_a_client_has_not_is_sent(handler: Handler, headers: dict[str, str]) -> None:
    assert ask(handler, "/openapi/v3/version", **headers).status == 200


@pytest.mark.parametrize(
    ("wanted", "body", "shown"),
    [
        ("bytes=0-9", DOCUMENT[:10], f"bytes 0-9/{len(DOCUMENT)}"),
        ("bytes=60-", DOCUMENT[60:], f"bytes 60-65/{len(DOCUMENT)}"),
        ("bytes=-4", DOCUMENT[-4:], f"bytes 62-65/{len(DOCUMENT)}"),
        ("bytes=60-999", DOCUMENT[60:], f"bytes 60-65/{len(DOCUMENT)}"),
    ],
)
def test_a_part_may_be_asked_for(handler: Handler, wanted: str, body: bytes, shown: str) -> None:
    answer = ask(handler, "/openapi/v3/version", range=wanted)
    assert (answer.status, answer.body) == (206, body)
    assert dict(answer.headers)[b"Content-Range"] == shown.encode()


def test_a_part_that_is_not_there_is_refused(handler: Handler) -> None:
    answer = ask(handler, "/openapi/v3/version", range="bytes=999-")
    assert answer.status == 416
    assert dict(answer.headers)[b"Content-Range"] == b"bytes */66"
    assert ask(handler, "/openapi/v3/version", range="lines=1-2").status == 416


@pytest.mark.parametrize("path", ["/openapi/v2", "/openapi/v3/version"])
@pytest.mark.parametrize("accept", ["text/html", "application/yaml", "application/vnd.kubernetes.protobuf", "json"])
def test_other_media_types_are_refused_without_a_word(handler: Handler, path: str, accept: str) -> None:
    answer = ask(handler, path, accept=accept)
    assert (answer.status, answer.headers, answer.body) == (406, [], b"")


@pytest.mark.parametrize(("path", "protobuf"), [("/openapi/v2", V2_PROTOBUF), ("/openapi/v3/version", V3_PROTOBUF)])
@pytest.mark.parametrize("spelling", [".v1.0", "@v1.0"])
def test_protobuf_has_two_spellings(handler: Handler, path: str, protobuf: str, spelling: str) -> None:
    answer = ask(handler, path, accept=protobuf.replace(".v1.0", spelling))
    assert dict(answer.headers)[b"Content-Type"] == protobuf.encode()
    assert b"Kubernetes" in bytes(answer.body)  # type: ignore[arg-type]
    other = V3_PROTOBUF if protobuf == V2_PROTOBUF else V2_PROTOBUF
    assert ask(handler, path, accept=other).status == 406
    assert ask(handler, path, accept=f"{other}, */*;q=0.1").status == 200


def test_the_swagger_document_is_compressed_for_those_who_take_it(handler: Handler) -> None:
    plain = ask(handler, "/openapi/v2")
    assert json.loads(plain.body) == SWAGGER  # type: ignore[arg-type]
    packed = ask(handler, "/openapi/v2", accept_encoding="deflate, gzip")
    assert dict(packed.headers)[b"Content-Encoding"] == b"gzip"
    assert gzip.decompress(bytes(packed.body)) == plain.body  # type: ignore[arg-type]
    assert [value for name, value in packed.headers if name == b"Vary"] == [b"Accept-Encoding", b"Accept"]
    assert ask(handler, "/openapi/v2", range="bytes=0-14", accept_encoding="gzip").body == b'{"swagger":"2.0'


def counted(data: bytes) -> tuple[Callable[[], bytes], list[int]]:
    calls: list[int] = []

    def make() -> bytes:
        calls.append(1)
        return data

    return make, calls


def test_a_document_is_made_once_until_its_source_changes(catalog: Catalog, handler: Handler) -> None:
    make, calls = counted(b'{"openapi":"3.0.0","paths":{}}')
    catalog.set("apis/example.com/v1", Source(make))
    assert calls == []
    for _ in range(3):
        assert ask(handler, "/openapi/v3/apis/example.com/v1").status == 200
    assert calls == [1]
    catalog.set("apis/example.com/v1", Source(lambda: b'{"openapi":"3.0.0","paths":{"/x":{}}}'))
    assert b'"/x"' in bytes(ask(handler, "/openapi/v3/apis/example.com/v1").body)  # type: ignore[arg-type]
    catalog.remove("apis/example.com/v1")
    assert ask(handler, "/openapi/v3/apis/example.com/v1").status == 404
    assert list(json.loads(bytes(ask(handler, "/openapi/v3").body))["paths"]) == ["version"]  # type: ignore[arg-type]


def test_several_who_ask_at_once_share_the_work(catalog: Catalog, handler: Handler) -> None:
    make, calls = counted(DOCUMENT)
    catalog.set("version", Source(make))

    async def all_at_once() -> list[Answer]:
        asked = [Request("GET", b"/openapi/v3/version", "", [], NoBody()) for _ in range(8)]  # type: ignore[arg-type]
        return await asyncio.gather(*(handler(request) for request in asked))

    answers = asyncio.run(all_at_once())
    assert calls == [1]
    assert {answer.status for answer in answers if isinstance(answer, Response)} == {200}


def test_long_documents_are_kept_small(catalog: Catalog) -> None:
    long = b'{"x":"' + b"y" * 100_000 + b'"}'
    catalog.set("long", Source(lambda: long))
    content = catalog.document("long")
    assert content is not None
    assert len(content.packed) < 1000
    assert content.read() == long


def test_what_others_serve_is_merged_into_the_swagger_document(catalog: Catalog, handler: Handler) -> None:
    def paths() -> list[str]:
        return list(json.loads(bytes(ask(handler, "/openapi/v2").body))["paths"])  # type: ignore[arg-type]

    extension: dict[str, Any] = {
        "info": {"title": "x"},
        "paths": {"/apis/example.com/v1/": {}},
        "definitions": {"E": {}},
    }
    catalog.set_swagger("v1.example.com", lambda: extension)
    assert paths() == ["/apis/example.com/v1/"]
    shown = json.loads(bytes(ask(handler, "/openapi/v2").body))  # type: ignore[arg-type]
    assert shown["info"] == SWAGGER["info"]
    assert shown["definitions"] == {"E": {}}
    catalog.remove_swagger("v1.example.com")
    assert paths() == []


def test_a_source_can_change_while_its_document_is_made(catalog: Catalog) -> None:
    new = Source(lambda: b'{"openapi":"3.0.0","paths":{"/new":{}}}')

    def old() -> bytes:
        catalog.set("apis/example.com/v1", new)  # does not wait for us
        return b'{"openapi":"3.0.0","paths":{"/old":{}}}'

    catalog.set("apis/example.com/v1", Source(old))
    first = catalog.document("apis/example.com/v1")
    second = catalog.document("apis/example.com/v1")
    assert first is not None and b"/old" in first.read()
    assert second is not None and b"/new" in second.read()
    assert f"hash={second.etag}".encode() in catalog.index().read()
