"""PodTemplates: a template with a name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pilothouse.builtin.shared.poddefaults import template_defaults
from pilothouse.builtin.shared.podgates import drop_closed
from pilothouse.builtin.shared.podtemplate import pod_template
from pilothouse.builtin.shared.podwarnings import spec_warnings
from pilothouse.builtin.shared.templates import respecified
from pilothouse.machinery.rules import at, defaults, rules
from pilothouse.registry.behaviour import Behaviour, Context, Object


def _prepare(new: Object, old: Object | None, context: Context) -> None:
    drop_closed(new.get("template") or {}, (old or {}).get("template"))


def _warn(new: Object, old: Object | None) -> Sequence[str]:
    return spec_warnings("template", new.get("template") or {}) if respecified(new, old) else ()


_validate: Final = rules(at("template", pod_template))

behaviour = Behaviour(
    defaults=defaults({"template": template_defaults}), prepare=_prepare, validate=_validate, warn=_warn
)
