"""An OpenAPI v3 document from a Swagger document, for servers that have only that.

What differs is where things stand: schemas below `components`, a body beside the parameters and not among them, media
types around each schema, and the type of a parameter in a schema of its own. The Swagger 2.0 and OpenAPI 3.0
specifications say where. Nothing is trusted: what is not of the expected shape is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

Object = dict[str, Any]
_OLD_REFERENCE: Final = "#/definitions/"
_NEW_REFERENCE: Final = "#/components/schemas/"
_OLD_PARAMETER: Final = "#/parameters/"
_METHODS: Final = ("get", "put", "post", "delete", "options", "head", "patch")
_KEPT: Final = ("tags", "summary", "description", "externalDocs", "operationId", "deprecated")
# What a parameter or a header says of its value, and what is said in a schema now.
_OF_VALUES: Final = (
    "type", "format", "items", "default", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum", "maxLength",
    "minLength", "pattern", "maxItems", "minItems", "uniqueItems", "enum", "multipleOf",
)  # fmt: skip
_JSON: Final = ["application/json"]
_FORM: Final = "application/x-www-form-urlencoded"
_WITH_FILE: Final = "multipart/form-data"
_DEEPEST: Final = 200


def upgrade(swagger: Mapping[str, Any]) -> Object:
    """The v3 document that says the same as a whole Swagger document, or a part of one."""
    shown: Object = {"openapi": "3.0.0", "info": _dict(swagger.get("info")) or {"title": "", "version": ""}}
    upgrader = _Upgrader(swagger)
    schemas = {name: _schema(value) for name, value in _dict(swagger.get("definitions")).items()}
    if schemas:
        shown["components"] = {"schemas": schemas}
    paths = _dict(swagger.get("paths"))
    shown["paths"] = {path: upgrader.path(item) for path, item in paths.items() if isinstance(item, dict)}
    return shown


class _Upgrader:
    """Knows what operations take from the head of the document."""

    def __init__(self, swagger: Mapping[str, Any]) -> None:
        self._consumes = _texts(swagger.get("consumes")) or _JSON
        self._produces = _texts(swagger.get("produces")) or _JSON
        self._parameters = _dict(swagger.get("parameters"))

    def path(self, item: Object) -> Object:
        common = self._resolved(item.get("parameters"))
        plain = [_parameter(one) for one in common if one.get("in") not in ("body", "formData")]
        bodies = [one for one in common if one.get("in") in ("body", "formData")]  # there is no place for those but
        shown: Object = {key: value for key, value in item.items() if key.startswith("x-")}  # in the operations
        for method in _METHODS:
            if isinstance(item.get(method), dict):
                shown[method] = self._operation(item[method], bodies)
        if plain:
            shown["parameters"] = plain
        return shown

    def _operation(self, operation: Object, common: list[Object]) -> Object:
        shown: Object = {key: operation[key] for key in _KEPT if key in operation}
        own = self._resolved(operation.get("parameters"))
        plain = [_parameter(one) for one in own if one.get("in") not in ("body", "formData")]
        if plain:
            shown["parameters"] = plain
        consumes = _texts(operation.get("consumes")) or self._consumes
        fields = [one for one in (*common, *own) if one.get("in") == "formData"]
        for body in [one for one in (*common, *own) if one.get("in") == "body"]:
            shown["requestBody"] = _body(body, consumes)
        if fields and "requestBody" not in shown:
            shown["requestBody"] = _form(fields, consumes)
        produces = _texts(operation.get("produces")) or self._produces
        answers = _dict(operation.get("responses"))
        shown["responses"] = {
            code: _answer(value, produces) for code, value in answers.items() if isinstance(value, dict)
        }
        return {**shown, **{key: value for key, value in operation.items() if key.startswith("x-")}}

    def _resolved(self, listed: Any) -> list[Object]:
        """Parameters themselves, where they were only referred to."""
        found: list[Object] = []
        for one in listed if isinstance(listed, list) else ():
            reference = one.get("$ref") if isinstance(one, dict) else None
            if isinstance(reference, str):
                one = self._parameters.get(reference.removeprefix(_OLD_PARAMETER))
            if isinstance(one, dict):
                found.append(one)
        return found


def _parameter(parameter: Object) -> Object:
    """In a path, a query or a header."""
    shown = {key: value for key, value in parameter.items() if key not in _OF_VALUES and key != "collectionFormat"}
    shown["schema"] = _value(parameter)
    if parameter.get("collectionFormat") == "multi":
        shown["explode"] = True
    return shown


def _value(described: Object) -> Object:
    return _dict(_schema({key: described[key] for key in _OF_VALUES if key in described}))


def _body(parameter: Object, consumes: list[str]) -> Object:
    shown: Object = {key: parameter[key] for key in ("description", "required") if key in parameter}
    schema = _schema(parameter.get("schema") or {})
    return {**shown, "content": {media_type: {"schema": schema} for media_type in consumes}}


def _form(fields: list[Object], consumes: list[str]) -> Object:
    """The fields of a form as one object."""
    properties: Object = {}
    for field in fields:
        value = _value(field)
        if value.get("type") == "file":
            value = {**value, "type": "string", "format": "binary"}
        properties[str(field.get("name", ""))] = value
    schema: Object = {"type": "object", "properties": properties}
    required = [str(field.get("name", "")) for field in fields if field.get("required") is True]
    if required:
        schema["required"] = required
    usual = _WITH_FILE if any(field.get("type") == "file" for field in fields) else _FORM
    accepted = [one for one in consumes if one in (_WITH_FILE, _FORM)] or [usual]
    return {"content": {media_type: {"schema": schema} for media_type in accepted}}


def _answer(answer: Object, produces: list[str]) -> Object:
    shown = {key: value for key, value in answer.items() if key == "description" or key.startswith("x-")}
    shown.setdefault("description", "")
    if "schema" in answer:
        schema = _schema(answer["schema"])
        shown["content"] = {media_type: {"schema": schema} for media_type in produces}
    headers = _dict(answer.get("headers"))
    if headers:
        shown["headers"] = {
            name: {**({"description": one["description"]} if "description" in one else {}), "schema": _value(one)}
            for name, one in headers.items()
            if isinstance(one, dict)
        }
    return shown


def _schema(value: Any, depth: int = 0) -> Any:
    """The same schema, with references to where the others stand now."""
    if depth > _DEEPEST:
        return {}
    if isinstance(value, dict):
        return {
            key: _NEW_REFERENCE + inner[len(_OLD_REFERENCE) :]
            if key == "$ref" and isinstance(inner, str) and inner.startswith(_OLD_REFERENCE)
            else _schema(inner, depth + 1)
            for key, inner in value.items()
        }
    if isinstance(value, list):
        return [_schema(inner, depth + 1) for inner in value]
    return value


def _dict(value: Any) -> Object:
    return value if isinstance(value, dict) else {}


def _texts(value: Any) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []
