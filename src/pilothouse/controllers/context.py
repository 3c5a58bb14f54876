"""What every controller is given: time, chance, clients with identities, and what several of them follow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from pilothouse.controllers.client import LoopbackClient, RateLimit
from pilothouse.controllers.clock import Clock
from pilothouse.controllers.identity import MANAGER, LoopbackTokens, service_account
from pilothouse.controllers.informer import Informer
from pilothouse.controllers.queuemetrics import QueueMetrics
from pilothouse.controllers.reflector import Reflector, Source
from pilothouse.controllers.resources import Discovery
from pilothouse.controllers.streams import Object
from pilothouse.serving.http import Handler

RATE: Final = 500.0  # requests a second of one identity
BURST: Final = 1000
NAMESPACES: Final = "/api/v1/namespaces"


class Context:
    """Made once for all controllers of a server. `random`: 0 to 1. `root_ca`: PEM, "" where there is none."""

    def __init__(
        self,
        handler: Handler,
        tokens: LoopbackTokens,
        clock: Clock,
        random: Callable[[], float],
        root_ca: str = "",
        queues: QueueMetrics | None = None,
    ) -> None:
        self.queues = queues or QueueMetrics()
        self.clock = clock
        self.random = random
        self.root_ca = root_ca
        self._handler = handler
        self._tokens = tokens
        self._clients: dict[str, LoopbackClient] = {}
        self.reader = self._made(tokens.issue(MANAGER))  # shared reads
        self.discovery = Discovery(self.reader, clock)
        self.namespaces = Informer(keep=_outline)

    def client(self, identity: str) -> LoopbackClient:
        """The client of a ServiceAccount of kube-system."""
        found = self._clients.get(identity)
        if found is None:
            found = self._clients[identity] = self._made(self._tokens.issue(service_account(identity)))
        return found

    def _made(self, token: str) -> LoopbackClient:
        return LoopbackClient(self._handler, token, RateLimit(self.clock, RATE, BURST))

    def reflector(self, source: Source, sink: Informer) -> Reflector:
        """Follows a collection with the shared identity."""
        return Reflector(self.reader, source, sink, self.clock, self.random)

    async def follow_namespaces(self) -> None:
        """Keeps `namespaces`, for ever."""
        await self.reflector(Source(NAMESPACES), self.namespaces).run()


def _outline(namespace: Object) -> Object:
    """Of a namespace only its name, identity and whether it ends."""
    metadata = namespace["metadata"]
    kept = {name: metadata[name] for name in ("name", "uid", "deletionTimestamp") if name in metadata}
    return {"metadata": kept}
