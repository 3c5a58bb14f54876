"""The admission chain: plug-ins that may change or refuse a write, in the original's order (Kubernetes documentation,
"Admission Control in Kubernetes").

A plug-in says once which resources and operations it is for; each resource then pays only for those that concern it.
Webhooks and policies mostly have nothing to do: they are asked before each write whether they have, and left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from pilothouse.admission.forms import Forms, TypedForms
from pilothouse.admission.metrics import ADMIT, VALIDATE, AdmissionMetrics, Judge, Measured
from pilothouse.admission.plugin import OPERATIONS, Attributes, Mutating, Plugin, Rare, Rounds, Validating
from pilothouse.registry.request import Decode, Write
from pilothouse.registry.resource import Object, Resource

Kinds = Callable[[], Iterable[Resource]]


class Chain:
    """All plug-ins of a server, in order. `kinds`: the built-in ones, of which some are other forms of one another."""

    def __init__(
        self, plugins: Sequence[Plugin], kinds: Kinds = tuple, metrics: AdmissionMetrics | None = None
    ) -> None:
        self._sorted = _Sorted(plugins, metrics or AdmissionMetrics())
        self._kinds = kinds

    def bound(self, resource: Resource, forms: Forms | None = None) -> BoundChain:
        """`forms`: of a resource that is no built-in kind."""
        return BoundChain(self._sorted, resource, forms or TypedForms(resource, self._kinds))


class _Sorted:
    """The plug-ins by what they can. Asking a protocol that is slow, so it is done once for all resources."""

    __slots__ = ("metrics", "mutating", "rare", "validating")

    def __init__(self, plugins: Sequence[Plugin], metrics: AdmissionMetrics) -> None:
        self.metrics = metrics
        self.mutating = [plugin for plugin in plugins if isinstance(plugin, Mutating)]
        self.validating = [plugin for plugin in plugins if isinstance(plugin, Validating)]
        self.rare = {id(plugin): plugin for plugin in plugins if isinstance(plugin, Rare)}


class _Step:
    """Who is asked on one operation: `usual` is `every` one without the rare ones."""

    __slots__ = ("_concerns", "_elsewhere", "ask", "every", "rare", "usual")

    def __init__(self, kind: str, operation: str, asked: Sequence[tuple[Plugin, Judge]], plugins: _Sorted) -> None:
        """`kind`: ADMIT or VALIDATE. `asked`: each with how it is asked."""
        measured = [plugins.metrics.plugin(plugin.name, kind, operation, judge) for plugin, judge in asked]
        known = [plugins.rare.get(id(plugin)) for plugin, _ in asked]
        self.ask = plugins.metrics.step(kind, operation).ask
        self.every: Sequence[Measured] = measured
        self.rare: Sequence[Measured] = [one for one, rare in zip(measured, known, strict=True) if rare is not None]
        self.usual: Sequence[Measured] = [one for one, rare in zip(measured, known, strict=True) if rare is None]
        rare = [one for one in known if one is not None]
        self._concerns = [(plugin.source, plugin.concerns) for plugin in rare]
        self._elsewhere = [(plugin.source, plugin.concerns) for plugin in rare if plugin.elsewhere]

    def called(
        self, resource: Resource, forms: Forms, operation: str, write: Write, *, elsewhere: bool = False
    ) -> bool:
        """Whether a rare one, or one that asks elsewhere, has something to do."""
        called = False
        for source, concerns in self._elsewhere if elsewhere else self._concerns:
            if not source.idle:
                called = called or concerns(resource, forms, operation, write)
        return called


class BoundChain:
    """The plug-ins that concern one resource: what the generic store calls."""

    def __init__(self, plugins: _Sorted, resource: Resource, forms: Forms) -> None:
        self._resource = resource
        self._forms = forms
        self._mutating: dict[str, _Step] = {}
        self._validating: dict[str, _Step] = {}
        for operation in OPERATIONS:
            changing = [(one, one.admit) for one in plugins.mutating if one.handles(resource, operation)]
            judging = [(one, one.check) for one in plugins.validating if one.handles(resource, operation)]
            self._mutating[operation] = _Step(ADMIT, operation, changing, plugins)
            self._validating[operation] = _Step(VALIDATE, operation, judging, plugins)

    async def mutate(self, operation: str, obj: Object | None, old: Object | None, write: Write) -> None:
        step = self._mutating[operation]
        if step.rare and step.called(self._resource, self._forms, operation, write):
            await self._mutate(
                step, step.every, Attributes(operation, self._resource, obj, old, write, self._forms, Rounds())
            )
        elif step.usual:
            await step.ask(step.usual, Attributes(operation, self._resource, obj, old, write))

    async def validate(self, operation: str, obj: Object | None, old: Object | None, write: Write) -> None:
        step = self._validating[operation]
        plugins = step.every if step.rare and step.called(self._resource, self._forms, operation, write) else step.usual
        if plugins:
            await step.ask(plugins, Attributes(operation, self._resource, obj, old, write, self._forms))

    def judges(self, operation: str, write: Write) -> bool:
        steps = self._mutating[operation], self._validating[operation]
        return any(step.called(self._resource, self._forms, operation, write) for step in steps)

    def asks_elsewhere(self, operation: str, write: Write) -> bool:
        resource, forms = self._resource, self._forms
        changing, judging = self._mutating[operation], self._validating[operation]
        return changing.called(resource, forms, operation, write, elsewhere=True) or judging.called(
            resource, forms, operation, write, elsewhere=True
        )

    async def mutate_part(self, operation: str, obj: Object, old: Object | None, write: Write, decode: Decode) -> None:
        step = self._mutating[operation]
        if step.rare and step.called(self._resource, self._forms, operation, write):
            await self._mutate(
                step,
                step.rare,
                Attributes(operation, self._resource, obj, old, write, self._forms, Rounds(), decode, foreign=True),
            )

    async def validate_part(self, operation: str, obj: Object, old: Object | None, write: Write) -> None:
        step = self._validating[operation]
        if step.rare and step.called(self._resource, self._forms, operation, write):
            attributes = Attributes(operation, self._resource, obj, old, write, self._forms, foreign=True)
            await step.ask(step.rare, attributes)

    @staticmethod
    async def _mutate(step: _Step, plugins: Sequence[Measured], attributes: Attributes) -> None:
        await step.ask(plugins, attributes)
        rounds = attributes.rounds
        if rounds is not None and rounds.again:
            rounds.second = True
            await step.ask(plugins, attributes)
