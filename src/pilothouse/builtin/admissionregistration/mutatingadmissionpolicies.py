"""Mutating admission policies: expressions that change what is written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pilothouse.builtin.admissionregistration import matching, policies
from pilothouse.machinery.rules import Field, at, one_of, required, rules
from pilothouse.registry.behaviour import Behaviour, Object

_PATCHES: Final = {"ApplyConfiguration": "applyConfiguration", "JSONPatch": "jsonPatch"}
_REINVOCATIONS: Final = ("IfNeeded", "Never")


def _mutation(value: Object, field: Field) -> None:
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
        for other in _PATCHES.values():
            if other != own and value.get(other) is not None:
                field.invalid(other, f"{{{other}}}", f"must not be specified when patchType is {kind}")


def _mutations(value: Object, field: Field) -> None:
    policies.variables(value, field)
    mutations: Sequence[Object] = value.get("mutations") or ()
    if not mutations:
        field.required("mutations", "mutations must contain at least one item")
    field.each("mutations", _mutation, mutations)


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
