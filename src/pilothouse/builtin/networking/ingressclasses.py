"""Ingress classes: which controller serves an ingress, and with what parameters."""

from __future__ import annotations

from typing import Final

from pilothouse.builtin.networking.references import typed_reference
from pilothouse.builtin.shared.fields import fixed, when_null
from pilothouse.builtin.shared.paths import domain_prefixed
from pilothouse.machinery import names
from pilothouse.machinery.rules import Field, at, defaults, required, rules
from pilothouse.registry.behaviour import Behaviour, Object

_LONGEST_CONTROLLER: Final = 250
_SCOPES: Final = ("Cluster", "Namespace")


_fill = defaults({"spec.parameters": when_null({"scope": "Cluster"})})


def _controller(value: str, field: Field) -> None:
    if len(value) > _LONGEST_CONTROLLER:
        field.too_long("", _LONGEST_CONTROLLER)
    domain_prefixed(value, field)


def _scope(value: Object, field: Field) -> None:
    scope, namespace = value.get("scope"), value.get("namespace")
    if scope is None:
        field.required("scope")
    elif scope not in _SCOPES:
        field.not_supported("scope", scope, _SCOPES)
    elif scope == "Cluster":
        if namespace is not None:
            field.forbidden("namespace", "`parameters.scope` is set to 'Cluster'")
    elif namespace is None:
        field.required("namespace", "`parameters.scope` is set to 'Namespace'")
    else:
        field.all_invalid("namespace", namespace, names.label(namespace))


behaviour: Final = Behaviour(
    defaults=_fill,
    validate=rules(
        at("spec.controller", fixed()),
        at("spec.controller", required, _controller),
        at("spec.parameters", typed_reference, _scope),
    ),
)
