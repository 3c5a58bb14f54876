"""Which built-in resources have versions of different shapes, and who converts them. Versions of one shape need no converter."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Final

from pilothouse.registry.resource import Convert, Object

_MODULES: Final = {
    ("events.k8s.io", "events"): "events.convert",
    ("autoscaling", "horizontalpodautoscalers"): "autoscaling.convert",
}


def conversion(group: str, plural: str) -> Convert | None:
    """The converter of a resource; its module is loaded at the first conversion."""
    name = _MODULES.get((group, plural))
    if name is None:
        return None

    def lazily(direction: str) -> Callable[[Object, str], Object]:
        def convert(obj: Object, version: str) -> Object:
            module = importlib.import_module(f"pilothouse.builtin.{name}")
            made: Object = getattr(module, direction)(obj, version)
            return made

        return convert

    return Convert(lazily("to_hub"), lazily("from_hub"))
