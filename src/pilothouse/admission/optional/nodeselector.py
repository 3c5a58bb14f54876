"""PodNodeSelector: pods of a namespace run on the nodes that its annotation chooses."""

from __future__ import annotations

from typing import Final

from pilothouse.admission.lookups import Reader
from pilothouse.admission.plugin import CREATE, Attributes
from pilothouse.admission.refusals import refuse
from pilothouse.registry.resource import Object, Resource

ANNOTATION: Final = "scheduler.alpha.kubernetes.io/node-selector"
_CONFLICT: Final = "pod node label selector conflicts with its namespace node label selector"


class PodNodeSelector:
    """`namespaces` reads namespaces."""

    name = "PodNodeSelector"

    def __init__(self, namespaces: Reader) -> None:
        self._namespaces = namespaces

    def handles(self, resource: Resource, operation: str) -> bool:
        return (resource.group, resource.plural) == ("", "pods") and operation == CREATE

    async def admit(self, attributes: Attributes) -> None:
        wanted = await self._wanted(attributes)
        if wanted and attributes.obj is not None:
            spec = attributes.obj.setdefault("spec", {})
            _check(spec.get("nodeSelector") or {}, wanted, attributes)
            spec["nodeSelector"] = {**wanted, **(spec.get("nodeSelector") or {})}

    async def check(self, attributes: Attributes) -> None:
        wanted = await self._wanted(attributes)
        if wanted and attributes.obj is not None:
            _check((attributes.obj.get("spec") or {}).get("nodeSelector") or {}, wanted, attributes)

    async def _wanted(self, attributes: Attributes) -> dict[str, str]:
        if attributes.write.subresource:
            return {}
        return await self._namespaces.derived("", attributes.write.namespace, "node selector", _selector) or {}


def _selector(namespace: Object) -> dict[str, str]:
    text = (namespace["metadata"].get("annotations") or {}).get(ANNOTATION, "")
    pairs = (one.partition("=") for one in text.split(",") if one.strip())
    return {key.strip(): value.strip() for key, _, value in pairs}


def _check(held: dict[str, str], wanted: dict[str, str], attributes: Attributes) -> None:
    if any(held.get(key, value) != value for key, value in wanted.items()):
        raise refuse(attributes, _CONFLICT)
