"""One call of one webhook and how it is counted: an answer, a refusal, or trouble, which a lenient one forgives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from pilothouse.admission.conditionmetrics import ConditionMetrics
from pilothouse.admission.plugin import Attributes
from pilothouse.admission.webhooks.answer import BadAnswer, Schemas, Verdict, refusal, verdict
from pilothouse.admission.webhooks.hooks import Hook, Wanted
from pilothouse.admission.webhooks.metrics import ADMIT, CALLING, INTERNAL, NO_ERROR, WebhookMetrics
from pilothouse.admission.webhooks.review import Shown, request_of, review
from pilothouse.kit.aside import Aside
from pilothouse.kit.record import record
from pilothouse.machinery.errors import APIError, bad_request, internal
from pilothouse.serving.webhook import CallError

_LARGEST: Final = 16 << 20  # bytes of an answer
_UNREACHED: Final = 503  # what counts as the code where none came
_ALLOWED: Final = 200


class Trouble(Exception):
    """A webhook gave no usable answer. `code`: what it counts as."""

    def __init__(self, hook: Hook, why: str, code: int = _UNREACHED) -> None:
        super().__init__(f'failed calling webhook "{hook.name}": {why}')
        self.code = code


class Refused(Exception):
    """A webhook said no. `error`: what the client is told."""

    def __init__(self, error: APIError) -> None:
        super().__init__(str(error))
        self.error = error


@record
class Calling:
    """What calls take from outside. `now`: seconds of a clock that only goes on; `aside`: for big answers; `conditions`
    counts what match conditions say.
    """

    new_uid: Callable[[], str]
    schemas: Schemas
    metrics: WebhookMetrics
    now: Callable[[], float]
    aside: Aside
    conditions: ConditionMetrics


async def ask(calling: Calling, wanted: Wanted, shown: Shown, *, mutating: bool) -> Verdict:
    """A webhook's yes. Raises Trouble, Refused, and an APIError for what is wrong on this side."""
    hook, attributes = wanted.hook, shown.attributes
    if attributes.write.dry_run and not hook.harmless:
        raise bad_request(f'admission webhook "{hook.name}" does not support dry run')
    if not hook.version:
        why = "webhook does not accept known AdmissionReview versions (v1, v1beta1)"
        raise Trouble(hook, f"could not create admission objects: {why}", 400)
    uid = calling.new_uid()
    request = await request_of(shown, wanted.form, uid)
    try:
        endpoint = hook.endpoint
    except ValueError as error:
        raise Trouble(hook, f"could not get REST client: {error}", 400) from error
    try:
        body = await shown.beside(review, hook.version, request)
        data = await endpoint.post(body, hook.seconds, _LARGEST)
    except CallError as error:
        raise Trouble(hook, f"failed to call webhook: {error}", error.status or _UNREACHED) from error
    try:
        found = await calling.aside.run(len(data), _verdict, data, uid, hook.version, calling.schemas, mutating)
    except BadAnswer as error:
        raise Trouble(hook, str(error)) from error
    tell(attributes, hook, found)
    if not found.allowed:
        raise Refused(refusal(hook.name, found.status))
    return found


def _verdict(data: bytes, uid: str, version: str, schemas: Schemas, mutating: bool) -> Verdict:
    return verdict(data, uid, version, schemas, mutating=mutating)


def tell(attributes: Attributes, hook: Hook, found: Verdict) -> None:
    """Pass on what the webhook wants the client and the auditors to know."""
    for name, text in found.annotations.items():
        attributes.write.note(f"{hook.name}/{name}", text)
    for text in found.warnings:
        if _one_line(text):
            attributes.write.warn(text)


def _one_line(text: str) -> bool:
    """Warnings with control signs, line breaks among them, cannot be told."""
    return bool(text) and not any(sign < " " or "\x7f" <= sign <= "\x9f" for sign in text)


def count(calling: Calling, hook: Hook, kind: str, operation: str, began: float, error: Exception | None) -> None:
    """Add one call to the metrics. `error`: how it ended, None for a yes."""
    code, wrong = _ALLOWED, ""
    if isinstance(error, Trouble):
        code, wrong = error.code, "" if hook.lenient else CALLING
    elif isinstance(error, Refused):
        code, wrong = error.error.code, NO_ERROR
    elif error is not None:
        code, wrong = 0, INTERNAL
    if wrong:
        calling.metrics.rejected(hook.name, kind, operation, wrong, code)
    calling.metrics.called(hook.name, kind, operation, calling.now() - began, code, rejected=bool(wrong))


def outcome(
    calling: Calling, hook: Hook, kind: str, attributes: Attributes, round_: str, error: Exception
) -> Exception | None:
    """What the client is told of a call that was no yes; None where a lenient webhook is passed over."""
    if isinstance(error, Refused):
        return error.error
    if not isinstance(error, Trouble):
        return error
    if not hook.lenient:
        return internal(str(error))
    phase = "mutation" if kind == ADMIT else "validating"
    attributes.write.note(f"failed-open.{phase}.webhook.admission.k8s.io/{round_}", hook.name)
    calling.metrics.failed_open(hook.name, kind)
    return None
