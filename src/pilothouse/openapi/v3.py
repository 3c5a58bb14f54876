"""The OpenAPI v3 document of one group version, or of a root path."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from pilothouse.openapi.model import Definitions, GroupVersion, Style
from pilothouse.openapi.operations import TEXT, Operation, Operations, Path
from pilothouse.openapi.parameters import Parameter, table
from pilothouse.openapi.schemas import V3_PREFIX, only_for, reached

Document = dict[str, Any]
INFO: Final = {"title": "Kubernetes", "version": "1.37"}
PHRASES: Final = {200: "OK", 201: "Created", 202: "Accepted", 401: "Unauthorized"}
_SECURITY: Final = {
    "BearerToken": {
        "type": "apiKey",
        "description": "Bearer Token authentication",
        "name": "authorization",
        "in": "header",
    }
}


def group_version_document(version: GroupVersion, definitions: Definitions, style: Style) -> Document:
    """The whole document of a group version."""
    return document(Operations(version, table(), style).paths(), definitions, owner=(version.group, version.version))


def document(
    paths: Sequence[Path], definitions: Definitions, *, owner: tuple[str, str] | None = ("", "v1")
) -> Document:
    """A document of these paths and all schemas that they reach.

    `owner`: the group and version it is for; kinds that every version has are shown for that one only.
    """
    schemas = reached(definition_names(paths), definitions)
    if owner is not None:
        only_for(schemas, *owner)
    components: Document = {"schemas": schemas} if schemas else {}
    components["securitySchemes"] = _SECURITY
    return {
        "openapi": "3.0.0",
        "info": INFO,
        "paths": {path.path: _path(path) for path in paths},
        "components": components,
    }


def definition_names(paths: Iterable[Path]) -> set[str]:
    """The definitions that the operations name themselves."""
    found: set[str] = set()
    for path in paths:
        for operation in path.operations:
            found.add(operation.request)
            found.update(definition for _, definition in operation.answers)
    found.discard(TEXT)
    return found


def _path(path: Path) -> Document:
    shown: Document = {operation.method: _operation(path, operation) for operation in path.operations}
    parameters = path.parameters
    if parameters:
        shown["parameters"] = [_parameter(parameter) for parameter in parameters]
    return shown


def _operation(path: Path, operation: Operation) -> Document:
    shown: Document = {"tags": [operation.tag], "description": operation.description, "operationId": operation.id}
    own = path.own(operation)
    if own:
        shown["parameters"] = [_parameter(parameter) for parameter in own]
    if operation.request:
        schema = {"schema": {"$ref": V3_PREFIX + operation.request}}
        shown["requestBody"] = {"content": dict.fromkeys(sorted(operation.accepts or ()), schema)}
        if operation.request_required:
            shown["requestBody"]["required"] = True
    shown["responses"] = {str(code): _answer(operation, code, definition) for code, definition in operation.answers}
    if operation.body is not None:
        shown["x-kubernetes-action"] = operation.action
        shown["x-kubernetes-group-version-kind"] = {
            "group": operation.body.group,
            "version": operation.body.version,
            "kind": operation.body.kind,
        }
    return shown


def _answer(operation: Operation, code: int, definition: str) -> Document:
    shown: Document = {"description": PHRASES[code]}
    if code < 400:
        schema = {"$ref": V3_PREFIX + definition} if definition else {"type": "string"}
        shown["content"] = {media_type: {"schema": schema} for media_type in sorted(operation.produces)}
    return shown


def _parameter(parameter: Parameter) -> Document:
    shown: Document = {"name": parameter.name, "in": parameter.place, "description": parameter.description}
    if parameter.required:
        shown["required"] = True
    shown["schema"] = {"type": parameter.type, "uniqueItems": True}
    return shown
