"""Volume attributes classes: what a volume shall be like, changeable while it is in use."""

from __future__ import annotations

from typing import Any, Final

from pilothouse.builtin.storage.parameters import at_most_so_many, provisioner
from pilothouse.machinery.rules import Field, Rule, at, required, required_as, rules, sees_absent
from pilothouse.registry.behaviour import Behaviour


def _fixed(name: str) -> Rule:
    @sees_absent
    def run(value: Any, field: Field) -> None:
        if field.updating and value != field.old:
            field.forbidden("", f"updates to {name} are forbidden.")

    return at(name, run)


behaviour: Final = Behaviour(
    validate=rules(
        _fixed("driverName"),
        _fixed("parameters"),
        at("driverName", required, provisioner),
        at("parameters", required_as("must contain at least one key/value pair"), at_most_so_many),
    )
)
