"""Containers: init, ordinary and ephemeral ones; what is refused, in the order of the original."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final

from pilothouse.builtin.shared.env import variable_sources, variables
from pilothouse.builtin.shared.mounts import devices, mounts
from pilothouse.builtin.shared.probes import lifecycle, probes
from pilothouse.builtin.shared.resources import claims, requirements, resize_policies
from pilothouse.builtin.shared.security import container_security
from pilothouse.kit.record import record
from pilothouse.kit.runs import RUN
from pilothouse.machinery import names as words
from pilothouse.machinery.rules import Field
from pilothouse.machinery.rules.alike import are_alike

PROTOCOLS: Final = ("SCTP", "TCP", "UDP")
_PULL_POLICIES: Final = ("Always", "IfNotPresent", "Never")
_MESSAGE_POLICIES: Final = ("File", "FallbackToLogsOnError")
_RESTART_POLICIES: Final = ("Always", "Never", "OnFailure")
_RULE_ACTIONS: Final = ("Restart", "RestartAllContainers")
_NOT_EPHEMERAL: Final = (
    "ports", "resources", "resizePolicy", "restartPolicy", "restartPolicyRules", "livenessProbe", "readinessProbe",
    "startupProbe", "lifecycle",
)  # fmt: skip
_EMPTY_BY_NATURE: Final = frozenset({"ports", "resources", "resizePolicy", "restartPolicyRules"})
_NOT_INIT: Final = ("lifecycle", "livenessProbe", "readinessProbe", "startupProbe")
MAX_RULES: Final = 20
MAX_EXIT_CODES: Final = 255

Object = Mapping[str, Any]


@record
class PodFacts:
    """What containers are judged by of the pod around them. `volumes` by name."""

    volumes: Mapping[str, Object]
    claims: Sequence[str]
    grace: int | None
    restart_policy: str
    host_users: bool


def _port(port: Object, field: Field, names: set[str]) -> None:
    name = port.get("name", "")
    if name:
        whys = words.port_name(name)
        if whys:
            field.all_invalid("name", name, whys)
        elif name in names:
            field.duplicate("name", name)
        else:
            names.add(name)
    number = port.get("containerPort", 0)
    if number == 0:
        field.required("containerPort")
    elif not 0 < number < 65536:
        field.all_invalid("containerPort", number, words.port_number(number))
    host = port.get("hostPort", 0)
    if host and not 0 < host < 65536:
        field.all_invalid("hostPort", host, words.port_number(host))
    protocol = port.get("protocol", "")
    if protocol not in PROTOCOLS:
        field.outside("protocol", protocol, PROTOCOLS)


def _ports(ports: Sequence[Object], field: Field) -> None:
    names: set[str] = set()
    for index, port in field.numbered(ports):
        before = len(field.found)
        _port(port, field, names)
        if len(field.found) > before:
            field.prefix(before, f"ports[{index}]")


def _name(value: Object, field: Field) -> None:
    name = value.get("name", "")
    if not name:
        field.required("name")
    elif words.label(name):
        field.all_invalid("name", name, words.label(name))


def _common(value: Object, field: Field, pod: PodFacts) -> None:
    """What all containers share."""
    _name(value, field)
    if not value.get("image"):
        field.required("image")
    policy = value.get("terminationMessagePolicy", "")
    if policy not in _MESSAGE_POLICIES:
        _one_of("terminationMessagePolicy", policy, _MESSAGE_POLICIES, field)
    if value.get("ports"):
        _ports(value["ports"], field)
    found = field.found
    if value.get("env"):
        before = len(found)
        variables(value["env"], field, pod.volumes)
        if len(found) > before:
            field.prefix(before, "env")
    if value.get("envFrom"):
        field.within("envFrom", variable_sources, value["envFrom"])
    if value.get("volumeMounts"):
        before = len(found)
        mounts(value, field, pod.volumes)
        if len(found) > before:
            field.prefix(before, "volumeMounts")
    if value.get("volumeDevices"):
        before = len(found)
        devices(value, field, pod.volumes)
        if len(found) > before:
            field.prefix(before, "volumeDevices")
    policy = value.get("imagePullPolicy", "")
    if policy not in _PULL_POLICIES:
        _one_of("imagePullPolicy", policy, _PULL_POLICIES, field)
    _resources(value, field, pod)
    context = value.get("securityContext")
    if context is not None:
        before = len(found)
        container_security(context, field, pod.host_users)
        if len(found) > before:
            field.prefix(before, "securityContext")


def _resources(value: Object, field: Field, pod: PodFacts) -> None:
    resources = value.get("resources")
    if resources:
        before = len(field.found)
        requirements(resources, field)
        if resources.get("claims"):
            field.within("claims", claims(pod.claims), resources["claims"])
        if len(field.found) > before:
            field.prefix(before, "resources")
    if value.get("resizePolicy"):
        field.within("resizePolicy", resize_policies, value["resizePolicy"])
        if pod.restart_policy == "Never":
            for item in value["resizePolicy"]:
                policy = item.get("restartPolicy", "")
                if policy != "NotRequired":
                    why = "must be 'NotRequired' when `restartPolicy` is 'Never'"
                    field.invalid("resizePolicy", policy, why)


def _one_of(path: str, value: str, supported: tuple[str, ...], field: Field) -> None:
    if value:
        field.not_supported(path, value, supported)
    else:
        field.required(path)


def _restarts(value: Object, field: Field) -> None:
    """A container's own restart policy and its rules by exit code."""
    policy, own_rules = value.get("restartPolicy"), value.get("restartPolicyRules") or ()
    if policy is not None and policy not in _RESTART_POLICIES:
        field.not_supported("restartPolicy", policy, _RESTART_POLICIES)
    if own_rules and policy is None:
        field.required("restartPolicy", "must specify restartPolicy when restart rules are used")
    if len(own_rules) > MAX_RULES:
        field.too_many("restartPolicyRules", len(own_rules), MAX_RULES)
    for index, rule in field.numbered(own_rules):
        path = f"restartPolicyRules[{index}]"
        action, codes = rule.get("action", ""), rule.get("exitCodes")
        if action not in _RULE_ACTIONS:
            field.not_supported(f"{path}.action", action, _RULE_ACTIONS)
        if codes is None:
            field.required(f"{path}.exitCodes", "must be specified")
            continue
        operator, numbers = codes.get("operator", ""), codes.get("values") or ()
        if operator not in ("In", "NotIn"):
            field.not_supported(f"{path}.exitCodes.operator", operator, ("In", "NotIn"))
        if len(numbers) > MAX_EXIT_CODES:
            field.too_many(f"{path}.exitCodes.values", len(numbers), MAX_EXIT_CODES)


