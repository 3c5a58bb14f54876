"""The webhooks that there are, kept up to date by whoever follows their configurations, and found by kind of write.

They are asked in the order of their configurations' names, then in that of their lists.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final

from pilothouse.admission.bykind import ByKind
from pilothouse.admission.conditions import Conditions
from pilothouse.admission.criteria import Criteria, Kind
from pilothouse.admission.forms import Form, Forms
from pilothouse.admission.webhooks.review import VERSIONS
from pilothouse.kit.record import record
from pilothouse.registry.request import Write
from pilothouse.registry.resource import Object, Resource
from pilothouse.serving.webhook import Endpoint, Outside

_SECONDS: Final = 10
_HARMLESS: Final = frozenset({"None", "NoneOnDryRun"})


class Hook:
    """One webhook. `number`: which one of its name it is in its configuration."""

    def __init__(self, configuration: str, webhook: Mapping[str, Any], number: int, outside: Outside) -> None:
        self.name: str = webhook.get("name", "")
        self.configuration = configuration
        self.identity = f"{configuration}/{self.name}/{number}"
        self.lenient = webhook.get("failurePolicy") == "Ignore"
        self.seconds = float(webhook.get("timeoutSeconds") or _SECONDS)
        self.harmless = webhook.get("sideEffects") in _HARMLESS
        self.again = webhook.get("reinvocationPolicy") == "IfNeeded"
        self.version = next((one for one in webhook.get("admissionReviewVersions") or () if one in VERSIONS), "")
        self.criteria = Criteria(webhook, webhook.get("rules") or ())
        self.conditions = Conditions(webhook.get("matchConditions") or ())
        self._config = webhook.get("clientConfig") or {}
        self._outside = outside
        self._endpoint: Endpoint | None = None

    @property
    def endpoint(self) -> Endpoint:
        """Made at the first call."""
        if self._endpoint is None:
            self._endpoint = Endpoint(self._config, self._outside)
        return self._endpoint

    def close(self) -> None:
        if self._endpoint is not None:
            self._endpoint.close()


@record
class Wanted:
    """A webhook that wants to see a kind of write, and in which form. `index`: its place among all."""

    hook: Hook
    form: Form
    index: int


class Hooks:
    """All webhooks of one kind of configuration. `synced`: those that were stored are known."""

    def __init__(self, outside: Outside) -> None:
        self.synced = asyncio.Event()
        self.idle = False  # nobody is to be asked
        self._outside = outside
        self._known: dict[str, list[Hook]] = {}
        self._ordered: tuple[Hook, ...] = ()
        self._by_kind = ByKind(self._find)

    def set(self, name: str, configuration: Object | None) -> None:
        """A configuration as it is now, None if it is gone."""
        for hook in self._known.pop(name, ()):
            hook.close()
        if configuration is not None:
            self._known[name] = self._hooks(name, configuration)
        self._ordered = tuple(hook for key in sorted(self._known) for hook in self._known[key])
        self._by_kind.forget()
        self.idle = self.synced.is_set() and not self._ordered

    def know_all(self) -> None:
        """What was stored has been told."""
        self.synced.set()
        self.idle = not self._ordered

    def _hooks(self, name: str, configuration: Object) -> list[Hook]:
        made: list[Hook] = []
        seen: dict[str, int] = {}
        for webhook in configuration.get("webhooks") or ():
            number = seen.get(webhook.get("name", ""), 0)
            seen[webhook.get("name", "")] = number + 1
            made.append(Hook(name, webhook, number, self._outside))
        return made

    def wanted(self, resource: Resource, forms: Forms, operation: str, write: Write) -> Sequence[Wanted]:
        """The webhooks whose rules take such a write; their selectors are still to be asked."""
        return self._by_kind.of(resource, forms, operation, write) if self._ordered else ()

    def _find(self, kind: Kind) -> list[Wanted]:
        found = []
        for index, hook in enumerate(self._ordered):
            form = hook.criteria.form(kind)
            if form is not None:
                found.append(Wanted(hook, form, index))
        return found
