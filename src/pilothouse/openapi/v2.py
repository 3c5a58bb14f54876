"""The one Swagger (OpenAPI v2) document of everything that is served."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from pilothouse.openapi.model import Definitions
from pilothouse.openapi.operations import Operation, Path
from pilothouse.openapi.parameters import Parameter, Table, table
from pilothouse.openapi.schemas import V2_PREFIX, reached, swagger
from pilothouse.openapi.v3 import INFO, PHRASES, definition_names

Document = dict[str, Any]
_SECURITY: Final = {
    "BearerToken": {
        "description": "Bearer Token authentication",
        "type": "apiKey",
        "name": "authorization",
        "in": "header",
    }
}


def document(paths: Sequence[Path], definitions: Definitions) -> Document:
    """The document of all these paths (sorted here) with the definitions they reach and the parameters they share."""
    rows = table()
    shared: Document = {}
    shown = {path.path: _path(path, rows, shared) for path in sorted(paths, key=lambda found: found.path)}
    schemas = reached(definition_names(paths), definitions)
    return {
        "swagger": "2.0",
        "info": INFO,
        "paths": shown,
        "definitions": {name: swagger(name, schema) for name, schema in schemas.items()},
        "parameters": dict(sorted(shared.items())),
        "securityDefinitions": _SECURITY,
        "security": [{"BearerToken": []}],
    }


def _path(path: Path, rows: Table, shared: Document) -> Document:
    shown: Document = {operation.method: _operation(path, operation, rows, shared) for operation in path.operations}
    parameters = path.parameters
    if parameters:
        shown["parameters"] = [_parameter(parameter, shared) for parameter in parameters]
    return shown


def _operation(path: Path, operation: Operation, rows: Table, shared: Document) -> Document:
    shown: Document = {"description": operation.description}
    if operation.accepts is not None:
        shown["consumes"] = list(operation.accepts)
    shown["produces"] = list(operation.produces)
    shown["schemes"] = ["https"]
    shown["tags"] = [operation.tag]
    shown["operationId"] = operation.id
    parameters = [_parameter(parameter, shared) for parameter in path.own(operation)]
    if operation.request:
        parameters.insert(0, _body(operation, rows, shared))
    if parameters:
        shown["parameters"] = parameters
    shown["responses"] = {str(code): _answer(code, definition) for code, definition in operation.answers}
    if operation.body is not None:
        shown["x-kubernetes-action"] = operation.action
        shown["x-kubernetes-group-version-kind"] = {
            "group": operation.body.group,
            "kind": operation.body.kind,
            "version": operation.body.version,
        }
    return shown


def _answer(code: int, definition: str) -> Document:
    shown: Document = {"description": PHRASES[code]}
    if code < 400:
        shown["schema"] = {"$ref": V2_PREFIX + definition} if definition else {"type": "string"}
    return shown


def _body(operation: Operation, rows: Table, shared: Document) -> Document:
    shown: Document = {"name": "body", "in": "body"}
    if operation.request_required:
        shown["required"] = True
    shown["schema"] = {"$ref": V2_PREFIX + operation.request}
    return _once(rows.bodies.get(operation.request, ""), shown, shared)


def _parameter(parameter: Parameter, shared: Document) -> Document:
    shown: Document = {
        "uniqueItems": True,
        "type": parameter.type,
        "description": parameter.description,
        "name": parameter.name,
        "in": parameter.place,
    }
    if parameter.required:
        shown["required"] = True
    return _once(parameter.ref, shown, shared)


def _once(ref: str, shown: Document, shared: Document) -> Document:
    """A shared parameter stands at the end of the document and is referred to."""
    if not ref:
        return shown
    shared[ref] = shown
    return {"$ref": f"#/parameters/{ref}"}
