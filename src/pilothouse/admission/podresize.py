"""PodResizeValidator and NodeDeclaredFeatureValidator: pods are resized to what their node has, by what it can do."""

from __future__ import annotations

from typing import Any, Final

from pilothouse.admission import podamounts
from pilothouse.admission.lookups import Reader
from pilothouse.admission.plugin import UPDATE, Attributes
from pilothouse.admission.refusals import refuse
from pilothouse.machinery import quantity
from pilothouse.machinery.errors import APIError
from pilothouse.machinery.goquote import quote
from pilothouse.registry.resource import Object, Resource

_SYSTEM: Final = "kubernetes.io/os"
_NOTHING: Final = quantity.parse("0")
_WHOLE: Final = "InPlacePodLevelResourcesVerticalScaling"
_START: Final = "InPlacePodVerticalScalingInitContainers"


class _OnNode:
    """`nodes` reads the nodes. Only what a pod on a node asks for anew is looked at."""

    def __init__(self, nodes: Reader) -> None:
        self._nodes = nodes

    def handles(self, resource: Resource, operation: str) -> bool:
        return (resource.group, resource.plural) == ("", "pods") and operation == UPDATE

    async def node(self, attributes: Attributes, pod: Object) -> Object:
        name = pod["spec"]["nodeName"]
        found = await self._nodes.get("", name)
        if found is None:
            raise refuse(attributes, f"node {quote(name)} not found")
        return found


def _resized(attributes: Attributes) -> tuple[Object, Object] | None:
    """The pod and what it was, where it is resized on a node."""
    obj, old = attributes.obj, attributes.old
    if obj is None or old is None or attributes.write.subresource != "resize" or not obj["spec"].get("nodeName"):
        return None
    return None if obj["metadata"].get("generation") == old["metadata"].get("generation") else (obj, old)


class NodeDeclaredFeatureValidator(_OnNode):
    """Some resizes need a feature that the node declares. Resources change by a resize alone."""

    name = "NodeDeclaredFeatureValidator"

    async def check(self, attributes: Attributes) -> None:
        found = _resized(attributes)
        if found is None:
            return
        needed = _needed(*found)
        if not needed:
            return
        node = await self.node(attributes, found[0])
        declared = (node.get("status") or {}).get("declaredFeatures") or ()
        missing = [name for name in needed if name not in declared]
        if missing:
            name = quote(node["metadata"]["name"])
            listed = ", ".join(missing)
            raise refuse(attributes, f"pod update requires features {listed} which are not available on node {name}")


def _needed(pod: Object, old: Object) -> list[str]:
    found = []
    if pod["spec"].get("resources") != old["spec"].get("resources"):
        found.append(_WHOLE)
    if _of_start(pod) != _of_start(old):
        found.append(_START)
    return found


def _of_start(pod: Object) -> list[Any]:
    """What the containers of the start ask for, but those that go on running."""
    containers = pod["spec"].get("initContainers") or ()
    return [one.get("resources") or {} for one in containers if one.get("restartPolicy") != "Always"]


class PodResizeValidator(_OnNode):
    """A resize needs a node with Linux that could hold the pod, if it were alone there."""

    name = "PodResizeValidator"

    async def check(self, attributes: Attributes) -> None:
        found = _resized(attributes)
        if found is None:
            return
        node = await self.node(attributes, found[0])
        system = (node["metadata"].get("labels") or {}).get(_SYSTEM, "linux")
        if system != "linux":
            name = quote(node["metadata"]["name"])
            why = f"pod resize is only supported on linux nodes, node {name} is {quote(system)}"
            raise _because(refuse(attributes, why), "UnsupportedPlatform")
        short = _short(found[0], node)
        if short:
            why = f"node didn't have enough allocatable resources: {'; '.join(short)}"
            raise _because(refuse(attributes, why), "NodeCapacity")


def _short(pod: Object, node: Object) -> list[str]:
    """Of what there is too little, thousandths of processors and bytes."""
    asked = podamounts.of_pod(pod["spec"], "requests")
    there = podamounts.parsed((node.get("status") or {}).get("allocatable"))
    found = []
    for name in ("cpu", "memory"):
        wanted, given = asked.get(name, _NOTHING), there.get(name, _NOTHING)
        if wanted > given:
            counts = [one.milli_value() if name == "cpu" else one.value() for one in (wanted, given)]
            found.append(f"{name}, requested: {counts[0]}, allocatable: {counts[1]}")
    return found


def _because(error: APIError, reason: str) -> APIError:
    """With a cause that programs can tell from others."""
    error.details = {**(error.details or {}), "causes": [{"reason": reason}]}
    return error
