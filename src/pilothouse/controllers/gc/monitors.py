"""The watches of the garbage collector: metadata of all that can be watched and deleted goes into the graph."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from pilothouse.controllers.client import LoopbackClient
from pilothouse.controllers.clock import Clock
from pilothouse.controllers.gc.graph import Graph, Object
from pilothouse.controllers.reflector import Reflector, Source
from pilothouse.controllers.resources import Catalog, Served
from pilothouse.controllers.tasks import TaskOwner

NEEDED: Final = ("delete", "list", "watch")
IGNORED: Final = frozenset({("", "events"), ("events.k8s.io", "events")})  # they own nothing and go by themselves
_GATHER: Final = 0.02  # seconds: nobody waits for garbage collection, and dealing with changes together costs less
_DEFINE_KINDS: Final = frozenset(
    {("apiextensions.k8s.io", "customresourcedefinitions"), ("apiregistration.k8s.io", "apiservices")}
)


class _IntoGraph:
    """A Sink of one resource."""

    def __init__(
        self, graph: Graph, served: Served, gone: Callable[[str], None], changed: Callable[[], None] | None
    ) -> None:
        self._graph = graph
        self._served = served
        self._gone = gone
        self._changed = changed
        self._seen: set[str] | None = None

    def begin(self) -> None:
        self._seen = set()

    def put(self, obj: Object) -> None:
        metadata = obj["metadata"]
        if self._seen is not None:
            self._seen.add(metadata["uid"])
        self._graph.put(self._served, metadata)
        if self._changed is not None:
            self._changed()

    def remove(self, obj: Object) -> None:
        self._gone(obj["metadata"]["uid"])
        if self._changed is not None:
            self._changed()

    def end(self) -> None:
        seen, self._seen = self._seen or set(), None
        for node in self._graph.of(self._served):
            if node.uid not in seen:
                self._gone(node.uid)


class Monitors:
    """One Reflector a resource. `gone(uid)` is told of objects that do not exist any more; `kinds_changed` when what is
    served may change soon.
    """

    def __init__(
        self,
        client: LoopbackClient,
        graph: Graph,
        clock: Clock,
        random: Callable[[], float],
        gone: Callable[[str], None],
        kinds_changed: Callable[[], None],
    ) -> None:
        self._client = client
        self._graph = graph
        self._clock = clock
        self._random = random
        self._gone = gone
        self._kinds_changed = kinds_changed
        self._tasks = TaskOwner(clock)
        self._running: dict[Served, Reflector] = {}

    async def sync(self, catalog: Catalog) -> None:
        """Follow exactly what the catalog tells; what does not answer at the moment is kept."""
        wanted = [one for one in catalog.able(*NEEDED) if (one.group, one.plural) not in IGNORED]
        failed = {text for text, _ in catalog.failed}
        for served in [one for one in self._running if one not in wanted and one.api_version not in failed]:
            await self._running.pop(served).read_out()  # its last objects may have been deleted just now
            await self._tasks.end(_name(served))
            for node in self._graph.of(served):
                self._graph.remove(node.uid)
        for served in wanted:
            if served not in self._running:
                self._start(served)

    def _start(self, served: Served) -> None:
        changed = self._kinds_changed if (served.group, served.plural) in _DEFINE_KINDS else None
        sink = _IntoGraph(self._graph, served, self._gone, changed)
        reflector = Reflector(self._client, Source(served.path(), gather=_GATHER), sink, self._clock, self._random)
        self._running[served] = reflector
        self._tasks.start(_name(served), reflector.run)

    async def synced(self, seconds: float) -> None:
        """Wait until the first list of each is in the graph, but not for ever: an extension server may be away."""
        try:
            async with asyncio.timeout(seconds):
                for reflector in list(self._running.values()):
                    await reflector.synced.wait()
        except TimeoutError:
            return

    async def caught_up(self, seconds: float) -> bool:
        """Wait until the graph has what was told by now; False where one of them could not keep up in this time."""
        try:
            async with asyncio.timeout(seconds):
                for reflector in list(self._running.values()):
                    await reflector.caught_up()
        except TimeoutError:
            return False
        return True

    async def stop(self) -> None:
        await self._tasks.stop()


def _name(served: Served) -> str:
    return f"follow {served.plural}.{served.group}/{served.version}"
