"""DaemonSets: what is filled in, what is refused, what may change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from pilothouse.builtin.apps.deployments import PACKAGE, not_empty_selector, rolling_update
from pilothouse.builtin.shared.counts import never_less, not_negative_counts
from pilothouse.builtin.shared.internals import internal
from pilothouse.builtin.shared.poddefaults import template_defaults
from pilothouse.builtin.shared.podtemplate import selected_template
from pilothouse.builtin.shared.podwarnings import spec_warnings
from pilothouse.builtin.shared.portions import amount, at_most_all, portion
from pilothouse.builtin.shared.same import same
from pilothouse.builtin.shared.selectors import label_selector
from pilothouse.builtin.shared.templates import another_spec, prepare_template
from pilothouse.machinery.digits import whole
from pilothouse.machinery.rules import Field, at, defaults, immutable, not_negative, rules
from pilothouse.registry.behaviour import Behaviour, Context, Object, Part

_MOST_DIGITS: Final = 19
_GENERATION: Final = "deprecated.daemonset.template.generation"

_fresh: Final = prepare_template(
    {"currentNumberScheduled": 0, "numberMisscheduled": 0, "desiredNumberScheduled": 0, "numberReady": 0}
)


def _uncounted(metadata: dict[str, Any]) -> None:
    """The original keeps the count in the spec of its own form: where the annotation is missing, it is there as 0."""
    if _GENERATION not in (metadata.get("annotations") or {}):
        metadata["annotations"] = {**(metadata.get("annotations") or {}), _GENERATION: "0"}


_fill: Final = defaults(
    {
        "metadata": _uncounted,
        "spec.template": template_defaults,
        "spec.updateStrategy.type": "RollingUpdate",
        "spec.updateStrategy": rolling_update({"maxUnavailable": 1, "maxSurge": 0}),
        "spec.revisionHistoryLimit": 10,
    }
)


def _rolling(value: Mapping[str, Any], field: Field) -> None:
    missing, surplus = value.get("maxUnavailable", 0), value.get("maxSurge", 0)
    field.within("maxUnavailable", portion, missing)
    field.within("maxSurge", portion, surplus)
    some_missing, some_surplus = amount(missing) != 0, amount(surplus) != 0
    if some_missing and some_surplus:
        field.invalid("maxSurge", surplus, "may not be set when maxUnavailable is non-zero")
    elif not some_missing and not some_surplus:
        field.required("maxUnavailable", "cannot be 0 when maxSurge is 0")
    field.within("maxUnavailable", at_most_all, missing)
    field.within("maxSurge", at_most_all, surplus)


def _strategy(value: Mapping[str, Any], field: Field) -> None:
    kind, rolling = value.get("type", ""), value.get("rollingUpdate")
    if kind == "RollingUpdate":
        if rolling is None:
            field.required("rollingUpdate")
        else:
            field.within("rollingUpdate", _rolling, rolling)
    elif kind != "OnDelete":
        shown = internal("DaemonSetUpdateStrategy", value, PACKAGE)
        field.not_supported("", shown, ("RollingUpdate", "OnDelete"))


def _prepare(new: Object, old: Object | None, context: Context) -> None:
    """An annotation counts the changes of the template, for clients of old."""
    _fresh(new, old, context)
    count = 1
    if old is not None:
        before = (old["metadata"].get("annotations") or {}).get(_GENERATION, "")
        count = whole(before) if before.isascii() and before.isdigit() and len(before) < _MOST_DIGITS else 0
        if not same(new["spec"].get("template"), old["spec"].get("template")):
            count += 1
    if count:
        metadata = new["metadata"]
        metadata["annotations"] = {**(metadata.get("annotations") or {}), _GENERATION: str(count)}


_validate: Final = rules(
    at(
        "spec",
        at("selector", immutable),
        at("selector", label_selector),
        at("selector", not_empty_selector("daemonset")),
        selected_template("DaemonSet"),
        at("minReadySeconds", not_negative),
        at("updateStrategy", _strategy),
        at("revisionHistoryLimit", not_negative),
    )
)

_status: Final = rules(
    at(
        "status",
        not_negative_counts(
            "currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled", "numberReady",
            "observedGeneration", "updatedNumberScheduled", "numberAvailable", "numberUnavailable", "collisionCount",
        ),
        never_less("collisionCount", "cannot be decremented"),
    )
)  # fmt: skip


def _warn(new: Object, old: Object | None) -> Sequence[str]:
    """Of a template that is another than before."""
    template = new["spec"]["template"]
    return spec_warnings("spec.template", template) if old is None or template != old["spec"]["template"] else ()


behaviour = Behaviour(
    defaults=_fill,
    prepare=_prepare,
    validate=_validate,
    warn=_warn,
    generation=another_spec,
    parts={"status": Part(validate=_status)},
)
