"""CSI drivers: what a storage driver wants of the cluster."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from pilothouse.builtin.shared.fields import given
from pilothouse.machinery.rules import IMMUTABLE, Field, at, computed, defaults, one_of, rules
from pilothouse.registry.behaviour import Behaviour, Object

_GROUP_POLICIES: Final = ("File", "None", "ReadWriteOnceWithFSType")
_MODES: Final = ("Persistent", "Ephemeral")
_SHORTEST_TOKEN: Final = 600  # seconds
_LONGEST_TOKEN: Final = 2**32
_SHORTEST_PERIOD: Final = 10
_TOKENS_IN_SECRETS: Final = (
    "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible "
    "logging of tokens in volume attributes"
)

_fill = defaults(
    {
        "spec.attachRequired": True,
        "spec.podInfoOnMount": False,
        "spec.storageCapacity": False,
        "spec.fsGroupPolicy": "ReadWriteOnceWithFSType",
        "spec.volumeLifecycleModes": computed(lambda spec, whole: ["Persistent"]),
        "spec.requiresRepublish": False,
        "spec.seLinuxMount": False,
        "spec.preventPodSchedulingIfMissing": False,
    }
)


def _tokens(value: Sequence[Object], field: Field) -> None:
    seen: set[str] = set()

    def token(one: Object, inner: Field) -> None:
        audience, seconds = one.get("audience", ""), one.get("expirationSeconds")
        if audience in seen:
            inner.duplicate("audience", audience)
            return
        seen.add(audience)
        if seconds is None:
            return
        if seconds < _SHORTEST_TOKEN:
            inner.invalid("expirationSeconds", seconds, "may not specify a duration less than 10 minutes")
        if seconds > _LONGEST_TOKEN:
            inner.invalid("expirationSeconds", seconds, "may not specify a duration larger than 2^32 seconds")

    field.each("", token, value)


_one_mode: Final = one_of(*_MODES)


def _modes(value: Sequence[str], field: Field) -> None:
    for mode in field.until_full(value):
        _one_mode(mode, field)


def _period(value: int, field: Field) -> None:
    if value < _SHORTEST_PERIOD:
        field.invalid("", value, f"must be greater than or equal to {_SHORTEST_PERIOD} seconds")


def _tokens_in_secrets(value: Object, field: Field) -> None:
    chosen = value.get("serviceAccountTokenInSecrets")
    if chosen is not None and not value.get("tokenRequests"):
        text = "serviceAccountTokenInSecrets is set but no tokenRequests are specified"
        field.invalid("serviceAccountTokenInSecrets", chosen, text)


def _fixed(value: Any, field: Field) -> None:
    """Told under a name that the field does not have, as clients know it."""
    if not field.updating:
        return
    old = field.root_old["spec"]
    for name, told in (("attachRequired", "attachedRequired"), ("volumeLifecycleModes", "volumeLifecycleModes")):
        if value.get(name) != old.get(name):
            field.invalid(told, value.get(name), IMMUTABLE)


def _warn(new: Object, old: Object | None) -> list[str]:
    spec = new["spec"]
    open_tokens = spec.get("tokenRequests") and spec.get("serviceAccountTokenInSecrets") is None
    return [_TOKENS_IN_SECRETS] if open_tokens else []


behaviour: Final = Behaviour(
    defaults=_fill,
    validate=rules(
        at("spec.attachRequired", given),
        at("spec.podInfoOnMount", given),
        at("spec.storageCapacity", given),
        at("spec.fsGroupPolicy", given, one_of(*_GROUP_POLICIES)),
        at("spec.tokenRequests", _tokens),
        at("spec.volumeLifecycleModes", _modes),
        at("spec.nodeAllocatableUpdatePeriodSeconds", _period),
        at("spec", _tokens_in_secrets),
        at("spec", _fixed),
    ),
    warn=_warn,
)
