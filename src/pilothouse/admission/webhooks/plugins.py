"""The two plug-ins that ask webhooks: one after the other where they may change the object, all at once where they
only judge it (Kubernetes documentation, "Dynamic Admission Control").
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final

from pilothouse.admission import conditionmetrics
from pilothouse.admission.again import Again
from pilothouse.admission.bykind import Configured
from pilothouse.admission.certificates import Authorize
from pilothouse.admission.conditions import ConditionFailed, Meter
from pilothouse.admission.criteria import namespace_labels
from pilothouse.admission.expressions import asking
from pilothouse.admission.lookups import Reader
from pilothouse.admission.plugin import Attributes
from pilothouse.admission.refusals import refuse
from pilothouse.admission.webhooks.answer import BadAnswer, Verdict
from pilothouse.admission.webhooks.calls import Calling, Trouble, ask, count, outcome
from pilothouse.admission.webhooks.hooks import Hook, Hooks, Wanted
from pilothouse.admission.webhooks.metrics import ADMIT, VALIDATING
from pilothouse.admission.webhooks.patching import Operations, operations_of, patched
from pilothouse.admission.webhooks.review import Shown, request_of
from pilothouse.kit.record import record
from pilothouse.machinery.errors import internal
from pilothouse.machinery.jsoncodec import dumps

_NOTE: Final = "webhook.admission.k8s.io"


@record
class Around:
    """What both plug-ins share. `authorize` answers what match conditions ask."""

    namespaces: Reader
    calling: Calling
    authorize: Authorize


class _Webhooks(Configured[Wanted]):
    """Which webhooks a write concerns."""

    name = ""
    phase = ""  # as metrics call it
    elsewhere = True

    def __init__(self, hooks: Hooks, around: Around) -> None:
        super().__init__(hooks)
        self._around = around
        self._calling = around.calling

    async def _labels(self, attributes: Attributes, every: Sequence[Wanted]) -> Mapping[str, str] | None:
        """The labels of the namespace, where a webhook asks for them. Raises NotFound."""
        if not any(wanted.hook.criteria.asks_namespace for wanted in every):
            return None
        return await namespace_labels(attributes, self._around.namespaces)

    async def _hold(self, wanted: Wanted, shown: Shown) -> bool:
        """Whether its conditions take the write too. Raises Forbidden for those that cannot be evaluated."""
        hook, attributes = wanted.hook, shown.attributes
        if not hook.conditions:
            return True
        request = await request_of(shown, wanted.form, "")
        values = {
            "object": request["object"],
            "oldObject": request["oldObject"],
            "request": request,
            **asking(self._around.authorize, attributes.write.caller, request),
        }
        try:
            return await hook.conditions.hold(values, self._calling.aside, self._meter(hook, attributes))
        except ConditionFailed as error:
            if hook.lenient:
                return False
            raise refuse(attributes, str(error)) from error

    def _meter(self, hook: Hook, attributes: Attributes) -> Meter:
        calling = self._calling
        return Meter(
            calling.conditions, calling.now, hook.name, conditionmetrics.WEBHOOK, self.phase, attributes.operation
        )


class MutatingAdmissionWebhook(_Webhooks):
    """Asks one after the other, each about what the last one made."""

    name = "MutatingAdmissionWebhook"
    phase = conditionmetrics.ADMIT

    async def admit(self, attributes: Attributes) -> None:
        forms, rounds = attributes.forms, attributes.rounds
        assert forms is not None and rounds is not None
        every = await self._wanted(attributes)
        if not every:
            return
        shown = Shown(attributes, forms, self._calling.aside, final=False)
        again = Again.of(rounds, self.name)
        if rounds.second:
            again.begin(dumps(attributes.obj))
        labels = await self._labels(attributes, every)
        for wanted in every:
            if not wanted.hook.criteria.selects(attributes, labels) or not await self._hold(wanted, shown):
                continue
            if rounds.second and not again.asks(wanted.hook.identity):
                continue
            if await self._asked(wanted, shown, second=rounds.second):
                again.changed()
                rounds.again = True
                labels = await self._labels(attributes, every)  # of a Namespace that was changed
            if wanted.hook.again:
                again.asked(wanted.hook.identity)
        again.end(dumps(attributes.obj))

    async def _asked(self, wanted: Wanted, shown: Shown, *, second: bool) -> bool:
        """Whether the webhook changed the object. Raises an APIError."""
        hook, attributes = wanted.hook, shown.attributes
        place = f"round_{int(second)}_index_{wanted.index}"
        began = self._calling.now()
        changed, operations, trouble = False, Operations(), None
        try:
            found = await ask(self._calling, wanted, shown, mutating=True)
            operations = self._operations(wanted, shown, found)
            changed = bool(operations) and await patched(shown, wanted.form, operations)
        except Exception as error:
            trouble = error
        count(self._calling, hook, ADMIT, attributes.operation, began, trouble)
        self._note(attributes, wanted, place, changed, operations)
        told = None if trouble is None else outcome(self._calling, hook, ADMIT, attributes, place, trouble)
        if told is not None:
            raise told from None if told is trouble else trouble
        return changed

    @staticmethod
    def _operations(wanted: Wanted, shown: Shown, found: Verdict) -> Operations:
        """What the webhook wants to change. Raises Trouble, InternalError."""
        if not found.patch:
            return []
        hook = wanted.hook
        try:
            operations = operations_of(found.patch)
        except BadAnswer as error:
            raise Trouble(hook, str(error)) from error
        if not operations:
            return []
        if shown.attributes.obj is None:
            why = "attempted to modify the object, which is not supported for this operation"
            raise internal(f'admission webhook "{hook.name}" {why}')
        if found.patch_type != "JSONPatch":
            raise Trouble(hook, f'unsupported patch type "{found.patch_type}"')
        return operations

    @staticmethod
    def _note(attributes: Attributes, wanted: Wanted, place: str, changed: bool, operations: Operations) -> None:
        hook, note = wanted.hook, attributes.write.note
        who = {"configuration": hook.configuration, "webhook": hook.name}
        note(f"mutation.{_NOTE}/{place}", dumps({**who, "mutated": changed}).decode())
        if changed:
            note(f"patch.{_NOTE}/{place}", dumps({**who, "patch": operations, "patchType": "JSONPatch"}).decode())


class ValidatingAdmissionWebhook(_Webhooks):
    """Asks all at once; the first in order that says no is what the client is told."""

    name = "ValidatingAdmissionWebhook"
    phase = conditionmetrics.VALIDATE

    async def check(self, attributes: Attributes) -> None:
        forms = attributes.forms
        assert forms is not None
        every = await self._wanted(attributes)
        if not every:
            return
        shown = Shown(attributes, forms, self._calling.aside, final=True)
        labels = await self._labels(attributes, every)
        selected = [wanted for wanted in every if wanted.hook.criteria.selects(attributes, labels)]
        taking = [wanted for wanted in selected if await self._hold(wanted, shown)]
        if len(taking) == 1:
            told: list[Any] = [await self._asked(taking[0], shown, 0)]
        else:
            calls = [self._asked(wanted, shown, index) for index, wanted in enumerate(taking)]
            told = await asyncio.gather(*calls)
        for error in told:
            if error is not None:
                raise error

    async def _asked(self, wanted: Wanted, shown: Shown, index: int) -> Exception | None:
        """What the client is told, None for a yes."""
        hook, attributes = wanted.hook, shown.attributes
        began = self._calling.now()
        trouble: Exception | None = None
        try:
            await ask(self._calling, wanted, shown, mutating=False)
        except Exception as error:
            trouble = error
        count(self._calling, hook, VALIDATING, attributes.operation, began, trouble)
        if trouble is None:
            return None
        return outcome(self._calling, hook, VALIDATING, attributes, f"round_0_index_{index}", trouble)


PLUGIN_NAMES: Final = (MutatingAdmissionWebhook.name, ValidatingAdmissionWebhook.name)
