"""Warnings about pods and pod templates that are legal but questionable, in the order of the original."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from pilothouse.builtin.shared.amounts import is_whole
from pilothouse.builtin.shared.volumewarnings import volume_warnings
from pilothouse.kit.memo import Stamped
from pilothouse.machinery import names as words
from pilothouse.machinery.rules import repeated

# Node labels with a successor: since when, and which.
_LABELS: Final = {
    "beta.kubernetes.io/arch": ("v1.14", "kubernetes.io/arch"),
    "beta.kubernetes.io/os": ("v1.14", "kubernetes.io/os"),
    "beta.kubernetes.io/instance-type": ("v1.17", "node.kubernetes.io/instance-type"),
    "failure-domain.beta.kubernetes.io/region": ("v1.17", "topology.kubernetes.io/region"),
    "failure-domain.beta.kubernetes.io/zone": ("v1.17", "topology.kubernetes.io/zone"),
}
_CRITICAL: Final = "scheduler.alpha.kubernetes.io/critical-pod"
_SECCOMP: Final = "seccomp.security.alpha.kubernetes.io/pod"
_SECCOMP_OF: Final = "container.seccomp.security.alpha.kubernetes.io/"
_ARMOR_OF: Final = "container.apparmor.security.beta.kubernetes.io/"
_OLD: Final = (_CRITICAL, _SECCOMP, _SECCOMP_OF, _ARMOR_OF)
_TERMS: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"
_SELECTS_NONE: Final = "a null labelSelector results in matching no pod"
_KINDS: Final = ("initContainers", "containers")

Object = Mapping[str, Any]

_quiet: Final[Stamped[bool]] = Stamped()  # specs that there is nothing to say about


def _is_old(annotation: str) -> bool:
    """Is it one of those that became fields?"""
    return annotation.startswith(_OLD)


def name_warning(new: Object, of_pods: bool) -> Iterator[str]:
    """A name that is a host name too should be a label."""
    name = (new.get("metadata") or {}).get("name", "")
    whys = words.label(name) if name else ()
    if whys:
        whose = "in Pod names and hostnames" if of_pods else "in the Pod's hostname"
        use = f"this is used {whose}, which can result in surprising behavior"
        yield f"metadata.name: {use}; a DNS label is recommended: [{' '.join(whys)}]"


def replaced_label(key: str) -> str:
    """`since ...; use "..." instead`, or nothing where the label is not deprecated."""
    found = _LABELS.get(key)
    return f'deprecated since {found[0]}; use "{found[1]}" instead' if found else ""


def node_term_warnings(path: str, term: Object, lenient: bool = False) -> Iterator[str]:
    """About one node selector term; `lenient` where bad values are not refused."""
    for index, one in enumerate(term.get("matchExpressions") or ()):
        where, key = f"{path}.matchExpressions[{index}]", one.get("key", "")
        replaced = replaced_label(key)
        if replaced:
            yield f"{where}.key: {key} is {replaced}"
        for value_index, value in enumerate((one.get("values") or ()) if lenient else ()):
            for why in words.label_value(value):
                yield f"{where}.values[{value_index}]: {value} is invalid, {why}"


def _node_affinity(path: str, affinity: Object) -> Iterator[str]:
    node = affinity.get("nodeAffinity") or {}
    for index, term in enumerate((node.get(_TERMS) or {}).get("nodeSelectorTerms") or ()):
        yield from node_term_warnings(f"{path}.nodeAffinity.{_TERMS}.nodeSelectorTerms[{index}]", term)
    for index, one in enumerate(node.get(_PREFERRED) or ()):
        where = f"{path}.nodeAffinity.{_PREFERRED}[{index}].preference"
        yield from node_term_warnings(where, one.get("preference") or {}, lenient=True)


def _pod_affinity(path: str, affinity: Object) -> Iterator[str]:
    for kind in ("podAffinity", "podAntiAffinity"):
        own = affinity.get(kind) or {}
        for index, term in enumerate(own.get(_TERMS) or ()):
            if term.get("labelSelector") is None:
                yield f"{path}.{kind}.{_TERMS}[{index}].labelSelector: {_SELECTS_NONE}"
        for index, one in enumerate(own.get(_PREFERRED) or ()):
            if (one.get("podAffinityTerm") or {}).get("labelSelector") is None:
                yield f"{path}.{kind}.{_PREFERRED}[{index}].podAffinityTerm.labelSelector: {_SELECTS_NONE}"


def _placement(path: str, spec: Object) -> Iterator[str]:
    for key in sorted(spec.get("nodeSelector") or ()):
        replaced = replaced_label(key)
        if replaced:
            yield f"{path}nodeSelector[{key}]: {replaced}"
    if spec.get("affinity"):
        yield from _node_affinity(f"{path}affinity", spec["affinity"])
    for index, one in enumerate(spec.get("topologySpreadConstraints") or ()):
        key = one.get("topologyKey", "")
        replaced = replaced_label(key)
        if replaced:
            yield f"{path}topologySpreadConstraints[{index}].topologyKey: {key} is {replaced}"
        if one.get("labelSelector") is None:
            yield f"{path}topologySpreadConstraints[{index}].labelSelector: {_SELECTS_NONE}"


def _repeated(path: str, spec: Object) -> Iterator[str]:
    for index, one in repeated(spec.get("hostAliases") or (), lambda one: one.get("ip", "")):
        yield f'{path}hostAliases[{index}].ip: duplicate ip "{one.get("ip", "")}"'
    seen: set[str] = set()
    for index, one in enumerate(spec.get("imagePullSecrets") or ()):
        name = one.get("name", "")
        if not name:
            yield f'{path}imagePullSecrets[{index}].name: invalid empty name ""'
        elif name in seen:
            yield f'{path}imagePullSecrets[{index}].name: duplicate name "{name}"'
        seen.add(name)


def _annotations(path: str, template: Object, container: str = "") -> Iterator[str]:
    """About the pod's annotations, or those that name one container."""
    found = (template.get("metadata") or {}).get("annotations")
    if not found:
        return
    where = f"{path}metadata.annotations"
    if not container:
        if _SECCOMP in found:
            yield f'{where}[{_SECCOMP}]: non-functional in v1.27+; use the "seccompProfile" field instead'
        return
    if _SECCOMP_OF + container in found:
        key = _SECCOMP_OF + container
        yield f'{where}[{key}]: non-functional in v1.27+; use the "seccompProfile" field instead'
    if _ARMOR_OF + container in found:
        spec = template.get("spec") or {}
        whole = (spec.get("securityContext") or {}).get("appArmorProfile")
        own = [
            (one.get("securityContext") or {}).get("appArmorProfile")
            for kind in _KINDS
            for one in spec.get(kind) or ()
            if one.get("name") == container
        ]
        if whole is None and not any(own):
            key = _ARMOR_OF + container
            yield f'{where}[{key}]: deprecated since v1.30; use the "appArmorProfile" field instead'


