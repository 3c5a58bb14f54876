"""References to other objects by group, kind and name, as ingresses and their classes hold them."""

from __future__ import annotations

from typing import Final

from pilothouse.builtin.shared.fields import inside
from pilothouse.machinery import names
from pilothouse.machinery.rules import Rule, at, required, vocabulary

segment: Final[Rule] = vocabulary(names.path_segment)
"""A word that becomes a part of a URL path."""

typed_reference: Final[Rule] = inside(
    at("apiGroup", vocabulary(names.subdomain)),
    at("kind", required, segment),
    at("name", required, segment),
)
