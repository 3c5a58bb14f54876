"""Whether the server behind an API service is there: the condition Available, its reasons and messages."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, Final

from pilothouse.aggregator.apiservice import AVAILABLE, condition_of
from pilothouse.aggregator.call import Reader, Unanswered
from pilothouse.aggregator.proxy import Backend
from pilothouse.aggregator.services import Resolver
from pilothouse.kit.metrics import Counter, Gauge, Registry
from pilothouse.kit.record import record
from pilothouse.machinery.errors import APIError
from pilothouse.machinery.times import format_time
from pilothouse.registry.store import GenericStore
from pilothouse.registry.writer import Writer

Object = dict[str, Any]


@record
class Verdict:
    """What a condition says."""

    status: bool
    reason: str
    message: str

    @property
    def shown(self) -> tuple[str, str, str]:
        """As APIService.condition."""
        return "True" if self.status else "False", self.reason, self.message


LOCAL: Final = Verdict(True, "Local", "Local APIServices are always available")
PASSED: Final = Verdict(True, "Passed", "all checks passed")


class Examiner:
    """Looks whether a backend serves."""

    def __init__(self, resolver: Resolver, reader: Reader) -> None:
        self._resolver = resolver
        self._reader = reader

    async def examine(self, backend: Backend) -> Verdict:
        trouble = await self._resolver.trouble(backend.reference)
        if trouble is not None:
            return Verdict(False, trouble.reason, trouble.message)
        service = backend.service
        try:
            answer = await self._reader.get(backend, f"/apis/{service.group}/{service.version}")
        except Unanswered as error:
            return _failed(error.url, f'Get "{error.url}": {error}')
        if not 200 <= answer.status < 300:
            return _failed(answer.url, f"bad status from {answer.url}: {answer.status}")
        return PASSED


def _failed(url: str, why: str) -> Verdict:
    return Verdict(False, "FailedDiscoveryCheck", f"failing or missing response from {url}: {why}")


class Conditions:
    """Writes verdicts to the status of API services, and counts them."""

    def __init__(self, store: GenericStore, now: Callable[[], datetime], registry: Registry) -> None:
        self._writer = Writer(store, now, "status")
        self._now = now
        self._unavailable = registry.add(
            Gauge(
                "aggregator_unavailable_apiservice",
                ("[ALPHA] Gauge of APIServices which are marked as unavailable broken down by APIService name."),
                ("name",),
            )
        )
        self._times = registry.add(
            Counter(
                "aggregator_unavailable_apiservice_total",
                (
                    "[ALPHA] Counter of APIServices which are marked as unavailable broken down by APIService "
                    "name and reason."
                ),
                ("name", "reason"),
            )
        )

    async def write(self, name: str, verdict: Verdict) -> None:
        """Nothing is written where the condition says this already, or nothing is there.

        Raises APIError.
        """
        now = self._now()
        turned_bad = False

        def change(obj: Object) -> None:
            nonlocal turned_bad
            before = condition_of(obj)
            turned_bad = not verdict.status and before.get("status") != "False"
            status = obj.get("status") or {}
            conditions = [one for one in status.get("conditions") or () if one.get("type") != AVAILABLE]
            obj["status"] = {**status, "conditions": [*conditions, _condition(verdict, before, now)]}

        try:
            await self._writer.update("", name, change)
        except APIError as error:
            if error.code != 404:
                raise
        self._unavailable.bind(name).set(0.0 if verdict.status else 1.0)
        if turned_bad:
            self._times.bind(name, verdict.reason).add()

    def forget(self, name: str) -> None:
        """The API service is gone."""
        self._unavailable.unbind(name)


def _condition(verdict: Verdict, before: Object, now: datetime) -> Object:
    status = "True" if verdict.status else "False"
    since = before.get("lastTransitionTime") if before.get("status") == status else None
    return {
        "type": AVAILABLE,
        "status": status,
        "lastTransitionTime": since or format_time(now),
        "reason": verdict.reason,
        "message": verdict.message,
    }
