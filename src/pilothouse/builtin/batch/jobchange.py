"""What may change in a job once it is made: little, and a bit more while it is suspended and has not begun."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pilothouse.builtin.batch.jobpolicies import PACKAGE
from pilothouse.builtin.shared.internals import internal
from pilothouse.builtin.shared.same import same
from pilothouse.machinery.rules import IMMUTABLE, Field

_INTERNAL: Final = {"podFailurePolicy": "PodFailurePolicy", "successPolicy": "SuccessPolicy"}
_DIRECTIVES: Final = ("nodeSelector", "tolerations", "schedulingGates")

Object = Mapping[str, Any]


def _fixed(name: str, new: Object, field: Field) -> None:
    after, before = new.get(name), field.old.get(name)
    if not same(after, before):
        shown = after if after is None or name not in _INTERNAL else internal(_INTERNAL[name], after, PACKAGE)
        field.invalid(name, shown, IMMUTABLE)


def _completions(new: Object, field: Field) -> None:
    """An indexed job may change its size together with its parallelism."""
    after, before = new.get("completions"), field.old.get("completions")
    if after == before:
        return
    if new.get("completionMode") != "Indexed" or after is None or before is None:
        field.invalid("completions", after, IMMUTABLE)
    elif after != new.get("parallelism"):
        field.invalid("completions", after, "can only be modified in tandem with spec.parallelism")


def _not_begun(root_old: Object) -> bool:
    """Suspended, and without a start time or a condition that says it is on its way to be resumed."""
    spec, status = root_old.get("spec") or {}, root_old.get("status") or {}
    return bool(spec.get("suspend")) and status.get("startTime") is None


def _template(new: Object, field: Field) -> None:
    after, before = new.get("template") or {}, field.old.get("template") or {}
    if _not_begun(field.root_old):
        spec = _as_before(after.get("spec") or {}, before.get("spec") or {})
        if not same(spec, before.get("spec") or {}):
            field.invalid("template.spec", internal("PodSpec", spec), IMMUTABLE)
    elif not same(after, before):
        field.invalid("template", internal("PodTemplateSpec", after), IMMUTABLE)


def _as_before(spec: Object, old: Object) -> dict[str, Any]:
    """The new pod spec with what may change put back."""
    made = dict(spec)
    for name in _DIRECTIVES:
        made.pop(name, None)
        if name in old:
            made[name] = old[name]
    _node_affinity_as_before(made, old)
    for kind in ("containers", "initContainers"):
        resources = {one.get("name"): one.get("resources") for one in old.get(kind) or ()}
        if kind in made:
            made[kind] = [{**one, "resources": resources.get(one.get("name")) or {}} for one in made[kind] or ()]
    return made


def _node_affinity_as_before(spec: dict[str, Any], old: Object) -> None:
    """Which nodes pods want may change, not which other pods they want to be with."""
    after, before = spec.pop("affinity", None), old.get("affinity")
    made = {name: one for name, one in (after or {}).items() if name != "nodeAffinity"}
    if (before or {}).get("nodeAffinity") is not None:
        made["nodeAffinity"] = before["nodeAffinity"]  # type: ignore[index]
    if made or (after is not None and before is not None):
        spec["affinity"] = made


def job_update(new: Object, field: Field) -> None:
    """For the spec; `field.old` is the old one."""
    _completions(new, field)
    _fixed("selector", new, field)
    _template(new, field)
    for name in ("completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy"):
        _fixed(name, new, field)
