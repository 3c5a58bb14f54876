"""Mutating admission policies: expressions that change what is written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pilothouse.admission.expressions import JSON_PATCH, OBJECT
from pilothouse.builtin.admissionregistration import matching, policies
from pilothouse.cel.environment import Environment
from pilothouse.cel.types import list_of
from pilothouse.machinery.rules import Field, at, one_of, required, rules
from pilothouse.registry.behaviour import Behaviour, Object

_PATCHES: Final = {"ApplyConfiguration": "applyConfiguration", "JSONPatch": "jsonPatch"}
_MADE: Final = {"ApplyConfiguration": OBJECT, "JSONPatch": list_of(JSON_PATCH)}
_REINVOCATIONS: Final = ("IfNeeded", "Never")


def _mutation(value: Object, field: Field, within: Environment) -> None:
    kind = value.get("patchType", "")
    own = _PATCHES.get(kind)
    if not kind:
        field.required("patchType")
    elif own is None:
        field.not_supported("patchType", kind, tuple(_PATCHES))
    else:
        patch = value.get(own)
        if patch is None:
            field.required(own, f"must be specified when patchType is {kind}")
        elif not patch.get("expression", "").strip():
            field.required(f"{own}.expression")
        else:
            policies.compiles(field, f"{own}.expression", patch["expression"], within, _MADE[kind])
        for other in _PATCHES.values():
            if other != own and value.get(other) is not None:
                field.invalid(other, f"{{{other}}}", f"must not be specified when patchType is {kind}")


def _mutations(value: Object, field: Field) -> None:
    within = policies.variables(value, field, mutating=True).within
    mutations: Sequence[Object] = value.get("mutations") or ()
    if not mutations:
        field.required("mutations", "mutations must contain at least one item")
    field.each("mutations", lambda one, inner: _mutation(one, inner, within), mutations, alone=True)


behaviour: Final = Behaviour(
    defaults=policies.fill_policy,
    validate=rules(
        *policies.first_rules,
        at("spec.matchConstraints", matching.no_deletes),
        *policies.then_rules,
        at("spec", _mutations),
        at("spec.reinvocationPolicy", required, one_of(*_REINVOCATIONS)),
    ),
)
