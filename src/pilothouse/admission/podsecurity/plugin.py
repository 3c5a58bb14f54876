"""The plug-in: pods are refused, templates of pods are warned about, and who makes a namespace stricter hears of its
pods.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from pilothouse.admission.lookups import Reader
from pilothouse.admission.plugin import CREATE, UPDATE, Attributes
from pilothouse.admission.podsecurity.metrics import ENFORCE, WARN, PodSecurityMetrics
from pilothouse.admission.podsecurity.pod import Pod, Violation, pod_of
from pilothouse.admission.podsecurity.policy import NOTHING_ASKED, Policy, Standard, mistakes, policy_of
from pilothouse.admission.podsecurity.standards import violations
from pilothouse.admission.refusals import refuse
from pilothouse.machinery.errors import invalid
from pilothouse.registry.resource import Object, Resource

MOST_PODS: Final = 3000  # of a namespace that are looked at when it becomes stricter
_PODS: Final = ("", "pods")
_NAMESPACES: Final = ("", "namespaces")
_TEMPLATES: Final[dict[tuple[str, str], tuple[str, ...]]] = {
    ("", "podtemplates"): ("template",),
    ("", "replicationcontrollers"): ("spec", "template"),
    ("apps", "daemonsets"): ("spec", "template"),
    ("apps", "deployments"): ("spec", "template"),
    ("apps", "replicasets"): ("spec", "template"),
    ("apps", "statefulsets"): ("spec", "template"),
    ("batch", "cronjobs"): ("spec", "jobTemplate", "spec", "template"),
    ("batch", "jobs"): ("spec", "template"),
}


class PodSecurity:
    """`namespaces` and `pods` read those kinds."""

    name = "PodSecurity"

    def __init__(self, namespaces: Reader, pods: Reader, metrics: PodSecurityMetrics | None = None) -> None:
        self._metrics = metrics or PodSecurityMetrics()
        self._namespaces = namespaces
        self._pods = pods

    def handles(self, resource: Resource, operation: str) -> bool:
        kind = (resource.group, resource.plural)
        return operation in (CREATE, UPDATE) and (kind in (_PODS, _NAMESPACES) or kind in _TEMPLATES)

    async def check(self, attributes: Attributes) -> None:
        kind = (attributes.resource.group, attributes.resource.plural)
        if kind == _NAMESPACES:
            await self._namespace(attributes)
        elif kind == _PODS:
            await self._pod(attributes)
        elif not attributes.write.subresource:
            await self._template(attributes, _TEMPLATES[kind])

    async def _policy(self, namespace: str) -> Policy:
        return await self._namespaces.derived("", namespace, "pod security", _policy_of) or NOTHING_ASKED

    async def _pod(self, attributes: Attributes) -> None:
        if attributes.obj is None or not _matters(attributes):
            return
        policy = await self._policy(attributes.write.namespace)
        if not policy.demands:
            self._count(policy.enforce, ENFORCE, attributes, pod=True, allowed=True)
            return
        pod = pod_of(attributes.obj.get("metadata"), attributes.obj.get("spec") or {})
        found = violations(policy.enforce, pod)
        self._count(policy.enforce, ENFORCE, attributes, pod=True, allowed=not found)
        if found:
            raise refuse(attributes, f'violates PodSecurity "{policy.enforce}": {_told(found)}')
        self._warn(policy.warn, pod, attributes, of_pod=True)

    async def _template(self, attributes: Attributes, path: Sequence[str]) -> None:
        policy = await self._policy(attributes.write.namespace)
        if not policy.warn.demands:
            return
        template: Any = attributes.obj
        for member in path:
            template = (template or {}).get(member)
        if template:
            self._warn(
                policy.warn, pod_of(template.get("metadata"), template.get("spec") or {}), attributes, of_pod=False
            )

    def _warn(self, standard: Standard, pod: Pod, attributes: Attributes, *, of_pod: bool) -> None:
        found = violations(standard, pod)
        if found:
            self._count(standard, WARN, attributes, pod=of_pod, allowed=False)
            attributes.write.warn(f'would violate PodSecurity "{standard}": {_told(found)}')

    def _count(self, standard: Standard, mode: str, attributes: Attributes, *, pod: bool, allowed: bool) -> None:
        self._metrics.evaluated(
            standard, mode, attributes.operation, attributes.write.subresource, pod=pod, allowed=allowed
        )

    async def _namespace(self, attributes: Attributes) -> None:
        obj = attributes.obj
        if obj is None or attributes.write.subresource:
            return
        labels = obj["metadata"].get("labels")
        wrong = mistakes(labels)
        if wrong:
            raise invalid("", "Namespace", obj["metadata"].get("name", ""), wrong)
        if attributes.old is None:
            return
        new = policy_of(labels).enforce
        if not new.demands or new.at_most(policy_of(attributes.old["metadata"].get("labels")).enforce):
            return
        name = obj["metadata"]["name"]
        told = _of_pods(new, (await self._pods.all(name))[:MOST_PODS])
        if told:
            attributes.write.warn(
                f'existing pods in namespace "{name}" violate the new PodSecurity enforce level "{new}"'
            )
            for text in told:
                attributes.write.warn(text)


def _policy_of(namespace: Object) -> Policy:
    return policy_of(namespace["metadata"].get("labels"))


def _matters(attributes: Attributes) -> bool:
    """Whether this write can change what the standards look at: updates change debugging containers and annotations."""
    if attributes.operation == CREATE:
        return not attributes.write.subresource
    if attributes.write.subresource:
        return attributes.write.subresource == "ephemeralcontainers"
    new, old = attributes.obj or {}, attributes.old or {}
    return _annotations(new) != _annotations(old)


def _annotations(obj: Object) -> Mapping[str, str]:
    found: Mapping[str, str] = (obj.get("metadata") or {}).get("annotations") or {}
    return {key: value for key, value in found.items() if "apparmor.security" in key or "seccomp.security" in key}


def _told(found: Sequence[Violation]) -> str:
    return ", ".join(str(one) for one in found)


def _of_pods(standard: Standard, pods: Sequence[Object]) -> list[str]:
    """What is told of pods that are there, those alike together; one of each controller stands for its pods."""
    seen: set[str] = set()
    by_text: dict[str, list[str]] = {}
    for one in pods:
        metadata = one["metadata"]
        owners = [ref["uid"] for ref in metadata.get("ownerReferences") or () if ref.get("controller")]
        if owners and owners[0] in seen:
            continue
        seen.update(owners)
        found = violations(standard, pod_of(metadata, one.get("spec") or {}))
        if found:
            by_text.setdefault(", ".join(each.reason for each in found), []).append(metadata["name"])
    return sorted(f"{_first_of(sorted(names))}: {text}" for text, names in by_text.items())


def _first_of(names: Sequence[str]) -> str:
    others = len(names) - 1
    if not others:
        return names[0]
    return f"{names[0]} (and {others} other {'pod' if others == 1 else 'pods'})"
