"""StatefulSets: what is filled in, what is refused, what may change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from pilothouse.builtin.apps.deployments import PACKAGE, not_empty_selector, rolling_update
from pilothouse.builtin.shared.claims import claim_spec
from pilothouse.builtin.shared.counts import never_less, not_negative_counts, within_total
from pilothouse.builtin.shared.internals import internal, internals
from pilothouse.builtin.shared.poddefaults import claim_spec_defaults, template_defaults
from pilothouse.builtin.shared.podtemplate import selected_template
from pilothouse.builtin.shared.portions import amount, at_most_all, portion
from pilothouse.builtin.shared.same import same
from pilothouse.builtin.shared.selectors import label_selector
from pilothouse.builtin.shared.templates import another_spec, prepare_template, template_warnings
from pilothouse.builtin.shared.volumewarnings import claim_warnings
from pilothouse.machinery import names as words
from pilothouse.machinery.rules import (
    IMMUTABLE,
    Field,
    at,
    defaults,
    given,
    not_negative,
    on_update,
    rules,
    vocabulary,
)
from pilothouse.registry.behaviour import Behaviour, Object, Part

_ONLY: Final = (
    "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', "
    "'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"
)
_KEEP: Final = ("Retain", "Delete")
_FIXED: Final = ("selector", "serviceName", "podManagementPolicy", "volumeClaimTemplates")


def _named_kind(claim: dict[str, Any]) -> None:
    """Whatever a claim template calls itself."""
    claim["apiVersion"], claim["kind"] = "v1", "PersistentVolumeClaim"


_fill: Final = defaults(
    {
        "spec.podManagementPolicy": "OrderedReady",
        "spec.updateStrategy.type": "RollingUpdate",
        "spec.updateStrategy": rolling_update({"partition": 0, "maxUnavailable": 1}),
        "spec.persistentVolumeClaimRetentionPolicy": {},
        "spec.persistentVolumeClaimRetentionPolicy.whenDeleted": "Retain",
        "spec.persistentVolumeClaimRetentionPolicy.whenScaled": "Retain",
        "spec.replicas": 1,
        "spec.revisionHistoryLimit": 10,
        "spec.template": template_defaults,
        "spec.volumeClaimTemplates[]": _named_kind,
        "spec.volumeClaimTemplates[].spec": claim_spec_defaults,
        "spec.volumeClaimTemplates[].status.phase": "Pending",
    }
)


def _management(value: str, field: Field) -> None:
    if not value:
        field.required()
    elif value not in ("OrderedReady", "Parallel"):
        field.invalid("", value, "must be 'OrderedReady' or 'Parallel'")


def _rolling(value: Mapping[str, Any], field: Field) -> None:
    partition, missing = value.get("partition"), value.get("maxUnavailable")
    if partition is not None and partition < 0:
        field.invalid("partition", partition, "must be greater than or equal to 0")
    if missing is not None:
        field.within("maxUnavailable", portion, missing)
        if amount(missing) == 0:
            field.invalid("maxUnavailable", missing, "cannot be 0")
        field.within("maxUnavailable", at_most_all, missing)


def _strategy(value: Mapping[str, Any], field: Field) -> None:
    kind, rolling = value.get("type", ""), value.get("rollingUpdate")
    if kind == "":
        field.required()
    elif kind == "OnDelete":
        if rolling is not None:
            shown = internal("RollingUpdateStatefulSetStrategy", rolling, PACKAGE)
            field.invalid("rollingUpdate", shown, "only allowed for updateStrategy 'RollingUpdate'")
    elif kind == "RollingUpdate":
        if rolling is not None:
            field.within("rollingUpdate", _rolling, rolling)
    else:
        shown = internal("StatefulSetUpdateStrategy", value, PACKAGE)
        field.invalid("", shown, "must be 'RollingUpdate' or 'OnDelete'")


def _retention(value: Mapping[str, Any], field: Field) -> None:
    for name in ("whenDeleted", "whenScaled"):
        if value.get(name, "") not in _KEEP:
            field.not_supported(name, value.get(name, ""), _KEEP)


def _claims(items: list[Mapping[str, Any]], field: Field) -> None:
    if field.updating:
        return
    for index, one in field.numbered(items):
        field.within(f"[{index}].spec", claim_spec, one.get("spec") or {})


def _volumes(spec: Mapping[str, Any], template: Mapping[str, Any]) -> Mapping[str, Any]:
    """The template with a volume for every claim, which wins over a volume of the same name."""
    names = dict.fromkeys((one.get("metadata") or {}).get("name", "") for one in spec.get("volumeClaimTemplates") or ())
    if not names:
        return template
    own = template.get("spec") or {}
    claimed = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in names]
    rest = [one for one in own.get("volumes") or () if one.get("name") not in names]
    return {**template, "spec": {**own, "volumes": [*claimed, *rest]}}


def _only(spec: Mapping[str, Any], field: Field) -> None:
    """What of the spec stays as it was given."""
    old = field.old
    changed = [name for name in _FIXED if not same(spec.get(name), old.get(name))]
    for name in changed:
        shown = spec.get(name)
        if name == "volumeClaimTemplates":
            shown = internals("PersistentVolumeClaim", shown)
        field.invalid(name, shown, IMMUTABLE)


_validate: Final = rules(
    at(
        "spec",
        at("podManagementPolicy", _management),
        at("updateStrategy", _strategy),
        at("persistentVolumeClaimRetentionPolicy", _retention),
        at("volumeClaimTemplates", _claims),
        at("replicas", not_negative),
        at("minReadySeconds", not_negative),
        at("ordinals.start", not_negative),
        at("serviceName", vocabulary(lambda text: words.label(text) if text else ())),
        at("selector", given, label_selector, not_empty_selector("statefulset")),
        selected_template("StatefulSet", _volumes),
        on_update(_only),
    )
)

_status: Final = rules(
    at(
        "status",
        not_negative_counts(
            "replicas", "readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas",
            "observedGeneration", "collisionCount",
        ),
        within_total(("readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas")),
        within_total(("availableReplicas",), "readyReplicas", "status.readyReplicas"),
        never_less("collisionCount", "cannot be decremented"),
    )
)  # fmt: skip

_template_warnings: Final = template_warnings(of_pods=False)
_KEEPS_ALL: Final = "a negative value retains all historical revisions; a value >= 0 is recommended"


def _warn(new: Object, old: Object | None) -> Sequence[str]:
    spec, found = new["spec"], [*_template_warnings(new, old)]
    for index, claim in enumerate(spec.get("volumeClaimTemplates") or ()):
        part = "" if old is None else ".Spec"  # as the original tells it
        found += claim_warnings(f"spec.volumeClaimTemplates[{index}]{part}", claim.get("spec") or {})
    if (spec.get("revisionHistoryLimit") or 0) < 0:
        found.append(f"spec.revisionHistoryLimit: {_KEEPS_ALL}")
    return found


behaviour = Behaviour(
    defaults=_fill,
    prepare=prepare_template({"replicas": 0, "availableReplicas": 0}),
    validate=_validate,
    warn=_warn,
    generation=another_spec,
    parts={"status": Part(validate=_status), "scale": Part(warn=_warn)},
)
