"""The ServiceAccount `default` in every namespace (Kubernetes documentation, "Managing Service Accounts")."""

from __future__ import annotations

from pilothouse.controllers.context import Context
from pilothouse.controllers.everywhere import EverywhereController, Wanted
from pilothouse.controllers.streams import Object

_NAME = "default"


def _make() -> Object:
    return {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": _NAME}}


def default_service_accounts(context: Context) -> EverywhereController:
    wanted = Wanted(
        "service-account-controller",
        "serviceaccounts",
        _NAME,
        _make,
        lambda held: None,
        metadata_only=True,
        queue="serviceaccount",
    )
    return EverywhereController(context, wanted)
