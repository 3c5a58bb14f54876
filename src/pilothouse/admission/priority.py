"""Priority: a pod, or a group of pods, has the priority of its class, and only one class may be everybody's."""

from __future__ import annotations

from typing import Any, Final

from pilothouse.admission.lookups import Reader
from pilothouse.admission.plugin import CREATE, UPDATE, Attributes
from pilothouse.admission.refusals import refuse
from pilothouse.registry.resource import Object, Resource

_PODS: Final = ("", "pods")
_GROUPS: Final = ("scheduling.k8s.io", "podgroups")
_CLASSES: Final = ("scheduling.k8s.io", "priorityclasses")
_NO_CLASS: Final[Object] = {"value": 0, "preemptionPolicy": "PreemptLowerPriority"}
_OTHERWISE: Final = "must not be provided in pod spec; priority admission controller computed"
_FROM_CLASS: Final = "from the given PriorityClass name"


class Priority:
    """`classes` reads the priority classes."""

    name = "Priority"

    def __init__(self, classes: Reader) -> None:
        self._classes = classes

    def handles(self, resource: Resource, operation: str) -> bool:
        return (resource.group, resource.plural) in (_PODS, _GROUPS, _CLASSES) and operation in (CREATE, UPDATE)

    async def admit(self, attributes: Attributes) -> None:
        plural = attributes.resource.plural
        if attributes.write.subresource or attributes.obj is None or plural == "priorityclasses":
            return
        spec = attributes.obj.setdefault("spec", {})
        if attributes.old is not None:
            _keep(spec, attributes.old.get("spec") or {})
            return
        policy = await self._compute(spec, attributes)
        if plural == "pods":  # a group only has a number
            _agree_on_policy(spec, policy, attributes)

    async def _compute(self, spec: dict[str, Any], attributes: Attributes) -> str:
        """Fill in class and priority; the policy of the class."""
        name = spec.get("priorityClassName", "")
        if name:
            found = await self._classes.get("", name)
            if found is None:
                raise refuse(attributes, f"no PriorityClass with name {name} was found")
        else:
            found = await self._everybodys()
            if "metadata" in found:
                spec["priorityClassName"] = found["metadata"]["name"]
        value, policy = found.get("value", 0), found.get("preemptionPolicy", "PreemptLowerPriority")
        given = spec.get("priority")
        if given is not None and given != value:
            why = f"the integer value of priority ({given}) {_OTHERWISE} {value} {_FROM_CLASS}"
            raise refuse(attributes, why)
        spec["priority"] = value
        return str(policy)

    async def _everybodys(self) -> Object:
        """The class that is the default; the lowest, should there be several."""
        found = _NO_CLASS
        for one in await self._classes.all():
            if one.get("globalDefault") and (found is _NO_CLASS or one.get("value", 0) < found.get("value", 0)):
                found = one
        return found

    async def check(self, attributes: Attributes) -> None:
        obj = attributes.obj
        if obj is None or attributes.resource.plural != "priorityclasses" or not obj.get("globalDefault"):
            return
        name = obj["metadata"].get("name")
        for other in await self._classes.all():
            if other.get("globalDefault") and other["metadata"]["name"] != name:
                held = other["metadata"]["name"]
                raise refuse(
                    attributes, f"PriorityClass {held} is already marked as default. Only one default can exist"
                )


def _agree_on_policy(spec: dict[str, Any], policy: str, attributes: Attributes) -> None:
    wanted = spec.get("preemptionPolicy")
    if wanted is not None and wanted != policy:
        why = f"the string value of PreemptionPolicy ({wanted}) {_OTHERWISE} {policy} {_FROM_CLASS}"
        raise refuse(attributes, why)
    spec["preemptionPolicy"] = policy


def _keep(spec: dict[str, Any], old: dict[str, Any]) -> None:
    """What an update leaves out stays."""
    for member in ("priority", "preemptionPolicy"):
        if spec.get(member) is None and old.get(member) is not None:
            spec[member] = old[member]
