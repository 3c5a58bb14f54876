"""Resource claims: devices that pods want, and which they got."""

from __future__ import annotations

from typing import Final

from pilothouse.builtin.resource import claims, claimstatus
from pilothouse.machinery.rules import at, defaults, immutable_null, on_create, rules
from pilothouse.registry.behaviour import Behaviour, Context, Object, Part


def _prepare(new: Object, old: Object | None, context: Context) -> None:
    claims.drop_gated(new["spec"])


behaviour: Final = Behaviour(
    defaults=defaults({"spec": claims.fill_spec}),
    prepare=_prepare,
    validate=rules(
        on_create(at("spec", claims.spec_rules)),
        on_create(at("spec", claims.declared_spec_rules)),
        at("spec", immutable_null),
    ),
    parts={
        "status": Part(validate=rules(at("status", claimstatus.status_rules), at("status", claimstatus.declared_rules)))
    },
)
