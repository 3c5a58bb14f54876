"""What a URL asks for is read once, for everyone inside."""

from __future__ import annotations

from filters.asking import PODS, ask, get, noting
from pilothouse.endpoints.requestinfo import Query, RequestInfo
from pilothouse.filters.chain import compose
from pilothouse.filters.request_info import request_info
from pilothouse.serving.http import Request


def test_everything_inside_knows_what_is_asked_for() -> None:
    found: list[Request] = []
    ask(compose([request_info()], noting(found)), get(f"{PODS}/a/log", "follow=true&tailLines=3"))
    info, query = found[0].attached(RequestInfo), found[0].attached(Query)
    assert (info.verb, info.namespace, info.resource, info.name, info.subresource) == (
        "get", "default", "pods", "a", "log",
    )  # fmt: skip
    assert query.get("tailLines") == "3"


def test_escapes_of_the_path_are_read_first() -> None:
    found: list[Request] = []
    ask(compose([request_info()], noting(found)), get(f"{PODS}/a%2Db"))
    assert found[0].attached(RequestInfo).name == "a-b"
