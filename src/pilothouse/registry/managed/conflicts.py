"""The refusal of an apply: whose fields it would change, in the original's words."""

from __future__ import annotations

from pilothouse.machinery.errors import APIError
from pilothouse.machinery.goquote import quote
from pilothouse.machinery.typed.fieldset import Node
from pilothouse.machinery.typed.paths import member_texts
from pilothouse.registry.managed.entries import UPDATE, Entry

Conflicts = list[tuple[Entry, Node]]  # the entry, and which of its fields would change


class ConflictError(APIError):
    """409 with one cause for each manager and field."""

    def __init__(self, conflicts: Conflicts) -> None:
        found = [(_who(entry), member_texts(fields)) for entry, fields in sorted(conflicts, key=_order)]
        causes = [
            {"reason": "FieldManagerConflict", "message": message, "field": path}
            for message, paths in ((f"conflict with {who}", paths) for who, paths in found)
            for path in paths
        ]
        super().__init__(409, "Conflict", _message(found), {"causes": causes})


def _order(conflict: tuple[Entry, Node]) -> tuple[str, ...]:
    """As the original sorts managers: by the texts that it knows them by, in which a name ends with a quote."""
    name, *rest = conflict[0].key
    return (f'{name}"', rest[0], rest[2], rest[1])


def _who(entry: Entry) -> str:
    text = quote(entry.manager)
    if entry.subresource:
        text += f" with subresource {quote(entry.subresource)}"
    return f"{text} using {entry.api_version}" if entry.operation == UPDATE else text


def _message(found: list[tuple[str, list[str]]]) -> str:
    count = sum(len(paths) for _, paths in found)
    if count == 1:
        who, paths = next((who, paths) for who, paths in found if paths)
        return f"Apply failed with 1 conflict: conflict with {who}: {paths[0]}"
    lines = []
    for who, paths in found:
        lines.append(f"conflicts with {who}:")
        lines += [f"- {path}" for path in paths]
    return f"Apply failed with {count} conflicts: " + "\n".join(lines)
