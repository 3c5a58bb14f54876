"""RuntimeClass: a pod takes the overhead and the scheduling of its runtime class, and may not contradict them."""

from __future__ import annotations

from typing import Any, Final

from pilothouse.admission.lookups import Reader
from pilothouse.admission.plugin import CREATE, Attributes
from pilothouse.admission.refusals import refuse
from pilothouse.machinery import quantity
from pilothouse.registry.resource import Object, Resource

_WITHOUT: Final = "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"
_OTHER: Final = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"


class RuntimeClass:
    """`classes` reads the runtime classes."""

    name = "RuntimeClass"

    def __init__(self, classes: Reader) -> None:
        self._classes = classes

    def handles(self, resource: Resource, operation: str) -> bool:
        return (resource.group, resource.plural) == ("", "pods") and operation == CREATE

    async def admit(self, attributes: Attributes) -> None:
        if attributes.write.subresource or attributes.obj is None:
            return
        spec = attributes.obj.setdefault("spec", {})
        found = await self._class_of(spec, attributes)
        if found is None:
            return
        fixed = (found.get("overhead") or {}).get("podFixed")
        if fixed:
            if spec.get("overhead") and not _same_amounts(spec["overhead"], fixed):
                raise refuse(attributes, _OTHER)
            spec["overhead"] = dict(fixed)
        scheduling = found.get("scheduling")
        if scheduling:
            _select(spec, scheduling.get("nodeSelector") or {}, attributes)
            _tolerate(spec, scheduling.get("tolerations") or [])

    async def check(self, attributes: Attributes) -> None:
        if attributes.write.subresource or attributes.obj is None:
            return
        spec = attributes.obj["spec"]
        overhead = spec.get("overhead")
        if not overhead and spec.get("runtimeClassName") is None:
            return
        found = await self._class_of(spec, attributes)
        fixed = ((found or {}).get("overhead") or {}).get("podFixed")
        if overhead and not fixed:
            raise refuse(attributes, _WITHOUT)
        if fixed and not _same_amounts(overhead or {}, fixed):
            raise refuse(attributes, _OTHER)

    async def _class_of(self, spec: dict[str, Any], attributes: Attributes) -> Object | None:
        name = spec.get("runtimeClassName")
        if name is None:
            return None
        found = await self._classes.get("", name)
        if found is None:
            raise refuse(attributes, f'pod rejected: RuntimeClass "{name}" not found')
        return found


def _same_amounts(one: dict[str, str], other: dict[str, str]) -> bool:
    return one.keys() == other.keys() and all(quantity.parse(one[key]) == quantity.parse(other[key]) for key in one)


def _select(spec: dict[str, Any], wanted: dict[str, str], attributes: Attributes) -> None:
    held = spec.get("nodeSelector") or {}
    for key in sorted(wanted):
        if key in held and held[key] != wanted[key]:
            mine, theirs = f"pod.spec.nodeSelector[{key}] = {held[key]}", f"{key}] = {wanted[key]}"
            raise refuse(attributes, f"conflict: runtimeClass.scheduling.nodeSelector[{theirs}; {mine}")
    if wanted:
        spec["nodeSelector"] = {**held, **wanted}


def _tolerate(spec: dict[str, Any], wanted: list[dict[str, Any]]) -> None:
    held = spec.get("tolerations") or []
    added = [dict(one) for one in wanted if one not in held]
    if added:
        spec["tolerations"] = [*held, *added]
