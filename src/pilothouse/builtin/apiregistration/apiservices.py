"""API services: who serves a version of a group, this server itself or one behind a service."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Final

from pilothouse.machinery import names
from pilothouse.machinery.rules import Field, Rule, at, defaults, one_of, rules
from pilothouse.machinery.times import format_time
from pilothouse.registry.behaviour import Behaviour, Context, Object, Part

_MOST_GROUP: Final = 20000
_MOST_VERSION: Final = 1000
_STATUSES: Final = ("True", "False", "Unknown")


def _prepare(new: Object, old: Object | None, context: Context) -> None:
    """What this server serves itself is there from the start."""
    if old is None and new["spec"].get("service") is None:
        new["status"] = {
            "conditions": [
                {
                    "type": "Available",
                    "status": "True",
                    "lastTransitionTime": format_time(context.now),
                    "reason": "Local",
                    "message": "Local APIServices are always available",
                }
            ]
        }


def _name(value: Object, field: Field) -> None:
    name, spec = value["metadata"].get("name", ""), value["spec"]
    wanted = f"{spec.get('version', '')}.{spec.get('group', '')}"
    if name != wanted:
        field.invalid("metadata.name", name, f'must be `spec.version+"."+spec.group`: "{wanted}"')


def _group(value: Object, field: Field) -> None:
    group = value.get("group", "")
    if group:
        field.all_invalid("group", group, names.subdomain(group))
    elif value.get("version") != "v1":
        field.required("group", "only v1 may have an empty group and it better be legacy kube")


def _version(value: Object, field: Field) -> None:
    version = value.get("version", "")
    field.all_invalid("version", version, names.label_1035(version))


def _priority(name: str, most: int) -> Rule:
    def run(value: Object, field: Field) -> None:
        priority = value.get(name, 0)
        if not 0 < priority <= most:
            field.invalid(name, priority, f"must be positive and less than {most}")

    return run


def _service(value: Object, field: Field) -> None:
    for name in ("namespace", "name"):
        if not value.get(name):
            field.required(name)
    for why in names.port_number(value.get("port", 443)):
        field.invalid("port", value["port"], f"port is not valid: {why}")


def _trust(value: Object, field: Field) -> None:
    bundle, careless = value.get("caBundle"), value.get("insecureSkipTLSVerify")
    if value.get("service") is None:
        if bundle:
            shown = f"{len(base64.b64decode(bundle))} bytes"
            field.invalid("caBundle", shown, "local APIServices may not have a caBundle")
        if careless:
            why = "local APIServices may not have insecureSkipTLSVerify"
            field.invalid("insecureSkipTLSVerify", True, why)
    elif careless and bundle:
        field.invalid("insecureSkipTLSVerify", True, "may not be true if caBundle is present")


def _conditions(value: Sequence[Object], field: Field) -> None:
    for index, one in field.numbered(value):
        field.within(f"[{index}].status", one_of(*_STATUSES), one.get("status", ""))


behaviour: Final = Behaviour(
    defaults=defaults({"spec.service.port": 443}),
    prepare=_prepare,
    validate=rules(
        _name,
        at(
            "spec",
            _group,
            _version,
            _priority("groupPriorityMinimum", _MOST_GROUP),
            _priority("versionPriority", _MOST_VERSION),
        ),
        at("spec.service", _service),
        at("spec", _trust),
    ),
    parts={"status": Part(validate=rules(at("status.conditions", _conditions)))},
)
