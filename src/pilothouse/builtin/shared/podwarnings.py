"""Warnings about pods and pod templates that are legal but questionable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Object = dict[str, Any]


def pod_warnings(new: Object, old: Object | None) -> Sequence[str]:
    """For a pod."""
    return ()
