"""Random graphs of owners and random deletes against a model of what garbage collection promises.

The model: an object goes when it has owners and none of them is left; orphaning takes references away. Between
deletes all is let settle, as what happens at the same time has no single right outcome.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from .servers import Admin, Object, eventually, server

KINDS = {"ConfigMap": "configmaps", "Secret": "secrets", "ServiceAccount": "serviceaccounts"}
POLICIES = ("Background", "Foreground", "Orphan")
MOST = 8


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[str], dict[int, dict[int, bool]], list[tuple[int, str]]]:
    """Kinds of objects; for each its owners (MOST: one that never was) and whether it blocks them; deletes."""
    count = draw(st.integers(2, MOST - 1))
    kinds = draw(st.lists(st.sampled_from(sorted(KINDS)), min_size=count, max_size=count))
    owner = st.one_of(st.integers(0, count - 1), st.just(MOST))
    owners = {one: draw(st.dictionaries(owner, st.booleans(), max_size=3)) for one in range(count)}
    deletes = draw(st.lists(st.tuples(st.integers(0, count - 1), st.sampled_from(POLICIES)), min_size=1, max_size=3))
    return kinds, owners, deletes


class Model:
    """What is there, and who refers to whom."""

    def __init__(self, owners: dict[int, dict[int, bool]]) -> None:
        self.left = {one: set(of) for one, of in owners.items()}
        self.collect()

    def collect(self) -> None:
        while True:
            lost = [one for one, owners in self.left.items() if owners and not owners & self.left.keys()]
            if not lost:
                break
            for one in lost:
                del self.left[one]
        for one, owners in self.left.items():
            self.left[one] = owners & self.left.keys()

    def delete(self, one: int, policy: str) -> None:
        if self.left.pop(one, None) is None:
            return
        if policy == "Orphan":
            for owners in self.left.values():
                owners.discard(one)
        self.collect()


class Beside:
    """The same graph in a namespace of a real server."""

    def __init__(self, admin: Admin, namespace: str) -> None:
        self._admin = admin
        self._path = f"/api/v1/namespaces/{namespace}"
        self._sentinels = 0
        self.objects: list[Object] = []
        self.kinds: list[str] = []

    def _of(self, one: int) -> str:
        return f"{self._path}/{KINDS[self.kinds[one]]}/n-{one}"

    async def build(self, kinds: list[str], owners: dict[int, dict[int, bool]]) -> None:
        """All objects first, then who owns whom, as circles need that."""
        self.kinds = kinds
        for one, kind in enumerate(kinds):
            self.objects.append(await self._admin.make(f"{self._path}/{KINDS[kind]}", f"n-{one}"))
        for one, of in owners.items():
            if of:
                references = [self._reference(owner, block) for owner, block in of.items()]
                if await self._admin.find(self._of(one)):
                    await self._admin.patch(self._of(one), {"metadata": {"ownerReferences": references}})

    def _reference(self, one: int, block: bool) -> Object:
        if one == MOST:
            found = {"kind": "ConfigMap", "name": "never", "uid": "11111111-2222-4333-8444-555555555555"}
        else:
            metadata = self.objects[one]["metadata"]
            found = {"kind": self.kinds[one], "name": metadata["name"], "uid": metadata["uid"]}
        return {"apiVersion": "v1", **found, "blockOwnerDeletion": block}

    async def delete(self, one: int, policy: str) -> None:
        if await self._admin.find(self._of(one)):
            await self._admin.remove(self._of(one), policy)

    async def state(self) -> dict[int, set[int]]:
        uids = {obj["metadata"]["uid"]: one for one, obj in enumerate(self.objects)}
        found: dict[int, set[int]] = {}
        for one in range(len(self.objects)):
            obj = await self._admin.find(self._of(one))
            if obj is not None:
                references = obj["metadata"].get("ownerReferences") or ()
                found[one] = {uids.get(reference["uid"], MOST) for reference in references}
        return found

    async def settled(self) -> None:
        """A pair made now has been dealt with, and so has all that was before."""
        self._sentinels += 1
        name = f"sentinel-{self._sentinels}"
        owner = await self._admin.make(f"{self._path}/configmaps", name)
        reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": owner["metadata"]["uid"]}
        await self._admin.make(f"{self._path}/secrets", name, ownerReferences=[reference])
        await self._admin.remove(f"{self._path}/configmaps/{name}")
        await self._admin.gone(f"{self._path}/secrets/{name}")

    async def is_as(self, expected: dict[int, set[int]]) -> None:
        seen: dict[int, set[int]] = {}

        async def so() -> bool:
            nonlocal seen
            seen = await self.state()
            return {one: owners & expected.keys() for one, owners in seen.items()} == expected

        try:
            await eventually(so, "the graph as the model has it")
        except AssertionError as error:
            raise AssertionError(f"expected {expected}, found {seen}") from error
        await self.settled()
        assert {one: owners & expected.keys() for one, owners in (await self.state()).items()} == expected


class Shared:
    """One server for all examples: a loop that tests step into."""

    def __init__(self, runner: asyncio.Runner, admin: Admin) -> None:
        self.runner = runner
        self.admin = admin
        self.count = 0


@contextmanager
def one_server(folder: Path) -> Iterator[Shared]:
    with asyncio.Runner() as runner:
        serving = server(folder)
        admin = runner.run(serving.__aenter__())
        try:
            yield Shared(runner, admin)
        finally:
            runner.run(serving.__aexit__(None, None, None))


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    with one_server(tmp_path_factory.mktemp("model")) as found:
        yield found


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(graph=graphs())
def test_what_is_left_is_what_the_model_leaves(shared: Shared, graph: Any) -> None:
    kinds, owners, deletes = graph

    async def story() -> None:
        shared.count += 1
        namespace = f"graph-{shared.count}"
        await shared.admin.namespace(namespace)
        beside = Beside(shared.admin, namespace)
        model = Model(owners)
        await beside.build(kinds, owners)
        await beside.is_as(model.left)
        for one, policy in deletes:
            model.delete(one, policy)
            await beside.delete(one, policy)
            await beside.is_as(model.left)

    shared.runner.run(story())


def test_the_model_itself() -> None:
    model = Model({0: {}, 1: {0: True}, 2: {1: True, 3: False}, 3: {}, 4: {MOST: True}})
    assert model.left == {0: set(), 1: {0}, 2: {1, 3}, 3: set()}
    model.delete(0, "Foreground")
    assert model.left == {2: {3}, 3: set()}
    model.delete(3, "Orphan")
    assert model.left == {2: set()}
