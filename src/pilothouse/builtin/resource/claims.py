"""What claims and their templates ask for: devices by request, constraints between them, configuration.

The rules are in two halves, as the original tells them: first all of the first, then all of the second.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from pilothouse.builtin.resource import words
from pilothouse.builtin.shared.scheduling import TOLERATED
from pilothouse.machinery import names
from pilothouse.machinery.rules import Defaults, Field, defaults, repeated
from pilothouse.registry.behaviour import Object

_MODES: Final = ("All", "ExactCount")
_OPERATORS: Final = ("Equal", "Exists")
_EFFECTS: Final = ("NoExecute", "NoSchedule", "None")
_MOST_ALTERNATIVES: Final = 8
_ONE_OF: Final = "exactly one of `exactly` or `firstAvailable` is required"
_NO_REQUEST: Final = (
    "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
)


def _fill_count(value: Object) -> None:
    if not value.get("allocationMode"):
        value["allocationMode"] = "ExactCount"
    if value["allocationMode"] == "ExactCount" and not value.get("count"):
        value["count"] = 1
    for toleration in value.get("tolerations") or ():
        if not toleration.get("operator"):
            toleration["operator"] = "Equal"


fill_spec: Final[Defaults] = defaults(
    {"devices.requests[].exactly": _fill_count, "devices.requests[].firstAvailable[]": _fill_count}
)


def drop_gated(spec: Object) -> None:
    """Fields of features that are off."""
    for asked in _asked(spec):
        asked.pop("derivedAttributes", None)


def _asked(spec: Object) -> Iterator[Object]:
    """Every exact request and every alternative."""
    for request in (spec.get("devices") or {}).get("requests") or ():
        if request.get("exactly") is not None:
            yield request["exactly"]
        yield from request.get("firstAvailable") or ()


# -- first half


def _toleration_value(value: Object, field: Field) -> None:
    operator, text = value.get("operator", ""), value.get("value", "")
    if operator == "Exists" and text:
        field.invalid("value", text, "must be empty for operator `Exists`")
    elif operator == "Equal":
        field.all_invalid("value", text, names.label_value(text))


def _count(value: Object, field: Field) -> None:
    mode, count = value.get("allocationMode", ""), value.get("count", 0)
    if mode == "All" and count:
        field.invalid("count", count, "must not be specified when allocationMode is 'All'")
    elif mode == "ExactCount" and count <= 0:
        field.invalid("count", count, "must be greater than zero")


def _capacity(value: Object, field: Field) -> None:
    for name in field.names((value.get("capacity") or {}).get("requests")):
        field.within("capacity.requests", words.qualified_name, name)


def _asks(value: Object, field: Field, *, exact: bool) -> None:
    device_class = value.get("deviceClassName", "")
    if device_class:
        field.all_invalid("deviceClassName", device_class, names.subdomain(device_class))
    elif exact:
        field.required("deviceClassName")
    words.each_of(field, "selectors", words.selector, value.get("selectors"), words.MOST)
    _count(value, field)
    field.each("tolerations", _toleration_value, value.get("tolerations"), free=TOLERATED)
    _capacity(value, field)


def _exactly(value: Object, field: Field) -> None:
    _asks(value, field, exact=True)


def _alternative(value: Object, field: Field) -> None:
    field.within("name", words.label, value.get("name", ""))
    _asks(value, field, exact=False)


def _request(value: Object, field: Field) -> None:
    exact, alternatives = value.get("exactly"), value.get("firstAvailable")
    field.within("name", words.label, value.get("name", ""))
    if exact is None and not alternatives:
        field.required("", _ONE_OF)
    elif exact is not None and alternatives:
        field.invalid("", None, f"{_ONE_OF}, but multiple fields are set")
    elif exact is not None:
        field.within("exactly", _exactly, exact)
    else:
        words.each_of(field, "firstAvailable", _alternative, alternatives, _MOST_ALTERNATIVES)


def known_requests(spec: Object) -> set[str]:
    """Names by which a claim's requests, and alternatives in them, are spoken of."""
    found: set[str] = set()
    for request in (spec.get("devices") or {}).get("requests") or ():
        name = request.get("name", "")
        found.add(name)
        found.update(f"{name}/{one.get('name', '')}" for one in request.get("firstAvailable") or ())
    return found


