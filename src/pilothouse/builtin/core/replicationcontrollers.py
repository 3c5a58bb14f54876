"""ReplicationControllers: what is filled in (labels and selector from the template), what is refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from pilothouse.builtin.shared.counts import not_negative_counts, ready_within_total
from pilothouse.builtin.shared.objectnames import declared_subdomain_name
from pilothouse.builtin.shared.poddefaults import template_defaults
from pilothouse.builtin.shared.podtemplate import check_labels, only_restarting, pod_template
from pilothouse.builtin.shared.podwarnings import name_warning, spec_warnings
from pilothouse.builtin.shared.templates import another_spec, prepare_template, respecified
from pilothouse.machinery.rules import Field, at, computed, defaults, not_negative, required, rules, sees_absent
from pilothouse.registry.behaviour import Behaviour, Object, Part


def _labels_of_template(_: Object, whole: Object) -> Object | None:
    template = (whole.get("spec") or {}).get("template") or {}
    found = (template.get("metadata") or {}).get("labels")
    return dict(found) if found else None


_fill: Final = defaults(
    {
        "metadata.labels": computed(_labels_of_template),
        "spec.replicas": 1,
        "spec.selector": computed(_labels_of_template),
        "spec.template": template_defaults,
    }
)


@sees_absent
def _template(value: Mapping[str, Any] | None, field: Field) -> None:
    if value is None:
        field.required()
        return
    selector = field.root["spec"].get("selector") or {}
    if selector:
        check_labels(value, {"matchLabels": selector}, field)
    outer, field.old = field.old, None
    pod_template(value, field)
    field.old = outer
    only_restarting(value, field, "ReplicationController")


_validate: Final = rules(
    declared_subdomain_name,
    at(
        "spec",
        at("selector", required),
        at("template", _template),
        at("replicas", not_negative),
        at("minReadySeconds", not_negative),
    ),
)

_status: Final = rules(
    at(
        "status",
        not_negative_counts(
            "replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas", "observedGeneration"
        ),
        ready_within_total("fullyLabeledReplicas"),
    )
)


def _warn(new: Object, old: Object | None) -> Sequence[str]:
    """Of an update the original looks at the template that is replaced."""
    found = list(name_warning(new, of_pods=True)) if old is None else []
    judged = (new if old is None else old)["spec"].get("template") or {}
    return [*found, *spec_warnings("spec.template", judged)] if respecified(new, old) else found


behaviour = Behaviour(
    defaults=_fill,
    prepare=prepare_template({"replicas": 0}),
    validate=_validate,
    warn=_warn,
    generation=another_spec,
    parts={"status": Part(validate=_status), "scale": Part(warn=_warn)},
)
