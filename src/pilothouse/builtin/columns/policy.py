"""The policy group."""

from __future__ import annotations

from typing import Final

from pilothouse.builtin.columns.cells import Template, age, name, number, number_text, row

ROWS: Final[dict[str, Template]] = {
    "poddisruptionbudgets": row(
        name,
        number_text("spec.minAvailable", "N/A"),
        number_text("spec.maxUnavailable", "N/A"),
        number("status.disruptionsAllowed"),
        age,
    ),
}
