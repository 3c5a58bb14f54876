"""Tolerations, spreading over topologies, gates: what else of a pod the scheduler reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import methodcaller
from typing import Any, Final

from pilothouse.builtin.shared.affinity import label_keys
from pilothouse.builtin.shared.selectors import label_selector
from pilothouse.machinery import names as words
from pilothouse.machinery.rules import Field

EFFECTS: Final = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_OPERATORS: Final = ("Equal", "Exists")
_COMPARING: Final = ("Lt", "Gt")  # behind a gate that is closed
_UNSATISFIABLE: Final = ("DoNotSchedule", "ScheduleAnyway")
_POLICIES: Final = ("Honor", "Ignore")

Object = Mapping[str, Any]


def _are_values(texts: Sequence[str]) -> bool:
    return all(texts) and words.are_label_values(texts)


TOLERATED: Final = {"key": words.are_qualified_names, "value": _are_values}  # in which good tolerations may differ


def toleration(value: Object, field: Field) -> None:
    """One toleration."""
    key, operator, effect = value.get("key", ""), value.get("operator", ""), value.get("effect", "")
    if key:
        field.all_invalid("key", key, words.qualified_name(key))
    elif operator != "Exists":
        why = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
        field.invalid("operator", operator, why)
    if value.get("tolerationSeconds") is not None and effect != "NoExecute":
        field.invalid("effect", effect, "effect must be 'NoExecute' when `tolerationSeconds` is set")
    wanted = value.get("value", "")
    if operator in ("Equal", ""):
        whys = words.label_value(wanted)
        if whys:
            field.invalid("operator", wanted, ";".join(whys))
    elif operator == "Exists":
        if wanted:
            field.invalid("operator", wanted, "value must be empty when `operator` is 'Exists'")
    else:
        supported = (*_OPERATORS, *_COMPARING) if operator in _COMPARING else _OPERATORS
        field.not_supported("operator", operator, supported)
    if effect and effect not in EFFECTS:
        field.not_supported("effect", effect, EFFECTS)


def _closed(name: str, value: Object, field: Field) -> None:
    if value.get(name) is not None and value[name] not in _POLICIES:
        field.not_supported(name, value[name], _POLICIES)


def _spread(value: Object, field: Field) -> None:
    skew = value.get("maxSkew", 0)
    if skew <= 0:
        field.invalid("maxSkew", skew, "must be greater than zero")
    topology = value.get("topologyKey", "")
    if not topology:
        field.required("topologyKey", "can not be empty")
    action = value.get("whenUnsatisfiable", "")
    if action not in _UNSATISFIABLE:
        field.not_supported("whenUnsatisfiable", action, _UNSATISFIABLE)


def _domains(value: Object, field: Field) -> None:
    domains, action = value.get("minDomains"), value.get("whenUnsatisfiable", "")
    if domains is None:
        return
    if domains <= 0:
        field.invalid("minDomains", domains, "must be greater than zero")
    if action != "DoNotSchedule":
        why = f"can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {action}"
        field.invalid("minDomains", domains, why)


def topology_spread(items: Sequence[Object], field: Field) -> None:
    """`topologySpreadConstraints`, told from the list."""
    keys = list(map(methodcaller("get", "topologyKey", ""), items))
    last = dict(zip(keys, range(len(keys)), strict=True))
    pairs: list[tuple[str, str]] = []
    last_pair: dict[tuple[str, str], int] = {}
    for index, value in field.numbered(items):
        before = len(field.found)
        _spread(value, field)
        if last[keys[index]] != index:
            if not pairs:
                pairs = [(value.get("topologyKey", ""), value.get("whenUnsatisfiable", "")) for value in items]
                last_pair = dict(zip(pairs, range(len(pairs)), strict=True))
            if last_pair[pairs[index]] != index:  # told at the earlier one
                path, shown = "{topologyKey, whenUnsatisfiable}", "{" + ", ".join(pairs[index]) + "}"
                field.duplicate(path, shown)
        _domains(value, field)
        _closed("nodeAffinityPolicy", value, field)
        _closed("nodeTaintsPolicy", value, field)
        label_keys(value, field)
        if value.get("labelSelector") is not None:
            field.within("labelSelector", label_selector, value["labelSelector"])
        if len(field.found) > before:
            field.prefix(before, f"[{index}]")


def scheduling_gates(items: Sequence[Object], field: Field) -> None:
    """`schedulingGates`, told from the list."""
    seen: set[str] = set()
    for index, value in field.numbered(items):
        name = value.get("name", "")
        field.all_invalid(f"[{index}]", name, words.qualified_name(name))
        if name in seen:
            field.duplicate(f"[{index}]", name)
        seen.add(name)


__all__ = ["EFFECTS", "TOLERATED", "scheduling_gates", "toleration", "topology_spread"]
