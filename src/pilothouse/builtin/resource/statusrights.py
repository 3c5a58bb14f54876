"""Rights to parts of a claim's status (Kubernetes documentation, "Hardening Guide - Dynamic Resource Allocation").

Who may write the status may not write all of it: who binds devices needs `resourceclaims/binding`, and what a driver
says of its devices needs `resourceclaims/driver`, for that driver and the node that the claim is bound to. Neither is
served: they are names in roles. An object alone does not know who writes it, so this runs where a kind's claims are
taken.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from pilothouse.admission.lookups import Stores
from pilothouse.auth.attributes import Attributes, Authorizer, Decision
from pilothouse.auth.refusal import refusal
from pilothouse.auth.usernames import NODE_CLAIM, account_of
from pilothouse.machinery.errors import Cause, invalid
from pilothouse.registry.claims import Claims, Settle
from pilothouse.registry.request import Caller, Write
from pilothouse.registry.resource import Object

_GROUP: Final = "resource.k8s.io"
_PLURAL: Final = "resourceclaims"
_HERE: Final = "associated-node:"  # the verbs of who runs on the claim's node
_ANYWHERE: Final = "arbitrary-node:"


class StatusRights:
    """The Claims of resource claims: `inner`, once the writer of a status may write what he changes."""

    def __init__(self, authorizer: Authorizer, inner: Claims) -> None:
        self._authorizer = authorizer
        self._inner = inner

    async def claim(self, obj: Object, old: Object | None, write: Write) -> Settle | None:
        """Raises Invalid."""
        if write.subresource == "status" and old is not None and write.caller.name:  # else it is the server's own
            causes = list(self._missing(obj.get("status") or {}, old.get("status") or {}, write))
            if causes:
                raise invalid(_GROUP, "ResourceClaim", obj["metadata"].get("name", ""), causes)
        return await self._inner.claim(obj, old, write)

    async def removed(self, obj: Object) -> None:
        await self._inner.removed(obj)

    def _missing(self, status: Object, before: Object, write: Write) -> Iterator[Cause]:
        if any(status.get(name) != before.get(name) for name in ("allocation", "reservedFor")):
            why = self._refused(
                Attributes(write.caller, write.verb, True, "", _GROUP, write.version, "", _PLURAL, "binding")
            )
            if why:
                yield _forbidden("status", "status.allocation or status.reservedFor", "binding", write.verb, why)
        verbs = [f"{_ANYWHERE}{write.verb}"]
        if _runs_on(write.caller, _node_of(status.get("allocation") or {})):
            verbs.insert(0, f"{_HERE}{write.verb}")
        for driver in sorted(_changed(status.get("devices") or (), before.get("devices") or ())):
            asked = [
                Attributes(
                    write.caller, verb, True, "", _GROUP, write.version, write.namespace, _PLURAL, "driver", driver
                )
                for verb in verbs
            ]
            reasons = [self._refused(one) for one in asked]
            if all(reasons):
                shown = f"[{' '.join(verbs)}]"
                yield _forbidden("status.devices", "status.devices", "driver", shown, reasons[0])

    def _refused(self, attributes: Attributes) -> str:
        """Why this may not be done; "" where it may."""
        decision, reason = self._authorizer.authorize(attributes)
        return "" if decision is Decision.ALLOW else refusal(attributes, reason).message


def _forbidden(path: str, changed: str, part: str, verb: str, why: str) -> Cause:
    needed = f'requires resource="{_PLURAL}/{part}", verb="{verb}" permission'
    return Cause("FieldValueForbidden", f"Forbidden: changing {changed} {needed}: {why}", path)


def _changed(devices: Any, before: Any) -> set[str]:
    """The drivers of devices that came, went or are told of in another way."""
    known = {_key(device): device for device in before}
    changed = {device["driver"] for device in devices if known.pop(_key(device), None) != device}
    return changed | {device["driver"] for device in known.values()}


def _key(device: Object) -> tuple[str, ...]:
    return tuple(device.get(name) or "" for name in ("driver", "pool", "device", "shareID"))


def _node_of(allocation: Object) -> str:
    """The one node that an allocation is for; "" where it is for others too."""
    terms: Any = (allocation.get("nodeSelector") or {}).get("nodeSelectorTerms") or ()
    if len(terms) != 1 or terms[0].get("matchExpressions") or len(terms[0].get("matchFields") or ()) != 1:
        return ""
    field = terms[0]["matchFields"][0]
    values: Any = field.get("values") or ()
    one = (field.get("key"), field.get("operator"), len(values)) == ("metadata.name", "In", 1)
    return str(values[0]) if one else ""


def _runs_on(caller: Caller, node: str) -> bool:
    """Whether the caller is a service account whose token is bound to something on that node."""
    if not node or account_of(caller.name) is None:
        return False
    return dict(caller.extra).get(NODE_CLAIM) == (node,)


def guard_status(stores: Stores, authorizer: Authorizer) -> None:
    """Set it before what guards the store of claims already."""
    store = stores.get((_GROUP, _PLURAL))
    if store is not None and store.claims is not None:
        store.claims = StatusRights(authorizer, store.claims)
