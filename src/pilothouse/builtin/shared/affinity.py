"""Where pods want to run: affinity to nodes and to other pods."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pilothouse.builtin.shared.selectors import label_selector, lenient_node_selector_term, node_selector
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
    field.each(_PREFERRED, _preferred_node, value.get(_PREFERRED), alone=True)


def label_keys(value: Object, field: Field) -> None:
    """Keys whose values are taken from the pod itself. In a pod they are in the selector by now: once is right."""
    match, mismatch = value.get("matchLabelKeys") or [], value.get("mismatchLabelKeys") or []
    if not match and not mismatch:
        return
    selector = value.get("labelSelector")
    for name, keys in (("matchLabelKeys", match), ("mismatchLabelKeys", mismatch)):
        if keys and selector is None:
            field.forbidden(name, "must not be specified when labelSelector is not set")
            continue
        for index, key in field.numbered(keys):
            field.all_invalid(f"{name}[{index}]", key, words.qualified_name(key))
    places, refused = {key: index for index, key in enumerate(match)}, frozenset(mismatch)
    seen = set((selector or {}).get("matchLabels") or ())
    for one in (selector or {}).get("matchExpressions") or ():
        key = one.get("key", "")
        if key in places and key in seen:  # told without the name of the list, as in the original
            field.invalid(f"[{places[key]}]", key, "exists in both matchLabelKeys and labelSelector")
        seen.add(key)
    for index, key in field.numbered(match):
        if key in refused:
            field.invalid(f"matchLabelKeys[{index}]", key, "exists in both matchLabelKeys and mismatchLabelKeys")


def topology_key(key: str, field: Field) -> None:
    """Told at `topologyKey`."""
    if not key:
        field.required("topologyKey", "can not be empty")
    field.all_invalid("topologyKey", key, words.qualified_name(key))


def _term(value: Object, field: Field) -> None:
    for name in ("labelSelector", "namespaceSelector"):
        if value.get(name) is not None:
            field.within(name, label_selector, value[name])
    for _, name in field.doubtful(value.get("namespaces") or (), words.are_labels):
        field.all_invalid("namespace", name, words.label(name))
    label_keys(value, field)
    topology_key(value.get("topologyKey", ""), field)


def _preferred_pod(value: Object, field: Field) -> None:
    _weight(value, field)
    field.within("podAffinityTerm", _term, value.get("podAffinityTerm") or {})


def _pod(value: Object, field: Field) -> None:
    field.each(_REQUIRED, _term, value.get(_REQUIRED), alone=True)
    field.each(_PREFERRED, _preferred_pod, value.get(_PREFERRED), alone=True)


def affinity(value: Object, field: Field) -> None:
    """`affinity` of a pod."""
    if value.get("nodeAffinity") is not None:
        field.within("nodeAffinity", _node, value["nodeAffinity"])
    if value.get("podAffinity") is not None:
        field.within("podAffinity", _pod, value["podAffinity"])
    if value.get("podAntiAffinity") is not None:
        field.within("podAntiAffinity", _pod, value["podAntiAffinity"])
