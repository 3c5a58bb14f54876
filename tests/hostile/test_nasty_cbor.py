"""The nasty bodies of CBOR, against a server that reads it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from hostile import mutated, nasty, nasty_cbor, simple, unlike
from hostile.assault import ended_well, survived
from support.api import Api
from support.server import CONFORMANCE_FLAGS, Server

FLAGS = (*CONFORMANCE_FLAGS, "--feature-gates=CBORServingAndStorage=true")


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = Server(tmp_path_factory.mktemp("target"), *FLAGS)
    yield server
    ended_well(server)


@pytest.fixture(scope="module")
def caller(target: Server) -> Iterator[Api]:
    with nasty.victims(target) as api:
        yield api


def test_nasty_bodies_are_answered_and_nobody_waits(target: Server, caller: Api) -> None:
    survived(target, caller, nasty_cbor.requests())


def test_damaged_bodies_are_answered_and_nobody_waits(target: Server, caller: Api) -> None:
    survived(target, caller, mutated.cbor_requests())


def test_simple_bodies_are_answered_and_nobody_waits(target: Server, caller: Api) -> None:
    survived(target, caller, simple.cbor_requests())


def test_lists_of_unlike_objects_are_answered_and_nobody_waits(target: Server, caller: Api) -> None:
    survived(target, caller, unlike.cbor_requests())


def test_refusals_in_cbor_are_bounded_too(caller: Api) -> None:
    for name, method, path, media_type, body in nasty_cbor.requests():
        headers = {"Accept": nasty_cbor.CBOR}
        answer = caller.request(method, path + "&fieldValidation=Ignore", body(), kind=media_type, headers=headers)
        assert answer.status in (200, 201, 400, 413, 422, 500), name
        assert len(answer.body) < 4 << 20, name
