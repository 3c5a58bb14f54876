"""Counts what a quota has used, from lists of the objects that it limits."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Any, Final, cast

from pilothouse.admission.podamounts import Amounts, add
from pilothouse.admission.quota.scopes import matches
from pilothouse.admission.quota.usage import IGNORED, Evaluator, evaluator_of
from pilothouse.controllers.client import JSON, METADATA_LIST, LoopbackClient
from pilothouse.controllers.resources import Catalog, Served
from pilothouse.controllers.streams import Object
from pilothouse.machinery.quantity import Quantity
from pilothouse.registry.resource import Resource

_PAGE: Final = 500
_NOTHING: Final = Quantity(0)
_LOOKED_INTO: Final = frozenset(  # kinds whose objects do not all cost the same
    {("", "pods"), ("", "services"), ("", "persistentvolumeclaims"), ("resource.k8s.io", "resourceclaims")}
)


def _as_resource(served: Served) -> Resource:
    """Evaluators and scopes read group and plural alone, and those are here."""
    return cast("Resource", served)


def limited(catalog: Catalog, hard: Iterable[str]) -> dict[Served, Evaluator]:
    """The kinds of objects that these resources of a quota are about."""
    names = list(hard)
    found: dict[Served, Evaluator] = {}
    for served in catalog.able("list", "watch"):
        if served.namespaced and (served.group, served.plural) not in IGNORED:
            evaluator = evaluator_of(_as_resource(served))
            if any(evaluator.counts(name) for name in names):
                found[served] = evaluator
    return found


async def used_by(client: LoopbackClient, catalog: Catalog, quota: Object) -> dict[str, str]:
    """What of `spec.hard` is used in the namespace, as texts of quantities. Raises Refusal."""
    hard: Mapping[str, Any] = (quota.get("spec") or {}).get("hard") or {}
    total: Amounts = {}
    for served, evaluator in limited(catalog, hard).items():
        for name in hard:
            if evaluator.counts(name):
                total.setdefault(name, _NOTHING)
        add(total, await _of_kind(client, quota, served, evaluator))
    return {name: str(total[name]) for name in sorted(hard) if name in total}


async def _of_kind(client: LoopbackClient, quota: Object, served: Served, evaluator: Evaluator) -> Amounts:
    namespace = quota["metadata"]["namespace"]
    spec = quota.get("spec") or {}
    scoped = bool(spec.get("scopes") or spec.get("scopeSelector"))
    found: Amounts = {}
    if (served.group, served.plural) in _LOOKED_INTO:
        async for obj in _objects(client, served, namespace):
            if matches(quota, _as_resource(served), obj):
                add(found, evaluator.usage(obj))
    elif not scoped:  # no scope is about these kinds
        count = await _how_many(client, served, namespace)
        each = evaluator.usage({})
        found = {name: Quantity(amount.nanos * count) for name, amount in each.items()}
    return found


async def _objects(client: LoopbackClient, served: Served, namespace: str) -> AsyncIterator[Object]:
    """All of a namespace, a page at a time."""
    parameters = {"limit": str(_PAGE)}
    while True:
        page = await client.get(served.path(namespace), parameters, JSON)
        for obj in page.get("items") or ():
            yield obj
        more = (page.get("metadata") or {}).get("continue")
        if not more:
            return
        parameters["continue"] = more


async def _how_many(client: LoopbackClient, served: Served, namespace: str) -> int:
    """Without reading them: the first one, and how many remain."""
    page = await client.get(served.path(namespace), {"limit": "1"}, METADATA_LIST)
    return len(page.get("items") or ()) + int((page.get("metadata") or {}).get("remainingItemCount") or 0)
