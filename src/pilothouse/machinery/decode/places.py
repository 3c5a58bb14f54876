"""What the exact walk asks of a type: where its fields stand, and what is wrong in which of them ends decoding."""

from __future__ import annotations

from typing import Final

from pilothouse.machinery import schema as s
from pilothouse.machinery.decode.schemaprops import JSON_SCHEMA_CHOICES
from pilothouse.machinery.schema import Schema

FITS: Final[dict[str, type]] = {s.STRING: str, s.BOOL: bool}  # whatever the value is
_ENDING: Final = frozenset((s.QUANTITY, s.INT_OR_STRING, s.TIME, s.MICRO_TIME, s.DURATION))


def ends_decoding(schema: Schema) -> bool:
    """Whether what is wrong in a value of this type may end decoding."""
    known: bool | None = schema.compiled.get("decode.ends")
    if known is None:
        schema.compiled["decode.ends"] = True  # of a type that holds itself
        if schema.kind == s.STRUCT:
            known = any(ends_decoding(field.schema) for field in schema.fields)
        elif schema.kind in (s.MAP, s.LIST):
            known = ends_decoding(schema.items)
        else:
            known = schema.kind in _ENDING or schema.name in JSON_SCHEMA_CHOICES
        schema.compiled["decode.ends"] = known
    return known


_Place = tuple[Schema, tuple[str, ...], type | None]


def field_places(schema: Schema) -> dict[str, _Place]:
    """The type of each field by its JSON name, the Go names of the inlined structs that it stands in, and the class of
    what surely fits.
    """
    made: dict[str, _Place] | None = schema.compiled.get("decode.places")
    if made is None:
        made = {}
        for field in schema.fields:
            if field.inline:
                for name, (inner, above, fits) in field_places(field.schema).items():
                    made[name] = (inner, (field.schema.name, *above), fits)
            else:
                made[field.name] = (field.schema, (), FITS.get(field.schema.kind))
        schema.compiled["decode.places"] = made
    return made


def ending_fields(schema: Schema) -> frozenset[str]:
    """The fields in which something may end decoding."""
    made: frozenset[str] | None = schema.compiled.get("decode.ending")
    if made is None:
        made = frozenset(name for name, place in field_places(schema).items() if ends_decoding(place[0]))
        schema.compiled["decode.ending"] = made
    return made
