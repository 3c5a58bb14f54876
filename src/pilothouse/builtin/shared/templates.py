"""What workloads do with the template in their spec before and beside its validation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pilothouse.builtin.shared.podgates import drop_closed
from pilothouse.builtin.shared.podwarnings import name_warning, spec_warnings
from pilothouse.builtin.shared.prepared import fresh_status
from pilothouse.builtin.shared.same import same_amounts

Object = dict[str, Any]


def _template(thing: Object | None) -> Object:
    found: Object = ((thing or {}).get("spec") or {}).get("template") or {}
    return found


def prepare_template(status: Object | None = None) -> Callable[[Object, Object | None, Any], None]:
    """A prepare that drops fields of closed features from `spec.template`, and gives new objects this status."""
    fresh = fresh_status(status or {})

    def prepare(new: Object, old: Object | None, context: Any) -> None:
        drop_closed(_template(new), _template(old))
        fresh(new, old, context)

    return prepare


def another_spec(new: Object, old: Object) -> bool:
    """Whether an update raises the generation: the spec says something else, not the same amounts in other words."""
    return not same_amounts(new.get("spec"), old.get("spec"))


def respecified(new: Object, old: Object | None) -> bool:
    """Whether a thing is new, or its spec is another than before."""
    return old is None or new["metadata"].get("generation") != old["metadata"].get("generation")


def template_warnings(of_pods: bool = True) -> Callable[[Object, Object | None], Sequence[str]]:
    """Warnings about `spec.template`; with `of_pods` also about a name that pods will bear."""

    def warn(new: Object, old: Object | None) -> Sequence[str]:
        found = list(name_warning(new, of_pods=True)) if of_pods and old is None else []
        return [*found, *spec_warnings("spec.template", _template(new))] if respecified(new, old) else found

    return warn
