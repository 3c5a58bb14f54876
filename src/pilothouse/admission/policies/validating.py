"""ValidatingAdmissionPolicy: what is written must keep rules in CEL (Kubernetes documentation, "Validating Admission
Policy").
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final

from pilothouse.admission.certificates import Authorize
from pilothouse.admission.chain import Attributes
from pilothouse.admission.conditions import ConditionFailed, Heavy
from pilothouse.admission.criteria import GROUP, Criteria, namespace_labels
from pilothouse.admission.expressions import NAMESPACE, PARAMS, asking
from pilothouse.admission.forms import Form, Forms
from pilothouse.admission.lookups import Reader
from pilothouse.admission.policies.known import Candidate, Policies
from pilothouse.admission.policies.params import Find, ParamsFailed, params_of
from pilothouse.admission.policies.policy import Binding, Failure, Judgement, Policy
from pilothouse.admission.refusals import refuse
from pilothouse.admission.webhooks.review import Shown, name_of, namespace_of, request_of
from pilothouse.kit.aside import HEAVY, Aside
from pilothouse.kit.record import record
from pilothouse.machinery.errors import APIError, not_found
from pilothouse.machinery.jsoncodec import dumps
from pilothouse.registry.request import Write
from pilothouse.registry.resource import Object, Resource

READY_SECONDS: Final = 10.0  # a write waits so long for the policies of a server that has just begun
_CODES: Final = {"Unauthorized": 401, "Forbidden": 403, "RequestEntityTooLarge": 413}
_UNPROCESSABLE: Final = 422
_NAMESPACES: Final = ("", "namespaces")
_FAILED: Final = "validation.policy.admission.k8s.io/validation_failure"


@record
class Around:
    """What evaluation needs from outside. `find`: the kinds of parameters."""

    namespaces: Reader
    authorize: Authorize
    find: Find
    aside: Aside


@record
class _Told:
    """A failure that refuses. `binding` None: the policy itself cannot be used."""

    policy: Policy
    binding: Binding | None
    failure: Failure


class ValidatingAdmissionPolicy:
    name = "ValidatingAdmissionPolicy"

    def __init__(self, policies: Policies, around: Around) -> None:
        self._policies = policies
        self._around = around

    def handles(self, resource: Resource, operation: str) -> bool:
        """Configurations and policies are not judged, or a wrong one could never be taken back."""
        return resource.group != GROUP

    def concerns(self, resource: Resource, forms: Forms, operation: str, write: Write) -> bool:
        policies = self._policies
        if policies.idle or write.judged:
            return False
        return bool(policies.wanted(resource, forms, operation, write)) or not policies.synced.is_set()

    async def check(self, attributes: Attributes) -> None:
        """Raises what the first failure says: Invalid unless its validation gives another reason."""
        forms = attributes.forms
        assert forms is not None
        await self._ready(attributes)
        wanted = self._policies.wanted(attributes.resource, forms, attributes.operation, attributes.write)
        if not wanted:
            return
        write = _Written(Shown(attributes, forms, final=True), self._around)
        told: list[_Told] = []
        for candidate in wanted:
            told += await self._judged(candidate, write)
        if told:
            raise _refusal(attributes, told[0])

    async def _ready(self, attributes: Attributes) -> None:
        if self._policies.synced.is_set():
            return
        try:
            await asyncio.wait_for(self._policies.synced.wait(), READY_SECONDS)
        except TimeoutError:
            raise refuse(attributes, "not yet ready to handle request") from None

    async def _judged(self, candidate: Candidate, write: _Written) -> list[_Told]:
        policy, attributes = candidate.policy, write.shown.attributes
        form = candidate.form_for(name_of(attributes))
        if form is None or not await write.selected(policy.criteria):
            return []
        told: list[_Told] = []
        notes: dict[str, dict[str, None]] = {}
        for binding in candidate.bindings:
            if not await self._binds(binding, candidate, write):
                continue
            try:
                found = await self._of_binding(policy, binding, form, write)
            except ParamsFailed as error:
                if not policy.lenient:
                    why = f"failed to configure binding: {error}"
                    told.append(_Told(policy, binding, Failure(why, "", -1)))
                continue
            for one in found:
                told += self._acted(policy, binding, one, attributes)
                for key, text in one.notes:
                    notes.setdefault(key, {})[text] = None
        for key, texts in notes.items():
            attributes.write.note(key, ", ".join(sorted(texts)))
        return told

    async def _binds(self, binding: Binding, candidate: Candidate, write: _Written) -> bool:
        criteria = binding.criteria
        if criteria.form(candidate.kind, name_of(write.shown.attributes)) is None:
            return False
        return await write.selected(criteria)

    async def _of_binding(self, policy: Policy, binding: Binding, form: Form, write: _Written) -> list[Judgement]:
        """One judgement for each set of parameters. Raises ParamsFailed."""
        attributes = write.shown.attributes
        params = await params_of(self._around.find, policy.param_kind, binding.params, attributes.write.namespace)
        values = await write.values(form)
        return [await self._one(policy, {**values, PARAMS: one}) for one in params]

    async def _one(self, policy: Policy, values: Mapping[str, Any]) -> Judgement:
        aside = self._around.aside
        if policy.conditions:
            try:
                if not await policy.conditions.hold(values, aside):
                    return Judgement()
            except ConditionFailed as error:
                return Judgement() if policy.lenient else Judgement([Failure(str(error), "Invalid", -1)])
        try:
            return policy.judge(values, quick=True)
        except Heavy:
            return await aside.run(HEAVY, lambda: policy.judge(values, quick=False))

    @staticmethod
    def _acted(policy: Policy, binding: Binding, one: Judgement, attributes: Attributes) -> list[_Told]:
        """What the binding does with failures; those that refuse."""
        told: list[_Told] = []
        for failure in one.failures:
            if "Deny" in binding.actions:
                told.append(_Told(policy, binding, failure))
            if "Warn" in binding.actions:
                who = f"ValidatingAdmissionPolicy '{policy.name}' with binding '{binding.name}'"
                attributes.write.warn(f"Validation failed for {who}: {failure.message}")
        if one.failures and "Audit" in binding.actions:
            shown = [_note(policy, binding, failure) for failure in one.failures]
            attributes.write.note(_FAILED, dumps(shown).decode())
        return told


class _Written:
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


def _refusal(attributes: Attributes, told: _Told) -> APIError:
    with_binding = f" with binding '{told.binding.name}'" if told.binding is not None else ""
    message = f"ValidatingAdmissionPolicy '{told.policy.name}'{with_binding} denied request: {told.failure.message}"
    error = refuse(attributes, message)
    error.reason = told.failure.reason or "Invalid"
    error.code = _CODES.get(error.reason, _UNPROCESSABLE)
    error.details = {**(error.details or {}), "causes": [{"message": message}]}
    return error


def _note(policy: Policy, binding: Binding, failure: Failure) -> dict[str, Any]:
    return {
        "message": failure.message,
        "policy": policy.name,
        "binding": binding.name,
        "expressionIndex": failure.index,
        "validationActions": list(binding.actions),
    }
