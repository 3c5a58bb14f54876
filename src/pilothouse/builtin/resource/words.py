"""The vocabulary of dynamic resource allocation: drivers, pools, attributes, versions, opaque parameters."""

from __future__ import annotations

import re
from typing import Any, Final

from pilothouse.builtin.resource.expressions import LONGEST, TOO_COMPLEX, selector_problem
from pilothouse.machinery import names
from pilothouse.machinery.rules import Field
from pilothouse.registry.behaviour import Object

_LONGEST_DRIVER: Final = 63
_LONGEST_POOL: Final = 253
_LONGEST_DOMAIN: Final = 63
_LONGEST_ID: Final = 32
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


def opaque(value: Object, field: Field) -> None:
    """Rule for a configuration: something opaque, whose parameters are a JSON object."""
    found = value.get("opaque")
    if found is None:
        field.required("opaque")
        return
    parameters = found.get("parameters")
    if parameters is None:
        field.required("opaque.parameters")
    elif not isinstance(parameters, dict):
        field.invalid("opaque.parameters", _HIDDEN, "must be a valid JSON object")


def opaque_driver(value: Object, field: Field) -> None:
    """The declarative half of `opaque`."""
    found = value.get("opaque")
    if found is not None:
        field.within("opaque.driver", mixed_case_driver, found.get("driver", ""))


def selector(value: Object, field: Field) -> None:
    """A choice of devices."""
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
