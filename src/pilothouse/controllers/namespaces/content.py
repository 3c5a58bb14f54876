"""Empties a namespace: all kinds of objects that can be deleted, pods first and alone, as they need time."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from pilothouse.controllers.client import JSON, METADATA_LIST, LoopbackClient, Refusal
from pilothouse.controllers.namespaces.abandoned import remove_abandoned
from pilothouse.controllers.namespaces.conditions import Findings
from pilothouse.controllers.resources import Catalog, Served
from pilothouse.controllers.streams import Object

_PODS: Final = ("", "pods")
_ENDED: Final = frozenset({"Succeeded", "Failed"})
_FINALIZER_SECONDS: Final = 15.0  # how long finalizers may take: a guess, as nobody knows
_GONE: Final = frozenset({404, 405})  # the resource is not served any more, or not so
_BACKGROUND: Final[Object] = {"propagationPolicy": "Background"}


class Emptying:
    """One pass over one namespace. `estimate`: seconds after which more may be gone, 0 where nobody knows."""

    def __init__(self, client: LoopbackClient, namespace: str, deleted_at: datetime, now: datetime) -> None:
        self._client = client
        self._namespace = namespace
        self._now = now
        self._since = (now - deleted_at).total_seconds()
        self.findings = Findings()
        self.estimate = 0.0

    async def run(self, catalog: Catalog) -> None:
        """Delete what is there and find out what remains. What fails is among the findings."""
        self.findings.undiscovered = list(catalog.failed)
        resources = [served for served in catalog.able("delete") if served.namespaced]
        pods = [served for served in resources if (served.group, served.plural) == _PODS]
        for served in pods:
            await self._empty(served)
        if self.findings.remaining or self.findings.failures:
            return  # pods may need the rest until they have stopped
        for served in resources:
            if served not in pods:
                await self._empty(served)

    async def _empty(self, served: Served) -> None:
        try:
            await self._delete(served)
        except Refusal as refusal:
            if refusal.code not in _GONE:
                self.findings.failures.append(str(refusal))

    async def _delete(self, served: Served) -> None:
        if "list" not in served.verbs:
            if "deletecollection" in served.verbs:
                await self._client.delete(served.path(self._namespace), _BACKGROUND)
            return
        found = await self._list(served, "" if self._needs_all(served) else "1")
        if not found:
            return
        wait = self._grace(found) if (served.group, served.plural) == _PODS else 0.0
        if "deletecollection" in served.verbs:
            await self._client.delete(served.path(self._namespace), _BACKGROUND)
        else:
            await self._delete_each(served, found)
        left = await self._list(served)
        if left and (served.group, served.plural) == _PODS:
            if await remove_abandoned(self._client, served.path(self._namespace), left, self._now):
                left = await self._list(served)
        if left:
            self._remains(served, left, wait)

    async def _delete_each(self, served: Served, found: Sequence[Object]) -> None:
        for obj in found:
            try:
                await self._client.delete(served.path(self._namespace, obj["metadata"]["name"]), _BACKGROUND)
            except Refusal as refusal:
                if not refusal.not_found:
                    raise

    @staticmethod
    def _needs_all(served: Served) -> bool:
        """Whether it is enough to know that there is something."""
        return (served.group, served.plural) == _PODS or "deletecollection" not in served.verbs

    async def _list(self, served: Served, limit: str = "") -> list[Object]:
        """Pods whole, of others the metadata."""
        accept = JSON if (served.group, served.plural) == _PODS else METADATA_LIST
        page = await self._client.get(served.path(self._namespace), {"limit": limit} if limit else None, accept)
        return page.get("items") or []

    def _grace(self, pods: Sequence[Object]) -> float:
        """Seconds that the slowest pod may still take to stop."""
        longest = 0.0
        for pod in pods:
            if (pod.get("status") or {}).get("phase") not in _ENDED:
                longest = max(longest, float((pod.get("spec") or {}).get("terminationGracePeriodSeconds") or 0))
        return max(longest - self._since, 0.0)

    def _remains(self, served: Served, left: Sequence[Object], wait: float) -> None:
        findings = self.findings
        findings.remaining[f"{served.plural}.{served.group}"] = len(left)
        held = False
        for obj in left:
            for finalizer in obj["metadata"].get("finalizers") or ():
                findings.finalizers[finalizer] = findings.finalizers.get(finalizer, 0) + 1
                held = True
        if wait or held:
            self.estimate = max(self.estimate, wait or _FINALIZER_SECONDS)
        else:
            where = f"{served.group or ''}/{served.version}, Resource={served.plural}"
            findings.failures.append(f"unexpected items still remain in namespace: {self._namespace} for gvr: {where}")
