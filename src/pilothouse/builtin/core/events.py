"""Events of the core group: old ones must agree on their namespace, those with a micro time say who reports what."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pilothouse.machinery import names
from pilothouse.machinery.rules import Field, Rule, rules
from pilothouse.registry.behaviour import Behaviour

_MAX_WORD: Final = 128
_MAX_NOTE: Final = 1024
_OTHER: Final = "does not match event.namespace"

Object = Mapping[str, Any]


def _namespace(event: Object, field: Field) -> None:
    about = (event.get("involvedObject") or {}).get("namespace", "")
    own = event["metadata"].get("namespace", "")
    new_style = event.get("eventTime") is not None
    at_home = ("default", "kube-system") if new_style else ("", "default")
    # What has no namespace is told about in one of the server's own.
    if (not about and own not in at_home) or (about and about != own and not new_style):
        field.invalid("involvedObject.namespace", about, _OTHER)


def _word(name: str, event: Object, field: Field) -> None:
    text = event.get(name, "")
    if not text:
        field.required(name)
    elif len(text) > _MAX_WORD:
        field.invalid(name, "", f"can have at most {_MAX_WORD} characters")


def reported(controller: str) -> Rule:
    """What both groups ask of an event. `controller`: how the group calls the reporting controller."""

    def run(event: Object, field: Field) -> None:
        _namespace(event, field)
        if event.get("eventTime") is None:
            return
        reporter = event.get("reportingComponent", "")
        if not reporter:
            field.required(controller)
        field.all_invalid(controller, reporter, names.qualified_name(reporter))
        for name in ("reportingInstance", "action", "reason"):
            _word(name, event, field)
        if len(event.get("message", "")) > _MAX_NOTE:
            field.invalid("message", "", f"can have at most {_MAX_NOTE} characters")

    return run


behaviour = Behaviour(validate=rules(reported("reportingComponent")))
