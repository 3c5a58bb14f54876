"""Conditions in the form that all newer kinds share."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from pilothouse.machinery import names as words
from pilothouse.machinery.rules import Field, each_once

_STATUSES: Final = ("False", "True", "Unknown")
_REASON: Final = re.compile(r"[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?", re.ASCII)
_REASON_TEXT: Final = (
    "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric "
    "characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or "
    "'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is "
    "'[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')"
)
_MAX_REASON: Final = 1024
_MAX_MESSAGE: Final = 32 * 1024

Object = Mapping[str, Any]


def _condition(value: Object, field: Field) -> None:
    kind, status, reason = value.get("type", ""), value.get("status", ""), value.get("reason", "")
    if not kind:
        field.required("type", "is required")
    else:
        field.all_invalid("type", kind, words.qualified_name(kind))
    if status not in _STATUSES:
        field.not_supported("status", status, _STATUSES)
    generation = value.get("observedGeneration", 0)
    if generation < 0:
        field.invalid("observedGeneration", generation, "must be greater than or equal to zero")
    if value.get("lastTransitionTime") is None:
        field.required("lastTransitionTime")
    if not reason:
        field.required("reason")
    else:
        if not _REASON.fullmatch(reason):
            field.invalid("reason", reason, _REASON_TEXT)
        if len(reason) > _MAX_REASON:
            field.too_long("reason", _MAX_REASON)
    if len(value.get("message", "")) > _MAX_MESSAGE:
        field.too_long("message", _MAX_MESSAGE)


conditions: Final = each_once("type", then=_condition)  # a rule for the whole list
