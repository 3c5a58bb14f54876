"""What classes of volumes tell a driver: its name, and parameters that it alone understands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pilothouse.machinery import names
from pilothouse.machinery.rules import Field

_MOST: Final = 512
_LARGEST: Final = 256 * 1024  # bytes
_LONGEST_DRIVER: Final = 63


def provisioner(value: str, field: Field) -> None:
    """A qualified name; capitals are fine."""
    if value:
        field.all_invalid("", value, names.qualified_name(value.lower()))


def at_most_so_many(value: Mapping[str, str], field: Field) -> None:
    if len(value) > _MOST:
        field.too_long("", _MOST)
        return
    if "" in value:
        field.invalid("", "", "field can not be empty.")
    if sum(len(key.encode()) + len(text.encode()) for key, text in value.items()) > _LARGEST:
        field.too_long("", _LARGEST)


def driver_name(value: str, field: Field) -> None:
    """The name of a CSI driver: a subdomain of at most 63 characters; capitals are fine."""
    if not value:
        field.required()
        return
    if len(value) > _LONGEST_DRIVER:
        field.too_long("", _LONGEST_DRIVER)
    field.all_invalid("", value, names.subdomain(value.lower()))
