"""Aggregated ClusterRoles: their rules are those of all roles that their selectors take (Kubernetes documentation,
"Using RBAC Authorization", "Aggregated ClusterRoles").
"""

from __future__ import annotations

from typing import Any, Final

from pilothouse.controllers.client import APPLY
from pilothouse.controllers.context import Context
from pilothouse.controllers.informer import Informer, Key
from pilothouse.controllers.reflector import Source
from pilothouse.controllers.streams import Object
from pilothouse.controllers.tasks import together
from pilothouse.controllers.workqueue import WorkQueue, work
from pilothouse.machinery.selectors import label_selector_of

IDENTITY: Final = "clusterrole-aggregation-controller"
_API_VERSION: Final = "rbac.authorization.k8s.io/v1"
_PATH: Final = f"/apis/{_API_VERSION}/clusterroles"
_GATHER: Final = 0.05  # seconds: roles come many at a time


class ClusterRoleAggregation:
    """`run` until it is cancelled."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._client = context.client(IDENTITY)
        self._queue: WorkQueue[str] = WorkQueue(context.clock, "ClusterRoleAggregator", context.queues)
        self._roles = Informer(keep=_essence)
        self._aggregated: set[str] = set()

    async def run(self) -> None:
        reflector = self._context.reflector(Source(_PATH, metadata=False), self._roles)

        async def keep() -> None:
            await reflector.synced.wait()
            with self._roles.telling(self._told):
                await work(self._queue, self._aggregate, "aggregation of cluster role")

        try:
            await together(reflector.run(), keep())
        finally:
            self._queue.close()

    def _told(self, key: Key, role: Object | None) -> None:
        if role is not None and role.get("aggregationRule"):
            self._aggregated.add(key[1])
        else:
            self._aggregated.discard(key[1])
        for name in self._aggregated:
            self._queue.add_after(name, _GATHER)

    async def _aggregate(self, name: str) -> None:
        """Raises Refusal."""
        role = self._roles.get(("", name))
        if role is None or not role.get("aggregationRule"):
            return
        rules = self._rules_for(name, role["aggregationRule"])
        if rules == (role.get("rules") or []):
            return
        applied = {"apiVersion": _API_VERSION, "kind": "ClusterRole", "metadata": {"name": name}, "rules": rules}
        await self._client.patch(f"{_PATH}/{name}", applied, {"fieldManager": IDENTITY, "force": "true"}, APPLY)

    def _rules_for(self, name: str, rule: Object) -> list[Any]:
        """Each rule once, selector by selector, roles by their names."""
        found: list[Any] = []
        for struct in rule.get("clusterRoleSelectors") or ():
            selector = label_selector_of(struct)
            for (_, other), role in sorted(self._roles.items(), key=lambda entry: entry[0]):
                if other != name and selector.matches(role["metadata"].get("labels") or {}):
                    found.extend(one for one in role.get("rules") or () if one not in found)
        return found


def _essence(role: Object) -> Object:
    """What aggregation needs of a role."""
    metadata = {name: role["metadata"][name] for name in ("name", "labels") if name in role["metadata"]}
    return {"metadata": metadata, "rules": role.get("rules"), "aggregationRule": role.get("aggregationRule")}
