"""Nasty bodies and damaged ones: each has an answer that says what is wrong, in bounded time, and nobody else waits."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from hostile import mutated, nasty, simple, unlike
from hostile.assault import MORE_FAILURES, survived
from support.api import Api
from support.server import Server


@pytest.fixture(scope="module")
def caller(target: Server) -> Iterator[Api]:
    with nasty.victims(target) as api:
        yield api


@pytest.mark.parametrize(("method", "form"), [("POST", "protobuf"), ("POST", "json"), ("POST", "yaml"), ("PATCH", "")])
def test_nasty_bodies_are_answered_and_nobody_waits(target: Server, caller: Api, method: str, form: str) -> None:
    survived(target, caller, [one for one in nasty.requests() if one[1] == method and one[3].endswith(form)])


def test_damaged_bodies_are_answered_and_nobody_waits(target: Server, caller: Api) -> None:
    survived(target, caller, mutated.requests(caller))


def test_simple_bodies_are_answered_and_nobody_waits(target: Server, caller: Api) -> None:
    survived(target, caller, simple.requests())


def test_lists_of_unlike_objects_are_answered_and_nobody_waits(target: Server, caller: Api) -> None:
    survived(target, caller, unlike.requests(), MORE_FAILURES)
