"""Events of controllers: what `kubectl get events` shows of what they refuse or cannot do."""

from __future__ import annotations

import logging
from collections import OrderedDict
from typing import Final

from pilothouse.controllers.client import LoopbackClient, Refusal
from pilothouse.controllers.clock import Clock
from pilothouse.controllers.streams import Object
from pilothouse.kit.record import record
from pilothouse.machinery.times import format_time

_REMEMBERED: Final = 1024
_log = logging.getLogger(__name__)


@record
class Regarding:
    """The object that an event is about."""

    api_version: str
    kind: str
    namespace: str
    name: str
    uid: str


class Recorder:
    """Writes events of one component. The same text about the same object is written once while it is remembered."""

    def __init__(self, client: LoopbackClient, component: str, clock: Clock) -> None:
        self._client = client
        self._component = component
        self._clock = clock
        self._written: OrderedDict[tuple[Regarding, str, str], None] = OrderedDict()

    async def warn(self, about: Regarding, reason: str, message: str) -> None:
        """A Warning. An event that is refused is logged and given up: nothing depends on it."""
        key = (about, reason, message)
        if key in self._written:
            return
        self._written[key] = None
        if len(self._written) > _REMEMBERED:
            self._written.popitem(last=False)
        namespace = about.namespace or "default"
        try:
            await self._client.create(
                f"/api/v1/namespaces/{namespace}/events", self._event(about, namespace, reason, message)
            )
        except Refusal as refusal:
            _log.info("the event %s about %s %s was refused: %s", reason, about.kind, about.name, refusal)

    def _event(self, about: Regarding, namespace: str, reason: str, message: str) -> Object:
        moment = self._clock.moment()
        now = format_time(moment)
        involved = {
            "apiVersion": about.api_version,
            "kind": about.kind,
            "namespace": about.namespace,
            "name": about.name,
            "uid": about.uid,
        }
        return {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": f"{about.name}.{int(moment.timestamp() * 1e9):x}", "namespace": namespace},
            "involvedObject": {key: value for key, value in involved.items() if value},
            "type": "Warning",
            "reason": reason,
            "message": message,
            "source": {"component": self._component},
            "firstTimestamp": now,
            "lastTimestamp": now,
            "count": 1,
            "reportingComponent": self._component,
            "reportingInstance": "",
        }
