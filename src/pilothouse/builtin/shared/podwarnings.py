"""Warnings about pods and pod templates that are legal but questionable."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pilothouse.builtin.shared import words

Object = Mapping[str, Any]


def name_warning(new: Object, of_pods: bool) -> Iterator[str]:
    """A name that is a host name too should be a label."""
    name = (new.get("metadata") or {}).get("name", "")
    whys = words.label(name) if name else ()
    if whys:
        use = (
            "in Pod names and hostnames, which can result in surprising behavior"
            if of_pods
            else "in the Pod's hostname, which can result in surprising behavior"
        )
        yield f"metadata.name: this is used {use}; a DNS label is recommended: [{' '.join(whys)}]"


def spec_warnings(path: str, template: Object, old: Object | None) -> list[str]:
    """About a pod (`path` empty) or a template at `path`."""
    return []


def pod_warnings(new: Object, old: Object | None) -> Sequence[str]:
    """For a pod."""
    found = list(name_warning(new, of_pods=False)) if old is None else []
    return [*found, *spec_warnings("", new, old)]
