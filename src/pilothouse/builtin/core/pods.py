"""Pods: what is filled in, what is refused, what may change afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pilothouse.builtin.shared.poddefaults import pod_defaults
from pilothouse.builtin.shared.podspec import pod_spec
from pilothouse.machinery.rules import Field, at, on_create, rules
from pilothouse.registry.behaviour import Behaviour

Object = Mapping[str, Any]


def _on_create(spec: Object, field: Field) -> None:
    if spec.get("nodeName") and spec.get("schedulingGates"):
        field.forbidden("nodeName", "cannot be set until all schedulingGates have been cleared")
    if spec.get("ephemeralContainers"):
        field.forbidden("ephemeralContainers", "cannot be set on create")


def _images(spec: Object, field: Field) -> None:
    """Blanks around an image's name are refused in pods only."""
    for kind in ("containers", "initContainers"):
        for index, container in enumerate(spec.get(kind) or ()):
            image = container.get("image", "")
            if image != image.strip():
                field.invalid(f"{kind}[{index}].image", image, "must not have leading or trailing whitespace")


_validate: Final = rules(at("spec", pod_spec, on_create(_on_create), _images))

behaviour = Behaviour(defaults=pod_defaults, validate=_validate)
