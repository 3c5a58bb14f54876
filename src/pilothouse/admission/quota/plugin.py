"""The plug-in: charges the quotas of the namespace before an object is written, or refuses it.

A quota is charged by a compare-and-swap of its status, so that of two writes that would go beyond it together one is
refused, whichever server they came to. What is charged for an object that is not written after all, and what a deleted
one had, is put right by the quota controller.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, Final

from pilothouse.admission.lookups import Reader, Stores
from pilothouse.admission.plugin import CREATE, UPDATE, Attributes
from pilothouse.admission.podamounts import Amounts, parsed
from pilothouse.admission.quota.scopes import matches
from pilothouse.admission.quota.usage import IGNORED, Evaluator, evaluator_of
from pilothouse.admission.refusals import refuse
from pilothouse.kit.record import record
from pilothouse.machinery.errors import APIError
from pilothouse.registry.ownership import Ownership
from pilothouse.registry.request import Caller, Write
from pilothouse.registry.resource import Object, Resource
from pilothouse.registry.writer import no_client

_UPDATED: Final = frozenset(
    {("", "pods"), ("", "services"), ("", "persistentvolumeclaims"), ("resource.k8s.io", "resourceclaims")}
)
_SELF: Final = Caller("system:apiserver", "", ("system:masters", "system:authenticated"))
_MANAGER: Final = "kube-apiserver"


@record
class _Charge:
    """What a write adds to one quota."""

    quota: str
    amounts: Amounts


class ResourceQuota:
    """`quotas` reads the quotas; `stores` holds their store, through which they are charged."""

    name = "ResourceQuota"

    def __init__(self, quotas: Reader, stores: Stores, now: Callable[[], datetime]) -> None:
        self._quotas = quotas
        self._stores = stores
        self._now = now
        self._owner: Ownership | None = None

    def handles(self, resource: Resource, operation: str) -> bool:
        kind = (resource.group, resource.plural)
        if not resource.namespaced or kind in IGNORED:
            return False
        return operation == CREATE or (operation == UPDATE and kind in _UPDATED)

    async def check(self, attributes: Attributes) -> None:
        quotas = await self._quotas.all(attributes.write.namespace)
        if not quotas or attributes.obj is None:
            return
        evaluator = evaluator_of(attributes.resource)
        if (attributes.operation, attributes.write.subresource) not in evaluator.on:
            return
        charges = _charges(quotas, evaluator, attributes)
        if attributes.write.dry_run:
            return
        done: list[_Charge] = []
        try:
            for charge in charges:
                await self._charge(charge, attributes)
                done.append(charge)
        except APIError:
            for charge in done:
                await self._refund(charge, attributes.write.namespace)
            raise

    async def _charge(self, charge: _Charge, attributes: Attributes) -> None:
        """Raises Forbidden where another write came first and there is no room any more."""

        def raised(quota: Object) -> Amounts:
            _check_room(quota, charge.amounts, attributes)
            return _sum(_used(quota), charge.amounts)

        await self._change(charge.quota, attributes.write.namespace, raised)

    async def _refund(self, charge: _Charge, namespace: str) -> None:
        await self._change(charge.quota, namespace, lambda quota: _difference(_used(quota), charge.amounts))

    async def _change(self, name: str, namespace: str, new_usage: Callable[[Object], Amounts]) -> None:
        store = self._stores["", "resourcequotas"]
        if self._owner is None:
            self._owner = Ownership(store.resource, store.resource.hub, "status")
        owner = self._owner
        write = Write(
            namespace, name, "v1", self._now(), no_client, subresource="status", caller=_SELF, manager=_MANAGER
        )

        async def produce(current: Object | None) -> Object:
            assert current is not None, name  # update does not create
            used = {key: str(amount) for key, amount in sorted(new_usage(current).items())}
            new = {**current, "status": {**current["status"], "used": used}}
            return owner.updated(new, current, write)

        await store.update(name, produce, write)


def _charges(quotas: Sequence[Object], evaluator: Evaluator, attributes: Attributes) -> list[_Charge]:
    """What is to be charged. Raises Forbidden where it can be told already that there is no room."""
    obj = attributes.obj or {}
    concerned = []
    for quota in quotas:
        counted = [name for name in _hard(quota) if evaluator.counts(name)]
        if not counted or not matches(quota, attributes.resource, obj):
            continue
        _check_said(quota, counted, evaluator, attributes)
        concerned.append(quota)
    if not concerned:
        return []
    delta = _positive(evaluator.usage(obj), evaluator.usage(attributes.old) if attributes.old is not None else {})
    found = []
    for quota in concerned:
        hard = _hard(quota)
        amounts = {name: amount for name, amount in delta.items() if name in hard}
        if amounts:
            _check_room(quota, amounts, attributes)
            found.append(_Charge(quota["metadata"]["name"], amounts))
    return found


def _check_said(quota: Object, counted: Sequence[str], evaluator: Evaluator, attributes: Attributes) -> None:
    """Whether the object says what the quota counts, and the quota knows what is used."""
    name = quota["metadata"]["name"]
    if evaluator.demands is not None and attributes.operation == CREATE:
        missing = evaluator.demands(attributes.obj or {}, counted)
        if missing:
            raise refuse(attributes, f"failed quota: {name}: {missing}")
    used = (quota.get("status") or {}).get("used") or {}
    unknown = sorted(one for one in counted if one not in used)
    if unknown:
        raise refuse(attributes, f"status unknown for quota: {name}, resources: {','.join(unknown)}")


def _check_room(quota: Object, amounts: Amounts, attributes: Attributes) -> None:
    hard, used = parsed(_hard(quota)), _used(quota)
    after = _sum(used, amounts)
    beyond = sorted(name for name in amounts if name in hard and after[name] > hard[name])
    if beyond:
        told = f"requested: {_shown(amounts, beyond)}, used: {_shown(used, beyond)}, limited: {_shown(hard, beyond)}"
        raise refuse(attributes, f"exceeded quota: {quota['metadata']['name']}, {told}")


def _hard(quota: Object) -> dict[str, Any]:
    found: dict[str, Any] = (quota.get("status") or {}).get("hard") or {}
    return found


def _used(quota: Object) -> Amounts:
    return parsed((quota.get("status") or {}).get("used"))


def _sum(one: Amounts, other: Amounts) -> Amounts:
    return {**one, **{name: one[name] + amount if name in one else amount for name, amount in other.items()}}


def _difference(one: Amounts, other: Amounts) -> Amounts:
    return {**one, **{name: one[name] - amount for name, amount in other.items() if name in one}}


def _positive(new: Amounts, old: Amounts) -> Amounts:
    """What is more than before."""
    found = {name: amount - old[name] if name in old else amount for name, amount in new.items()}
    return {name: amount for name, amount in found.items() if amount.nanos > 0}


def _shown(amounts: Amounts, names: Sequence[str]) -> str:
    return ",".join(f"{name}={amounts[name]}" for name in names if name in amounts)
