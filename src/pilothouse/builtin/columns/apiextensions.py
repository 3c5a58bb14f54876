"""The apiextensions.k8s.io group."""

from __future__ import annotations

from typing import Final

from pilothouse.builtin.columns.cells import Object, Template, created, is_true, items, joined, name, part, row, text


def _versions(obj: Object) -> str:
    """The served versions; the stored one is marked."""
    served = [one for one in items(part(obj, "spec"), "versions") if one.get("served")]
    return ",".join([f"{one.get('name') or ''}{'(storage)' if one.get('storage') else ''}" for one in served])


def _established(obj: Object) -> bool:
    return is_true(items(part(obj, "status"), "conditions"), "Established")


ROWS: Final[dict[str, Template]] = {
    "customresourcedefinitions": row(
        name,
        text("spec.scope"),
        _versions,
        created,
        text("spec.group"),
        text("spec.names.kind"),
        joined("spec.names.shortNames"),
        _established,
    ),
}
