"""Where pods want to run: affinity to nodes and to other pods."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pilothouse.builtin.shared.selectors import lenient_label_selector, lenient_node_selector_term, node_selector
from pilothouse.machinery import names as words
from pilothouse.machinery.rules import Field

_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"
_WEIGHT: Final = "must be in the range 1-100"

Object = Mapping[str, Any]


def _weight(value: Object, field: Field) -> None:
    weight = value.get("weight", 0)
    if not 1 <= weight <= 100:
        field.invalid("weight", weight, _WEIGHT)


def _preferred_node(value: Object, field: Field) -> None:
    _weight(value, field)
    field.within("preference", lenient_node_selector_term, value.get("preference") or {})


def _node(value: Object, field: Field) -> None:
    if value.get(_REQUIRED) is not None:
        field.within(_REQUIRED, node_selector, value[_REQUIRED])
    field.each(_PREFERRED, _preferred_node, value.get(_PREFERRED))


def _label_keys(value: Object, field: Field) -> None:
    """Keys whose values are taken from the pod itself."""
    match, mismatch = value.get("matchLabelKeys") or [], value.get("mismatchLabelKeys") or []
    if value.get("labelSelector") is None:
        for name, keys in (("matchLabelKeys", match), ("mismatchLabelKeys", mismatch)):
            if keys:
                field.forbidden(name, "must not be specified when labelSelector is not set")
        return
    for name, keys in (("matchLabelKeys", match), ("mismatchLabelKeys", mismatch)):
        for index, key in enumerate(keys):
            field.all_invalid(f"{name}[{index}]", key, words.qualified_name(key))
    for index, key in enumerate(match):
        if key in mismatch:
            field.invalid(f"matchLabelKeys[{index}]", key, "exists in both matchLabelKeys and mismatchLabelKeys")


def topology_key(key: str, field: Field) -> None:
    """Told at `topologyKey`."""
    if not key:
        field.required("topologyKey", "can not be empty")
    field.all_invalid("topologyKey", key, words.qualified_name(key))


def _term(value: Object, field: Field) -> None:
    for name in ("labelSelector", "namespaceSelector"):
        if value.get(name) is not None:
            field.within(name, lenient_label_selector, value[name])
    for name in value.get("namespaces") or ():
        field.all_invalid("namespace", name, words.label(name))
    _label_keys(value, field)
    topology_key(value.get("topologyKey", ""), field)


def _preferred_pod(value: Object, field: Field) -> None:
    _weight(value, field)
    field.within("podAffinityTerm", _term, value.get("podAffinityTerm") or {})


def _pod(value: Object, field: Field) -> None:
    field.each(_REQUIRED, _term, value.get(_REQUIRED))
    field.each(_PREFERRED, _preferred_pod, value.get(_PREFERRED))


def affinity(value: Object, field: Field) -> None:
    """`affinity` of a pod."""
    if value.get("nodeAffinity") is not None:
        field.within("nodeAffinity", _node, value["nodeAffinity"])
    if value.get("podAffinity") is not None:
        field.within("podAffinity", _pod, value["podAffinity"])
    if value.get("podAntiAffinity") is not None:
        field.within("podAntiAffinity", _pod, value["podAntiAffinity"])
