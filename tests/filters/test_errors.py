"""Refusals become Status documents, in the form that the client accepts."""

from __future__ import annotations

import asyncio
import gc
import weakref

import orjson
import pytest

from filters.asking import answers, ask, fails, get, renderer
from pilothouse.filters.chain import compose
from pilothouse.filters.errors import errors
from pilothouse.machinery.errors import APIError, bad_request, not_found, too_many_requests
from pilothouse.serving.http import Answer, Handler, Request

MISSING = not_found("apps", "deployments", "a")
STATUS = {
    "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
    "message": 'deployments.apps "a" not found', "reason": "NotFound",
    "details": {"name": "a", "group": "apps", "kind": "deployments"}, "code": 404,
}  # fmt: skip


def refusing(error: APIError) -> Handler:
    return compose([errors(renderer())], fails(error))


def test_a_refusal_is_a_status() -> None:
    answer = ask(refusing(MISSING))
    assert (answer.status, answer.headers) == (404, {"Content-Type": "application/json"})
    assert orjson.loads(answer.body) == STATUS
    assert list(orjson.loads(answer.body)) == list(STATUS)  # in this order
    assert answer.body.endswith(b"}\n")


def test_a_refusal_comes_in_the_form_asked_for() -> None:
    yaml = ask(refusing(MISSING), get(accept="application/yaml"))
    assert yaml.headers["Content-Type"] == "application/yaml"
    assert b'message: deployments.apps "a" not found\n' in yaml.body
    binary = ask(refusing(MISSING), get(accept="application/vnd.kubernetes.protobuf"))
    assert binary.headers["Content-Type"] == "application/vnd.kubernetes.protobuf"
    assert binary.body.startswith(b"k8s\0") and b'deployments.apps "a" not found' in binary.body


@pytest.mark.parametrize("query", ["pretty=1", "pretty=true"])
def test_a_refusal_is_pretty_where_that_is_asked_for(query: str) -> None:
    assert ask(refusing(MISSING), get(query=query)).body.startswith(b'{\n  "kind": "Status",\n')


@pytest.mark.parametrize(
    "accept", ["text/html", "application/json;as=Table", "application/json;as=Table;g=meta.k8s.io"]
)
def test_who_accepts_nothing_we_have_gets_json_all_the_same(accept: str) -> None:
    answer = ask(refusing(MISSING), get(accept=accept))
    assert (answer.status, answer.headers["Content-Type"]) == (404, "application/json")
    assert orjson.loads(answer.body) == STATUS


def test_a_table_is_not_the_form_of_a_refusal() -> None:
    answer = ask(refusing(MISSING), get(accept="application/json;as=Table;v=v1;g=meta.k8s.io,application/json"))
    assert orjson.loads(answer.body)["kind"] == "Status"


def test_when_to_come_back_is_a_header_too() -> None:
    answer = ask(refusing(too_many_requests(7)))
    assert (answer.status, answer.headers["Retry-After"]) == (429, "7")
    assert orjson.loads(answer.body)["details"] == {"retryAfterSeconds": 7}


def test_headers_of_an_error_travel_with_it() -> None:
    error = APIError(409, "Conflict", "no")
    error.headers = [(b"Warning", b'299 - "w"')]
    assert ask(refusing(error)).headers["Warning"] == '299 - "w"'


def test_an_answer_passes_untouched() -> None:
    handler = compose([errors(renderer())], answers(404, b"404 page not found\n"))
    assert ask(handler) == (404, {}, b"404 page not found\n")


def test_what_is_no_refusal_goes_on_to_the_recovery() -> None:
    with pytest.raises(ZeroDivisionError):
        ask(compose([errors(renderer())], fails(ZeroDivisionError())))


def test_nothing_of_a_refused_request_is_left_to_the_garbage_collector() -> None:
    class Body:
        pass

    read: list[weakref.ref[Body]] = []

    async def refuse(_: Request) -> Answer:
        body = Body()
        read.append(weakref.ref(body))
        judged = (
            asyncio.get_running_loop().create_future()
        )  # work beside the loop: a ring of it, its error and this frame
        judged.set_exception(bad_request("no"))
        await judged
        raise AssertionError

    gc.disable()
    try:
        assert ask(compose([errors(renderer())], refuse)).status == 400
        assert read[0]() is None
    finally:
        gc.enable()