def image_blanks(value: Object, field: Field) -> None:
    """Blanks around an image's name are refused in pods, not in templates; told from the container."""
    image = value.get("image", "")
    if image != image.strip():
        field.invalid("image", image, "must not have leading or trailing whitespace")


def are_without_blanks(items: Sequence[Object]) -> bool:
    """Whether there is nothing that `image_blanks` would tell of some containers."""
    images = [value.get("image", "") for value in items]
    return images == list(map(str.strip, images))


def _unlike(items: Sequence[dict[str, Any]], field: Field, names: set[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Index and container, without those that differ from a good one before them in nothing but a new name and an
    image. The caller puts the names of the others into `names`.
    """
    if len(items) <= RUN:
        yield from enumerate(items)
        return

    def are_new(values: Sequence[str]) -> bool:
        new = values[1:]
        return words.are_labels(new) and names.isdisjoint(new) and len(set(new)) == len(new)

    for start in range(0, len(items), RUN):
        run = items[start : start + RUN]
        before = len(field.found)
        yield start, run[0]
        if field.full:
            return
        if len(field.found) == before and are_alike(run, {"name": are_new, "image": all}):
            names.update(value["name"] for value in run if "name" in value)
        else:
            yield from field.until_full(enumerate(run[1:], start + 1))


def containers(items: Sequence[dict[str, Any]], field: Field, pod: PodFacts) -> None:
    """`containers`, told from the list."""
    names: set[str] = set()
    found = field.found
    for index, value in _unlike(items, field, names):
        before = len(found)
        _common(value, field, pod)
        name = value.get("name", "")
        if name in names:
            field.duplicate("name", name)
        elif name:
            names.add(name)
        if "lifecycle" in value:
            start = len(found)
            lifecycle(value["lifecycle"], field, pod.grace)
            if len(found) > start:
                field.prefix(start, "lifecycle")
        probes(value, field)
        if "restartPolicy" in value or "restartPolicyRules" in value:
            _restarts(value, field)
        if len(found) > before:
            field.prefix(before, f"[{index}]")
            if field.full:
                break
    host_ports(items, field)


def host_ports(items: Sequence[Object], field: Field) -> None:
    """No two containers may take the same port of the node; told from the list."""
    taken: set[str] = set()
    for index, value in field.numbered(items):
        ports = value.get("ports")
        if not ports or "hostPort" not in chain.from_iterable(ports):
            continue
        for port_index, port in field.numbered(ports):
            number = port.get("hostPort", 0)
            if not number:
                continue
            key = f"{port.get('protocol', '')}/{port.get('hostIP', '')}/{number}"
            if key in taken:
                field.duplicate(f"[{index}].ports[{port_index}].hostPort", key)
            taken.add(key)


def init_containers(items: Sequence[Object], field: Field, pod: PodFacts, others: set[str]) -> None:
    """`initContainers`, told from the list. `others`: names of the ordinary containers."""
    names: set[str] = set()
    found = field.found
    for index, value in field.numbered(items):
        before = len(found)
        sidecar = value.get("restartPolicy") == "Always"
        _common(value, field, pod)
        if value.get("restartPolicy") is not None or value.get("restartPolicyRules"):
            _restarts(value, field)
        name = value.get("name", "")
        if name in names or name in others:
            field.duplicate("name", name)
        elif name:
            names.add(name)
        if len(found) > before:
            field.prefix(before, f"[{index}]")
        for clash in _ports_of_one(value, field) if value.get("ports") else ():
            field.add(*clash)
        before = len(found)
        if sidecar:
            if value.get("lifecycle") is not None:
                start = len(found)
                lifecycle(value["lifecycle"], field, pod.grace)
                if len(found) > start:
                    field.prefix(start, "lifecycle")
            probes(value, field)
        else:
            for forbidden in _NOT_INIT:
                if value.get(forbidden) is not None:
                    field.forbidden(forbidden, "may not be set for init containers without restartPolicy=Always")
        if len(found) > before:
            field.prefix(before, f"[{index}]")
            if field.full:
                break


def _ports_of_one(value: Object, field: Field) -> list[list[str]]:
    """An init container runs alone, so only its own ports can clash: told as if it were the first, as in the original.

    The causes are taken out of the field, as they are not to be told of this container.
    """
    before = len(field.found)
    host_ports([value], field)
    clashes = field.found[before:]
    del field.found[before:]
    return clashes


def ephemeral_containers(items: Sequence[Object], field: Field, pod: PodFacts, spec: Object) -> None:
    """`ephemeralContainers`, told from the list."""
    others = {one.get("name") for one in (*(spec.get("containers") or ()), *(spec.get("initContainers") or ()))}
    names: set[str] = set()
    found = field.found
    for index, value in field.numbered(items):
        before = len(found)
        _common(value, field, pod)
        image_blanks(value, field)
        name = value.get("name", "")
        if name in names or name in others:
            field.duplicate("name", name)
        names.add(name)
        target = value.get("targetContainerName", "")
        if target and target not in others:
            field.not_found("targetContainerName", target)
        for forbidden in _NOT_EPHEMERAL:
            held = value.get(forbidden)
            if held if forbidden in _EMPTY_BY_NATURE else held is not None:
                field.forbidden(forbidden, "cannot be set for an Ephemeral Container")
        for mount_index, mount in field.numbered(value.get("volumeMounts") or ()):
            for part in ("subPath", "subPathExpr"):
                if mount.get(part):
                    field.forbidden(f"volumeMounts[{mount_index}].{part}", "cannot be set for an Ephemeral Container")
        if len(found) > before:
            field.prefix(before, f"[{index}]")
            if field.full:
                break
