"""Small rules about pods: images are always pulled, tolerations for extended resources, anti-affinity by host alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from pilothouse.admission.plugin import CREATE, UPDATE, Attributes
from pilothouse.admission.refusals import refuse
from pilothouse.registry.resource import Object, Resource

_PODS: Final = ("", "pods")
_CONTAINERS: Final = ("initContainers", "containers", "ephemeralContainers")
_HOST: Final = "kubernetes.io/hostname"


def _containers(pod: Object) -> Iterator[dict[str, Any]]:
    spec = pod.get("spec") or {}
    for kind in _CONTAINERS:
        yield from spec.get(kind) or ()


class AlwaysPullImages:
    """Nobody runs an image from a node's cache that they could not pull."""

    name = "AlwaysPullImages"

    def handles(self, resource: Resource, operation: str) -> bool:
        return (resource.group, resource.plural) == _PODS and operation in (CREATE, UPDATE)

    async def admit(self, attributes: Attributes) -> None:
        pod = attributes.obj or {}
        if not _pulls(attributes):
            return
        for container in _containers(pod):
            container["imagePullPolicy"] = "Always"
        for volume in (pod.get("spec") or {}).get("volumes") or ():
            if volume.get("image") is not None:
                volume["image"] = {**volume["image"], "pullPolicy": "Always"}

    async def check(self, attributes: Attributes) -> None:
        if not _pulls(attributes):
            return
        spec = (attributes.obj or {}).get("spec") or {}
        for kind in _CONTAINERS:
            for index, container in enumerate(spec.get(kind) or ()):
                policy = container.get("imagePullPolicy", "")
                if policy != "Always":
                    path = f"spec.{kind}[{index}].imagePullPolicy"
                    raise refuse(attributes, f'{path}: Unsupported value: "{policy}": supported values: "Always"')


def _pulls(attributes: Attributes) -> bool:
    """A new pod, or one that gets an image it did not have."""
    if attributes.write.subresource not in ("", "ephemeralcontainers"):
        return False
    if attributes.old is None:
        return True
    had = {one.get("image") for one in _containers(attributes.old)}
    return any(one.get("image") not in had for one in _containers(attributes.obj or {}))


class ExtendedResourceToleration:
    """Nodes with special devices can be tainted with the name of the resource."""

    name = "ExtendedResourceToleration"

    def handles(self, resource: Resource, operation: str) -> bool:
        return (resource.group, resource.plural) == _PODS and operation in (CREATE, UPDATE)

    async def admit(self, attributes: Attributes) -> None:
        if attributes.write.subresource or attributes.obj is None:
            return
        names = {name for one in _containers(attributes.obj) for name in _requests(one) if _is_extended(name)}
        spec = attributes.obj.setdefault("spec", {})
        held = spec.get("tolerations") or []
        added = [{"key": name, "operator": "Exists", "effect": "NoSchedule"} for name in sorted(names)]
        added = [one for one in added if one not in held]
        if added:
            spec["tolerations"] = [*held, *added]


def _requests(container: dict[str, Any]) -> dict[str, str]:
    return (container.get("resources") or {}).get("requests") or {}


def _is_extended(name: str) -> bool:
    return "/" in name and "kubernetes.io/" not in name and not name.startswith("requests.")


class LimitPodHardAntiAffinityTopology:
    """A pod may keep others off its host, not off a whole zone."""

    name = "LimitPodHardAntiAffinityTopology"

    def handles(self, resource: Resource, operation: str) -> bool:
        return (resource.group, resource.plural) == _PODS and operation in (CREATE, UPDATE)

    async def check(self, attributes: Attributes) -> None:
        if attributes.write.subresource:
            return
        affinity = ((attributes.obj or {}).get("spec") or {}).get("affinity") or {}
        rules = affinity.get("podAntiAffinity") or {}
        for term in rules.get("requiredDuringSchedulingIgnoredDuringExecution") or ():
            key = term.get("topologyKey", "")
            if key != _HOST:
                where = "affinity.PodAntiAffinity.RequiredDuringScheduling"
                raise refuse(attributes, f"{where} has TopologyKey {key} but only key {_HOST} is allowed")
