"""One description of a type for everything that walks objects: decoding, pruning, protobuf, patches, apply, OpenAPI.

A `Schema` of a built-in kind is made from the table of API types (`builtin/types.py`), that of a custom resource from
its
structural schema. Walkers compile themselves from it once and keep what they compiled in `Schema.compiled`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Final

# What a Schema can be. Scalars are named after what the original's decoder makes of them.
STRUCT: Final = "struct"
MAP: Final = "map"
LIST: Final = "list"
STRING: Final = "string"
BOOL: Final = "bool"
INT32: Final = "int32"
INT64: Final = "int64"
FLOAT64: Final = "float64"
BYTES: Final = "bytes"  # base64 text in JSON
QUANTITY: Final = "quantity"
INT_OR_STRING: Final = "int-or-string"
TIME: Final = "time"
MICRO_TIME: Final = "micro-time"
DURATION: Final = "duration"
FIELDS_V1: Final = "fields-v1"
RAW: Final = "raw"  # an embedded object, kept as it came (RawExtension)
JSON: Final = "json"  # any JSON value


class Field:
    """One field of a struct: its JSON name, what is under it, and how the original's encoder treats its absence.

    `pointer`: absence and zero differ. `omitempty`: a zero value that is not a pointer (and any empty list or map) is
    left out on output.
    `number`, `wire`: protobuf (0 where it has none). `inline`: the fields of `schema` stand in the outer object
    (JSON), while
    protobuf nests them as field `number`.
    """

    __slots__ = (
        "_make", "_schema", "default", "inline", "name", "number", "omitempty", "omitzero",
        "patch_merge_key", "patch_strategy", "pointer", "repeated", "wire",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        make: Callable[[], Schema],
        *,
        omitempty: bool = True,
        omitzero: bool = False,
        pointer: bool = False,
        inline: bool = False,
        number: int = 0,
        wire: str = "",
        repeated: bool = False,
        patch_merge_key: str = "",
        patch_strategy: frozenset[str] = frozenset(),
        default: Any = None,
    ) -> None:
        self.name = name
        self._make = make
        self._schema: Schema | None = None
        self.omitempty = omitempty
        self.omitzero = omitzero
        self.pointer = pointer
        self.inline = inline
        self.number = number
        self.wire = wire
        self.repeated = repeated
        self.patch_merge_key = patch_merge_key
        self.patch_strategy = patch_strategy  # of "merge", "replace", "retainKeys"
        self.default = default  # of a list-map key only: {"protocol": "TCP"}

    @property
    def schema(self) -> Schema:
        """Made at first use, so that recursive types are no problem and unused ones cost nothing."""
        if self._schema is None:
            self._schema = self._make()
        return self._schema


class Schema:
    """A type. `kind` says which of the other attributes mean something.

    STRUCT: `fields` in declaration order (inline ones as such), `properties` with inline ones flattened, `map_type`
    "granular" or "atomic".
    MAP: `items` is the value, `map_type`. LIST: `items`, `list_type` "atomic", "set" or "map" with `list_keys`.
    `preserve_unknown`: unknown fields of a STRUCT are kept (custom resources). `union`: (discriminator or "", member
    fields) of each union.
    """

    __slots__ = (
        "_fields", "_items", "_make_fields", "_make_items", "_properties", "compiled", "defaults", "embedded", "kind",
        "list_keys", "list_type", "map_type", "name", "nullable", "package", "preserve_unknown", "shortest", "stamped",
        "union",
    )  # fmt: skip

    def __init__(
        self,
        kind: str,
        *,
        package: str = "",
        name: str = "",
        fields: Callable[[], Sequence[Field]] | None = None,
        items: Callable[[], Schema] | None = None,
        list_type: str = "atomic",
        list_keys: tuple[str, ...] = (),
        map_type: str = "granular",
        preserve_unknown: bool = False,
        nullable: bool = False,
        embedded: bool = False,
        union: tuple[tuple[str, tuple[str, ...]], ...] = (),
    ) -> None:
        self.kind = kind
        self.package = package  # "k8s.io/api/core/v1"
        self.name = name  # "Pod", or the name of the scalar type ("Protocol", "int32")
        self._make_fields = fields
        self._make_items = items
        self._fields: Sequence[Field] | None = None
        self._properties: dict[str, Field] | None = None
        self._items: Schema | None = None
        self.list_type = list_type
        self.list_keys = list_keys
        self.map_type = map_type
        self.preserve_unknown = preserve_unknown
        self.nullable = nullable
        self.embedded = embedded
        self.union = union
        self.shortest = 0  # bytes of JSON that a value has at least, with its defaults; 0 where nobody has counted
        # Members in JSON that are added where they are missing, if not longer ones.
        self.defaults: tuple[bytes, ...] = ()
        self.stamped = False  # its values come again and again, out of templates: what is worked out of one is kept
        self.compiled: dict[Hashable, Any] = {}  # walkers made from this schema, by the walker's name

    @property
    def fields(self) -> Sequence[Field]:
        if self._fields is None:
            self._fields = tuple(self._make_fields()) if self._make_fields is not None else ()
        return self._fields

    @property
    def properties(self) -> dict[str, Field]:
        """By JSON name, in the order of the original's output."""
        if self._properties is None:
            found: dict[str, Field] = {}
            for field in self.fields:
                if field.inline:
                    found.update(field.schema.properties)
                else:
                    found[field.name] = field
            self._properties = found
        return self._properties

    @property
    def items(self) -> Schema:
        """Of a LIST or MAP."""
        if self._items is None:
            if self._make_items is None:
                raise TypeError(f"{self.kind} {self.name} has no items")
            self._items = self._make_items()
        return self._items

    def __repr__(self) -> str:
        return f"Schema({self.kind}, {self.package}.{self.name})" if self.package else f"Schema({self.kind})"


_FREE_FORM: Final = frozenset({RAW, JSON})


def free_form(schema: Schema) -> bool:
    """Whether any JSON may stand somewhere in a value of the type, so that true can take the place of 1."""
    known: bool | None = schema.compiled.get("free_form")
    if known is not None:
        return known
    seen = {id(schema): schema}
    todo = [schema]
    found = False
    for one in todo:
        found = one.kind in _FREE_FORM or one.preserve_unknown
        if found:
            break
        below = [field.schema for field in one.properties.values()] if one.kind == STRUCT else []
        if one.kind in (MAP, LIST):
            below = [one.items]
        for inner in below:
            if id(inner) not in seen:
                seen[id(inner)] = inner
                todo.append(inner)
    for one in [schema] if found else todo:
        one.compiled["free_form"] = found
    return found
