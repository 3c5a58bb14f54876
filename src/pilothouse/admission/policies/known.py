"""The policies and bindings that there are, kept up to date by whoever follows them, and found by kind of write."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from pilothouse.admission.bykind import ByKind
from pilothouse.admission.criteria import Kind
from pilothouse.admission.forms import Form, Forms
from pilothouse.admission.policies.policy import Binding, Policy
from pilothouse.kit.record import record
from pilothouse.registry.request import Write
from pilothouse.registry.resource import Object, Resource

P = TypeVar("P", bound=Policy)


@record
class Candidate(Generic[P]):
    """A policy that may want to see a kind of write, in which form, and its bindings.

    `form` None: the name of the object decides.
    """

    policy: P
    bindings: Sequence[Binding]
    kind: Kind
    form: Form | None

    def form_for(self, name: str) -> Form | None:
        return self.form or self.policy.criteria.form(self.kind, name)


class Policies(Generic[P]):
    """All of one kind, with their bindings, in the order of their names. `synced`: those that were stored are known."""

    def __init__(self, make: Callable[[str, Object], P]) -> None:
        self._make = make
        self.synced = asyncio.Event()
        self.idle = False  # none has a binding
        self._policies: dict[str, P] = {}
        self._bindings: dict[str, Binding] = {}
        self._ordered: list[tuple[P, Sequence[Binding]]] = []
        self._by_kind = ByKind(self._find)

    def set_policy(self, name: str, obj: Object | None) -> None:
        """A policy as it is now, None if it is gone."""
        self._policies.pop(name, None)
        if obj is not None:
            self._policies[name] = self._make(name, obj)
        self._order()

    def set_binding(self, name: str, obj: Object | None) -> None:
        self._bindings.pop(name, None)
        if obj is not None:
            self._bindings[name] = Binding(name, obj)
        self._order()

    def know_all(self) -> None:
        """What was stored has been told."""
        self.synced.set()
        self._order()

    def _order(self) -> None:
        bound: dict[str, list[Binding]] = {}
        for name in sorted(self._bindings):
            bound.setdefault(self._bindings[name].policy, []).append(self._bindings[name])
        self._ordered = [(self._policies[name], bound[name]) for name in sorted(self._policies) if name in bound]
        self._by_kind.forget()
        self.idle = self.synced.is_set() and not self._ordered

    def wanted(self, resource: Resource, forms: Forms, operation: str, write: Write) -> Sequence[Candidate[P]]:
        """The policies whose rules may take such a write."""
        return self._by_kind.of(resource, forms, operation, write) if self._ordered else ()

    def _find(self, kind: Kind) -> list[Candidate[P]]:
        found = []
        for policy, bindings in self._ordered:
            form = policy.criteria.form(kind)
            if form is not None:
                found.append(Candidate(policy, bindings, kind, None if policy.criteria.asks_name else form))
        return found
