"""What may change in a pod: its spec on update, its debugging containers, and its resources through resize."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from pilothouse.builtin.shared.internals import diff, internal, internals
from pilothouse.builtin.shared.podannotations import MIRROR
from pilothouse.builtin.shared.qos import qos_class
from pilothouse.builtin.shared.same import same
from pilothouse.machinery.rules import Field, Rule

_ONLY: Final = (
    "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"
    "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)\n"
)
_COUNT: Final = "pod updates may not add or remove containers"
_CONTAINERS: Final = ("containers", "initContainers")
_RESIZABLE: Final = frozenset({"cpu", "memory"})
_NODE_RULES: Final = "requiredDuringSchedulingIgnoredDuringExecution"

Object = Mapping[str, Any]


def _deadline(new: Object, old: Object, field: Field) -> bool:
    """Whether the deadline is such that the rest is not looked at."""
    after, before = new.get("activeDeadlineSeconds"), old.get("activeDeadlineSeconds")
    if after is not None and not 0 <= after < 2**31:
        field.invalid("activeDeadlineSeconds", after, f"must be between 0 and {2**31 - 1}, inclusive")
        return True
    if before is None:
        return False
    if after is None:
        field.invalid("activeDeadlineSeconds", None, "must not update from a positive integer to nil value")
    elif after > before:
        field.invalid("activeDeadlineSeconds", after, "must be less than or equal to previous value")
        return True
    return False


def _tolerations(new: Object, old: Object, field: Field) -> None:
    """Old ones must still be there, in whatever order; their seconds may differ."""
    after = {_compared(one) for one in new.get("tolerations") or ()}
    if any(_compared(one) not in after for one in old.get("tolerations") or ()):
        field.forbidden("tolerations", "existing toleration can not be modified except its tolerationSeconds")


def _compared(toleration: Object) -> frozenset[tuple[str, str]]:
    return frozenset((name, value) for name, value in toleration.items() if value and name != "tolerationSeconds")


def _gates(new: Object, old: Object, field: Field) -> None:
    known = {one.get("name") for one in old.get("schedulingGates") or ()}
    for index, one in field.numbered(new.get("schedulingGates") or ()):
        name = one.get("name", "")
        if name not in known:
            why = f"only deletion is allowed, but found new scheduling gate '{name}'"
            field.forbidden(f"schedulingGates[{index}].name", why)


def _gated_selector(new: Object, old: Object, field: Field) -> None:
    """While a pod is gated its node selector may become stricter."""
    before, after = old.get("nodeSelector") or {}, new.get("nodeSelector") or {}
    if any(after.get(key) != value for key, value in before.items()):
        why = "only additions to spec.nodeSelector are allowed (no mutations or deletions)"
        field.invalid("nodeSelector", dict(sorted(after.items())), why)


def _node_rules(spec: Object) -> list[Any] | None:
    required = ((spec.get("affinity") or {}).get("nodeAffinity") or {}).get(_NODE_RULES)
    return None if required is None else required.get("nodeSelectorTerms") or []


def _gated_affinity(new: Object, old: Object, field: Field) -> None:
    """While a pod is gated, the node selector terms it has may be extended."""
    before, after = _node_rules(old), _node_rules(new)
    if not before:
        return
    path = f"affinity.nodeAffinity.{_NODE_RULES}.nodeSelectorTerms"
    if after is None or len(after) != len(before):
        field.invalid(
            path,
            internals("NodeSelectorTerm", after),
            "no additions/deletions to non-empty NodeSelectorTerms list are allowed",
        )
        return
    for index, (one, other) in enumerate(zip(before, after, strict=True)):
        if not _extended(other, one):
            why = "only additions are allowed (no mutations or deletions)"
            field.invalid(f"{path}[{index}]", internal("NodeSelectorTerm", other), why)


def _extended(term: Object, old: Object) -> bool:
    """Whether a term has what the old one has, in the same order, and perhaps more behind it."""
    kinds = ("matchExpressions", "matchFields")
    if not any(old.get(kind) for kind in kinds):
        return not any(term.get(kind) for kind in kinds)
    return all(same((term.get(kind) or [])[: len(old.get(kind) or [])], old.get(kind) or []) for kind in kinds)


def _old_node_rules(affinity: Object | None, old: Object | None) -> dict[str, Any] | None:
    """The new affinity with the nodes' part of the old one."""
    made = {name: one for name, one in (affinity or {}).items() if name != "nodeAffinity"}
    node = (old or {}).get("nodeAffinity")
    if node is not None:
        made["nodeAffinity"] = node
    return made if made or (affinity is not None and old is not None) else None


def _with(spec: dict[str, Any], name: str, value: Any) -> None:
    if value is None:
        spec.pop(name, None)
    else:
        spec[name] = value


def _munged(new: Object, old: Object) -> dict[str, Any]:
    """The new spec with everything that may change put back as it was."""
    spec = dict(new)
    for kind in _CONTAINERS:
        if kind in spec:
            pairs = zip(spec[kind] or (), old.get(kind) or (), strict=True)
            spec[kind] = [{**after, "image": before.get("image", "")} for after, before in pairs]
    for name in ("activeDeadlineSeconds", "tolerations", "schedulingGates"):
        _with(spec, name, old.get(name))
    before = old.get("terminationGracePeriodSeconds")
    if before is not None and before < 0 and new.get("terminationGracePeriodSeconds") == 1:
        spec["terminationGracePeriodSeconds"] = before
    if old.get("schedulingGates"):
        _with(spec, "nodeSelector", old.get("nodeSelector"))
        _with(spec, "affinity", _old_node_rules(new.get("affinity"), old.get("affinity")))
    return spec


