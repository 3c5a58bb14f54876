"""What is told of writes: how unknown fields were to be taken, and how much updates had to be compared."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from support.inprocess import body_of
from support.measured import Measured, measured

MAPS = "/api/v1/namespaces/default/configmaps"
VALIDATIONS = "field_validation_request_duration_seconds_count"
COMPARISONS = "apiserver_request_timestamp_comparison_time_count"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Measured]:
    with measured(tmp_path_factory.mktemp("writes")) as server:
        yield server


def test_writes_that_say_how_unknown_fields_are_taken_are_told_apart(server: Measured) -> None:
    body = {"metadata": {"generateName": "a-"}}
    with server.grows(VALIDATIONS, field_validation="Strict"), server.grows(VALIDATIONS, 0, field_validation="Warn"):
        server.make(f"{MAPS}?fieldValidation=Strict", body)
    with server.grows(VALIDATIONS, field_validation="invalid"):
        assert server.ask(f"POST {MAPS}?fieldValidation=Never", body).status == 422
    with server.grows(VALIDATIONS, 0):
        server.make(MAPS, body)
        server.ask(f"GET {MAPS}?fieldValidation=Strict")
    bounds = {"0.05", "0.1", "0.2", "0.4", "0.6", "0.8", "1", "1.25", "1.5", "2", "3", "4", "5", "6", "8", "10"}
    bounds |= {"15", "20", "30", "45", "60", "+Inf"}
    assert server.scrape().labels("field_validation_request_duration_seconds_bucket", "le") == bounds


def test_updates_are_compared_as_far_as_it_takes(server: Measured) -> None:
    server.make(MAPS, {"metadata": {"name": "a"}, "data": {"a": "b"}})
    found = json.loads(body_of(server.ask(f"GET {MAPS}/a")))
    with server.grows(COMPARISONS):
        server.ask(f"PUT {MAPS}/a", found)
    with server.grows(COMPARISONS, code_path="unequalObjectsFast"):
        server.ask(f"PUT {MAPS}/a", {**found, "data": {"b": "c"}})
