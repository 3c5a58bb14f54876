"""What role bindings and cluster role bindings have in common: who gets which role."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pilothouse.machinery import names
from pilothouse.machinery.rules import IMMUTABLE, Field, Rule, at, defaults, each, required, rules
from pilothouse.registry.behaviour import Behaviour, Object

_GROUP: Final = "rbac.authorization.k8s.io"
_SUBJECTS: Final = ("ServiceAccount", "User", "Group")


def _fill_subject(subject: Object) -> None:
    if not subject.get("apiGroup") and subject.get("kind") in ("User", "Group"):
        subject["apiGroup"] = _GROUP


def _fill_role(role: Object) -> None:
    if not role.get("apiGroup"):
        role["apiGroup"] = _GROUP


def _role(kinds: Sequence[str]) -> Rule:
    def run(value: Object, field: Field) -> None:
        group, kind, name = value.get("apiGroup", ""), value.get("kind", ""), value.get("name", "")
        if group != _GROUP:
            field.not_supported("apiGroup", group, (_GROUP,))
        if kind not in kinds:
            field.not_supported("kind", kind, kinds)
        field.all_invalid("name", name, names.path_segment(name))

    return run


def _subject(namespaced: bool) -> Rule:
    def run(value: Object, field: Field) -> None:
        kind, name, group = value.get("kind", ""), value.get("name", ""), value.get("apiGroup", "")
        if kind == "ServiceAccount":
            if name:
                field.all_invalid("name", name, names.subdomain(name))
            if group:
                field.not_supported("apiGroup", group, ("",))
            if not namespaced and not value.get("namespace"):
                field.required("namespace")
        elif kind in _SUBJECTS:
            if group != _GROUP:
                field.not_supported("apiGroup", group, (_GROUP,))
        else:
            field.not_supported("kind", kind, _SUBJECTS)

    return run


_names: Final = each(at("name", required))


def _same_role(value: Object, field: Field) -> None:
    if field.updating and value != field.old:
        shown = {
            name: value.get(key, "") for name, key in (("APIGroup", "apiGroup"), ("Kind", "kind"), ("Name", "name"))
        }
        field.invalid("", shown, IMMUTABLE)


def binding(kinds: Sequence[str], *, namespaced: bool) -> Behaviour:
    """`kinds`: of the roles that can be bound."""
    subject = _subject(namespaced)

    def subjects(value: Sequence[Object], field: Field) -> None:
        field.each("", subject, value)

    return Behaviour(
        defaults=defaults({"subjects[]": _fill_subject, "roleRef": _fill_role}),
        validate=rules(
            at("roleRef", _role(kinds)),
            at("subjects", subjects),
            at("subjects", _names),
            at("roleRef.name", required),
            at("roleRef", _same_role),
        ),
    )