def pod_update(new: Object, field: Field) -> bool | None:
    """For the spec: `field.old` is the old spec. True where the rest makes no sense."""
    old = field.old
    for kind in _CONTAINERS:
        if len(new.get(kind) or ()) != len(old.get(kind) or ()):
            field.forbidden(kind, _COUNT)
            return True
    if _deadline(new, old, field):
        return True
    _tolerations(new, old, field)
    _gates(new, old, field)
    if old.get("schedulingGates"):
        _gated_selector(new, old, field)
        _gated_affinity(new, old, field)
    munged = _munged(new, old)
    if not same(munged, old):
        field.forbidden("", _ONLY + diff("PodSpec", dict(old), munged))
    return None


def _is_mirror(field: Field) -> bool:
    """Whether the pod is an image of one that a kubelet runs by itself."""
    return MIRROR in ((field.root_old.get("metadata") or {}).get("annotations") or {})


def no_static_pod(why: str) -> Rule:
    """For the spec: what a kubelet runs by itself is not changed so, and nothing else is told."""

    def run(_: Object, field: Field) -> bool:
        if _is_mirror(field):
            field.forbidden("/[]", why)
            return True
        return False

    return run


def ephemeral_update(new: Object, field: Field) -> None:
    """For the spec, after the ephemeralcontainers subresource: containers may be added, nothing else."""
    after = {one.get("name"): one for one in new.get("ephemeralContainers") or ()}
    for one in field.old.get("ephemeralContainers") or ():
        name = one.get("name", "")
        if name not in after:
            why = f'existing ephemeral containers "{name}" may not be removed\n'
            field.forbidden("ephemeralContainers", why)
        elif not same(one, after[name]):
            shown = diff("EphemeralContainer", one, after[name])
            why = f'existing ephemeral containers "{name}" may not be changed\n{shown}'
            field.forbidden("ephemeralContainers", why)


def _resources(holder: Object) -> Object:
    return holder.get("resources") or {}


def _removed(new: Object, old: Object, kind: str) -> bool:
    return any(name not in (new.get(kind) or {}) for name in (old.get(kind) or {}))


def _removals(new: Object, old: Object, field: Field, path: str, label: str) -> None:
    for kind in ("limits", "requests"):
        if _removed(_resources(new), _resources(old), kind):
            field.forbidden(f"{path}.{kind}", f"{label} {kind} cannot be removed")


def _node_resizes(status: Object) -> bool:
    """Kubelets that can resize say what running containers have."""
    running = [
        one for one in status.get("containerStatuses") or () if (one.get("state") or {}).get("running") is not None
    ]
    return not running or running[0].get("resources") is not None


def _put_back(new: Object, old: Object) -> dict[str, Any]:
    """New resources with those of cpu and memory as they were."""
    made: dict[str, Any] = dict(_resources(new))
    for kind in ("limits", "requests"):
        after, before = made.get(kind) or {}, _resources(old).get(kind) or {}
        rest = {name: one for name, one in after.items() if name not in _RESIZABLE}
        _with(made, kind, {**rest, **{name: one for name, one in before.items() if name in _RESIZABLE}} or None)
    return made


def _resized(spec: Object, old: Object) -> dict[str, Any]:
    made = dict(spec)
    for kind in _CONTAINERS:
        pairs = zip(spec.get(kind) or (), old.get(kind) or (), strict=False)
        if kind in made:
            made[kind] = [{**after, "resources": _put_back(after, before)} for after, before in pairs]
    if spec.get("resources") is not None or old.get("resources") is not None:
        _with(made, "resources", _put_back(spec, old) or None)
    return made


def no_windows(_: Object, field: Field) -> bool:
    """For the spec, before it is judged: nothing else is told."""
    if (field.old.get("os") or {}).get("name") != "windows":
        return False
    field.forbidden("/[]", "windows pods cannot be resized")
    return True


def pod_resize(new: Object, field: Field) -> bool | None:
    """For the spec, after the resize subresource: only cpu and memory, within the same quality of service."""
    old: Object = field.old
    if qos_class(new) != qos_class(old):
        shown = (field.root.get("status") or {}).get("qosClass") or qos_class(old)
        field.invalid("", shown, "Pod QOS Class may not change as a result of resizing")
    counts = [len(new.get(kind) or ()) != len(old.get(kind) or ()) for kind in _CONTAINERS]
    if any(counts):
        field.forbidden(_CONTAINERS[counts.index(True)], _COUNT)
        return True
    if not _node_resizes(field.root_old.get("status") or {}):
        field.forbidden("", "Pod running on node without support for resize")
    for kind in ("initContainers", "containers"):
        pairs: Sequence[tuple[Object, Object]] = list(zip(new.get(kind) or (), old.get(kind) or (), strict=True))
        for index, (after, before) in field.numbered(pairs):
            _removals(after, before, field, f"{kind}[{index}].resources", "resource")
    _removals(new, old, field, "resources", "pod-level resource")
    if not same(_resized(new, old), old):
        field.forbidden("", "only cpu and memory resources are mutable")
    return None
