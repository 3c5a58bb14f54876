"""Admin access to devices is only for namespaces that are marked for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

import pytest

from pilothouse.builtin.resource.adminaccess import LABEL, AdminAccess
from pilothouse.machinery.errors import APIError
from pilothouse.registry.request import Write

T = TypeVar("T")
Object = dict[str, Any]


class Namespaces:
    """One namespace, with labels."""

    def __init__(self, labels: dict[str, str]) -> None:
        self._namespace = {"metadata": {"name": "n", "labels": labels}}

    async def get(self, namespace: str, name: str) -> Object | None:
        return self._namespace if name == "n" else None

    async def all(self, namespace: str = "") -> Sequence[Object]:
        return [self._namespace]

    async def derived(self, namespace: str, name: str, form: str, make: Callable[[Object], T]) -> T | None:
        return make(self._namespace)


def _claim(admin: bool) -> Object:
    request = {"name": "r", "exactly": {"deviceClassName": "a", "adminAccess": admin}}
    return {"metadata": {"name": "c"}, "spec": {"devices": {"requests": [request]}}}


def _judge(labels: dict[str, str], obj: Object, old: Object | None = None, part: str = "") -> None:
    write = Write("n", "c", "v1", datetime(2024, 1, 1, tzinfo=UTC), lambda text: None, part)
    asyncio.run(AdminAccess(Namespaces(labels), "ResourceClaim", ("spec",)).claim(obj, old, write))


def test_a_namespace_without_the_label_refuses() -> None:
    for labels in ({}, {LABEL: "false"}):
        with pytest.raises(APIError) as caught:
            _judge(labels, _claim(True))
        assert caught.value.code == 422


def test_what_asks_for_nothing_or_was_let_in_passes() -> None:
    _judge({LABEL: "true"}, _claim(True))
    _judge({}, _claim(False))
    _judge({}, _claim(True), _claim(True))


def test_devices_with_such_access_are_given_there_alone() -> None:
    results = [{"request": "r"}, {"request": "r", "adminAccess": True}]
    given = {**_claim(True), "status": {"allocation": {"devices": {"results": results}}}}
    with pytest.raises(
        APIError, match=r"status\.allocation\.devices\.results\[1\]\.adminAccess: Forbidden: admin access"
    ):
        _judge({}, given, _claim(True), "status")
    _judge({LABEL: "true"}, given, _claim(True), "status")
    _judge({}, given, given, "status")
