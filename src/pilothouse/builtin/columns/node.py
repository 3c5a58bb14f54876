"""The node.k8s.io group."""

from __future__ import annotations

from typing import Final

from pilothouse.builtin.columns.cells import Template, age, name, row, text

ROWS: Final[dict[str, Template]] = {"runtimeclasses": row(name, text("handler"), age)}
