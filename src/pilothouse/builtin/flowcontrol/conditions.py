"""Conditions in the status of flow schemas and priority levels: each type once."""

from __future__ import annotations

from typing import Final

from pilothouse.machinery.rules import Field, Rule, each_once
from pilothouse.registry.behaviour import Object


def _condition(value: Object, field: Field) -> None:
    if not value.get("type"):
        field.required("type")


unique_conditions: Final[Rule] = each_once("type", _condition)
