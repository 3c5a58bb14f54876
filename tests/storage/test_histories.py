"""Random histories against a model that fits on a page."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

from pilothouse.cache import HistoryLimits
from pilothouse.storage.api import FIRST_REVISION, Storage, Subscription
from pilothouse.storage.errors import Compacted, Exists, NotFound

from .backends import NAMES, PREFIX, Backend, Seen, asks, at, key, to

KEYS = st.sampled_from([f"{namespace}/{name}" for namespace in ("a", "a-b", "b") for name in ("x", "y", "z")])
VALUES = st.binary(max_size=8)
FOLDERS = st.sampled_from(["", "a/", "b/", "nothing/"])


class StoreMachine(RuleBasedStateMachine):
    """The model: every state there was, by revision."""

    backend_name = "memory"

    def __init__(self) -> None:
        super().__init__()
        self.states: dict[int, dict[str, tuple[bytes, int]]] = {FIRST_REVISION: {}}
        self.newest = FIRST_REVISION
        self.compacted = FIRST_REVISION
        self.watches: list[tuple[str, int, Seen, Subscription]] = []

    @initialize(few=st.booleans())
    def begin(self, few: bool) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.runner = asyncio.Runner()
        self.limits = HistoryLimits(fewest=2, most=5) if few else None
        self.backend = Backend(self.backend_name, self.folder)
        self._open()

    def _open(self) -> None:
        self.context = self.backend.open(self.limits)
        self.opened = self.runner.run(self.context.__aenter__())

    def _close(self) -> None:
        self.runner.run(self.context.__aexit__(None, None, None))

    @property
    def storage(self) -> Storage:
        return self.opened.storage

    @property
    def present(self) -> dict[str, tuple[bytes, int]]:
        return self.states[self.newest]

    def _do(self, work: Any) -> Any:
        async def call() -> Any:
            return await work

        return self.runner.run(call())

    def _wrote(self, revision: int, state: dict[str, tuple[bytes, int]]) -> None:
        assert revision == self.newest + 1
        self.newest = revision
        self.states[revision] = state

    @rule(name=KEYS, value=VALUES)
    def create(self, name: str, value: bytes) -> None:
        if name in self.present:
            with pytest.raises(Exists):
                self._do(self.storage.create(key(name), value))
        else:
            revision = self._do(self.storage.create(key(name), value)).revision
            self._wrote(revision, {**self.present, name: (value, revision)})

    @rule(name=KEYS, value=VALUES)
    def update(self, name: str, value: bytes) -> None:
        revision = self._do(self.storage.update(key(name), to(value))).revision
        if name in self.present and self.present[name][0] == value:
            assert revision == self.present[name][1]
        else:
            self._wrote(revision, {**self.present, name: (value, revision)})

    @rule(name=KEYS)
    def delete(self, name: str) -> None:
        if name not in self.present:
            with pytest.raises(NotFound):
                self._do(self.storage.delete(key(name)))
        else:
            removed, revision = self._do(self.storage.delete(key(name)))
            assert (removed.value, removed.revision) == self.present[name]
            self._wrote(revision, {other: kept for other, kept in self.present.items() if other != name})

    @rule(name=KEYS)
    def get(self, name: str) -> None:
        if name in self.present:
            found = self._do(self.storage.get(key(name)))
            assert (found.value, found.revision) == self.present[name]
        else:
            with pytest.raises(NotFound):
                self._do(self.storage.get(key(name)))

    @rule(folder=FOLDERS, limit=st.integers(0, 4), back=st.integers(0, 12))
    def list_a_past_state(self, folder: str, limit: int, back: int) -> None:
        revision = max(self.newest - back, FIRST_REVISION)
        expected = sorted((key(n), *v) for n, v in self.states[revision].items() if n.startswith(folder))
        found: list[tuple[str, bytes, int]] = []
        after = None
        try:
            while True:
                page = self._do(at(self.storage, revision, prefix=PREFIX + folder, limit=limit, after=after))
                found += [(item.key, item.value, item.revision) for item in page.items]
                if page.next_key is None:
                    break
                assert page.remaining == len(expected) - len(found)
                after = page.next_key
        except Compacted:
            assert revision < self.compacted
        else:
            assert found == expected

    @rule(folder=FOLDERS)
    def list_now(self, folder: str) -> None:
        page = self._do(self.storage.list(asks(PREFIX + folder)))
        expected = sorted((key(n), *v) for n, v in self.present.items() if n.startswith(folder))
        assert [(item.key, item.value, item.revision) for item in page.items] == expected
        assert page.revision == self.newest

    @rule(folder=FOLDERS, back=st.integers(-2, 12))
    def watch(self, folder: str, back: int) -> None:
        since = max(self.newest - back, FIRST_REVISION)
        seen = Seen()
        try:
            subscription = self._do(self.storage.watch(PREFIX + folder, since, seen.deliver, seen.ended))
        except Compacted:
            assert since < self.compacted
        else:
            self.watches.append((folder, since, seen, subscription))

    @rule(back=st.integers(0, 6))
    def compact(self, back: int) -> None:
        revision = max(self.newest - back, FIRST_REVISION)
        self._do(self.opened.engine.compact(revision))
        self.compacted = max(self.compacted, revision)

    @precondition(lambda self: self.backend.durable)
    @rule()
    def restart(self) -> None:
        self._check_watches()
        self._close()
        assert all(seen.ends == [None] for _, _, seen, _ in self.watches)
        self.watches.clear()
        self._open()
        assert self._do(self.storage.revision()) == self.newest

    def _check_watches(self) -> None:
        for folder, since, seen, _ in self.watches:
            expected = []
            for revision in range(since + 1, self.newest + 1):
                before, after = self.states[revision - 1], self.states[revision]
                name = next(n for n in before.keys() | after.keys() if before.get(n) != after.get(n))
                if name.startswith(folder):
                    expected.append((key(name), revision, before.get(name), after.get(name)))
            assert expected == [
                (
                    change.key,
                    change.revision,
                    change.previous and (change.previous.value, change.previous.revision),
                    change.object and (change.object.value, change.object.revision),
                )
                for change in seen.changes
            ]

    def teardown(self) -> None:
        if hasattr(self, "runner"):
            self._check_watches()
            self._close()
            self.runner.close()
            shutil.rmtree(self.folder)


@pytest.mark.parametrize("name", NAMES)
def test_random_histories(name: str) -> None:
    machine = type("Machine", (StoreMachine,), {"backend_name": name})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=12 if "sqlite" in name else 30,
            stateful_step_count=40,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
