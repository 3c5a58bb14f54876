"""Warnings about pods and pod templates that are legal but questionable, in the order of the original."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from heapq import merge
from itertools import islice
from typing import Any, Final

from pilothouse.builtin.shared.addresses import address_warnings
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
_SYSCTLS: Final = ("security.alpha.kubernetes.io/sysctls", "security.alpha.kubernetes.io/unsafe-sysctls")
_SECCOMP: Final = "seccomp.security.alpha.kubernetes.io/pod"
_SECCOMP_OF: Final = "container.seccomp.security.alpha.kubernetes.io/"
_ARMOR_OF: Final = "container.apparmor.security.beta.kubernetes.io/"
_OLD: Final = (_CRITICAL, *_SYSCTLS, _SECCOMP, _SECCOMP_OF, _ARMOR_OF)
_WHOLE: Final = ("memory", "ephemeral-storage")  # amounts of bytes
_TERMS: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"
_NEGATIVE: Final = "must be >= 0; negative values are invalid and will be treated as 1"
_SELECTS_NONE: Final = "a null labelSelector results in matching no pod"
_MOST_PAIRS: Final = 200  # warnings of ports: each has over 50 characters, and an answer shows 4096 of them all
_KINDS: Final = ("initContainers", "containers", "ephemeralContainers")

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
    secrets: Sequence[Object] = spec.get("imagePullSecrets") or ()
    for index, one in repeated(secrets, lambda one: one.get("name", "")):
        yield f'{path}imagePullSecrets[{index}].name: duplicate name "{one.get("name", "")}"'
    for index, one in enumerate(secrets):
        if not one.get("name"):
            yield f'{path}imagePullSecrets[{index}].name: invalid empty name ""'


def _old_features(path: str, annotations: Object) -> Iterator[str]:
    """Annotations that do nothing any more."""
    if _CRITICAL in annotations:
        use = 'use the "priorityClassName" field instead'
        yield f"{path}metadata.annotations[{_CRITICAL}]: non-functional in v1.16+; {use}"
    for key in _SYSCTLS:
        if key in annotations:
            yield f'{path}metadata.annotations[{key}]: non-functional in v1.11+; use the "sysctls" field instead'


def _no_seccomp(path: str, key: str, annotations: Object, thing: Object) -> Iterator[str]:
    """The seccomp annotation of a pod's spec or a container that has no such field."""
    if key in annotations and not (thing.get("securityContext") or {}).get("seccompProfile"):
        yield f'{path}metadata.annotations[{key}]: non-functional in v1.27+; use the "seccompProfile" field instead'


def armor_warning(path: str, container: str) -> str:
    """An AppArmor annotation without a field for the container."""
    where = f"{path}metadata.annotations[{_ARMOR_OF}{container}]"
    return f'{where}: deprecated since v1.30; use the "appArmorProfile" field instead'


def _no_armor(path: str, annotations: Object, spec: Object, container: Object) -> Iterator[str]:
    """For templates; of pods it is told when their fields are filled in from it."""
    name = container.get("name", "")
    if path and _ARMOR_OF + name in annotations:
        found = [(one.get("securityContext") or {}).get("appArmorProfile") for one in (spec, container)]
        if not any(found):
            yield armor_warning(path, name)


def fractional(path: str, kind: str, name: str, amounts: Object) -> Iterator[str]:
    """Bytes come whole."""
    text = amounts.get(name)
    if text is not None and not is_whole(text):
        yield f'{path}.{kind}[{name}]: fractional byte value "{text}" is invalid, must be an integer'


def _container(path: str, container: Object) -> Iterator[str]:
    resources = container.get("resources")
    if resources:
        for name in _WHOLE:
            for kind in ("limits", "requests"):
                yield from fractional(f"{path}.resources", kind, name, resources.get(kind) or {})
    seen: set[str] = set()
    for index, one in enumerate(container.get("env") or ()):
        name, text = one.get("name", ""), one.get("value", "")
        itself = f"$({name})"
        if name in seen and (text == itself or itself not in text):
            yield f'{path}.env[{index}]: hides previous definition of "{name}", which may be dropped when using apply'
        seen.add(name)


def _all_ports(path: str, spec: Object) -> Iterator[tuple[str, Object]]:
    for kind in _KINDS:
        for index, container in enumerate(spec.get(kind) or ()):
            for number, port in enumerate(container.get("ports") or ()):
                yield f"{path}{kind}[{index}].ports[{number}]", port