def fractional(path: str, kind: str, name: str, amounts: Object) -> Iterator[str]:
    """Bytes come whole."""
    text = amounts.get(name)
    if text is not None and not is_whole(text):
        yield f'{path}.{kind}[{name}]: fractional byte value "{text}" is invalid, must be an integer'


def _container(path: str, container: Object) -> Iterator[str]:
    resources = container.get("resources")
    if resources:
        for name in ("memory", "ephemeral-storage"):
            for kind in ("limits", "requests"):
                yield from fractional(f"{path}.resources", kind, name, resources.get(kind) or {})
    seen: dict[str, int] = {}
    for index, one in enumerate(container.get("env") or ()):
        name = one.get("name", "")
        if name in seen and f"$({name})" not in one.get("value", ""):
            yield f'{path}.env[{index}]: hides previous definition of "{name}", which may be dropped when using apply'
        seen[name] = index


def _ports(path: str, container: Object, taken: list[tuple[str, Object]]) -> Iterator[str]:
    for index, port in enumerate(container.get("ports") or ()):
        where = f"{path}.ports[{index}]"
        host, address = port.get("hostPort", 0), port.get("hostIP", "")
        if address and not host:
            shown = (
                f"{{Name:{port.get('name', '')} HostPort:{host} ContainerPort:{port.get('containerPort', 0)} "
                f"Protocol:{port.get('protocol', '')} HostIP:{address}}}"
            )
            yield f"{where}: hostIP set without hostPort: {shown}"
        same = [one for one in taken if _same_port(port, one[1])]
        for other, before in same:
            if (host, address) == (before.get("hostPort", 0), before.get("hostIP", "")):
                yield f"{where}: duplicate port definition with {other}"
        for other, before in same:
            there = before.get("hostPort", 0)
            if (host, address) != (there, before.get("hostIP", "")) and not (host and there and host != there):
                yield f"{where}: overlapping port definition with {other}"
        taken.append((where, port))


def _same_port(one: Object, other: Object) -> bool:
    return all(one.get(name) == other.get(name) for name in ("containerPort", "protocol"))


def spec_warnings(prefix: str, template: Object, old: Object | None) -> list[str]:
    """About a pod (`prefix` empty) or a template at `prefix`. Nothing about what is as it was."""
    spec = template.get("spec") or {}
    if old is not None and old.get("spec") == spec:
        return []
    start = f"{prefix}." if prefix else ""
    annotations = (template.get("metadata") or {}).get("annotations") or {}
    if any(map(_is_old, annotations)):
        return _whole_warnings(start, template, spec, annotations)
    key = _quiet.key(spec)
    if _quiet.get(key):
        return []
    found = _whole_warnings(start, template, spec, {})
    if not found:
        _quiet.keep(key, True)
    return found


def _whole_warnings(start: str, template: Object, spec: Object, annotations: Object) -> list[str]:
    path = f"{start}spec."
    found = list(_placement(path, spec))
    if _CRITICAL in annotations:
        use = 'use the "priorityClassName" field instead'
        found.append(f"{start}metadata.annotations[{_CRITICAL}]: non-functional in v1.16+; {use}")
    found += _repeated(path, spec)
    found += volume_warnings(path, spec)
    found += _annotations(start, template)
    taken: list[tuple[str, Object]] = []
    for kind in _KINDS:
        for index, container in enumerate(spec.get(kind) or ()):
            where = f"{path}{kind}[{index}]"
            if annotations:
                found += _annotations(start, template, container.get("name", ""))
            found += _container(where, container)
            if kind == "containers" and container.get("ports"):
                found += _ports(where, container, taken)
    if spec.get("affinity"):
        found += _pod_affinity(f"{path}affinity", spec["affinity"])
    return found


def pod_warnings(new: Object, old: Object | None) -> Sequence[str]:
    """For a pod."""
    found = list(name_warning(new, of_pods=False)) if old is None else []
    return [*found, *spec_warnings("", new, old)]
