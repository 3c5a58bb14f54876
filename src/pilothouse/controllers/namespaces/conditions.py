"""What a namespace that is being deleted tells of its progress, in status.conditions, in the original's words. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

Object = dict[str, Any]


class _Words(NamedTuple):
    """One type of condition when there is nothing to tell, and the reason when there is."""

    type: str
    good_reason: str
    good_message: str
    bad_reason: str


_DISCOVERY: Final = _Words(
    "NamespaceDeletionDiscoveryFailure",
    "ResourcesDiscovered",
    "All resources successfully discovered",
    "DiscoveryFailed",
)
_PARSING: Final = _Words(
    "NamespaceDeletionGroupVersionParsingFailure",
    "ParsedGroupVersions",
    "All legacy kube types successfully parsed",
    "GroupVersionParsingFailed",
)
_CONTENT: Final = _Words(
    "NamespaceDeletionContentFailure",
    "ContentDeleted",
    "All content successfully deleted, may be waiting on finalization",
    "ContentDeletionFailed",
)
_REMAINING: Final = _Words(
    "NamespaceContentRemaining",
    "ContentRemoved",
    "All content successfully removed",
    "SomeResourcesRemain",
)
_FINALIZERS: Final = _Words(
    "NamespaceFinalizersRemaining",
    "ContentHasNoFinalizers",
    "All content-preserving finalizers finished",
    "SomeFinalizersRemain",
)


@dataclass(slots=True)
class Findings:
    """What one pass over a namespace found. Resources are named `pods.` or `deployments.apps`."""

    undiscovered: list[tuple[str, str]] = field(default_factory=list)  # group version, what is wrong
    failures: list[str] = field(default_factory=list)
    remaining: dict[str, int] = field(default_factory=dict)  # by resource
    finalizers: dict[str, int] = field(default_factory=dict)  # how many objects hold each


def conditions_of(before: Sequence[Object], findings: Findings, now: str) -> list[Object] | None:
    """The conditions after a pass; None where they tell the same already. `now`: a Time text."""
    told = {
        _DISCOVERY: _discovery(findings.undiscovered),
        _PARSING: "",
        _CONTENT: _failed(findings.failures),
        _REMAINING: _remaining(findings.remaining),
        _FINALIZERS: _finalizers(findings.finalizers),
    }
    after = [dict(condition) for condition in before]
    changed = False
    for words, message in told.items():
        changed = _set(after, _condition(words, message), now) or changed
    return after if changed else None


def _condition(words: _Words, message: str) -> Object:
    if message:
        return {"type": words.type, "status": "True", "reason": words.bad_reason, "message": message}
    return {"type": words.type, "status": "False", "reason": words.good_reason, "message": words.good_message}


def _set(conditions: list[Object], new: Object, now: str) -> bool:
    for index, old in enumerate(conditions):
        if old.get("type") == new["type"]:
            if all(old.get(name) == value for name, value in new.items()):
                return False
            since = old.get("lastTransitionTime") if old.get("status") == new["status"] else now
            conditions[index] = {**new, "lastTransitionTime": since or now}
            return True
    conditions.append({**new, "lastTransitionTime": now})
    return True


def _discovery(failed: Sequence[tuple[str, str]]) -> str:
    if not failed:
        return ""
    each = ", ".join(f"{group_version}: {why}" for group_version, why in sorted(failed))
    return (
        f"Discovery failed for some groups, {len(failed)} failing: "
        f"unable to retrieve the complete list of server APIs: {each}"
    )


def _failed(failures: Sequence[str]) -> str:
    if not failures:
        return ""
    each = ", ".join(sorted(failures))
    return f"Failed to delete all resource types, {len(failures)} remaining: {each}"


def _remaining(counts: Mapping[str, int]) -> str:
    if not counts:
        return ""
    each = ", ".join(f"{resource} has {count} resource instances" for resource, count in sorted(counts.items()))
    return f"Some resources are remaining: {each}"


def _finalizers(counts: Mapping[str, int]) -> str:
    if not counts:
        return ""
    each = ", ".join(f"{finalizer} in {count} resource instances" for finalizer, count in sorted(counts.items()))
    return f"Some content in the namespace has finalizers remaining: {each}"
