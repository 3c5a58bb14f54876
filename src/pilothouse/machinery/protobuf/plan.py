"""From a Schema to the message it is on the wire: one `Slot` for each field, in the order of the field numbers.

What is a plain value in JSON but a message in protobuf (times, quantities, the unions of JSONSchemaProps...) is
described here once as a small Schema of its own (`message_of`), so that encoder, decoder and `repair` need no second
table.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, Final

from pilothouse.kit.record import record
from pilothouse.machinery import schema as s
from pilothouse.machinery.schema import Field, Schema

ONE: Final = "one"
LIST: Final = "list"
MAP: Final = "map"
INLINE: Final = "inline"  # nested in protobuf, part of the outer object in JSON

WRAPPED: Final = "wrapped"  # a named list type: a message with `items`
OR_ARRAY: Final = "JSONSchemaPropsOrArray"
OR_BOOL: Final = "JSONSchemaPropsOrBool"
OR_STRINGS: Final = "JSONSchemaPropsOrStringArray"

SCALARS: Final = frozenset({s.STRING, s.BOOL, s.INT32, s.INT64, s.FLOAT64, s.BYTES})
VARINTS: Final = frozenset({s.BOOL, s.INT32, s.INT64})
UNIONS: Final = frozenset({OR_ARRAY, OR_BOOL, OR_STRINGS})
RAWS: Final = frozenset({s.FIELDS_V1, s.RAW, s.JSON})

# Fields whose Go type is a named list, wrapped into a message. Map values that are lists always are.
_WRAPPED_FIELDS: Final = frozenset({("k8s.io/apimachinery/pkg/apis/meta/v1", "APIResource", "verbs")})


@record
class Slot:
    """A field on the wire. `kind` is what one value is, `schema` its type (of a union: its JSONSchemaProps)."""

    number: int
    name: str
    place: int  # in the order of the JSON form
    label: str
    kind: str
    schema: Schema
    pointer: bool
    omitempty: bool
    omitzero: bool

    @property
    def required(self) -> bool:
        """Written even when zero."""
        return self.label == INLINE or (self.label == ONE and not self.pointer and self.kind not in (s.BYTES, WRAPPED))

    @property
    def go_name(self) -> str:
        """For messages about the field; nearly always the original's name."""
        if self.kind == s.STRUCT and self.schema.name in ("ObjectMeta", "ListMeta") and self.name == "metadata":
            return self.schema.name
        return _GO_NAMES.get(self.name) or self.name[:1].upper() + self.name[1:]


_GO_NAMES: Final = {
    "apiGroup": "APIGroup", "apiGroups": "APIGroups", "apiVersion": "APIVersion", "apiVersions": "APIVersions",
    "caBundle": "CABundle", "cidr": "CIDR", "csi": "CSI", "dnsConfig": "DNSConfig", "dnsPolicy": "DNSPolicy",
    "fsType": "FSType", "http": "HTTP", "httpGet": "HTTPGet", "ip": "IP", "ipBlock": "IPBlock",
    "ipFamilies": "IPFamilies", "ipFamilyPolicy": "IPFamilyPolicy", "iscsi": "ISCSI", "nfs": "NFS", "rbd": "RBD",
    "tcpSocket": "TCPSocket", "tls": "TLS", "uid": "UID", "url": "URL",
}  # fmt: skip


def has_protobuf(schema: Schema) -> bool:
    """Whether a struct has a protobuf form: Table and the configuration files of servers do not."""
    return schema.kind == s.STRUCT and (bool(slots(schema)) or not any(not field.inline for field in schema.fields))


def slots(schema: Schema) -> tuple[Slot, ...]:
    """The fields of a STRUCT by number. Fields without a number (TypeMeta) are not on the wire."""
    made: tuple[Slot, ...] | None = schema.compiled.get("protobuf.slots")
    if made is None:
        found = [_slot(schema, field, place) for place, field in enumerate(schema.fields) if field.number]
        made = schema.compiled["protobuf.slots"] = tuple(sorted(found, key=lambda slot: slot.number))
    return made


def _slot(owner: Schema, field: Field, place: int) -> Slot:
    label, value = ONE, field.schema
    if field.inline:
        label = INLINE
    elif value.kind == s.MAP:
        label, value = MAP, value.items
    elif value.kind == s.LIST and (owner.package, owner.name, field.name) not in _WRAPPED_FIELDS:
        label, value = LIST, value.items
    kind = value.kind
    if kind == s.LIST:
        kind = WRAPPED
    elif kind == s.JSON and value.name in UNIONS:
        kind, value = value.name, owner
    return Slot(
        field.number, field.name, place, label, kind, value, field.pointer, field.omitempty, field.omitzero
    )  # fmt: skip


