"""PodTolerationRestriction: annotations of a namespace give its pods tolerations, and say which they may have."""

from __future__ import annotations

from typing import Any, Final

import orjson

from pilothouse.admission.lookups import Reader
from pilothouse.admission.plugin import CREATE, UPDATE, Attributes
from pilothouse.machinery.errors import bare_internal
from pilothouse.registry.resource import Object, Resource

DEFAULTS: Final = "scheduler.alpha.kubernetes.io/defaultTolerations"
ALLOWED: Final = "scheduler.alpha.kubernetes.io/tolerationsWhitelist"
_CONFLICT: Final = (
    "pod tolerations (possibly merged with namespace default tolerations) conflict with its namespace whitelist"
)
Toleration = dict[str, Any]


class PodTolerationRestriction:
    """`namespaces` reads namespaces."""

    name = "PodTolerationRestriction"

    def __init__(self, namespaces: Reader) -> None:
        self._namespaces = namespaces

    def handles(self, resource: Resource, operation: str) -> bool:
        return (resource.group, resource.plural) == ("", "pods") and operation in (CREATE, UPDATE)

    async def admit(self, attributes: Attributes) -> None:
        if attributes.operation != CREATE or attributes.write.subresource or attributes.obj is None:
            return
        spec = attributes.obj.setdefault("spec", {})
        given = await self._listed(attributes, DEFAULTS) or []
        held: list[Toleration] = spec.get("tolerations") or []
        added = [one for one in given if not any(_covers(other, one) for other in held)]
        if added:
            spec["tolerations"] = [*held, *added]

    async def check(self, attributes: Attributes) -> None:
        if attributes.write.subresource or attributes.obj is None:
            return
        allowed = await self._listed(attributes, ALLOWED)
        held: list[Toleration] = (attributes.obj.get("spec") or {}).get("tolerations") or []
        if allowed and not all(any(_covers(other, one) for other in allowed) for one in held):
            raise bare_internal(_CONFLICT)

    async def _listed(self, attributes: Attributes, annotation: str) -> list[Toleration] | None:
        namespace = await self._namespaces.get("", attributes.write.namespace)
        return _read(namespace or {}, annotation)


def _read(namespace: Object, annotation: str) -> list[Toleration] | None:
    text = ((namespace.get("metadata") or {}).get("annotations") or {}).get(annotation)
    if not text:
        return None
    try:
        found: list[Toleration] = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise bare_internal(str(error)) from None
    return found


def _covers(wide: Toleration, narrow: Toleration) -> bool:
    """Whether the one tolerates all that the other does."""
    if wide == narrow:
        return True
    operator, effect = wide.get("operator") or "Equal", wide.get("effect", "")
    if effect and effect != narrow.get("effect", ""):
        return False
    seconds = wide.get("tolerationSeconds")
    if seconds is not None and (narrow.get("tolerationSeconds") is None or narrow["tolerationSeconds"] > seconds):
        return False
    if operator == "Exists" and not wide.get("key"):
        return True
    if wide.get("key", "") != narrow.get("key", ""):
        return False
    return operator == "Exists" or (
        (narrow.get("operator") or "Equal") == "Equal" and wide.get("value") == narrow.get("value")
    )
