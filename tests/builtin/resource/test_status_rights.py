"""Who writes a claim's status needs a right for each part that changes."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest

from pilothouse.auth.attributes import Attributes, Decision
from pilothouse.auth.usernames import NODE_CLAIM
from pilothouse.builtin.resource.statusrights import StatusRights
from pilothouse.machinery.errors import APIError
from pilothouse.registry.request import Caller, Write

Object = dict[str, Any]
DRIVER = "system:serviceaccount:n:driver"


class Allowed:
    """An authorizer by a table: verb, subresource, namespace and name of what may be done."""

    def __init__(self, *allowed: tuple[str, str, str, str]) -> None:
        self._allowed = allowed

    def authorize(self, asked: Attributes) -> tuple[Decision, str]:
        if (asked.verb, asked.subresource, asked.namespace, asked.name) in self._allowed:
            return Decision.ALLOW, ""
        return Decision.NO_OPINION, "no role"


class Nothing:
    async def claim(self, obj: Object, old: Object | None, write: Write) -> None:
        return None

    async def removed(self, obj: Object) -> None: ...


def claim(node: str = "", *devices: tuple[str, str]) -> Object:
    status: Object = {}
    if node:
        field = {"key": "metadata.name", "operator": "In", "values": [node]}
        status["allocation"] = {"nodeSelector": {"nodeSelectorTerms": [{"matchFields": [field]}]}}
    if devices:
        status["devices"] = [{"driver": driver, "pool": "p", "device": device} for driver, device in devices]
    return {"metadata": {"name": "c"}, "status": status}


def refused(allowed: Allowed, new: Object, old: Object, *, node: str = "", verb: str = "update") -> list[str]:
    caller = Caller(DRIVER, extra=((NODE_CLAIM, (node,)),) if node else ())
    now = datetime(2024, 1, 1, tzinfo=UTC)
    write = Write("n", "c", "v1", now, lambda text: None, "status", caller=caller, verb=verb)
    try:
        asyncio.run(StatusRights(allowed, Nothing()).claim(new, old, write))
    except APIError as error:
        assert error.code == 422
        return [f"{cause['field']}: {cause['message']}" for cause in (error.details or {})["causes"]]
    return []


def test_binding_needs_a_right_in_the_whole_cluster() -> None:
    assert refused(Allowed(("update", "binding", "", "")), claim("n1"), claim()) == []
    assert refused(Allowed(), claim("n1"), claim("n1")) == []
    assert refused(Allowed(("update", "binding", "n", "c")), claim("n1"), claim()) == [
        "status: Forbidden: changing status.allocation or status.reservedFor requires "
        'resource="resourceclaims/binding", verb="update" permission: resourceclaims.resource.k8s.io is forbidden: '
        f'User "{DRIVER}" cannot update resource "resourceclaims/binding" in API group "resource.k8s.io" at the '
        "cluster scope: no role"
    ]


HERE = ("associated-node:patch", "driver", "n", "a.example")
ANYWHERE = ("arbitrary-node:patch", "driver", "n", "a.example")


@pytest.mark.parametrize(
    ("allowed", "node", "is_allowed"),
    [(HERE, "n1", True), (HERE, "n2", False), (HERE, "", False), (ANYWHERE, "", True), (ANYWHERE, "n1", True)],
)
def test_a_driver_tells_of_its_devices_on_its_node(allowed: Any, node: str, is_allowed: bool) -> None:
    new, old = claim("n1", ("a.example", "d0")), claim("n1")
    assert (refused(Allowed(allowed), new, old, node=node, verb="patch") == []) is is_allowed


def test_each_driver_whose_devices_change_is_asked_for() -> None:
    old = claim("n1", ("a.example", "d0"), ("b.example", "d1"), ("c.example", "d2"))
    new = claim("n1", ("a.example", "d0"), ("b.example", "d1"), ("d.example", "d3"))
    told = refused(Allowed(), new, old, node="n1")
    assert [text.partition(" permission")[0] for text in told] == [
        'status.devices: Forbidden: changing status.devices requires resource="resourceclaims/driver", '
        'verb="[associated-node:update arbitrary-node:update]"'
    ] * 2
    assert [text.partition(' "')[2].partition('"')[0] for text in told] == ["c.example", "d.example"]
    assert "cannot associated-node:update resource" in told[0]