def nests_itself(schema: Schema) -> bool:
    """Whether the message may hold itself, so that its depth must be counted: JSONSchemaProps, nothing else so far."""
    made: bool | None = schema.compiled.get("protobuf.nests")
    if made is None:
        made = any(slot.kind in UNIONS or (slot.kind == s.STRUCT and slot.schema is schema) for slot in slots(schema))
        schema.compiled["protobuf.nests"] = made
    return made


def message_of(slot: Slot) -> Schema | None:
    """The message type of a slot's value; None for scalars."""
    if slot.kind in SCALARS:
        return None
    if slot.kind == s.STRUCT:
        return slot.schema
    if slot.kind in UNIONS:
        return _union(slot.kind, slot.schema)
    return _special(slot.kind)


def _of(kind: str) -> Callable[[], Schema]:
    return lambda: Schema(kind)


def _message(name: str, *fields: Field) -> Schema:
    return Schema(s.STRUCT, name=name, fields=lambda: fields)


@cache
def _special(kind: str) -> Schema:
    if kind in RAWS:
        return _message("RawExtension", Field("raw", _of(s.BYTES), number=1))
    if kind == s.QUANTITY:
        return _message("Quantity", Field("string", _of(s.STRING), number=1, pointer=True))
    if kind == s.INT_OR_STRING:
        return _message(
            "IntOrString",
            Field("type", _of(s.INT64), number=1),
            Field("intVal", _of(s.INT32), number=2),
            Field("strVal", _of(s.STRING), number=3),
        )
    if kind in (s.TIME, s.MICRO_TIME):
        # As pointers: the zero time is the empty message.
        return _message(
            "Timestamp",
            Field("seconds", _of(s.INT64), number=1, pointer=True),
            Field("nanos", _of(s.INT32), number=2, pointer=True),
        )
    if kind == s.DURATION:
        return _message("Duration", Field("duration", _of(s.INT64), number=1))
    if kind == WRAPPED:
        return _message("Items", Field("items", lambda: Schema(s.LIST, items=_of(s.STRING)), number=1, repeated=True))
    raise ProtobufPlanError(kind)


class ProtobufPlanError(TypeError):
    """A type that has no protobuf form stands where one is needed."""

    def __init__(self, kind: str) -> None:
        super().__init__(f"no protobuf form for {kind}")


def _union(kind: str, props: Schema) -> Schema:
    made: Schema | None = props.compiled.get(kind)
    if made is None:
        schema = Field("schema", lambda: props, number=1, pointer=True)
        if kind == OR_ARRAY:
            made = _message(kind, schema, Field("jSONSchemas", lambda: Schema(s.LIST, items=lambda: props), number=2))
        elif kind == OR_BOOL:
            made = _message(
                kind,
                Field("allows", _of(s.BOOL), number=1, omitempty=False),
                Field("schema", lambda: props, number=2, pointer=True),
            )
        else:
            made = _message(kind, schema, Field("property", lambda: Schema(s.LIST, items=_of(s.STRING)), number=2))
        made.compiled["protobuf.nests"] = True
        props.compiled[kind] = made
    return made


def to_union(kind: str, value: Any) -> dict[str, Any]:
    """The message behind the JSON form of a union of JSONSchemaProps."""
    if isinstance(value, dict):
        return {"allows": True, "schema": value} if kind == OR_BOOL else {"schema": value}
    if isinstance(value, bool) and kind == OR_BOOL:
        return {"allows": value}
    if isinstance(value, list) and kind == OR_ARRAY:
        return {"jSONSchemas": value}
    if isinstance(value, list) and kind == OR_STRINGS:
        return {"property": value}
    if value is None:
        return {}
    raise TypeError(f"{type(value).__name__} cannot be a {kind}")


def from_union(kind: str, message: dict[str, Any]) -> Any:
    """The JSON form of such a message."""
    if kind == OR_BOOL:
        return message["schema"] if "schema" in message else message["allows"]
    several = message.get("jSONSchemas" if kind == OR_ARRAY else "property")
    return several if several else message.get("schema")
