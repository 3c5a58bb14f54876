"""The controllers that there are, and how a setting chooses among them.

Imports nothing else: settings are read before anything is loaded.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

NAMESPACE: Final = "namespace-controller"
GARBAGE_COLLECTOR: Final = "garbage-collector-controller"
SERVICE_ACCOUNT: Final = "serviceaccount-controller"
ROOT_CA: Final = "root-ca-certificate-publisher-controller"
QUOTA: Final = "resourcequota-controller"
CLUSTER_ROLE: Final = "clusterrole-aggregation-controller"
NAMES: Final = (NAMESPACE, GARBAGE_COLLECTOR, SERVICE_ACCOUNT, ROOT_CA, QUOTA, CLUSTER_ROLE)
ALL: Final = "*"
NONE: Final = "none"


def choose(words: Sequence[str]) -> tuple[str, ...]:
    """The names of the controllers to run: `*` is all, `none` is none, `-name` leaves one out. Raises ValueError."""
    if list(words) == [NONE]:
        return ()
    given = [word.removeprefix("-") for word in words if word != ALL]
    unknown = [word for word in given if word not in NAMES]
    if unknown:
        raise ValueError(f"there is no controller {unknown[0]!r}; there are: {ALL}, {NONE}, {', '.join(NAMES)}")
    return tuple(name for name in NAMES if f"-{name}" not in words and (ALL in words or name in words))
