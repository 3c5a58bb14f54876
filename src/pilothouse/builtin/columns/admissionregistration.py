"""The admissionregistration.k8s.io group."""

from __future__ import annotations

from typing import Final

from pilothouse.builtin.columns.cells import UNSET, Object, Template, age, count, items, name, part, row, text


def _param_kind(obj: Object) -> str:
    found = part(obj, "spec").get("paramKind")
    return UNSET if found is None else f"{found.get('apiVersion') or ''}/{found.get('kind') or ''}"


def _param_ref(obj: Object) -> str:
    found = part(obj, "spec").get("paramRef") or {}
    if wanted := found.get("name"):
        namespace: str = found.get("namespace") or ""
        return f"{namespace}/{wanted}" if namespace else wanted
    selector = found.get("selector")
    return UNSET if selector is None else _selector_dump(selector)


def _selector_dump(selector: Object) -> str:
    """A selector the way the original shows it here: as its internal type."""
    labels = part(selector, "matchLabels")
    shown = "".join([f"{key}: {labels[key]}," for key in sorted(labels)])
    terms = "".join([f"{_term_dump(term)}," for term in items(selector, "matchExpressions")])
    return (
        f"&LabelSelector{{MatchLabels:map[string]string{{{shown}}},"
        f"MatchExpressions:[]LabelSelectorRequirement{{{terms}}},}}"
    )


def _term_dump(term: Object) -> str:
    key, operator, values = term.get("key") or "", term.get("operator") or "", " ".join(items(term, "values"))
    return f"LabelSelectorRequirement{{Key:{key},Operator:{operator},Values:[{values}],}}"


_BINDING: Final = row(name, text("spec.policyName"), _param_ref, age)
_WEBHOOKS: Final = row(name, count("webhooks"), age)

ROWS: Final[dict[str, Template]] = {
    "mutatingadmissionpolicies": row(name, count("spec.mutations"), _param_kind, age),
    "mutatingadmissionpolicybindings": _BINDING,
    "mutatingwebhookconfigurations": _WEBHOOKS,
    "validatingadmissionpolicies": row(name, count("spec.validations"), _param_kind, age),
    "validatingadmissionpolicybindings": _BINDING,
    "validatingwebhookconfigurations": _WEBHOOKS,
}
