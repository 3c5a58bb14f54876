"""What the plug-ins of both kinds of policies have in common: which policies a write concerns, and what their
expressions see of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Generic, TypeVar

from pilothouse.admission.bykind import Configured
from pilothouse.admission.certificates import Authorize
from pilothouse.admission.conditionmetrics import POLICY, ConditionMetrics
from pilothouse.admission.conditions import Meter
from pilothouse.admission.criteria import Criteria, Kind, namespace_labels
from pilothouse.admission.expressions import NAMESPACE, asking
from pilothouse.admission.forms import Form
from pilothouse.admission.lookups import Reader
from pilothouse.admission.plugin import Attributes
from pilothouse.admission.policies.known import Candidate, Policies
from pilothouse.admission.policies.metrics import PolicyMetrics
from pilothouse.admission.policies.params import Find
from pilothouse.admission.policies.policy import Binding, Policy
from pilothouse.admission.webhooks.review import Shown, name_of, namespace_of, request_of
from pilothouse.kit.aside import Aside
from pilothouse.kit.record import record
from pilothouse.machinery.errors import not_found
from pilothouse.registry.resource import Object

P = TypeVar("P", bound=Policy)
_NAMESPACES: Final = ("", "namespaces")


@record
class Around:
    """What evaluation needs from outside. `find`: the kinds of parameters; `now`: seconds of a steady clock."""

    namespaces: Reader
    authorize: Authorize
    find: Find
    aside: Aside
    metrics: PolicyMetrics
    conditions: ConditionMetrics
    now: Callable[[], float]


class PolicyPlugin(Configured[Candidate[P]], Generic[P]):
    """One of the two plug-ins."""

    elsewhere = False
    phase = ""  # as metrics call it

    def __init__(self, policies: Policies[P], around: Around) -> None:
        super().__init__(policies)
        self._around = around

    def _written(self, attributes: Attributes, *, final: bool) -> Written:
        assert attributes.forms is not None
        return Written(Shown(attributes, attributes.forms, self._around.aside, final=final), self._around)

    async def _form(self, candidate: Candidate[P], write: Written) -> Form | None:
        """In which form a policy sees the write, None where it does not. Raises NotFound, InternalError."""
        form = candidate.form_for(name_of(write.shown.attributes))
        return form if form is not None and await write.selected(candidate.policy.criteria) else None

    async def _hold(self, policy: P, values: Mapping[str, Any]) -> bool:
        """Whether its conditions take the write. Raises ConditionFailed."""
        if not policy.conditions:
            return True
        around, operation = self._around, values["request"]["operation"]
        meter = Meter(around.conditions, around.now, policy.name, POLICY, self.phase, operation)
        return await policy.conditions.hold(values, around.aside, meter)


class Written:
    """One write as expressions see it; each part is made once."""

    def __init__(self, shown: Shown, around: Around) -> None:
        self.shown = shown
        self._around = around
        self._labels: list[Mapping[str, str] | None] = []
        self._values: dict[Form, Mapping[str, Any]] = {}

    async def selected(self, criteria: Criteria) -> bool:
        """Whether its selectors take the write. Raises NotFound for a namespace that is not there."""
        attributes = self.shown.attributes
        if criteria.asks_namespace and not self._labels:
            self._labels.append(await namespace_labels(attributes, self._around.namespaces))
        return criteria.selects(attributes, self._labels[0] if criteria.asks_namespace else None)

    async def bound(self, binding: Binding, kind: Kind) -> bool:
        """Whether a binding takes the write too. Raises NotFound, InternalError."""
        criteria = binding.criteria
        return criteria.form(kind, name_of(self.shown.attributes)) is not None and await self.selected(criteria)

    def changed(self) -> None:
        """The object is another one now."""
        self._values.clear()
        self._labels.clear()

    async def values(self, form: Form) -> Mapping[str, Any]:
        found = self._values.get(form)
        if found is None:
            shown = self.shown
            request = await request_of(shown, form, "")
            found = self._values[form] = {
                "object": request["object"],
                "oldObject": request["oldObject"],
                "request": request,
                NAMESPACE: await self._namespace(),
                **asking(self._around.authorize, shown.attributes.write.caller, request),
            }
        return found

    async def _namespace(self) -> Object | None:
        """The Namespace of what is in one. Raises NotFound."""
        attributes = self.shown.attributes
        name = namespace_of(attributes)
        if not name or (attributes.resource.group, attributes.resource.plural) == _NAMESPACES:
            return None
        found = await self._around.namespaces.get("", name)
        if found is None:
            raise not_found(*_NAMESPACES, name)
        return found
