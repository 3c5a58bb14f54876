"""ValidatingAdmissionPolicy: what is written must keep rules in CEL (Kubernetes documentation, "Validating Admission
Policy").
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pilothouse.admission.conditionmetrics import VALIDATE
from pilothouse.admission.conditions import ConditionFailed, Heavy
from pilothouse.admission.expressions import PARAMS
from pilothouse.admission.forms import Form
from pilothouse.admission.plugin import Attributes
from pilothouse.admission.policies.known import Candidate
from pilothouse.admission.policies.metrics import ALLOW, INVALID, NO_ERROR
from pilothouse.admission.policies.params import ParamsFailed, params_of
from pilothouse.admission.policies.plugin import PolicyPlugin, Written
from pilothouse.admission.policies.policy import Binding, Failure, Judgement, Policy, ValidatingPolicy
from pilothouse.admission.refusals import refuse
from pilothouse.kit.aside import HEAVY
from pilothouse.kit.record import record
from pilothouse.machinery.errors import APIError
from pilothouse.machinery.jsoncodec import dumps

_CODES: Final = {"Unauthorized": 401, "Forbidden": 403, "RequestEntityTooLarge": 413}
_UNPROCESSABLE: Final = 422
_FAILED: Final = "validation.policy.admission.k8s.io/validation_failure"


@record
class _Told:
    """A failure that refuses. `binding` None: the policy itself cannot be used."""

    policy: Policy
    binding: Binding | None
    failure: Failure


class ValidatingAdmissionPolicy(PolicyPlugin[ValidatingPolicy]):
    name = "ValidatingAdmissionPolicy"
    phase = VALIDATE

    async def check(self, attributes: Attributes) -> None:
        """Raises what the first failure says: Invalid unless its validation gives another reason."""
        wanted = await self._wanted(attributes)
        if not wanted:
            return
        write = self._written(attributes, final=True)
        told: list[_Told] = []
        for candidate in wanted:
            told += await self._judged(candidate, write)
        if told:
            raise _refusal(attributes, told[0])

    async def _judged(self, candidate: Candidate[ValidatingPolicy], write: Written) -> list[_Told]:
        policy, attributes = candidate.policy, write.shown.attributes
        form = await self._form(candidate, write)
        if form is None:
            return []
        told: list[_Told] = []
        notes: dict[str, dict[str, None]] = {}
        for binding in candidate.bindings:
            if not await write.bound(binding, candidate.kind):
                continue
            began = self._around.now()
            try:
                found = await self._of_binding(policy, binding, form, write)
            except ParamsFailed as error:
                if not policy.lenient:
                    why = f"failed to configure binding: {error}"
                    told.append(_Told(policy, binding, Failure(why, "", -1)))
                continue
            for one in found:
                told += self._acted(policy, binding, one, attributes)
                self._count(policy, binding, one, self._around.now() - began)
                for key, text in one.notes:
                    notes.setdefault(key, {})[text] = None
        for key, texts in notes.items():
            attributes.write.note(key, ", ".join(sorted(texts)))
        return told

    def _count(self, policy: Policy, binding: Binding, one: Judgement, seconds: float) -> None:
        judged = self._around.metrics.judged
        for failure in one.failures:
            for action in binding.actions:
                judged(policy.name, binding.name, INVALID if failure.broken else NO_ERROR, action.lower(), seconds)
        for _ in range(one.passed_over):
            judged(policy.name, binding.name, INVALID, ALLOW, seconds)

    async def _of_binding(
        self, policy: ValidatingPolicy, binding: Binding, form: Form, write: Written
    ) -> list[Judgement]:
        """One judgement for each set of parameters. Raises ParamsFailed."""
        attributes = write.shown.attributes
        params = await params_of(self._around.find, policy.param_kind, binding.params, attributes.write.namespace)
        values = await write.values(form)
        return [await self._one(policy, {**values, PARAMS: one}) for one in params]

    async def _one(self, policy: ValidatingPolicy, values: Mapping[str, Any]) -> Judgement:
        try:
            if not await self._hold(policy, values):
                return Judgement()
        except ConditionFailed as error:
            return Judgement() if policy.lenient else Judgement([Failure(str(error), "Invalid", -1, broken=True)])
        try:
            return policy.judge(values, quick=True)
        except Heavy:
            return await self._around.aside.run(HEAVY, lambda: policy.judge(values, quick=False))

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
