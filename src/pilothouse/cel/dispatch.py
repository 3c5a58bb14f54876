"""Calls whose arguments are known at run time only: the signature is chosen by the values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from pilothouse.cel.declarations import Overload
from pilothouse.cel.types import Type
from pilothouse.cel.values import NO_OVERLOAD, Duration, Fault, Meter, Optional, Timestamp, TypeValue, UInt
from pilothouse.cel.work import counted, size_of

_KINDS: Final[dict[str, Callable[[Any], bool]]] = {
    "bool": lambda value: value.__class__ is bool,
    "int": lambda value: value.__class__ is int,
    "uint": lambda value: value.__class__ is UInt,
    "double": lambda value: value.__class__ is float,
    "string": lambda value: value.__class__ is str,
    "bytes": lambda value: value.__class__ is bytes,
    "null": lambda value: value is None,
    "timestamp": lambda value: isinstance(value, Timestamp),
    "duration": lambda value: isinstance(value, Duration),
    "list": lambda value: isinstance(value, list),
    "map": lambda value: isinstance(value, dict),
    "object": lambda value: isinstance(value, dict),
    "optional_type": lambda value: isinstance(value, Optional),
    "type": lambda value: isinstance(value, TypeValue),
    "dyn": lambda value: True,
    "param": lambda value: True,
}


def _is(value: Any, wanted: Type) -> bool:
    if wanted.kind == "opaque":
        return bool(getattr(value, "type_name", None) == wanted.name)
    if not _KINDS[wanted.kind](value):
        return False
    if wanted.kind == "list" and wanted.params[0].kind not in ("param", "dyn") and value:
        return _is(value[0], wanted.params[0])
    if wanted.kind == "optional_type" and value.there:
        return _is(value.held, wanted.params[0])
    return True


def _cost(one: Overload, args: Sequence[Any]) -> int:
    if one.work is None:
        return 1
    return one.work([max(0, args[0])] if one.work is counted else [size_of(arg) for arg in args])


def dispatcher(overloads: Sequence[Overload]) -> Callable[..., tuple[Any, int]]:
    """`f(meter, *args)`: the result and the cost of the call. Raises Fault where no signature fits."""

    def call(meter: Meter, *args: Any) -> tuple[Any, int]:
        for one in overloads:
            if all(map(_is, args, one.args)):
                made = one.run(*args, meter) if one.metered else one.run(*args)
                return made, _cost(one, args)
        raise Fault(NO_OVERLOAD)

    return call
