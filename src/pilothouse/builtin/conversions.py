"""Which built-in resources have versions of different shapes, and who converts them.

Versions of one shape need no converter.
"""

from __future__ import annotations

import importlib
from typing import Final

from pilothouse.registry.resource import Convert, Object

# (group, resource) -> module of builtin/ and the name of its Convert.
_CONVERTERS: Final = {
    ("", "events"): ("events.convert", "events"),
    ("events.k8s.io", "events"): ("events.convert", "events"),
    ("autoscaling", "horizontalpodautoscalers"): ("autoscaling.convert", "autoscalers"),
    ("certificates.k8s.io", "podcertificaterequests"): ("certificates.convert", "requests"),
    ("resource.k8s.io", "resourceclaims"): ("resource.convert", "claims"),
    ("resource.k8s.io", "resourceclaimtemplates"): ("resource.convert", "templates"),
    ("resource.k8s.io", "resourceslices"): ("resource.convert", "slices"),
}
# The version in which a resource is stored, where it is not the preferred one: the one that has all that the others
# have.
_HUBS: Final = {("certificates.k8s.io", "podcertificaterequests"): "v1beta1"}


def hub_version(group: str, plural: str, preferred: str) -> str:
    """The version in which the store works."""
    return _HUBS.get((group, plural), preferred)


def conversion(group: str, plural: str) -> Convert | None:
    """The converter of a resource; its module is loaded at the first conversion."""
    place = _CONVERTERS.get((group, plural))
    if place is None:
        return None
    module, name = place

    def loaded() -> Convert:
        found: Convert = getattr(importlib.import_module(f"pilothouse.builtin.{module}"), name)
        return found

    def to_hub(obj: Object, version: str) -> Object:
        return loaded().to_hub(obj, version)

    def from_hub(obj: Object, version: str) -> Object:
        return loaded().from_hub(obj, version)

    return Convert(to_hub, from_hub)
