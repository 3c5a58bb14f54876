"""Formats with names: what they say of a text."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from pilothouse.cel import work
from pilothouse.cel.declarations import Overload, overload
from pilothouse.cel.library.urls import parse_problem
from pilothouse.cel.values import NONE, Optional
from pilothouse.machinery import names
from pilothouse.machinery.structural.formats import FORMATS

_UUID: Final = re.compile(r"[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}", re.IGNORECASE)
_PATTERN_LENGTH: Final = 128  # letters of the longest pattern behind a format


class Format:
    """`problems` of a text; none where it is of the format."""

    __slots__ = ("name", "problems")

    type_name: Final = "kubernetes.NamedFormat"

    def __init__(self, name: str, problems: Callable[[str], list[str]]) -> None:
        self.name = name
        self.problems = problems

    def validate(self, text: str) -> Optional:
        found = self.problems(text)
        return Optional(found) if found else NONE


def _uri(text: str) -> list[str]:
    why = parse_problem(text)
    return [why] if why else []


def _known(word: str, why: str) -> Callable[[str], list[str]]:
    test = FORMATS[word]
    return lambda text: [] if test(text) else [why]


def _uuid(text: str) -> list[str]:
    return [] if _UUID.fullmatch(text) else ["does not match the UUID format"]


NAMED: Final = {
    name: Format(name, problems)
    for name, problems in (
        ("dns1123Label", names.label),
        ("dns1123Subdomain", names.subdomain),
        ("dns1035Label", names.label_1035),
        ("qualifiedName", names.qualified_name),
        ("dns1123LabelPrefix", names.prefix_of(names.label)),
        ("dns1123SubdomainPrefix", names.prefix_of(names.subdomain)),
        ("dns1035LabelPrefix", names.prefix_of(names.label_1035)),
        ("labelValue", names.label_value),
        ("uri", _uri),
        ("uuid", _uuid),
        ("byte", _known("byte", "invalid base64")),
        ("date", _known("date", "invalid date")),
        ("datetime", _known("datetime", "invalid datetime")),
    )
}


def _named(name: str) -> Optional:
    found = NAMED.get(name)
    return Optional(found) if found is not None else NONE


def _constant(one: Format) -> Overload:
    return overload(f"format.{one.name}", "() -> format", lambda: one)


_MATCHED: Final = work.by_name(_PATTERN_LENGTH)

NAMED_FORMATS: Final = (
    overload("format.named", "(string) -> optional(format)", _named),
    *map(_constant, NAMED.values()),
    overload("validate", "format.(string) -> optional(list(string))", Format.validate, work=_MATCHED),
)
