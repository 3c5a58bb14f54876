"""Expressions in one line: what they evaluate to, what is wrong with them."""

from __future__ import annotations

from typing import Any

from pilothouse.cel import types
from pilothouse.cel.environment import Answer, Environment, NotCompiled
from pilothouse.cel.rules import broken
from pilothouse.cel.schematypes import type_of
from pilothouse.cel.schemavalues import converter
from pilothouse.cel.types import Type
from pilothouse.machinery.structural.node import Node

PLAIN = Environment({})
NAMES = {
    "n": types.INT,
    "m": types.INT,
    "d": types.DOUBLE,
    "s": types.STRING,
    "t": types.BOOL,
    "l": types.list_of(types.INT),
    "words": types.list_of(types.STRING),
    "map": types.map_of(types.STRING, types.INT),
    "any": types.DYN,
}
VALUES: dict[str, Any] = {
    "n": 7, "m": 0, "d": 2.5, "s": "text", "t": True, "l": [3, 1, 2], "words": ["b", "a"], "map": {"a": 1, "b": 2},
    "any": {"name": "x", "count": 3, "list": [1, "a", None]},
}  # fmt: skip
ENVIRONMENT = PLAIN.with_variables(NAMES)


def run(expression: str, budget: int = 1_000_000, **changed: Any) -> Answer:
    return ENVIRONMENT.compile(expression).evaluate(VALUES | changed, budget)


def value(expression: str, **changed: Any) -> Any:
    answer = run(expression, **changed)
    assert answer.error is None, answer.error
    return answer.value


def error(expression: str, **changed: Any) -> str:
    answer = run(expression, **changed)
    assert answer.error is not None, answer.value
    return answer.error


def problem(expression: str, environment: Environment = ENVIRONMENT) -> str:
    """The first line of what is wrong; "" for nothing."""
    try:
        environment.compile(expression)
    except NotCompiled as found:
        return str(found).partition("\n")[0].removeprefix("ERROR: <input>:")
    return ""


def node_of(schema: dict[str, Any]) -> Node:
    return Node(schema, root=True)


def of_schema(schema: dict[str, Any], expression: str, data: Any) -> Answer:
    """An expression over `self`, which has that schema."""
    node = Node(schema)
    kind: Type | None = type_of(node)
    assert kind is not None
    program = PLAIN.with_variables({"self": kind}).compile(expression)
    return program.evaluate({"self": converter(node)(data)})


def refusals(spec: dict[str, Any], data: Any, old: Any = None, budget: int = 10_000_000) -> list[str]:
    """What rules of a schema for `spec` say, as `field: message`; warnings begin with `warning: `."""
    warned: list[str] = []
    root = node_of({"type": "object", "properties": {"spec": spec}})
    before = None if old is None else {"spec": old}
    causes = broken(root, {"spec": data}, before, lambda text: warned.append(f"warning: {text}"), budget=budget)
    return [f"{cause.field}: {cause.message}" for cause in causes] + warned
