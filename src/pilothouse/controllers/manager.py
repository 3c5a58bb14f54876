"""Starts the controllers of a server and ends them: the front page of this room."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Final, Protocol

from pilothouse.controllers import names
from pilothouse.controllers.clock import Clock
from pilothouse.controllers.clusterroles import ClusterRoleAggregation
from pilothouse.controllers.context import Context
from pilothouse.controllers.gc.controller import GarbageCollector
from pilothouse.controllers.identity import LoopbackTokens
from pilothouse.controllers.namespaces.controller import NamespaceDeleter
from pilothouse.controllers.queuemetrics import QueueMetrics
from pilothouse.controllers.quotas.controller import QuotaController
from pilothouse.controllers.rootca import root_ca_publisher
from pilothouse.controllers.serviceaccounts import default_service_accounts
from pilothouse.controllers.tasks import TaskOwner
from pilothouse.kit.record import record
from pilothouse.serving.http import Handler


@record
class ControllerSettings:
    """`names`: which to run, as `names.choose` gives them. `root_ca`: PEM of what is published; "" for nothing."""

    names: tuple[str, ...] = names.NAMES
    root_ca: str = ""

    @property
    def make_accounts(self) -> bool:
        """Whether every namespace will have its default ServiceAccount."""
        return names.SERVICE_ACCOUNT in self.names


class Controller(Protocol):
    """Runs until it is cancelled. A new one is made for each run, so it keeps nothing from the last."""

    async def run(self) -> None: ...


CONTROLLERS: Final[Mapping[str, Callable[[Context], Controller]]] = {
    names.NAMESPACE: NamespaceDeleter,
    names.GARBAGE_COLLECTOR: GarbageCollector,
    names.SERVICE_ACCOUNT: default_service_accounts,
    names.ROOT_CA: root_ca_publisher,
    names.QUOTA: QuotaController,
    names.CLUSTER_ROLE: ClusterRoleAggregation,
}
_FOLLOW: Final = "namespaces"


class Controllers:
    """All controllers of one server. `start` when it is ready; `stop` before its store is closed."""

    def __init__(
        self,
        settings: ControllerSettings,
        handler: Handler,
        tokens: LoopbackTokens,
        clock: Clock,
        random: Callable[[], float],
        queues: QueueMetrics | None = None,
    ) -> None:
        """`tokens` must be among the authenticators of the server. `random`: 0 to 1."""
        self._chosen = [name for name in settings.names if name != names.ROOT_CA or settings.root_ca]
        self._context = Context(handler, tokens, clock, random, settings.root_ca, queues)
        self._tasks = TaskOwner(clock)

    def start(self) -> None:
        if not self._chosen:
            return
        context = self._context
        self._tasks.start(_FOLLOW, context.follow_namespaces)
        for name in self._chosen:
            self._tasks.start(name, _run(CONTROLLERS[name], context))

    async def stop(self) -> None:
        """End them and wait for their end. What they were at is done by the next start."""
        await self._tasks.stop()


def _run(make: Callable[[Context], Controller], context: Context) -> Callable[[], Awaitable[None]]:
    return lambda: make(context).run()
