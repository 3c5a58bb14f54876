"""ReplicaSets: what is filled in, what is refused, what may change."""

from __future__ import annotations

from typing import Final

from pilothouse.builtin.apps.deployments import not_empty_selector
from pilothouse.builtin.shared.counts import not_negative_counts, ready_within_total
from pilothouse.builtin.shared.poddefaults import template_defaults
from pilothouse.builtin.shared.podtemplate import selected_template
from pilothouse.builtin.shared.selectors import label_selector
from pilothouse.builtin.shared.templates import another_spec, prepare_template, template_warnings
from pilothouse.machinery.rules import at, defaults, given, immutable, not_negative, rules
from pilothouse.registry.behaviour import Behaviour, Part

_fill: Final = defaults({"spec.replicas": 1, "spec.template": template_defaults})

_validate: Final = rules(
    at(
        "spec",
        at("replicas", not_negative),
        at("minReadySeconds", not_negative),
        at("selector", given, label_selector, not_empty_selector("deployment")),
        selected_template("ReplicaSet"),
        at("selector", immutable),
    )
)

_status: Final = rules(
    at(
        "status",
        not_negative_counts(
            "replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas", "terminatingReplicas",
            "observedGeneration",
        ),
        ready_within_total("fullyLabeledReplicas"),
    )
)  # fmt: skip

_warn: Final = template_warnings()

behaviour = Behaviour(
    defaults=_fill,
    prepare=prepare_template({"replicas": 0}),
    validate=_validate,
    warn=_warn,
    generation=another_spec,
    parts={"status": Part(validate=_status), "scale": Part(warn=_warn)},
)
