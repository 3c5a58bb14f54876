"""Frozen values with fields, cheaper than those of `dataclass(frozen=True, slots=True)`, of which the server has 150.

A frozen dataclass compiles six functions when its class is made, a third of the time to start the server, and stores
each field through `object.__setattr__`, half of the time to make a value. Here only `__init__` is compiled; equality,
hash and text are shared. That nobody assigns to a field is checked where it costs nothing: by the type checker.
`dataclasses.replace`, `fields` and `field(default_factory=...)` work as ever.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(cls: type[T]) -> type[T]:
    """Make `cls` a frozen value of its annotated fields. Raises what `dataclass` raises."""
    made = dataclass(repr=False, eq=False, slots=True)(cls)
    fields = made.__dataclass_fields__.values()  # type: ignore[attr-defined]
    if "__eq__" not in cls.__dict__:
        compared = tuple(one.name for one in fields if one.compare)
        hashed = tuple(one.name for one in fields if (one.compare if one.hash is None else one.hash))
        made.__eq__ = _equality(_values(compared))  # type: ignore[method-assign]
        made.__hash__ = _hash(_values(hashed))  # type: ignore[method-assign]
    if "__repr__" not in cls.__dict__:
        made.__repr__ = _shown  # type: ignore[method-assign]
    return made


def _values(names: tuple[str, ...]) -> Any:
    if not names:
        return lambda value: ()
    if len(names) > 1:
        return attrgetter(*names)
    only = attrgetter(names[0])
    return lambda value: (only(value),)


def _equality(values: Any) -> Any:
    def equal(self: object, other: object) -> Any:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    return equal


def _hash(values: Any) -> Any:
    def hashed(self: object) -> int:
        return hash(values(self))

    return hashed


def _shown(self: Any) -> str:
    shown = (f"{name}={getattr(self, name)!r}" for name, one in self.__dataclass_fields__.items() if one.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"
