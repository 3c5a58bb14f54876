"""Names of objects, for the kinds that tell mistakes in them among their own causes, not first of all."""

from __future__ import annotations

from typing import Any, Final

from pilothouse.machinery import names
from pilothouse.machinery.rules import Field, on_create

_prefix: Final = names.prefix_of(names.subdomain)


def _subdomain(value: Any, field: Field) -> None:
    generate, name = (value["metadata"].get(member, "") for member in ("generateName", "name"))
    if generate:
        field.all_invalid("metadata.generateName", generate, _prefix(generate))
    if name:
        field.all_invalid("metadata.name", name, names.subdomain(name))


def _declared_subdomain(value: Any, field: Field) -> None:
    name = value["metadata"].get("name", "")
    if name:
        whys = names.subdomain(name)
        field.all_invalid(
            "metadata.name",
            name,
            [why.replace("characters", "bytes") if why.startswith("must be no more") else why for why in whys],
        )


subdomain_name: Final = on_create(_subdomain)
declared_subdomain_name: Final = on_create(_declared_subdomain)  # as the declarative rules have it: no look at prefixes
