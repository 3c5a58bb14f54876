"""Each answer names its request."""

from __future__ import annotations

from filters.asking import ask, counter, fails, fine, get, noting, renderer
from pilothouse.filters.audit_id import AuditId, audit_id
from pilothouse.filters.chain import compose
from pilothouse.filters.errors import errors
from pilothouse.machinery.errors import bad_request
from pilothouse.serving.http import Request


def test_every_request_has_an_identifier_of_its_own() -> None:
    handler = compose([audit_id(counter())], fine)
    assert [ask(handler).headers["Audit-Id"] for _ in range(2)] == ["id-1", "id-2"]


def test_the_clients_own_is_kept() -> None:
    assert ask(compose([audit_id(counter())], fine), get(audit_id="mine")).headers["Audit-Id"] == "mine"


def test_an_endless_one_is_cut() -> None:
    assert ask(compose([audit_id(counter())], fine), get(audit_id="x" * 1000)).headers["Audit-Id"] == "x" * 64


def test_an_empty_one_is_none() -> None:
    assert ask(compose([audit_id(counter())], fine), get(audit_id="")).headers["Audit-Id"] == "id-1"


def test_everything_inside_can_name_the_request() -> None:
    found: list[Request] = []
    ask(compose([audit_id(counter())], noting(found)))
    assert found[0].attached(AuditId) == "id-1"


def test_refusals_carry_it_too() -> None:
    handler = compose([audit_id(counter()), errors(renderer())], fails(bad_request("no")))
    answer = ask(handler)
    assert (answer.status, answer.headers["Audit-Id"]) == (400, "id-1")
