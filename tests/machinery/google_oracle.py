"""Google's protobuf runtime as a second opinion: descriptors made from the same table by other code.

A message is filled by what the original's Go types would hold after reading the JSON form, and written by the runtime.
"""

from __future__ import annotations

import base64
from datetime import UTC, datetime
from typing import Any

import orjson
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import Message

from pilothouse.machinery import schema as s
from pilothouse.machinery.schema import Field, Schema

_Proto = descriptor_pb2.FieldDescriptorProto
_SCALARS = {
    s.STRING: _Proto.TYPE_STRING, s.BOOL: _Proto.TYPE_BOOL, s.INT32: _Proto.TYPE_INT32, s.INT64: _Proto.TYPE_INT64,
    s.FLOAT64: _Proto.TYPE_DOUBLE, s.BYTES: _Proto.TYPE_BYTES,
}  # fmt: skip
# Messages that are not structs in the JSON form: name -> (field, number, type).
_SPECIALS = {
    s.QUANTITY: (("string", 1, _Proto.TYPE_STRING),),
    s.INT_OR_STRING: (
        ("type", 1, _Proto.TYPE_INT64),
        ("intVal", 2, _Proto.TYPE_INT32),
        ("strVal", 3, _Proto.TYPE_STRING),
    ),
    s.TIME: (("seconds", 1, _Proto.TYPE_INT64), ("nanos", 2, _Proto.TYPE_INT32)),
    s.MICRO_TIME: (("seconds", 1, _Proto.TYPE_INT64), ("nanos", 2, _Proto.TYPE_INT32)),
    s.FIELDS_V1: (("Raw", 1, _Proto.TYPE_BYTES),),
    s.RAW: (("raw", 1, _Proto.TYPE_BYTES),),
    s.JSON: (("raw", 1, _Proto.TYPE_BYTES),),
}
_UNIONS = {
    "JSONSchemaPropsOrArray": (("schema", 1, False), ("several", 2, True)),
    "JSONSchemaPropsOrBool": (("allows", 1, None), ("schema", 2, False)),
    "JSONSchemaPropsOrStringArray": (("schema", 1, False), ("texts", 2, None)),
}


class Oracle:
    """Messages of the struct types reached from those asked for."""

    def __init__(self) -> None:
        self._files: dict[str, descriptor_pb2.FileDescriptorProto] = {}
        self._pool = descriptor_pool.DescriptorPool()
        self._done: dict[str, Any] = {}

    def message(self, schema: Schema) -> Message:
        """A new message of a struct type."""
        name = _name(schema)
        if name not in self._done:
            file = descriptor_pb2.FileDescriptorProto(name=f"{name}.proto", package=f"of.{name}", syntax="proto2")
            self._declare(file, schema)
            self._pool.Add(file)
            found = self._pool.FindMessageTypeByName(f"of.{name}.{name}")
            self._done[name] = message_factory.GetMessageClass(found)
        made: Message = self._done[name]()
        return made

    def encode(self, schema: Schema, obj: dict[str, Any]) -> bytes:
        message = self.message(schema)
        fill(message, schema, obj)
        written: bytes = message.SerializeToString(deterministic=True)
        return written

    def normal(self, schema: Schema, data: bytes) -> bytes:
        """A message as the runtime writes it after reading `data`, without unknown fields."""
        message = self.message(schema)
        message.ParseFromString(data)
        message.DiscardUnknownFields()
        written: bytes = message.SerializeToString(deterministic=True)
        return written

    def _declare(self, file: descriptor_pb2.FileDescriptorProto, schema: Schema) -> str:
        name = _name(schema)
        if any(message.name == name for message in file.message_type):
            return f".{file.package}.{name}"
        message = file.message_type.add(name=name)
        for field in schema.fields:
            if field.number:
                self._field(file, message, schema, field)
        return f".{file.package}.{name}"

    def _field(
        self,
        file: descriptor_pb2.FileDescriptorProto,
        message: descriptor_pb2.DescriptorProto,
        owner: Schema,
        field: Field,
    ) -> None:
        name, under = f"f{field.number}", field.schema
        proto = message.field.add(name=name, number=field.number, label=_Proto.LABEL_OPTIONAL)
        wrapped = owner.name == "APIResource" and field.name == "verbs"
        if under.kind == s.MAP:
            entry = message.nested_type.add(name=f"F{field.number}Entry")
            entry.options.map_entry = True
            entry.field.add(name="key", number=1, type=_Proto.TYPE_STRING, label=_Proto.LABEL_OPTIONAL)
            value = entry.field.add(name="value", number=2, label=_Proto.LABEL_OPTIONAL)
            self._type(file, value, owner, under.items)
            proto.type, proto.label = _Proto.TYPE_MESSAGE, _Proto.LABEL_REPEATED
            proto.type_name = f".{file.package}.{message.name}.{entry.name}"
        elif under.kind == s.LIST and not wrapped:
            proto.label = _Proto.LABEL_REPEATED
            self._type(file, proto, owner, under.items)
        else:
            self._type(file, proto, owner, under)

    def _type(self, file: Any, proto: Any, owner: Schema, schema: Schema) -> None:
        if schema.kind in _SCALARS:
            proto.type = _SCALARS[schema.kind]
            return
        proto.type = _Proto.TYPE_MESSAGE
        if schema.kind == s.STRUCT:
            proto.type_name = self._declare(file, schema)
        elif schema.kind == s.LIST:
            proto.type_name = self._simple(file, "Items", (("items", 1, _Proto.TYPE_STRING),), repeated=True)
        elif schema.name in _UNIONS:
            proto.type_name = self._union(file, owner, schema.name)
        else:
            proto.type_name = self._simple(file, "X" + schema.kind.replace("-", "_"), _SPECIALS[schema.kind])

    def _simple(self, file: Any, name: str, fields: tuple[tuple[str, int, int], ...], repeated: bool = False) -> str:
        if all(message.name != name for message in file.message_type):
            message = file.message_type.add(name=name)
            for field, number, kind in fields:
                label = _Proto.LABEL_REPEATED if repeated else _Proto.LABEL_OPTIONAL
                message.field.add(name=field, number=number, type=kind, label=label)
        return f".{file.package}.{name}"

    def _union(self, file: Any, owner: Schema, name: str) -> str:
        if all(message.name != name for message in file.message_type):
            message = file.message_type.add(name=name)
            for field, number, many in _UNIONS[name]:
                proto = message.field.add(name=field, number=number)
                proto.label = _Proto.LABEL_REPEATED if many or field == "texts" else _Proto.LABEL_OPTIONAL
                if many is None:
                    proto.type = _Proto.TYPE_BOOL if field == "allows" else _Proto.TYPE_STRING
                else:
                    proto.type = _Proto.TYPE_MESSAGE
                    proto.type_name = f".{file.package}.{_name(owner)}"
        return f".{file.package}.{name}"


