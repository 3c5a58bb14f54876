"""Resource claim templates: claims that are made for each pod."""

from __future__ import annotations

from typing import Any, Final

from pilothouse.builtin.resource import claims
from pilothouse.builtin.shared.claims import template_metadata
from pilothouse.builtin.shared.internals import internal
from pilothouse.machinery.rules import IMMUTABLE, Field, at, defaults, on_create, rules
from pilothouse.registry.behaviour import Behaviour, Context, Object

_PACKAGE: Final = "k8s.io/api/resource/v1"


def _prepare(new: Object, old: Object | None, context: Context) -> None:
    claims.drop_gated(new["spec"]["spec"])


def _template_stays(value: Object, field: Field) -> None:
    if not field.updating or value == field.root_old["spec"]:
        return
    shown: dict[str, Any] = dict(value.get("metadata") or {})
    shown["Spec"] = internal("ResourceClaimSpec", value["spec"], _PACKAGE)
    field.invalid("", shown, IMMUTABLE)


behaviour: Final = Behaviour(
    defaults=defaults({"spec.spec": claims.fill_spec}),
    prepare=_prepare,
    validate=rules(
        on_create(at("spec.metadata", template_metadata)),
        on_create(at("spec.spec", claims.spec_rules)),
        at("spec", _template_stays),
        at("spec.spec", claims.declared_spec_rules),
    ),
)
