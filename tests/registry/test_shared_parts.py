"""An update whose new object shares parts with the current one, and what happens when somebody changes them later."""

from __future__ import annotations

import asyncio
import copy
import datetime
from typing import Any

from pilothouse.admission.chain import Chain
from pilothouse.admission.plugin import UPDATE, Attributes
from pilothouse.builtin import table
from pilothouse.builtin.types import builtin_types
from pilothouse.cache.storage import CachedStorage
from pilothouse.registry.request import Write
from pilothouse.registry.resource import Object, Resource
from pilothouse.registry.store import GenericStore, Services
from pilothouse.storage.engines.memory import MemoryEngine

NOW = datetime.datetime(2026, 11, 29, 12, tzinfo=datetime.UTC)


class Stamps:
    """Puts a stamp into the data of what is updated, in place, and looks at what the others are shown."""

    name = "Stamps"

    def __init__(self, stamp: str) -> None:
        self.stamp = stamp
        self.shown: list[tuple[Any, Any]] = []

    def handles(self, resource: Resource, operation: str) -> bool:
        return operation == UPDATE

    async def admit(self, attributes: Attributes) -> None:
        assert attributes.obj is not None
        if self.stamp:
            attributes.obj["data"]["stamp"] = self.stamp

    async def check(self, attributes: Attributes) -> None:
        assert attributes.old is not None
        self.shown.append((copy.deepcopy(attributes.old), copy.deepcopy(attributes.obj)))


def labelled(stamps: Stamps) -> tuple[Object, Object, int]:
    """A ConfigMap before and after it got a label, and how often that was worked out."""

    async def story() -> tuple[Object, Object, int]:
        resources = table.resources(builtin_types(), table.served_by_default)
        resource = next(one for one in resources if one.plural == "configmaps")
        services = Services(lambda: NOW, lambda: "u", lambda prefix: prefix, Chain([stamps]).bound(resource))
        store = GenericStore(resource, CachedStorage(MemoryEngine(), resource.prefix), services)

        def write(name: str) -> Write:
            return Write("n", name, "v1", NOW, lambda text: None)

        made = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "c"}, "data": {"a": "b"}}
        before = store.codec.decode(await store.create(made, write("")))
        runs = 0

        async def produce(current: Object | None) -> Object:
            nonlocal runs
            runs += 1
            assert current is not None
            return {**current, "metadata": {**current["metadata"], "labels": {"x": "y"}}}

        stored, _ = await store.update("c", produce, write("c"), leaves=True)
        return before, store.codec.decode(stored), runs

    return asyncio.run(story())


def test_what_nobody_changes_is_shared() -> None:
    stamps = Stamps("")
    before, after, runs = labelled(stamps)
    assert runs == 1
    assert after["data"] == {"a": "b"}
    assert after["metadata"]["labels"] == {"x": "y"}
    [(old, obj)] = stamps.shown
    assert old == before
    assert obj["data"] == {"a": "b"}


def test_what_is_changed_later_is_not_changed_in_the_old_object() -> None:
    stamps = Stamps("s")
    before, after, runs = labelled(stamps)
    assert runs == 2
    assert after["data"] == {"a": "b", "stamp": "s"}
    assert after["metadata"]["labels"] == {"x": "y"}
    [(old, obj)] = stamps.shown
    assert old == before
    assert obj["data"] == {"a": "b", "stamp": "s"}