def _name(schema: Schema) -> str:
    return (schema.package + "/" + schema.name).replace("/", "_").replace(".", "_").replace("-", "_")


def fill(message: Any, schema: Schema, obj: dict[str, Any]) -> None:
    """What Go would hold: plain scalars and structs always, pointers, lists and maps where set."""
    for field in schema.fields:
        if not field.number:
            continue
        name, under = f"f{field.number}", field.schema
        if field.inline:
            inner = getattr(message, name)
            inner.SetInParent()
            fill(inner, under, obj)
            continue
        value = obj.get(field.name)
        wrapped = schema.name == "APIResource" and field.name == "verbs"
        if under.kind == s.MAP:
            for key, item in (value or {}).items():
                if under.items.kind in _SCALARS:
                    getattr(message, name)[key] = _scalar(under.items, item)
                else:
                    _fill_one(getattr(message, name)[key], under.items, item)
        elif under.kind == s.LIST and not wrapped:
            for item in value or ():
                if under.items.kind in _SCALARS:
                    getattr(message, name).append(_scalar(under.items, item))
                else:
                    _fill_one(getattr(message, name).add(), under.items, item)
        elif value is None and (field.pointer or under.kind == s.BYTES or wrapped):
            continue
        elif under.kind in _SCALARS:
            setattr(message, name, _scalar(under, value))
        else:
            inner = getattr(message, name)
            inner.SetInParent()
            _fill_one(inner, under, value)


def _scalar(schema: Schema, value: Any) -> Any:
    if schema.kind == s.BYTES:
        return base64.b64decode(value or "")
    return {s.STRING: "", s.BOOL: False}.get(schema.kind, 0) if value is None else value


def _fill_one(message: Any, schema: Schema, value: Any) -> None:
    if schema.kind == s.STRUCT:
        fill(message, schema, value or {})
    elif schema.kind == s.LIST:
        message.items.extend(value or ())
    elif schema.name in _UNIONS:
        _fill_union(message, schema.name, value)
    elif schema.kind == s.QUANTITY:
        message.string = value or "0"
    elif schema.kind == s.INT_OR_STRING:
        message.type = int(isinstance(value, str))
        message.intVal = 0 if isinstance(value, str) else value or 0
        message.strVal = value if isinstance(value, str) else ""
    elif schema.kind in (s.TIME, s.MICRO_TIME):
        if value is not None:
            moment = datetime.fromisoformat(value) - datetime(1970, 1, 1, tzinfo=UTC)
            message.seconds = moment.days * 86400 + moment.seconds
            message.nanos = moment.microseconds * 1000 if schema.kind == s.MICRO_TIME else 0
    elif value is not None:
        setattr(message, "Raw" if schema.kind == s.FIELDS_V1 else "raw", orjson.dumps(value))


def _fill_union(message: Any, kind: str, value: Any) -> None:
    props = message.DESCRIPTOR.fields_by_name["schema"].message_type
    if kind == "JSONSchemaPropsOrBool":
        message.allows = bool(value) if isinstance(value, bool) else isinstance(value, dict)
    if isinstance(value, dict):
        message.schema.SetInParent()
        _fill_props(message.schema, props, value)
    elif isinstance(value, list) and kind == "JSONSchemaPropsOrStringArray":
        message.texts.extend(value)
    elif isinstance(value, list):
        for item in value:
            _fill_props(message.several.add(), props, item)


def _fill_props(message: Any, props: Any, value: dict[str, Any]) -> None:
    fill(message, SCHEMA_OF_PROPS[props.name], value)


SCHEMA_OF_PROPS: dict[str, Schema] = {}


def remember_props(schema: Schema) -> None:
    """A JSONSchemaProps type, by the name its message has."""
    SCHEMA_OF_PROPS[_name(schema)] = schema
