"""Labels, label selectors and node selectors: what is refused, and whether a selector matches labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from pilothouse.machinery import names as words
from pilothouse.machinery.rules import Field

NO_OPERATOR: Final = "not a valid selector operator"
NEEDS_VALUES: Final = "must be specified when `operator` is 'In' or 'NotIn'"
NO_VALUES: Final = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
ONE_VALUE: Final = "must be specified single value when `operator` is 'Lt' or 'Gt'"

Object = Mapping[str, Any]


def labels(value: Object, field: Field) -> None:
    """Rule for a map of labels: keys and values are told at the map."""
    for key in value if len(value) < 2 else field.names(value, _fine_in(value)):
        whys = words.qualified_name(key)
        if whys:
            field.all_invalid("", key, whys)
        whys = words.label_value(value[key])
        if whys:
            field.all_invalid("", value[key], whys)


def _fine_in(value: Object) -> Callable[[Sequence[str]], bool]:
    """Whether some keys of a map of labels are good, with what belongs to them."""
    return lambda keys: words.are_qualified_names(keys) and words.are_label_values(list(map(value.__getitem__, keys)))


def _expression(one: Object, field: Field) -> None:
    operator, values = one.get("operator", ""), one.get("values")
    if operator in ("In", "NotIn"):
        if not values:
            field.required("values", NEEDS_VALUES)
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            field.forbidden("values", NO_VALUES)
    else:
        field.invalid("operator", operator, NO_OPERATOR)
    key = one.get("key", "")
    field.all_invalid("key", key, words.qualified_name(key))
    for index, value in field.doubtful(values or (), words.are_label_values):
        field.all_invalid(f"values[{index}]", value, words.label_value(value))


def label_selector(value: Object, field: Field) -> None:
    if value.get("matchLabels"):
        field.within("matchLabels", labels, value["matchLabels"])
    field.each("matchExpressions", _expression, value.get("matchExpressions"), alone=True)


def is_empty(selector: Object | None) -> bool:
    """A selector that selects everything."""
    return not selector or not (selector.get("matchLabels") or selector.get("matchExpressions"))


def matches(selector: Object, found: Object | None) -> bool:
    """Whether a valid label selector selects these labels."""
    found = found or {}
    for key, value in (selector.get("matchLabels") or {}).items():
        if found.get(key) != value:
            return False
    return all(_holds(one, found) for one in selector.get("matchExpressions") or ())


def _holds(one: Object, found: Object) -> bool:
    operator, key = one["operator"], one["key"]
    values: Sequence[str] = one.get("values") or ()
    if operator == "In":
        return key in found and found[key] in values
    if operator == "NotIn":
        return found.get(key) not in values
    return bool((key in found) == (operator == "Exists"))


def is_valid(selector: Object) -> bool:
    """Whether a selector can be used to match at all."""
    field = Field()
    label_selector(selector, field)
    return not field.found


# -- node selectors


def _node_expression(one: Object, field: Field, lenient: bool = False) -> None:
    operator, values = one.get("operator", ""), one.get("values") or ()
    if operator in ("In", "NotIn"):
        if not values:
            field.required("values", NEEDS_VALUES)
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            field.forbidden("values", NO_VALUES)
    elif operator in ("Gt", "Lt"):
        if len(values) != 1:
            field.required("values", ONE_VALUE)
    else:
        field.invalid("operator", operator, NO_OPERATOR)
    key = one.get("key", "")
    field.all_invalid("key", key, words.qualified_name(key))
    for index, value in field.doubtful(values if not lenient else (), words.are_label_values):
        field.all_invalid(f"values[{index}]", value, words.label_value(value))


def _lenient_node_expression(one: Object, field: Field) -> None:
    _node_expression(one, field, lenient=True)


def _node_field(one: Object, field: Field) -> None:
    operator, values, key = one.get("operator", ""), one.get("values") or (), one.get("key", "")
    if operator in ("In", "NotIn"):
        if len(values) != 1:
            field.required(
                "values", "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
            )
    else:
        field.invalid("operator", operator, NO_OPERATOR)
    if key != "metadata.name":
        field.invalid("key", key, "not a valid field selector key")
        return
    for index, value in field.doubtful(values, words.are_subdomains):
        field.all_invalid(f"values[{index}]", value, words.subdomain(value))


def node_selector_term(value: Object, field: Field) -> None:
    field.each("matchExpressions", _node_expression, value.get("matchExpressions"), alone=True)
    field.each("matchFields", _node_field, value.get("matchFields"), alone=True)


def lenient_node_selector_term(value: Object, field: Field) -> None:
    """For preferences: values need not be label values."""
    field.each("matchExpressions", _lenient_node_expression, value.get("matchExpressions"), alone=True)
    field.each("matchFields", _node_field, value.get("matchFields"), alone=True)


def node_selector(value: Object, field: Field) -> None:
    terms = value.get("nodeSelectorTerms")
    if not terms:
        field.required("nodeSelectorTerms", "must have at least one node selector term")
        return
    field.each("nodeSelectorTerms", node_selector_term, terms, alone=True)
