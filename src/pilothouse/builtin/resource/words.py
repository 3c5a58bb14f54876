"""The vocabulary of dynamic resource allocation: drivers, pools, attributes, versions, opaque parameters."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any, Final

from pilothouse.builtin.resource.expressions import LONGEST, TOO_COMPLEX, selector_problem
from pilothouse.machinery import names
from pilothouse.machinery.rules import Field
from pilothouse.registry.behaviour import Object

MOST: Final = 32  # requests, constraints, configurations, selectors
_LONGEST_DRIVER: Final = 63
_LONGEST_POOL: Final = 253
_LONGEST_DOMAIN: Final = 63
_LONGEST_ID: Final = 32
_LONGEST_PARAMETERS: Final = 10 * 1024  # bytes of them as JSON
_HIDDEN: Final = "<value omitted>"
_NUMBER: Final = r"(0|[1-9]\d*)"
_PART: Final = r"(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)"
_VERSION: Final = re.compile(
    rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(?:-{_PART}(?:\.{_PART})*)?(?:\+[0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*)?", re.ASCII
)


def is_flat(field: Field) -> bool:
    """Whether the request is in v1beta1, in whose own form the second half of the rules tells its paths."""
    return field.context is not None and field.context.version == "v1beta1"


def driver(value: str, field: Field) -> None:
    """The name of a driver in slices and results."""
    if not value:
        field.required()
        return
    if len(value) > _LONGEST_DRIVER:
        field.too_long("", _LONGEST_DRIVER)
    field.all_invalid(
        "", value, names.subdomain(value.lower() if value != value.lower() and "_" not in value else value)
    )


def mixed_case_driver(value: Any, field: Field) -> None:
    """The name of a driver in configurations, in the words of the declarative rules."""
    if not value:
        field.required()
    elif len(value) > _LONGEST_DRIVER:
        field.add("", "FieldValueTooLong", f"Too long: may not be more than {_LONGEST_DRIVER} characters")
    else:
        field.all_invalid("", value, names.mixed_case_subdomain(value))


def pool(value: str, field: Field) -> None:
    """Subdomains with slashes between."""
    if not value:
        field.required()
        return
    if len(value) > _LONGEST_POOL:
        field.too_long("", _LONGEST_POOL)
    for part in value.split("/"):
        field.all_invalid("", part, names.subdomain(part))


def label(value: str, field: Field) -> None:
    field.all_invalid("", value, names.label(value))


def _identifier(value: str, field: Field) -> None:
    if len(value) > _LONGEST_ID:
        field.too_long("", _LONGEST_ID)
    field.all_invalid("", value, names.c_identifier(value))


def qualified_name(value: str, field: Field) -> None:
    """The name of an attribute or capacity: an identifier, with a domain before it or not."""
    domain, slash, name = value.partition("/")
    if not slash:
        _identifier(value, field)
        return
    if not domain:
        field.invalid("", "", "the domain must not be empty")
    else:
        if len(domain) > _LONGEST_DOMAIN:
            field.too_long("", _LONGEST_DOMAIN)
        field.all_invalid("", domain, names.subdomain(domain))
    if not name:
        field.invalid("", "", "the name must not be empty")
    else:
        _identifier(name, field)


def are_plain(values: Sequence[str]) -> bool:
    """Whether surely all are good for `qualified_name`: short identifiers."""
    return names.are_c_identifiers(values) and max(map(len, values)) <= _LONGEST_ID


def fully_qualified_name(value: str, field: Field) -> None:
    """As a qualified name, and the domain must be there; in the words of the declarative rules."""
    domain, slash, name = value.partition("/")
    if not slash:
        _identifier(value, field)
        field.invalid("", value, "a fully qualified name must be a domain and a name separated by a slash")
        return
    if not domain:
        field.invalid("", "", "prefix must not be empty")
    else:
        field.all_invalid("", domain, names.subdomain(domain))
    if not name:
        field.invalid("", "", "name must not be empty")
    else:
        _identifier(name, field)


def is_version(value: str) -> bool:
    """A semantic version 2.0.0."""
    return _VERSION.fullmatch(value) is not None


def json_object(value: Any, field: Field) -> None:
    """Rule for free-form parameters or data: a JSON object of no great size."""
    if value is None:
        field.required()
    elif len(json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()) > _LONGEST_PARAMETERS:
        field.too_long("", _LONGEST_PARAMETERS)
    elif not isinstance(value, dict):
        field.invalid("", _HIDDEN, "must be a valid JSON object")


def opaque(value: Object, field: Field) -> None:
    """Rule for a configuration: something opaque, whose parameters are a JSON object."""
    found = value.get("opaque")
    if found is None:
        field.required("opaque")
        return
    field.within("opaque.parameters", json_object, found.get("parameters"))


def opaque_driver(value: Object, field: Field) -> None:
    """The declarative half of `opaque`."""
    found = value.get("opaque")
    if found is not None:
        field.within("opaque.driver", mixed_case_driver, found.get("driver", ""))


def each_of(
    field: Field, path: str, rule: Callable[[Any, Field], None], items: Sequence[Any] | None, most: int
) -> None:
    """Judge each item, unless they are too many, which the second half of the rules tells."""
    if len(items or ()) <= most:
        field.each(path, rule, items)


def sized(field: Field, path: str, items: Sequence[Any] | None, most: int) -> bool:
    """The second half of `each_of`: whether they are few enough, told if not."""
    count = len(items or ())
    if count > most:
        field.too_many(path, count, most)
    return count <= most


def selector(value: Object, field: Field) -> None:
    found = value.get("cel")
    if found is None:
        field.required("cel")
        return
    expression = found.get("expression", "")
    if len(expression) > LONGEST:
        field.too_long("cel.expression", LONGEST)
        return
    why = selector_problem(expression)
    if why == TOO_COMPLEX:
        field.forbidden("cel.expression", why)
    elif why:
        field.invalid("cel.expression", expression, why)
