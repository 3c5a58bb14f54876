"""Device classes: devices that can be asked for by one name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pilothouse.builtin.resource import words
from pilothouse.builtin.shared.objectnames import declared_subdomain_name
from pilothouse.machinery import names
from pilothouse.machinery.rules import Field, at, rules
from pilothouse.registry.behaviour import Behaviour, Object

_RESERVED: Final = "requests."


def _selectors(value: Sequence[Object], field: Field) -> None:
    words.each_of(field, "", words.selector, value, words.MOST)


def _configurations(value: Sequence[Object], field: Field) -> None:
    words.each_of(field, "", words.opaque, value, words.MOST)


# -- second half


def _declared_selectors(value: Sequence[Object], field: Field) -> None:
    words.sized(field, "", value, words.MOST)


def _declared_configurations(value: Sequence[Object], field: Field) -> None:
    if words.sized(field, "", value, words.MOST):
        field.each("", words.opaque_driver, value)


def _extended_name(value: str, field: Field) -> None:
    if "/" not in value:
        field.invalid("", value, "a name must be a domain-prefixed path, such as 'example.com/my-prop'")
        return
    if value.startswith(_RESERVED):
        field.invalid("", value, f'must not have "{_RESERVED}" prefix')
    field.all_invalid("", value, names.qualified_name(value))


behaviour: Final = Behaviour(
    validate=rules(
        at("spec.selectors", _selectors),
        at("spec.config", _configurations),
        declared_subdomain_name,
        at("spec.selectors", _declared_selectors),
        at("spec.config", _declared_configurations),
        at("spec.extendedResourceName", _extended_name),
    )
)
