"""What validating and mutating admission policies and their bindings have in common."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

from pilothouse.admission.expressions import VARIABLES, Declared, compiled, environment, problem
from pilothouse.builtin.admissionregistration import matching
from pilothouse.builtin.shared.fields import given, inside
from pilothouse.builtin.shared.selectors import label_selector
from pilothouse.cel.environment import Environment, Program
from pilothouse.cel.types import BOOL, Type
from pilothouse.kit.record import record
from pilothouse.machinery import names
from pilothouse.machinery.rules import Defaults, Field, Rule, at, defaults, one_of, required, vocabulary
from pilothouse.registry.behaviour import Object

_NOT_FOUND_ACTIONS: Final = ("Deny", "Allow")
_IDENTIFIER: Final = re.compile(r"[_a-zA-Z][_a-zA-Z0-9]*", re.ASCII)
_RESERVED: Final = frozenset(
    {
        "as", "break", "const", "continue", "else", "false", "for", "function", "if", "import", "in", "let", "loop",
        "namespace", "null", "package", "return", "true", "var", "void", "while",
    }
)  # fmt: skip
_NO_EXPRESSION: Final = "expression is not specified"

fill_policy: Final[Defaults] = defaults(
    {"spec.failurePolicy": "Fail", "spec.matchConstraints": matching.fill_match_resources}
)
fill_binding: Final[Defaults] = defaults({"spec.matchResources": matching.fill_match_resources})


def _param_version(value: str, field: Field) -> None:
    group, _, version = value.rpartition("/")
    if "/" in group:
        field.invalid("", value, f"unexpected GroupVersion string: {value}")
        return
    if group:
        field.all_invalid("", group, names.subdomain(group))
    field.all_invalid("", version, names.label_1035(version))


def _param_kind(value: str, field: Field) -> None:
    for why in names.label_1035(value.lower()):
        field.invalid("", value, f"may have mixed case, but should otherwise match: {why}")


_param_kind_rules: Final[Rule] = inside(at("apiVersion", required, _param_version), at("kind", required, _param_kind))


def _constraints(value: Object, field: Field) -> None:
    if not value.get("resourceRules"):
        field.required("resourceRules")
    matching.match_resources(value, field)


@record
class Speech:
    """What the expressions of a policy may speak of, and those that make messages."""

    within: Environment
    telling: Environment


def variables(spec: Object, field: Field, *, mutating: bool = False) -> Speech:
    """The rules of `variables`, each of which may speak of those before it."""
    params = spec.get("paramKind") is not None
    declared = Declared({}) if spec.get("variables") else None
    within = environment(params=params, variables=declared, mutating=mutating)

    @lru_cache(64)
    def made(text: str) -> Program | str:
        return compiled(text, within)

    def variable(one: Object, inner: Field) -> None:
        name = one.get("name", "")
        if not name:
            inner.required("name", "name is not specified")
        elif not _IDENTIFIER.fullmatch(name) or name in _RESERVED:
            inner.invalid("name", name, "must be a valid CEL identifier")
        text = one.get("expression", "")
        if not text.strip():
            inner.required("expression", _NO_EXPRESSION)
            return
        # One that speaks of no variables is the same wherever it stands.
        program = compiled(text, within) if VARIABLES in text else made(text)
        if isinstance(program, str):
            inner.invalid("expression", text, program)
        elif declared is not None:
            declared.add(name, program.type)

    field.each("variables", variable, spec.get("variables"))
    return Speech(within, environment(params=params, asking=False, variables=declared))


# What both kinds of policies judge first, and what comes after a kind's own rules for what it matches.
first_rules: Final[Sequence[Rule]] = (
    matching.not_reserved,
    at("spec.failurePolicy", one_of(*matching.FAILURE_POLICIES)),
    at("spec.paramKind", _param_kind_rules),
    at("spec.matchConstraints", given, _constraints),
)
then_rules: Final[Sequence[Rule]] = (at("spec.matchConditions", matching.match_conditions),)


def expression(value: Object, field: Field, within: Environment) -> None:
    text = value.get("expression", "")
    if not text.strip():
        field.required("expression", _NO_EXPRESSION)
    else:
        compiles(field, "expression", text, within, BOOL)


def compiles(field: Field, step: str, text: str, within: Environment, *wanted: Type) -> None:
    """An expression must compile, and evaluate to one of the wanted types."""
    why = problem(text, within, *wanted)
    if why:
        field.invalid(step, text, why)


# -- bindings


def _param_ref(value: Object, field: Field) -> None:
    name, selector = value.get("name", ""), value.get("selector")
    if name:
        field.all_invalid("name", name, names.path_segment(name))
        if selector is not None:
            field.forbidden("name", "name and selector are mutually exclusive")
    if selector is not None:
        if name:
            field.forbidden("selector", "name and selector are mutually exclusive")
        field.within("selector", label_selector, selector)
    if not name and selector is None:
        field.required("", "one of name or selector must be specified")
    at("parameterNotFoundAction", given, one_of(*_NOT_FOUND_ACTIONS))(value, field)


def _match(value: Any, field: Field) -> None:
    matching.match_resources(value, field)


binding_rules: Final[Sequence[Rule]] = (
    matching.not_reserved,
    at("spec.policyName", required, vocabulary(names.subdomain)),
    at("spec.paramRef", _param_ref),
    at("spec.matchResources", _match),
)
