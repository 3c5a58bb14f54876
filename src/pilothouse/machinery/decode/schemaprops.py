"""The three fields of JSONSchemaProps that hold a schema or something else: lists of schemas, a boolean, a list of
texts.

The original reads them by hand-written decoders: what is inside is not checked for unknown fields, and other JSON is
passed over.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from pilothouse.machinery.decode.findings import Findings, Mismatch
from pilothouse.machinery.decode.scalars import strings

_Decode = Callable[[Any, Findings], dict[str, Any]]


def _schema(value: Any, findings: Findings, decode: _Decode) -> dict[str, Any]:
    own = Findings()
    made = decode(value, own)
    findings.inexact = findings.inexact or own.inexact
    return made


def _schema_or_list(value: Any, findings: Findings, decode: _Decode) -> Any:
    if value.__class__ is dict:
        return _schema(value, findings, decode)
    if value.__class__ is list:
        return [_schema(item, findings, decode) for item in value] or None
    return None


def _schema_or_bool(value: Any, findings: Findings, decode: _Decode) -> Any:
    if value.__class__ is dict:
        return _schema(value, findings, decode)
    if value.__class__ is bool:
        return value
    raise Mismatch


def _schema_or_strings(value: Any, findings: Findings, decode: _Decode) -> Any:
    if value.__class__ is dict:
        return _schema(value, findings, decode)
    if value.__class__ is list:
        return strings(value) or None
    return None


JSON_SCHEMA_CHOICES: Final = {
    "JSONSchemaPropsOrArray": _schema_or_list,
    "JSONSchemaPropsOrBool": _schema_or_bool,
    "JSONSchemaPropsOrStringArray": _schema_or_strings,
}
