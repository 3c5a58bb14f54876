"""How names are checked, by the word that the table of facts has for it (Kubernetes documentation,
"Object Names and IDs").

Each rule takes the name and whether it is only a prefix (generateName), and returns what is wrong with it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from pilothouse.builtin import facts
from pilothouse.builtin.shared import addresses
from pilothouse.machinery import names
from pilothouse.registry.resource import NameRule

_CRON_JOB_LENGTH: Final = 52  # room for the suffix of the jobs it makes
AS_GIVEN: Final = frozenset({("networking.k8s.io", "ipaddresses")})  # a generateName gets no suffix and so is refused


def _checked(check: Callable[[str], list[str]]) -> NameRule:
    """A rule that checks prefixes too."""
    prefix_check = names.prefix_of(check)
    return lambda name, prefix: prefix_check(name) if prefix else check(name)


def _path_segment(name: str, prefix: bool) -> list[str]:
    return [] if prefix else names.path_segment(name)


_subdomain: Final = _checked(names.subdomain)


def _cron_job(name: str, prefix: bool) -> list[str]:
    found = _subdomain(name, prefix)
    if not prefix and len(name) > _CRON_JOB_LENGTH:
        return [*found, names.too_long(_CRON_JOB_LENGTH)]
    return found


def _address(name: str, prefix: bool) -> list[str]:
    return addresses.canonical_address(name)


def _of_the_kind(name: str, prefix: bool) -> list[str]:
    """The rule depends on the rest of the object, so the kind's own validation has it."""
    return []


_RULES: Final[dict[str, NameRule]] = {
    facts.SUBDOMAIN: _subdomain,
    facts.DECLARED_SUBDOMAIN: _of_the_kind,
    facts.LABEL: _checked(names.label),
    facts.PATH_SEGMENT: _path_segment,
    facts.CRON_JOB: _cron_job,
    facts.DEFINITION: _subdomain,
    facts.API_SERVICE: _path_segment,
    facts.ADDRESS: _address,
    facts.TRUST_BUNDLE: _of_the_kind,
    facts.EVENT: _of_the_kind,
}


def rule(word: str) -> NameRule:
    return _RULES[word]