def references(value: Sequence[str] | None, known: set[str], field: Field) -> None:
    """Rule for `requests` of a constraint or a configuration."""

    def run(name: str, field: Field) -> None:
        reference(name, known, field)

    words.each_of(field, "requests", run, value, words.MOST)


def reference(name: str, known: set[str], field: Field) -> None:
    """The name of a request, or of an alternative in one."""
    parts = name.split("/")
    if len(parts) <= 2:
        for part in parts:
            field.all_invalid("", part, names.label(part))
    if name not in known:
        field.invalid("", name, _NO_REQUEST)


def declared_references(value: Sequence[str] | None, field: Field) -> None:
    """The second half of `references`."""
    if words.sized(field, "requests", value, words.MOST):
        for index, name in field.until_full(repeated(value or (), str)):
            field.duplicate(f"requests[{index}]", name)


def _constraint(known: set[str]) -> Callable[[Object, Field], None]:
    def run(value: Object, field: Field) -> None:
        references(value.get("requests"), known, field)
        if value.get("matchAttribute") is None and value.get("distinctAttribute") is None:
            why = 'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set'
            field.required("", why)  # said of none as well

    return run


def _configuration(known: set[str]) -> Callable[[Object, Field], None]:
    def run(value: Object, field: Field) -> None:
        references(value.get("requests"), known, field)
        words.opaque(value, field)

    return run


def spec_rules(value: Object, field: Field) -> None:
    """The first half, told from the spec of a claim."""
    devices = value.get("devices") or {}
    known = known_requests(value)
    for name, rule in (
        ("requests", _request),
        ("constraints", _constraint(known)),
        ("config", _configuration(known)),
    ):
        words.each_of(field, f"devices.{name}", rule, devices.get(name), words.MOST)


# -- second half


def _duplicates(items: Sequence[Object] | None, field: Field, path: str, key: Callable[[Object], Any]) -> None:
    for index, item in field.until_full(repeated(items or (), key)):
        field.duplicate(f"{path}[{index}]", item)


def _named(item: Object) -> Any:
    return item.get("name", "")


def _toleration(value: Object, field: Field) -> None:
    key, operator, effect = value.get("key", ""), value.get("operator", ""), value.get("effect", "")
    if key:
        field.all_invalid("key", key, names.qualified_name(key))
    if operator not in _OPERATORS:
        field.not_supported("operator", operator, _OPERATORS)
    if effect and effect not in _EFFECTS:
        field.not_supported("effect", effect, _EFFECTS)


def _declared(value: Object, field: Field) -> None:
    words.sized(field, "selectors", value.get("selectors"), words.MOST)
    if value.get("allocationMode") not in _MODES:
        field.not_supported("allocationMode", value.get("allocationMode", ""), _MODES)
    field.each("tolerations", _toleration, value.get("tolerations"), free=TOLERATED)


def _declared_alternative(value: Object, field: Field) -> None:
    if not value.get("deviceClassName"):
        field.required("deviceClassName")
    _declared(value, field)


def _declared_request(value: Object, field: Field) -> None:
    exact = value.get("exactly")
    if exact is not None and words.is_flat(field):
        _declared(exact, field)
    elif exact is not None:
        field.within("exactly", _declared, exact)
    alternatives: Sequence[Object] = value.get("firstAvailable") or ()
    if not words.sized(field, "firstAvailable", alternatives, _MOST_ALTERNATIVES):
        return
    _duplicates(alternatives, field, "firstAvailable", _named)
    field.each("firstAvailable", _declared_alternative, alternatives)


def _declared_constraint(value: Object, field: Field) -> None:
    declared_references(value.get("requests"), field)
    for name in ("matchAttribute", "distinctAttribute"):
        if value.get(name) is not None:
            field.within(name, words.fully_qualified_name, value[name])


def declared_configuration(value: Object, field: Field) -> None:
    declared_references(value.get("requests"), field)
    words.opaque_driver(value, field)


def declared_spec_rules(value: Object, field: Field) -> None:
    """The second half, told from the spec of a claim."""
    devices = value.get("devices") or {}
    for name, rule in (
        ("requests", _declared_request),
        ("constraints", _declared_constraint),
        ("config", declared_configuration),
    ):
        items = devices.get(name) or ()
        if not words.sized(field, f"devices.{name}", items, words.MOST):
            continue
        if name == "requests":
            _duplicates(items, field, "devices.requests", _named)
        field.each(f"devices.{name}", rule, items)
