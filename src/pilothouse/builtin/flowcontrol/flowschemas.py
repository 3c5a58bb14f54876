"""Flow schemas: which requests belong together, and with what priority they are served."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from pilothouse.builtin.flowcontrol.conditions import unique_conditions
from pilothouse.builtin.shared.fields import when_zero
from pilothouse.builtin.shared.internals import internal
from pilothouse.machinery import names
from pilothouse.machinery.rules import Field, at, defaults, rules
from pilothouse.registry.behaviour import Behaviour, Object, Part

_PACKAGE: Final = "k8s.io/api/flowcontrol/v1"
_MOST: Final = 10000
_METHODS: Final = ("ByNamespace", "ByUser")
_VERBS: Final = ("create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch")
_SUBJECTS: Final = {"Group": "group", "ServiceAccount": "serviceAccount", "User": "user"}
_EVERYTHING: Final = {
    "resourceRules": [
        {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "clusterScope": True, "namespaces": ["*"]}
    ],
    "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
}


def _of_groups(*groups: str) -> list[Object]:
    subjects = [{"kind": "Group", "group": {"name": group}} for group in groups]
    return [{"subjects": subjects, **_EVERYTHING}]


# The schemas that must be there, as they must be.
_MANDATORY: Final[dict[str, Object]] = {
    "exempt": {
        "priorityLevelConfiguration": {"name": "exempt"},
        "matchingPrecedence": 1,
        "rules": _of_groups("system:masters"),
    },
    "catch-all": {
        "priorityLevelConfiguration": {"name": "catch-all"},
        "matchingPrecedence": _MOST,
        "distinguisherMethod": {"type": "ByUser"},
        "rules": _of_groups("system:unauthenticated", "system:authenticated"),
    },
}


def _precedence(value: Object, field: Field) -> None:
    precedence = value["spec"].get("matchingPrecedence", 0)
    if precedence == 1 and value["metadata"].get("name") != "exempt":
        why = "only the schema named 'exempt' may have matchingPrecedence 1"
        field.invalid("spec.matchingPrecedence", precedence, why)
    elif precedence > _MOST:
        field.invalid("spec.matchingPrecedence", precedence, f"must not be greater than {_MOST}")
    elif precedence < 1:
        field.invalid("spec.matchingPrecedence", precedence, "must be a positive value")


def _method(value: Object, field: Field) -> None:
    kind = value.get("type", "")
    if kind not in _METHODS:
        field.not_supported("type", {"Type": kind}, _METHODS)


def _level(value: Object, field: Field) -> None:
    name = (value.get("priorityLevelConfiguration") or {}).get("name", "")
    if not name:
        field.required("priorityLevelConfiguration.name", "must reference a priority level")
    else:
        field.all_invalid("priorityLevelConfiguration.name", name, names.subdomain(name))


def _account(value: Object, field: Field) -> None:
    name, namespace = value.get("name", ""), value.get("namespace", "")
    if not name:
        field.required("name")
    elif name != "*":
        field.all_invalid("name", name, names.subdomain(name))
    if not namespace:
        field.required("namespace", "must specify namespace for service account")
    else:
        field.all_invalid("namespace", namespace, names.label(namespace))


def _subject(value: Object, field: Field) -> None:
    kind = value.get("kind", "")
    own = _SUBJECTS.get(kind)
    if own is None:
        field.not_supported("kind", kind, tuple(_SUBJECTS))
        return
    found = value.get(own)
    if found is None:
        field.required(own, f"{own} is required when subject kind is '{kind}'")
    elif own == "serviceAccount":
        field.within(own, _account, found)
    elif not found.get("name"):
        field.required(f"{own}.name")
    for other, member in (("ServiceAccount", "serviceAccount"), ("User", "user"), ("Group", "group")):
        if other != kind and value.get(member) is not None:
            field.forbidden(member, f"{member} is forbidden when subject kind is not '{other}'")


def _alone(items: Sequence[str] | None, field: Field, path: str, missing: str, noun: str) -> bool:
    """Something must be listed, and `*` stands alone. True where the items are to be looked at one by one."""
    if not items:
        field.required(path, missing)
        return False
    if "*" in items:
        if len(items) > 1:
            field.invalid(path, items, f"if '*' is present, must not specify other {noun}")
        return False
    return True


def _verbs(value: Object, field: Field) -> None:
    verbs = value.get("verbs")
    if _alone(verbs, field, "verbs", "verbs must contain at least one value", "verbs"):
        if not set(verbs or ()).issubset(_VERBS):
            field.not_supported("verbs", verbs, _VERBS)


def _resource_rule(value: Object, field: Field) -> None:
    _verbs(value, field)
    missing = "resource rules must supply at least one "
    _alone(value.get("apiGroups"), field, "apiGroups", missing + "api group", "api groups")
    _alone(value.get("resources"), field, "resources", missing + "resource", "resources")
    namespaces = value.get("namespaces")
    if not namespaces and value.get("clusterScope"):
        return
    missing = "resource rules that are not cluster scoped must supply at least one namespace"
    if _alone(namespaces, field, "namespaces", missing, "namespaces"):
        for index, namespace in field.doubtful(namespaces or (), names.are_labels):
            for why in names.label(namespace):
                text = f"each member of this list must be '*' or a DNS-1123 label; {why}"
                field.invalid(f"namespaces[{index}]", namespace, text)


def _url_problem(url: str) -> str:
    if not url:
        return "must not be empty"
    if not url.startswith("/"):
        return "must start with slash"
    if " " in url:
        return "must not contain white-space"
    if "//" in url:
        return "must not contain double slash"
    if "*" in url.removesuffix("/*"):
        return "wildcard can only do suffix matching"
    return ""


def _url_rule(value: Object, field: Field) -> None:
    _verbs(value, field)
    urls = value.get("nonResourceURLs")
    missing = "nonResourceURLs must contain at least one value"
    if _alone(urls, field, "nonResourceURLs", missing, "non-resource URLs"):
        for index, url in field.numbered(urls or ()):
            why = _url_problem(url)
            if why:
                field.invalid(f"nonResourceURLs[{index}]", url, why)


def _rule(value: Object, field: Field) -> None:
    if not value.get("subjects"):
        field.required("subjects", "subjects must contain at least one value")
    field.each("subjects", _subject, value.get("subjects"))
    if not value.get("resourceRules") and not value.get("nonResourceRules"):
        field.required("", "at least one of resourceRules and nonResourceRules has to be non-empty")
    field.each("resourceRules", _resource_rule, value.get("resourceRules"))
    field.each("nonResourceRules", _url_rule, value.get("nonResourceRules"))


def _rules(value: Sequence[Object], field: Field) -> None:
    field.each("", _rule, value)


def _mandatory(value: Any, field: Field) -> None:
    name, spec = value["metadata"].get("name", ""), value["spec"]
    if name in _MANDATORY and spec != _MANDATORY[name]:
        shown = internal("FlowSchemaSpec", spec, _PACKAGE)
        field.invalid("spec", shown, f"spec of '{name}' must equal the fixed value")


behaviour: Final = Behaviour(
    defaults=defaults({"spec": when_zero({"matchingPrecedence": 1000})}),
    validate=rules(
        _precedence,
        at("spec.distinguisherMethod", _method),
        at("spec", _level),
        at("spec.rules", _rules),
        _mandatory,
    ),
    parts={"status": Part(validate=rules(at("status.conditions", unique_conditions)))},
)
