"""How a definition's versions are converted: not at all, or by a webhook."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pilothouse.builtin.certificates import keys, pem
from pilothouse.builtin.shared.webhooks import client_config
from pilothouse.machinery import names
from pilothouse.machinery.rules import Field, at, one_of, repeated, required
from pilothouse.registry.behaviour import Object

_STRATEGIES: Final = ("None", "Webhook")
_REVIEWS: Final = ("v1", "v1beta1")
_CONFIG: Final = "webhookClientConfig"  # as the original calls it in causes
_VERSIONS: Final = "conversionReviewVersions"
_NOT_SET: Final = "should not be set when strategy is not set to Webhook"


def _review_versions(value: Sequence[str], field: Field) -> None:
    if not value:
        field.required(_VERSIONS)
        return
    again = {index for index, _ in repeated(value, str)}
    for index, version in field.numbered(value):
        if index in again:
            field.invalid(f"{_VERSIONS}[{index}]", version, "duplicate version")
        else:
            field.all_invalid(f"{_VERSIONS}[{index}]", version, names.label_1035(version))
    if not set(value).intersection(_REVIEWS):
        field.invalid(_VERSIONS, value, f"must include at least one of {', '.join(_REVIEWS)}")


def _trust(value: Object, field: Field) -> None:
    """A bundle is looked at once the definition can be in use."""
    bundle = value.get("caBundle")
    if bundle and field.updating:
        found = list(pem.blocks(keys.decoded(bundle).decode("latin-1")))
        if not found:
            why = "unable to load root certificates: unable to parse bytes as PEM block"
            field.invalid(f"{_CONFIG}.caBundle", bundle, why)


def conversion(value: Object, field: Field) -> None:
    """Rule for `spec.conversion`."""
    at("strategy", required, one_of(*_STRATEGIES))(value, field)
    webhook = value.get("webhook") or {}
    config, versions = webhook.get("clientConfig"), webhook.get("conversionReviewVersions") or ()
    if value.get("strategy") == "Webhook":
        if config is None:
            field.required(_CONFIG, "required when strategy is set to Webhook")
        else:
            field.within(_CONFIG, client_config, config)
            _trust(config, field)
        _review_versions(versions, field)
    else:
        if config is not None:
            field.forbidden(_CONFIG, _NOT_SET)
        if versions:
            field.forbidden(_VERSIONS, _NOT_SET)
