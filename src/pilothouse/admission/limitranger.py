"""LimitRanger: the limit ranges of a namespace fill in what containers ask for, and bound containers, pods and claims
(Kubernetes documentation, "Limit Ranges").
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from pilothouse.admission.limitchecks import Check, at_least, at_most, requested_at_most, within_ratio
from pilothouse.admission.lookups import Reader
from pilothouse.admission.plugin import CREATE, UPDATE, Attributes
from pilothouse.admission.podamounts import Amounts, of_containers, parsed
from pilothouse.admission.refusals import refuse, together
from pilothouse.machinery import quantity
from pilothouse.registry.resource import Object, Resource

ANNOTATION: Final = "kubernetes.io/limit-ranger"
_CONTAINER: Final = "Container"
_POD: Final = "Pod"
_CLAIM: Final = "PersistentVolumeClaim"
_BOUNDS: Final[tuple[tuple[str, Check], ...]] = (
    ("min", at_least),
    ("max", at_most),
    ("maxLimitRequestRatio", within_ratio),
)


class LimitRanger:
    """`ranges` reads the limit ranges."""

    name = "LimitRanger"

    def __init__(self, ranges: Reader) -> None:
        self._ranges = ranges

    def handles(self, resource: Resource, operation: str) -> bool:
        if resource.group or operation not in (CREATE, UPDATE):
            return False
        return resource.plural in ("pods", "persistentvolumeclaims")

    async def admit(self, attributes: Attributes) -> None:
        """Fill in the containers of new pods."""
        if attributes.operation != CREATE or attributes.resource.plural != "pods" or attributes.write.subresource:
            return
        for one in await self._ranges.all(attributes.write.namespace):
            _fill_in(attributes.obj or {}, one)

    async def check(self, attributes: Attributes) -> None:
        if not _bounded(attributes):
            return
        ranges = await self._ranges.all(attributes.write.namespace)
        if not ranges:
            return
        obj = attributes.obj or {}
        if attributes.operation == UPDATE and obj["metadata"].get("deletionTimestamp"):
            return
        find = _pod_violations if attributes.resource.plural == "pods" else _claim_violations
        for one in ranges:
            found = together(find(obj.get("spec") or {}, (one.get("spec") or {}).get("limits") or ()))
            if found:
                raise refuse(attributes, found)


def _bounded(attributes: Attributes) -> bool:
    """New pods, resized pods, and every claim."""
    subresource = attributes.write.subresource
    if attributes.resource.plural == "pods":
        return subresource == ("" if attributes.operation == CREATE else "resize")
    return not subresource


# Defaults


def _fill_in(pod: Object, limit_range: Object) -> None:
    requests, limits = _defaults(limit_range)
    if not requests and not limits:
        return
    told: list[str] = []
    spec = pod.get("spec") or {}
    for members, word in (("containers", "container"), ("initContainers", "init container")):
        for container in spec.get(members) or ():
            told += _fill_container(container, f"{word} {container.get('name', '')}", requests, limits)
    if told:
        metadata = pod.setdefault("metadata", {})
        metadata["annotations"] = {**(metadata.get("annotations") or {}), ANNOTATION: _told(told)}


def _told(sentences: Sequence[str]) -> str:
    return f"LimitRanger plugin set: {'; '.join(sentences)}"


def _defaults(limit_range: Object) -> tuple[dict[str, str], dict[str, str]]:
    """(requests, limits) of containers."""
    requests: dict[str, str] = {}
    limits: dict[str, str] = {}
    for limit in (limit_range.get("spec") or {}).get("limits") or ():
        if limit.get("type") == _CONTAINER:
            requests.update(limit.get("defaultRequest") or {})
            limits.update(limit.get("default") or {})
    return requests, limits


def _fill_container(
    container: Object, word: str, requests: Mapping[str, str], limits: Mapping[str, str]
) -> Iterator[str]:
    for kind, single, filling in (("requests", "request", requests), ("limits", "limit", limits)):
        held = (container.get("resources") or {}).get(kind) or {}
        added = sorted(name for name in filling if name not in held)
        if added:
            resources = container.get("resources") or {}
            container["resources"] = {**resources, kind: {**held, **{name: filling[name] for name in added}}}
            yield f"{', '.join(added)} {single} for {word}"


# Bounds


def _pod_violations(spec: Mapping[str, Any], limits: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for limit in limits:
        if limit.get("type") == _CONTAINER:
            for container in (*(spec.get("containers") or ()), *(spec.get("initContainers") or ())):
                resources = container.get("resources") or {}
                yield from _outside(limit, parsed(resources.get("requests")), parsed(resources.get("limits")))
        elif limit.get("type") == _POD:
            yield from _outside(limit, _whole(spec, "requests"), _whole(spec, "limits"))


def _whole(spec: Mapping[str, Any], kind: str) -> Amounts:
    """What a pod asks for, its own words before those of its containers."""
    return of_containers(spec, kind) | parsed((spec.get("resources") or {}).get(kind))


def _outside(limit: Mapping[str, Any], requests: Amounts, limits: Amounts) -> Iterator[str]:
    for member, check in _BOUNDS:
        bounds = limit.get(member) or {}
        for name in sorted(bounds):
            why = check(limit["type"], name, quantity.parse(bounds[name]), requests.get(name), limits.get(name))
            if why:
                yield why


def _claim_violations(spec: Mapping[str, Any], limits: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    requests = parsed((spec.get("resources") or {}).get("requests"))
    for limit in limits:
        if limit.get("type") != _CLAIM:
            continue
        for member, check in (("min", at_least), ("max", requested_at_most)):
            bounds = limit.get(member) or {}
            for name in sorted(bounds):
                why = check(_CLAIM, name, quantity.parse(bounds[name]), requests.get(name), None)
                if why:
                    yield why
