"""Groups of the project itself (`*.k8s.io`, `*.kubernetes.io`): a custom resource in one of them must say who approved
it, in an annotation. What is refused and what the condition says follow from the same words.
"""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

APPROVED: Final = "api-approved.kubernetes.io"
_DOMAINS: Final = ("k8s.io", "kubernetes.io")
_HEAD: Final = f'protected groups must have approval annotation "{APPROVED}"'
_WHY: Final = "see https://github.com/kubernetes/enhancements/pull/1111"
MISSING: Final = f"{_HEAD}, {_WHY}"
NO_REASON: Final = f'{_HEAD} with either a URL or a reason starting with "unapproved", {_WHY}'


def is_protected(group: str) -> bool:
    return any(group == domain or group.endswith(f".{domain}") for domain in _DOMAINS)


def is_unapproved(annotation: str) -> bool:
    """Whether the annotation says that nobody has approved."""
    return annotation.startswith("unapproved")


def is_approval(annotation: str) -> bool:
    """Whether the annotation is a URL, which is where the approval can be read."""
    try:
        found = urlsplit(annotation)
    except ValueError:
        return False
    return bool(found.scheme and found.netloc)
