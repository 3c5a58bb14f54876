"""Which requests webhooks and policies see: rules on operations and resources, conditions; names that are reserved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pilothouse.admission.expressions import base, environment, problem
from pilothouse.builtin.shared.selectors import label_selector
from pilothouse.cel.environment import Environment
from pilothouse.cel.types import BOOL, Type
from pilothouse.machinery import names
from pilothouse.machinery.rules import Defaults, Field, at, defaults, one_of, repeated
from pilothouse.registry.behaviour import Object

OPERATIONS: Final = ("*", "CONNECT", "CREATE", "DELETE", "UPDATE")
MUTABLE_OPERATIONS: Final = ("*", "CONNECT", "CREATE", "UPDATE")
MATCH_POLICIES: Final = ("Equivalent", "Exact")
FAILURE_POLICIES: Final = ("Fail", "Ignore")
_SCOPES: Final = ("*", "Cluster", "Namespaced")
_MOST_CONDITIONS: Final = 64
_STATIC: Final = ".static.k8s.io"

fill_match_resources: Final[Defaults] = defaults(
    {
        "namespaceSelector": {},
        "objectSelector": {},
        "matchPolicy": "Equivalent",
        "resourceRules[].scope": "*",
        "excludeResourceRules[].scope": "*",
    }
)


def not_reserved(value: Object, field: Field) -> None:
    """Names of configurations that are read from files."""
    name = value["metadata"].get("name", "")
    if name.endswith(_STATIC):
        why = "are reserved for static manifest-based configurations and cannot be managed via the API"
        field.invalid("metadata.name", name, f'names ending with "{_STATIC}" {why}')


def _listed(value: Object, field: Field, name: str, noun: str) -> Sequence[str]:
    """A list that must say something, with `*` alone."""
    items: Sequence[str] = value.get(name) or ()
    if not items:
        field.required(name)
    elif "*" in items and len(items) > 1 and noun:
        field.invalid(name, items, f"if '*' is present, must not specify other {noun}")
    return items


def _resources(value: Object, field: Field) -> None:
    items = _listed(value, field, "resources", "")
    if "" not in items and "*" not in "".join(items):
        return
    for index, item in field.numbered(items):
        if not item:
            field.required(f"resources[{index}]")
    with_any_part: set[str] = set()
    parts_of_any: set[str] = set()
    for index, item in field.numbered(items):
        resource, _, part = item.partition("/")
        if resource in with_any_part:
            field.invalid(f"resources[{index}]", item, f"if '{resource}/*' is present, must not specify {item}")
        if part in parts_of_any:
            field.invalid(f"resources[{index}]", item, f"if '*/{part}' is present, must not specify {item}")
        if part == "*":
            with_any_part.add(resource)
        elif part and resource == "*":
            parts_of_any.add(part)
    if len(items) > 1 and "*/*" in items:
        field.invalid("resources", items, "if '*/*' is present, must not specify other resources")
    whole = [item for item in items if "/" not in item]
    if "*" in whole and whole[-1] != "*":  # the original looks at the last one alone
        why = "if '*' is present, must not specify other resources without subresources"
        field.invalid("resources", items, why)


def _are_segments(texts: Sequence[str]) -> bool:
    """Whether all are surely safe in a path."""
    every = "".join(texts)
    return "/" not in every and "%" not in every and "." not in every


def rule(value: Object, field: Field) -> None:
    """One rule: operations, groups, versions, resources, scope, and names where it has some."""
    for index, operation in field.numbered(_listed(value, field, "operations", "operations")):
        if operation not in OPERATIONS:
            field.not_supported(f"operations[{index}]", operation, OPERATIONS)
    _listed(value, field, "apiGroups", "API groups")
    for index, version in field.numbered(_listed(value, field, "apiVersions", "API versions")):
        if not version:
            field.required(f"apiVersions[{index}]")
    _resources(value, field)
    scope = value.get("scope")
    if scope is not None:
        field.within("scope", one_of(*_SCOPES), scope)
    wanted = value.get("resourceNames") or ()
    again = {index for index, _ in repeated(wanted, str)}
    for index, name in field.numbered(wanted) if again else field.doubtful(wanted, _are_segments):
        field.all_invalid(f"resourceNames[{index}]", name, names.path_segment(name))
        if index in again:
            field.duplicate(f"resourceNames[{index}]", name)


def match_resources(value: Object, field: Field) -> None:
    at("matchPolicy", one_of(*MATCH_POLICIES))(value, field)
    at("namespaceSelector", label_selector)(value, field)
    at("objectSelector", label_selector)(value, field)
    field.each("resourceRules", rule, value.get("resourceRules"))
    field.each("excludeResourceRules", rule, value.get("excludeResourceRules"))


def no_deletes(value: Object, field: Field) -> None:
    """Nothing can be changed in what is deleted; told without the rule's number, as the original does."""
    for one in value.get("resourceRules") or ():
        for operation in one.get("operations") or ():
            if operation not in MUTABLE_OPERATIONS and operation in OPERATIONS:
                field.not_supported("resourceRules.operations", operation, MUTABLE_OPERATIONS)


def expression(text: str, field: Field, within: Environment, *wanted: Type) -> None:
    """An expression that must compile. `wanted`: what it may evaluate to."""
    why = problem(text, within, *wanted)
    if why:
        field.invalid("", text, why)


def match_conditions(value: Sequence[Object], field: Field) -> None:
    params = (field.root.get("spec") or {}).get("paramKind") is not None
    within = environment(params=True) if params else base()
    if len(value) > _MOST_CONDITIONS:
        field.too_many("", len(value), _MOST_CONDITIONS)
    seen: set[str] = set()

    def condition(one: Object, inner: Field) -> None:
        name = one.get("name", "")
        text = one.get("expression", "").strip()
        if text:
            inner.within("expression", lambda value, at: expression(value, at, within, BOOL), one["expression"])
        else:
            inner.required("expression")
        if not name:
            inner.required("name")
            return
        inner.all_invalid("name", name, names.qualified_name(name))
        if name in seen:
            inner.duplicate("name", name)
        seen.add(name)

    field.each("", condition, value)
