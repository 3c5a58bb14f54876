"""Expressions that choose devices. Whether they compile is judged here; who chooses devices is the scheduler."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

from pilothouse.cel import types
from pilothouse.cel.declarations import named_type
from pilothouse.cel.environment import Environment, NotCompiled
from pilothouse.cel.types import Member, Type
from pilothouse.kit.memo import remembered

LONGEST: Final = 10 * 1024  # characters of an expression
TOO_COMPLEX: Final = "too complex, exceeds cost limit"
_COST: Final = 1_000_000  # units that a choice of devices may be estimated at
_VALUE: Final = 64  # letters of an attribute


class _Device:
    """What is known of a device: by domain and name its attributes and capacities."""

    _FIELDS: Final[Mapping[str, Type]] = {
        "driver": types.STRING,
        "attributes": types.map_of(types.STRING, types.map_of(types.STRING, types.DYN)),
        "capacity": types.map_of(types.STRING, types.map_of(types.STRING, named_type("quantity"))),
        "allowMultipleAllocations": types.BOOL,
    }

    def field(self, name: str) -> Member | None:
        kind = self._FIELDS.get(name)
        return Member(name, kind) if kind is not None else None


@cache
def _environment() -> Environment:
    return Environment({"device": Type("object", "kubernetes.DRADevice", fields=_Device())}, bindings=True)


@remembered(1024, LONGEST)
def selector_problem(expression: str) -> str:
    """What is wrong with a choice of devices; "" for nothing."""
    try:
        program = _environment().compile(expression)
    except NotCompiled as error:
        return f"compilation failed: {error}"
    if program.type.kind not in ("bool", "dyn"):
        return f"must evaluate to bool or the unknown type, not {program.type}"
    return TOO_COMPLEX if program.estimate(unknown=_VALUE) > _COST else ""
