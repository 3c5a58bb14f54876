"""Resource pool status requests: a question about the devices of a pool, answered once in the status."""

from __future__ import annotations

from typing import Final

from pilothouse.builtin.resource import words
from pilothouse.builtin.shared.conditions import conditions
from pilothouse.machinery import names
from pilothouse.machinery.rules import Field, at, defaults, immutable_null, on_create, rules, sees_absent
from pilothouse.registry.behaviour import Behaviour, Part

_LEAST: Final = 1
_MOST: Final = 1000


@sees_absent
def _driver(value: str | None, field: Field) -> None:
    words.mixed_case_driver(value, field)


def _pool(value: str, field: Field) -> None:
    for index, part in enumerate(value.split("/")):
        if not part:
            field.invalid("", value, f"segment {index}: must not be empty")
            continue
        for why in names.subdomain(part):
            field.invalid("", value, f"segment {index}: {why}")


def _limit(value: int, field: Field) -> None:
    if value < _LEAST:
        field.invalid("", value, f"must be greater than or equal to {_LEAST}")
    if value > _MOST:
        field.invalid("", value, f"must be less than or equal to {_MOST}")


behaviour: Final = Behaviour(
    defaults=defaults({"spec.limit": 100}),
    validate=rules(
        on_create(at("spec.driver", _driver)),
        on_create(at("spec.poolName", _pool)),
        on_create(at("spec.limit", _limit)),
        at("spec", immutable_null),
    ),
    parts={"status": Part(validate=rules(at("status.conditions", conditions)))},
)
