"""An informer as controllers have it (list, watch from there, resume, list again at 410), and a writer beside it."""

from __future__ import annotations

import http.client
import itertools
import random
import threading
import time
from typing import Any, Self

from support.api import Api
from support.server import Server

LOST = (OSError, http.client.HTTPException, ValueError)  # ValueError: a line that was cut off
PAUSE = 0.02  # seconds before a server that is away is asked again
SOCKET = 10.0  # seconds

Object = dict[str, Any]


def as_listed(thing: Object) -> Object:
    """Items of a list of a built-in kind do not say their kind; events do."""
    return {key: value for key, value in thing.items() if key not in ("kind", "apiVersion")}


class Worker:
    """Works in a thread of its own while its block runs. `failure` is what went wrong for good."""

    def __init__(self, server: Server, path: str) -> None:
        self.failure: BaseException | None = None
        self._server, self._path = server, path
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ended.set()
        self._thread.join(SOCKET + 5)
        assert not self._thread.is_alive()

    def _run(self) -> None:
        try:
            while not self._ended.is_set():
                try:
                    self._work()
                except LOST:
                    self._ended.wait(PAUSE)
        except BaseException as error:
            self.failure = error

    def _work(self) -> None:
        """Until the connection is lost, or it is time to stop."""
        raise NotImplementedError


class Informer(Worker):
    """Follows one collection in a thread of its own.

    `state` is name to object; `seen` is every event as (type, name, resourceVersion) in the order it came; `lists` and
    `watches` count the requests that were answered.
    """

    def __init__(self, server: Server, path: str) -> None:
        self.state: dict[str, Object] = {}
        self.seen: list[tuple[str, str, int]] = []
        self.revision = ""
        self.lists = self.watches = 0
        super().__init__(server, path)

    def _work(self) -> None:
        if self.revision == "":
            self._list()
        self._follow()

    def _list(self) -> None:
        with self._server.api(timeout=SOCKET) as api:
            answer = api.get(self._path)
        if answer.status == 200:
            found = answer.json()
            self.state = {one["metadata"]["name"]: one for one in found["items"]}
            self.revision = found["metadata"]["resourceVersion"]
            self.lists += 1

    def _follow(self) -> None:
        if self.revision == "":
            return
        # The server ends the watch soon, so that an informer that is told to stop does.
        query = f"watch=1&allowWatchBookmarks=true&timeoutSeconds=2&resourceVersion={self.revision}"
        with self._server.api(timeout=SOCKET) as api, api.watch(f"{self._path}?{query}") as watch:
            if watch.status == 410:
                self.revision = ""
            if watch.status != 200:
                self._ended.wait(PAUSE)
                return
            self.watches += 1
            for event in watch:
                self._take(event)
                if self.revision == "":
                    return

    def _take(self, event: Object) -> None:
        kind, thing = event["type"], event["object"]
        if kind == "ERROR":
            assert thing["code"] == 410, thing
            self.revision = ""
            return
        self.revision = thing["metadata"]["resourceVersion"]
        if kind == "BOOKMARK":
            return
        name = thing["metadata"]["name"]
        self.seen.append((kind, name, int(self.revision)))
        if kind == "DELETED":
            self.state.pop(name)
        else:
            assert (kind == "ADDED") == (name not in self.state), f"{kind} of {name}"
            self.state[name] = as_listed(thing)


class Writer(Worker):
    """Creates, changes and deletes in a thread of its own. `written`: the (name, revision) that were answered."""

    def __init__(self, server: Server, path: str, names: int = 12, seed: int = 1) -> None:
        self.written: list[tuple[str, int]] = []
        self.deleted: list[str] = []
        super().__init__(server, path)
        self._names = [f"w{number}" for number in range(names)]
        self._random = random.Random(seed)
        self._connections = itertools.count()

    def _work(self) -> None:
        number = next(self._connections)
        with self._server.api(timeout=SOCKET) as api:
            while not self._ended.is_set():
                self._write(api, f"{number}-{len(self.written)}")

    def _write(self, api: Api, value: str) -> None:
        name = self._random.choice(self._names)
        if self._random.random() < 0.25:
            answer = api.delete(f"{self._path}/{name}")
            if answer.status == 200:
                self.deleted.append(name)
        else:
            answer = api.patch(f"{self._path}/{name}", {"data": {"value": value}})
            if answer.status == 404:
                answer = api.post(self._path, {"metadata": {"name": name}, "data": {"value": value}})
            if answer.status in (200, 201):
                self.written.append((name, int(answer.json()["metadata"]["resourceVersion"])))
        assert answer.status in (200, 201, 404, 409, 429, 503), answer.text
        if answer.status in (503, 429):
            time.sleep(PAUSE)
