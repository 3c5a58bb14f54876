"""The internal.apiserver.k8s.io group."""

from __future__ import annotations

from typing import Final

from pilothouse.builtin.columns.cells import UNSET, Object, Template, age, first_three, items, name, optional, part, row


def _versions(obj: Object) -> str:
    """What each server encodes."""
    reported = items(part(obj, "status"), "storageVersions")
    shown = [f"{one.get('apiServerID') or ''}={one.get('encodingVersion') or ''}" for one in reported]
    return first_three(shown) or UNSET


ROWS: Final[dict[str, Template]] = {
    "storageversions": row(name, optional("status.commonEncodingVersion"), _versions, age),
}
