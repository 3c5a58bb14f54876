"""MutatingAdmissionPolicy: expressions that change what is written (Kubernetes documentation, "Mutating Admission
Policy"). Policies change one after the other, each what the last one made.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pilothouse.admission.again import Again
from pilothouse.admission.conditionmetrics import ADMIT
from pilothouse.admission.conditions import ConditionFailed, Heavy
from pilothouse.admission.expressions import PARAMS
from pilothouse.admission.forms import Form
from pilothouse.admission.plugin import DELETE, Attributes
from pilothouse.admission.policies.known import Candidate
from pilothouse.admission.policies.metrics import INVALID, NO_ERROR
from pilothouse.admission.policies.mutation import APPLY, Mutation, MutationFailed
from pilothouse.admission.policies.params import ParamsFailed, params_of
from pilothouse.admission.policies.plugin import PolicyPlugin, Written
from pilothouse.admission.policies.policy import Binding, MutatingPolicy
from pilothouse.admission.webhooks.patching import replaced
from pilothouse.kit.aside import HEAVY
from pilothouse.machinery.decode import DecodeError
from pilothouse.machinery.errors import APIError
from pilothouse.machinery.jsoncodec import dumps
from pilothouse.machinery.schema import Schema
from pilothouse.registry.resource import Object, Resource

_FORBIDDEN: Final = 403
_INVALID: Final = "Invalid"
_PROBLEMS: Final = (MutationFailed, ConditionFailed, ParamsFailed, DecodeError)


class MutatingAdmissionPolicy(PolicyPlugin[MutatingPolicy]):
    name = "MutatingAdmissionPolicy"
    phase = ADMIT

    def handles(self, resource: Resource, operation: str) -> bool:
        """What is deleted cannot be changed."""
        return operation != DELETE and super().handles(resource, operation)

    async def admit(self, attributes: Attributes) -> None:
        """Raises Forbidden, with the reason Invalid, where a policy cannot be carried out."""
        rounds = attributes.rounds
        assert rounds is not None
        wanted = await self._wanted(attributes)
        if not wanted:
            return
        write = self._written(attributes, final=False)
        again = Again.of(rounds, self.name)
        if rounds.second:
            again.begin(dumps(attributes.obj))
        for candidate in wanted:
            for binding in candidate.bindings:
                identity = f"{candidate.policy.name}/{binding.name}"
                if rounds.second and not again.asks(identity):
                    continue
                if await self._carried_out(candidate, binding, write):
                    again.changed()
                    rounds.again = True
                if candidate.policy.again:
                    again.asked(identity)
        again.end(dumps(attributes.obj))

    async def _carried_out(self, candidate: Candidate[MutatingPolicy], binding: Binding, write: Written) -> bool:
        """Whether the object is another one now. Raises an APIError."""
        policy, changed = candidate.policy, False
        form = await self._form(candidate, write)
        if form is None or not await write.bound(binding, candidate.kind):
            return False
        began, problem = self._around.now(), NO_ERROR
        try:
            namespace = write.shown.attributes.write.namespace
            for params in await params_of(self._around.find, policy.param_kind, binding.params, namespace):
                changed = await self._with(policy, form, params, write) or changed
        except _PROBLEMS as error:
            problem = INVALID
            if not policy.lenient:
                who = f"policy '{policy.name}' with binding '{binding.name}'"
                raise APIError(_FORBIDDEN, _INVALID, f"{who} denied request: {error}") from error
        finally:
            self._around.metrics.changed(policy.name, binding.name, problem, self._around.now() - began)
        return changed

    async def _with(self, policy: MutatingPolicy, form: Form, params: Object | None, write: Written) -> bool:
        """All mutations of a policy with one set of parameters. Raises what is in _PROBLEMS, APIError."""
        values = {**await write.values(form), PARAMS: params}
        if not await self._hold(policy, values):
            return False
        changed = False
        for mutation in policy.mutations:
            values = {**await write.values(form), PARAMS: params}
            value = await self._made(policy, mutation, values, _schema(write, form, mutation))
            if value is values["object"]:
                continue
            _check_form(write, form)
            if await replaced(write.shown, form, value):
                write.changed()
                changed = True
        return changed

    async def _made(
        self, policy: MutatingPolicy, mutation: Mutation, values: Mapping[str, Any], schema: Schema
    ) -> Object:
        obj: Object = values["object"]
        try:
            return mutation.carried_out(policy.evaluation(values, quick=True), obj, schema)
        except Heavy:
            slow = policy.evaluation(values, quick=False)
            return await self._around.aside.run(HEAVY, mutation.carried_out, slow, obj, schema)


def _schema(write: Written, form: Form, mutation: Mutation) -> Schema:
    """The type that configurations are merged by. Raises MutationFailed where it is not known here."""
    if write.shown.foreign and mutation.kind == APPLY:
        raise MutationFailed("ApplyConfiguration of a subresource with a shape of its own is not supported")
    resource = write.shown.attributes.resource
    return resource.versions.get(form.version, resource.versions[resource.hub]).schema


def _check_form(write: Written, form: Form) -> None:
    """As in the original, what was changed in another form than the request's does not come back."""
    own = write.shown.own
    if form != own:
        raise MutationFailed(
            f"converting ({form.version}.{form.kind}) to ({own.version}.{own.kind}): unknown conversion"
        )
