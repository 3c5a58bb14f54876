"""pods/eviction: a delete that minds disruption budgets (Kubernetes documentation, "API-initiated Eviction")."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from pilothouse.builtin.core.binding import SUCCESS
from pilothouse.builtin.grace import pod_grace
from pilothouse.endpoints.options import delete_options
from pilothouse.machinery.errors import APIError, bad_request, bare_internal, forbidden
from pilothouse.machinery.selectors import label_selector_of
from pilothouse.machinery.times import format_time
from pilothouse.registry.deleter import Deleter
from pilothouse.registry.reader import list_objects
from pilothouse.registry.request import ListOptions, Write
from pilothouse.registry.resource import Object
from pilothouse.registry.store import GenericStore

if TYPE_CHECKING:
    from pilothouse.builtin.oddparts import PartContext

MAX_DISRUPTED: Final = 2000  # pods that a budget may remember
_MESSAGE: Final = "Cannot evict pod as it would violate the pod's disruption budget."
_ENDED: Final = frozenset({"Succeeded", "Failed"})
_RETRY: Final = 10  # seconds


class EvictionStorage:
    def __init__(self, pods: GenericStore, budgets: GenericStore, now: Callable[[], datetime]) -> None:
        self._pods = pods
        self._budgets = budgets
        self._now = now
        self._deleter = Deleter(pods, pod_grace)

    async def create_virtual(self, obj: Object, write: Write) -> tuple[int, Object]:
        """Raises NotFound, Conflict, TooManyRequests."""
        name = (obj.get("metadata") or {}).get("name") or write.name
        if name != write.name:
            raise bad_request("name in URL does not match name in Eviction object")
        options = delete_options(obj.get("deleteOptions") or {})
        dry = write.dry_run or options.dry_run
        write = replace(write, subresource="", dry_run=dry)
        pod = self._pods.codec.decode(await self._pods.get(write.namespace, name))
        if _minds_budgets(pod):
            await self._spend(pod, name, write)
        if (pod.get("spec") or {}).get("nodeName") and not dry:
            await self._say_why(name, write)
        await self._deleter.delete(name, replace(options, dry_run=dry) if dry else options, write)
        return 201, dict(SUCCESS)

    async def _spend(self, pod: Object, name: str, write: Write) -> None:
        """Take one disruption from the pod's budget, where it has one."""
        found = await self._budgets_of(pod, write.namespace)
        if not found:
            return
        if len(found) > 1:
            raise bare_internal(
                "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
            )
        if _not_ready(pod) and _may_go_unready(found[0]):
            return
        budget = found[0]["metadata"]["name"]

        async def take(old: Object | None) -> Object:
            assert old is not None
            return _taken(old, name, self._now())

        await self._budgets.update(budget, take, replace(write, name=budget, subresource="status"), unconditional=True)

    async def _say_why(self, name: str, write: Write) -> None:
        """Leave a condition on the pod that tells its node and its owners what happens."""
        condition = {
            "type": "DisruptionTarget", "status": "True", "lastProbeTime": None,
            "lastTransitionTime": format_time(self._now()),
            "reason": "EvictionByEvictionAPI", "message": "Eviction API: evicting",
        }  # fmt: skip

        async def tell(old: Object | None) -> Object:
            assert old is not None
            status = dict(old.get("status") or {})
            others = [one for one in status.get("conditions") or () if one.get("type") != condition["type"]]
            return {**old, "status": {**status, "conditions": [*others, condition]}}

        await self._pods.update(name, tell, replace(write, subresource="status"), unconditional=True)

    async def _budgets_of(self, pod: Object, namespace: str) -> list[Object]:
        labels = pod["metadata"].get("labels") or {}
        page = await list_objects(self._budgets, namespace, ListOptions())
        budgets = [self._budgets.codec.decode(stored) for stored in page.items]
        return [
            budget
            for budget in budgets
            if label_selector_of((budget.get("spec") or {}).get("selector")).matches(labels)
        ]


def _minds_budgets(pod: Object) -> bool:
    """Pods that have ended, wait, or are on their way out anyway, disrupt nothing."""
    phase = (pod.get("status") or {}).get("phase")
    return phase not in _ENDED and phase != "Pending" and "deletionTimestamp" not in pod["metadata"]


def _not_ready(pod: Object) -> bool:
    conditions = (pod.get("status") or {}).get("conditions") or ()
    return not any(one.get("type") == "Ready" and one.get("status") == "True" for one in conditions)


def _may_go_unready(budget: Object) -> bool:
    """A pod that is not ready may go where the policy says so, or where enough others are healthy."""
    status = budget.get("status") or {}
    if (budget.get("spec") or {}).get("unhealthyPodEvictionPolicy") == "AlwaysAllow":
        return True
    return bool(
        status.get("currentHealthy", 0) >= status.get("desiredHealthy", 0) and status.get("desiredHealthy", 0) > 0
    )


def _taken(budget: Object, pod: str, now: datetime) -> Object:
    """The budget with one disruption less. Raises TooManyRequests where it has none, Forbidden where it is
    broken.
    """
    status: dict[str, Any] = dict(budget.get("status") or {})
    name = budget["metadata"]["name"]
    if status.get("observedGeneration", 0) < budget["metadata"].get("generation", 0):
        raise _refusal(f"The disruption budget {name} is still being processed by the server.", _RETRY)
    allowed = status.get("disruptionsAllowed", 0)
    if allowed < 0:
        raise _broken(name, "pdb disruptions allowed is negative", "DisruptionBudgetNegativeAllowedDisruptions")
    disrupted = dict(status.get("disruptedPods") or {})
    if len(disrupted) > MAX_DISRUPTED:
        why = "DisruptedPods map too big - too many evictions not confirmed by PDB controller"
        raise _broken(name, why, "DisruptionBudgetTooManyDisruptedPods")
    if allowed == 0:
        need, have = status.get("desiredHealthy", 0), status.get("currentHealthy", 0)
        raise _refusal(f"The disruption budget {name} needs {need} healthy pods and has {have} currently", 0)
    status["disruptionsAllowed"] = allowed - 1
    if allowed == 1:
        status["conditions"] = _no_more_allowed(status, budget["metadata"].get("generation", 0), now)
    disrupted[pod] = format_time(now)
    status["disruptedPods"] = dict(sorted(disrupted.items()))
    return {**budget, "status": status}


def _no_more_allowed(status: dict[str, Any], generation: int, now: datetime) -> list[dict[str, Any]]:
    condition = {
        "type": "DisruptionAllowed", "status": "False", "observedGeneration": generation,
        "lastTransitionTime": format_time(now), "reason": "InsufficientPods", "message": "",
    }  # fmt: skip
    return [one for one in status.get("conditions") or () if one.get("type") != "DisruptionAllowed"] + [condition]


def _broken(budget: str, message: str, reason: str) -> APIError:
    """403 with a cause that programs can tell from others: nobody is evicted by such a budget, now or later."""
    error = forbidden("policy", "poddisruptionbudget", budget, message)
    error.details = {**(error.details or {}), "causes": [{"reason": reason, "message": message}]}
    return error


def _refusal(message: str, seconds: int) -> APIError:
    details: dict[str, Any] = {"causes": [{"reason": "DisruptionBudget", "message": message}]}
    if seconds:
        details["retryAfterSeconds"] = seconds
    return APIError(429, "TooManyRequests", _MESSAGE, details, retry_after=seconds)


def storage(context: PartContext) -> EvictionStorage:
    return EvictionStorage(context.stores["", "pods"], context.stores["policy", "poddisruptionbudgets"], context.now)
