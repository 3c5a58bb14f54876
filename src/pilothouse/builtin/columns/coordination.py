"""The coordination.k8s.io group."""

from __future__ import annotations

from typing import Final

from pilothouse.builtin.columns.cells import Template, age, name, row, text

ROWS: Final[dict[str, Template]] = {
    "leasecandidates": row(
        name, text("spec.leaseName"), text("spec.binaryVersion"), text("spec.emulationVersion"), age
    ),
    "leases": row(name, text("spec.holderIdentity"), age),
}
