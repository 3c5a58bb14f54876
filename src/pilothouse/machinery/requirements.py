"""What selectors are made of: one condition on one label or field, and the operators of labels."""

from __future__ import annotations

from typing import Final

from pilothouse.kit.record import record

IN: Final = "in"
NOT_IN: Final = "notin"
EQUALS: Final = "="
DOUBLE_EQUALS: Final = "=="
NOT_EQUALS: Final = "!="
EXISTS: Final = "exists"
NOT_EXISTS: Final = "!"
GREATER: Final = "gt"
LESS: Final = "lt"


@record
class Requirement:
    """One condition on one label; values sorted."""

    key: str
    operator: str
    values: tuple[str, ...] = ()

    def __str__(self) -> str:
        if self.operator == NOT_EXISTS:
            return f"!{self.key}"
        if self.operator == EXISTS:
            return self.key
        if self.operator in (IN, NOT_IN):
            return f"{self.key} {self.operator} ({','.join(self.values)})"
        sign = {GREATER: ">", LESS: "<"}.get(self.operator, self.operator)
        return f"{self.key}{sign}{self.values[0]}"


def escape_value(text: str) -> str:
    r"""`\`, `,` and `=` with a `\` before them."""
    return text.replace("\\", "\\\\").replace(",", "\\,").replace("=", "\\=")


@record
class FieldRequirement:
    """One condition on one field."""

    label: str
    equal: bool
    value: str

    def __str__(self) -> str:
        return f"{self.label}{'=' if self.equal else '!='}{escape_value(self.value)}"
