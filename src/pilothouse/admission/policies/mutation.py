"""What the mutations of a MutatingAdmissionPolicy make of an object: a JSON patch, or a configuration that is merged in
like an applied one (Kubernetes documentation, "Mutating Admission Policy").
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from typing import Any, Final

from pilothouse.admission.policies.evaluation import Evaluation
from pilothouse.cel.environment import Program
from pilothouse.cel.values import Duration, Timestamp
from pilothouse.kit.record import record
from pilothouse.machinery.patch.jsonpatch import PatchFailed, carried_out
from pilothouse.machinery.schema import Schema
from pilothouse.machinery.typed.merge import merge
from pilothouse.machinery.typed.shape import ATOM, KEYED, MAP, SET, STRUCT, shape_of
from pilothouse.registry.resource import Object

APPLY: Final = "ApplyConfiguration"
PATCH: Final = "JSONPatch"
_EXPRESSIONS: Final = {APPLY: "applyConfiguration", PATCH: "jsonPatch"}
_UNMET: Final = "test failed"
_ATOMIC: Final = "invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs"


class MutationFailed(Exception):
    """The mutation cannot be carried out; the text is told to the client."""


@record
class Mutation:
    """`kind`: APPLY or PATCH."""

    kind: str
    text: str
    program: Program | str

    def carried_out(self, evaluation: Evaluation, obj: Object, schema: Schema) -> Object:
        """The object as the mutation makes it, `obj` itself where it changes nothing. Raises MutationFailed, Heavy."""
        value, wrong = evaluation.evaluate(self.text, self.program)
        if wrong:
            raise MutationFailed(wrong)
        made = plain(value)
        if self.kind == PATCH:
            return _patched(obj, made)
        for path in atomic(schema, made, ""):
            raise MutationFailed(f"{_ATOMIC}: {path}")
        return merge(schema, obj, made)


def text_of(mutation: Mapping[str, Any]) -> tuple[str, str]:
    """The kind of a mutation as it stands in a policy, and its expression."""
    kind = mutation.get("patchType", "")
    return kind, (mutation.get(_EXPRESSIONS.get(kind, "")) or {}).get("expression", "")


def _patched(obj: Object, operations: Any) -> Object:
    """A patch whose test is not met is not carried out, and that is no error."""
    try:
        return carried_out(operations, obj)
    except PatchFailed as error:
        if str(error).endswith(_UNMET):
            return obj
        raise MutationFailed(f"JSON Patch: {error}") from error


def plain(value: Any) -> Any:
    """A value of an expression as JSON has it. Raises MutationFailed for what JSON has not."""
    if value is None or value.__class__ in (str, bool, int, float):
        return value
    if isinstance(value, dict):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, Timestamp | Duration):
        return str(value)
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, int):
        return int(value)
    raise MutationFailed(f"type conversion error from '{getattr(value, 'type_name', type(value).__name__)}' to JSON")


def atomic(schema: Schema, value: Any, path: str) -> Iterator[str]:
    """Paths of lists, maps and objects that can only be set as a whole."""
    if not isinstance(value, dict | list):
        return
    shape = shape_of(schema)
    if shape.kind == ATOM:
        yield path
    elif shape.kind == STRUCT and isinstance(value, dict):
        for name, item in value.items():
            if name in shape.fields:
                yield from atomic(shape.fields[name].schema, item, f"{path}.{name}")
    elif shape.kind in (MAP, SET, KEYED) and shape.item is not None:
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for name, item in items:
            step = f".{name}" if isinstance(value, dict) else f"[{name}]"
            yield from atomic(shape.item, item, f"{path}{step}")
