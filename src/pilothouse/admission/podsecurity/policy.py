"""Which standard a namespace asks for: levels and versions in its labels (Kubernetes documentation, "Pod Security
Admission").
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from pilothouse.kit.record import record
from pilothouse.machinery.errors import Cause
from pilothouse.machinery.goquote import quote

PREFIX: Final = "pod-security.kubernetes.io/"
LEVELS: Final = ("privileged", "baseline", "restricted")  # from lax to strict
MODES: Final = ("enforce", "audit", "warn")
KEYS: Final = tuple(f"{PREFIX}{mode}{part}" for mode in MODES for part in ("", "-version"))
LATEST: Final = 10**9  # later than any version
_VERSION: Final = re.compile(r"v1\.(0|[1-9][0-9]*)", re.ASCII)


@record
class Standard:
    """One level as it is in one minor version of Kubernetes 1."""

    level: str = "privileged"
    minor: int = LATEST

    def __str__(self) -> str:
        return f"{self.level}:{'latest' if self.minor == LATEST else f'v1.{self.minor}'}"

    @property
    def demands(self) -> bool:
        return self.level != "privileged"

    def at_most(self, other: Standard) -> bool:
        """Whether it lets through all that `other` lets through, as far as one can tell without looking at a pod."""
        return self.minor == other.minor and LEVELS.index(self.level) <= LEVELS.index(other.level)


@record
class Policy:
    enforce: Standard = Standard()
    audit: Standard = Standard()
    warn: Standard = Standard()

    @property
    def demands(self) -> bool:
        return self.enforce.demands or self.audit.demands or self.warn.demands


NOTHING_ASKED: Final = Policy()


def policy_of(labels: Mapping[str, str] | None) -> Policy:
    """What the labels of a namespace say. What cannot be read is taken for the strictest."""
    if not labels or not any(key.startswith(PREFIX) for key in labels):
        return NOTHING_ASKED
    return _policy(tuple(labels.get(key) for key in KEYS))


@lru_cache(maxsize=1024)
def _policy(values: tuple[str | None, ...]) -> Policy:
    return Policy(*(_standard(values[place], values[place + 1]) for place in (0, 2, 4)))


def _standard(level: str | None, version: str | None) -> Standard:
    if level is None:
        level = "privileged"
    elif level not in LEVELS:
        level = "restricted"
    found = _VERSION.fullmatch(version or "")
    return Standard(level, int(found[1]) if found else LATEST)


def mistakes(labels: Mapping[str, str] | None) -> list[Cause]:
    """What cannot be read in the labels of a namespace."""
    found: list[Cause] = []
    for key in KEYS:
        value = (labels or {}).get(key)
        if value is None:
            continue
        if key.endswith("-version"):
            wrong = value != "latest" and _VERSION.fullmatch(value) is None
            why = 'must be "latest" or "v1.x"'
        else:
            wrong, why = value not in LEVELS, f"must be one of {', '.join(LEVELS)}"
        if wrong:
            found.append(Cause("FieldValueInvalid", f"Invalid value: {quote(value)}: {why}", f"metadata.labels[{key}]"))
    return found
