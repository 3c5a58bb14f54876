"""What an expression may speak of: variables with their types, functions, names of types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pilothouse.cel import types
from pilothouse.cel.declarations import Functions
from pilothouse.cel.types import Type

NAMED_TYPES: Final[dict[str, Type]] = {
    "bool": types.BOOL, "int": types.INT, "uint": types.UINT, "double": types.DOUBLE, "string": types.STRING,
    "bytes": types.BYTES, "null_type": types.NULL, "list": types.list_of(types.DYN),
    "map": types.map_of(types.DYN, types.DYN), "type": types.type_of(types.DYN),
    "google.protobuf.Timestamp": types.TIMESTAMP, "google.protobuf.Duration": types.DURATION,
    "optional_type": types.optional_of(types.DYN), "kubernetes.URL": types.opaque("kubernetes.URL"),
    "kubernetes.Quantity": types.opaque("kubernetes.Quantity"), "net.IP": types.opaque("net.IP"),
    "net.CIDR": types.opaque("net.CIDR"), "kubernetes.Semver": types.opaque("kubernetes.Semver"),
}  # fmt: skip


class Slot:
    """A variable: its name, its type, and how generated code calls it."""

    __slots__ = ("code", "name", "type")

    def __init__(self, name: str, kind: Type, code: str) -> None:
        self.name = name
        self.type = kind
        self.code = code


class Scope:
    """Variables of the environment. `bindings`: `cel.bind` is known."""

    def __init__(
        self,
        variables: Mapping[str, Type],
        functions: Functions,
        structs: Mapping[str, Type] | None = None,
        *,
        bindings: bool = False,
    ) -> None:
        self.functions = functions
        self.structs = structs or {}
        self.bindings = bindings
        self.variables = {name: Slot(name, kind, f"b{place}") for place, (name, kind) in enumerate(variables.items())}
