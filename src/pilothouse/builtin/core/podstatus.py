"""The status of a pod: what a write to it may say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from pilothouse.builtin.shared.internals import internals
from pilothouse.builtin.shared.security import MAX_ID
from pilothouse.machinery import names as words
from pilothouse.machinery.rules import IMMUTABLE, Field

_NOT_NEGATIVE: Final = "must be a non-negative integer"
_STATUSES: Final = ("containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses")
_SPECS: Final = {"containerStatuses": "containers", "initContainerStatuses": "initContainers"}
_HEALTH: Final = ("Healthy", "Unhealthy", "Unknown")
_A_CLAIM: Final = (
    "must match one of the container's resource claims in a format 'claim:<claimName>/<request>' or "
    "'claim:<claimName>' if request is empty"
)
_MAPPED: Final = ("containerName", "resourceName", "requestName")
_NO_RESTART: Final = "may not be transitioned to non-terminated state"
_ONE_EACH: Final = "may specify no more than one IP for each IP family"

Object = Mapping[str, Any]


def _conditions(items: Sequence[Object], field: Field) -> None:
    for index, one in field.numbered(items):
        generation = one.get("observedGeneration", 0)
        if generation < 0:
            field.invalid(f"conditions[{index}].observedGeneration", generation, _NOT_NEGATIVE)
        kind = one.get("type", "")
        if kind not in ("PodScheduled", "Ready", "Initialized", "ContainersReady"):
            field.all_invalid(f"conditions[{index}].Type", kind, words.qualified_name(kind))


def _rule_restarts(container: Object, code: int) -> bool:
    """Whether the first rule for an exit code says that the container starts again."""
    for rule in container.get("restartPolicyRules") or ():
        codes = rule.get("exitCodes") or {}
        if (code in (codes.get("values") or ())) == (codes.get("operator") == "In"):
            return bool(rule.get("action"))
    return False


def _restarts(container: Object | None, spec: Object, code: int) -> bool:
    """Whether a container that has ended with a code may start again."""
    if container is None:
        return False
    policy = container.get("restartPolicy") or spec.get("restartPolicy")
    if container.get("restartPolicy") and _rule_restarts(container, code):
        return True
    return policy != "Never" and (policy != "OnFailure" or code != 0)


def _transitions(path: str, new: Sequence[Object], old: Sequence[Object], field: Field) -> None:
    """A container that has ended stays so where it is not started again."""
    spec = field.root.get("spec") or {}
    kind = _SPECS.get(path, "")
    containers = {one.get("name"): one for one in (spec.get(kind) or () if kind else ())}
    after = {one.get("name"): one for one in new}
    for index, one in field.numbered(old):
        ended = (one.get("state") or {}).get("terminated")
        now = after.get(one.get("name"))
        if ended is None or now is None or (now.get("state") or {}).get("terminated") is not None:
            continue
        if not _restarts(containers.get(one.get("name")), spec, ended.get("exitCode", 0)):
            field.forbidden(f"{path}[{index}].state", _NO_RESTART)


def _all_restart(*statuses: Object) -> bool:
    """Whether the pod says that all of its containers start again."""
    every = (one for status in statuses for one in status.get("conditions") or ())
    return any(one.get("type") == "AllContainersRestarting" and one.get("status") == "True" for one in every)


def _addresses(name: str, status: Object, field: Field, single: str) -> None:
    """`podIPs` or `hostIPs`: addresses, at most one of each family."""
    found = status.get(name) or []
    if not found:
        return
    if single == "hostIP" and found[0].get("ip") != status.get("hostIP"):
        field.invalid(f"{name}[0].ip", found[0].get("ip", ""), "must be equal to `hostIP`")
    families, broken = set(), -1
    for index, one in field.numbered(found):
        text = one.get("ip", "")
        address = words.parse_address(text)
        if address is None:
            field.all_invalid(f"{name}[{index}]", text, words.address(text))
            broken = index if broken < 0 else broken
        else:
            families.add(address.version)
    if len(found) > 1:
        if broken >= 0:
            text = found[broken].get("ip", "")
            field.internal(name, f"failed to check for dual stack with error:invalid IP[{broken}]: {text}")
        if (broken >= 0 or len(families) != 2 or len(found) > 2) and not field.full:
            field.invalid(name, internals("PodIP", found), _ONE_EACH)


def _claim_statuses(items: Sequence[Object], spec: Object, field: Field) -> None:
    known = {one.get("name") for one in spec.get("resourceClaims") or ()}
    seen: set[str] = set()
    for index, one in field.numbered(items):
        path = f"resourceClaimStatuses[{index}]"
        name, claim = one.get("name", ""), one.get("resourceClaimName")
        if name not in known:
            field.invalid(f"{path}.name", name, "must match the name of an entry in `spec.resourceClaims`")
        if name in seen:
            field.duplicate(f"{path}.name", name)
        seen.add(name)
        if claim is not None:
            field.all_invalid(f"{path}.resourceClaimName", claim, words.subdomain(claim))


def _mapping(path: str, value: Object, containers: Mapping[str, Object], field: Field) -> None:
    container, resource = containers.get(value.get("containerName", "")), value.get("resourceName", "")
    if container is None:
        why = "must match the name of an entry in spec.initContainers.name or spec.containers.name"
        field.invalid(f"{path}.containerName", value.get("containerName", ""), why)
    elif resource not in ((container.get("resources") or {}).get("requests") or {}):
        places = "spec.initContainers.resources.requests or spec.containers.resources.requests"
        why = f"must match the extended resource name of an entry in {places}"
        field.invalid(f"{path}.resourceName", resource, why)


def _extended_claim(value: Object, field: Field) -> None:
    """The claim for extended resources that drivers of devices provide, and which request of it is whose."""
    spec = field.root.get("spec") or {}
    containers = {one.get("name", ""): one for kind in _SPECS.values() for one in spec.get(kind) or ()}
    mappings = value.get("requestMappings") or ()
    if not mappings:
        field.required("requestMappings", "at least one request mapping is required")
    seen: set[tuple[str, ...]] = set()
    for index, one in field.numbered(mappings):
        path = f"requestMappings[{index}]"
        _mapping(path, one, containers, field)
        request = one.get("requestName", "")
        field.all_invalid("requestName", request, words.label(request))  # told so, without the mapping
        parts = tuple(one.get(name, "") for name in _MAPPED)
        if parts in seen:
            for name, text in zip(_MAPPED, parts, strict=True):
                field.duplicate(f"{path}.{name}", text)
        seen.add(parts)
    field.named("resourceClaimName", value.get("resourceClaimName", ""), words.subdomain)


def _users(path: str, items: Sequence[Object], spec: Object, field: Field) -> None:
    """Who the containers run as; there are such ids on Linux alone."""
    system = (spec.get("os") or {}).get("name", "linux")
    for index, one in field.numbered(items):
        user = (one.get("user") or {}).get("linux")
        if user is None:
            continue
        where = f"{path}[{index}].linux"
        if system == "windows":
            field.forbidden(where, "cannot be set for a windows pod")
            continue
        ids = [("uid", user.get("uid", 0)), ("gid", user.get("gid", 0))]
        ids += [
            (f"supplementalGroups[{place}]", group) for place, group in enumerate(user.get("supplementalGroups") or ())
        ]
        for name, number in ids:
            if not 0 <= number <= MAX_ID:
                field.invalid(f"{where}.{name}", number, f"must be between 0 and {MAX_ID}, inclusive")


def _allocated(path: str, items: Sequence[Object], containers: Sequence[Object], field: Field) -> None:
    """The health of the devices that containers hold."""
    resources = {one.get("name"): one.get("resources") or {} for one in containers}
    for index, one in field.numbered(items):
        for place, allocated in field.numbered(one.get("allocatedResourcesStatus") or ()):
            where, name = f"{path}[{index}].allocatedResourcesStatus[{place}]", allocated.get("name", "")
            own = resources.get(one.get("name"))
            if own is not None:
                _held(f"{where}.name", name, own, field)
            seen: set[str] = set()
            for number, device in field.numbered(allocated.get("resources") or ()):
                if device.get("health", "") not in _HEALTH:
                    field.not_supported(f"{where}.resources[{number}].health", device.get("health", ""), _HEALTH)
                if device.get("resourceID", "") in seen:
                    field.duplicate(f"{where}.resources[{number}].resourceID", device.get("resourceID", ""))
                seen.add(device.get("resourceID", ""))


def _held(path: str, name: str, resources: Object, field: Field) -> None:
    if name.startswith("claim:"):
        claims = [(one.get("name", ""), one.get("request", "")) for one in resources.get("claims") or ()]
        known = [f"claim:{claim}/{request}" if request else f"claim:{claim}" for claim, request in claims]
        why = _A_CLAIM
    else:
        known, why = list(resources.get("requests") or ()), "must match one of the container's resource requests"
    if name not in known:
        field.invalid(path, name, why)


def _container_statuses(status: Object, spec: Object, field: Field) -> None:
    for kind in _STATUSES:
        if status.get(kind):
            _users(kind, status[kind], spec, field)
    for kind, containers in (("containerStatuses", "containers"), ("initContainerStatuses", "initContainers")):
        if status.get(kind):
            _allocated(kind, status[kind], spec.get(containers) or (), field)
    for index, one in field.numbered(status.get("ephemeralContainerStatuses") or ()):
        if one.get("allocatedResourcesStatus"):
            path = f"ephemeralContainerStatuses[{index}].allocatedResourcesStatus"
            field.forbidden(path, "must not be specified in container status")


def pod_status(new: Object, field: Field) -> None:
    """For the status; `field.old` is the old one."""
    old: Object = field.old or {}
    spec = field.root.get("spec") or {}
    if new.get("conditions"):
        _conditions(new["conditions"], field)
    name = new.get("nominatedNodeName", "")
    if name and name != old.get("nominatedNodeName"):
        field.all_invalid("nominatedNodeName", name, words.subdomain(name))
        if spec.get("nodeName"):
            field.forbidden("nominatedNodeName", "may not be set on pods that are already bound to a node")
    generation = new.get("observedGeneration", 0)
    if generation < 0:
        field.invalid("observedGeneration", generation, _NOT_NEGATIVE)
    if old.get("qosClass") and new.get("qosClass", "") != old["qosClass"]:
        field.invalid("qosClass", new.get("qosClass", ""), IMMUTABLE)
    for kind in _STATUSES:
        if old.get(kind) and not _all_restart(new, old):
            _transitions(kind, new.get(kind) or (), old[kind], field)
    if new.get("resourceClaimStatuses"):
        _claim_statuses(new["resourceClaimStatuses"], spec, field)
    if new.get("extendedResourceClaimStatus") is not None:
        field.within("extendedResourceClaimStatus", _extended_claim, new["extendedResourceClaimStatus"])
    _addresses("hostIPs", new, field, "hostIP")
    _addresses("podIPs", new, field, "podIP")
    _container_statuses(new, spec, field)