def _ports(path: str, spec: Object) -> Iterator[str]:
    everywhere = list(_all_ports(path, spec))
    # Two thousand containers with one port are two million pairs; no answer shows more than the first few.
    yield from islice(_port_pairs(everywhere), _MOST_PAIRS)
    yield from _port_names(everywhere)


def _port_pairs(everywhere: Sequence[tuple[str, Object]]) -> Iterator[str]:
    """About each port, then about it and each one before it that it meets."""
    # The ports so far, by number and protocol, then those at one host port, then those at one address of it.
    taken: defaultdict[tuple[Any, ...], list[tuple[int, str, int, str]]] = defaultdict(list)
    kinds = [(port.get("containerPort"), port.get("protocol")) for _, port in everywhere]
    often = Counter(kinds)
    for index, ((where, port), same) in enumerate(zip(everywhere, kinds, strict=True)):
        if often[same] == 1 and "hostIP" not in port:
            continue  # it meets none
        host, address = port.get("hostPort", 0), port.get("hostIP", "")
        if address and not host:
            shown = (
                f"{{Name:{port.get('name', '')} HostPort:{host} ContainerPort:{port.get('containerPort', 0)} "
                f"Protocol:{port.get('protocol', '')} HostIP:{address}}}"
            )
            yield f"{where}: hostIP set without hostPort: {shown}"
        if not host:
            met = [taken[same]]
        elif not address:
            met = [taken[*same, 0], taken[*same, host]]
        else:
            met = [taken[*same, 0], taken[*same, host, ""], taken[*same, host, address]]
        for _, other, there, its_address in merge(*met):
            if (host, address) == (there, its_address):
                yield f"{where}: duplicate port definition with {other}"
            elif not host or not there:
                yield f"{where}: overlapping port definition with {other}"
            else:
                yield f"{where}: dangerously ambiguous port definition with {other}"
        for key in (same, (*same, host), (*same, host, address)):
            taken[key].append((index, where, host, address))


def _port_names(ports: Sequence[tuple[str, Object]]) -> Iterator[str]:
    first: dict[str, str] = {}
    for where, port in ports:
        name = port.get("name", "")
        other = first.setdefault(name, where)
        if name and other != where:
            use = f"services and probes that select ports by name will use {other}"
            yield f'{where}: duplicate port name "{name}" with {other}, {use}'


def _addresses(path: str, spec: Object) -> Iterator[str]:
    """About addresses that could be spelled better."""
    for index, text in enumerate((spec.get("dnsConfig") or {}).get("nameservers") or ()):
        yield from address_warnings(f"{path}dnsConfig.nameservers[{index}]", text)
    for index, one in enumerate(spec.get("hostAliases") or ()):
        yield from address_warnings(f"{path}hostAliases[{index}].ip", one.get("ip", ""))


def spec_warnings(prefix: str, template: Object) -> list[str]:
    """About a pod (`prefix` empty) or a template at `prefix`."""
    spec = template.get("spec") or {}
    start = f"{prefix}." if prefix else ""
    annotations = (template.get("metadata") or {}).get("annotations") or {}
    if any(map(_is_old, annotations)):
        return _whole_warnings(start, spec, annotations)
    key = _quiet.key(spec)
    if _quiet.get(key):
        return []
    found = _whole_warnings(start, spec, {})
    if not found:
        _quiet.keep(key, True)
    return found


def _whole_warnings(start: str, spec: Object, annotations: Object) -> list[str]:
    path = f"{start}spec."
    found = list(_placement(path, spec))
    found += _old_features(start, annotations)
    found += volume_warnings(path, spec)
    found += _repeated(path, spec)
    for name in _WHOLE:
        found += fractional(f"{start}spec", "overhead", name, spec.get("overhead") or {})
    found += _no_seccomp(start, _SECCOMP, annotations, spec)
    for kind in _KINDS:
        for index, container in enumerate(spec.get(kind) or ()):
            if annotations:
                found += _no_seccomp(start, _SECCOMP_OF + container.get("name", ""), annotations, container)
                found += _no_armor(start, annotations, spec, container)
            found += _container(f"{path}{kind}[{index}]", container)
    found += _ports(path, spec)
    if (spec.get("terminationGracePeriodSeconds") or 0) < 0:
        found.append(f"{path}terminationGracePeriodSeconds: {_NEGATIVE}")
    if spec.get("affinity"):
        found += _pod_affinity(f"{path}affinity", spec["affinity"])
    found += _addresses(path, spec)
    return found


def pod_warnings(new: Object, old: Object | None) -> Sequence[str]:
    """For a new pod; who changes pods is no human."""
    return [*name_warning(new, of_pods=False), *spec_warnings("", new)] if old is None else ()
