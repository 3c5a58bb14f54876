"""A patch as it comes in a request: read once, carried out as often as conflicts of the store demand."""

from __future__ import annotations

from typing import Any, Final

from pilothouse.machinery import jsoncodec
from pilothouse.machinery.digits import may_have_floats
from pilothouse.machinery.errors import APIError, bad_request
from pilothouse.machinery.jsonexact import JSONError, NumberTooGreat
from pilothouse.machinery.patch import astold, jsonpatch, mergepatch, quoted, restore, strategic
from pilothouse.machinery.patch.errors import undecodable
from pilothouse.machinery.schema import Schema
from pilothouse.machinery.typed.text import plain

JSON_PATCH: Final = "application/json-patch+json"
MERGE_PATCH: Final = "application/merge-patch+json"
STRATEGIC_PATCH: Final = "application/strategic-merge-patch+json"

_CHECKS: Final = {JSON_PATCH: jsonpatch.check, MERGE_PATCH: mergepatch.check, STRATEGIC_PATCH: strategic.check}


class Patch:
    """`patch(obj)` gives the patched document and what strict decoding says about the patch itself.

    `floats`: it is a strategic one with whole numbers written as floats, which its converter takes for integers.
    """

    __slots__ = (
        "_before",
        "_directives",
        "_nulls",
        "_opened",
        "_refusal",
        "_schema",
        "_value",
        "findings",
        "floats",
        "media_type",
    )

    def __init__(
        self,
        media_type: str,
        value: Any,
        schema: Schema,
        findings: list[str],
        refusal: APIError | None = None,
        *,
        floats: bool = False,
        nulls: bool = True,
        directives: bool = True,
    ) -> None:
        self.media_type = media_type
        self.findings = findings
        self.floats = floats
        self._refusal = refusal
        self._nulls = nulls  # whether there may be some in it
        self._directives = directives  # and whether some of these
        self._value = value
        self._schema = schema
        self._before: dict[str, Any] = {}  # of the last run, whose result may be refused
        self._opened: jsonpatch.Opened | None = None

    def __call__(self, obj: dict[str, Any]) -> tuple[Any, list[str]]:
        """A new dict, whose parts may be those of `obj` and of the patch; or a list, which is no object of any type.

        Raises APIError: 400 for what is no patch of its type, 413 for too many operations, and more.
        """
        if self._refusal is not None:
            raise self._refusal
        self._before = obj
        if self.media_type == JSON_PATCH:
            patched, self._opened = jsonpatch.run(self._value, obj)
        elif self.media_type == MERGE_PATCH:
            patched = mergepatch.apply(self._value, obj, strict=False, nulls=self._nulls)
        else:
            patched = strategic.apply(self._value, obj, self._schema, simple=not (self._nulls or self._directives))
        return dict(patched) if patched is obj else patched, self.findings

    def settle(self) -> None:
        """What the last run made is good: nothing of it needs to be kept for a refusal."""
        self._before, self._opened = {}, None

    def ordered(self, patched: Any, metadata: dict[str, Any] | None = None) -> Any:
        """What the last run made, its members as errors quote them. What the patch left alone is the same object, but
        for `metadata` in the place of such that was left alone.
        """
        before = self._before.get("metadata")
        opened = self._opened
        if metadata is not None and isinstance(patched, dict) and patched.get("metadata") is before:
            if opened is None or not opened(before):
                patched = {**patched, "metadata": metadata}
        if opened is not None:
            return quoted.patched(patched, opened)
        return quoted.merged(patched, self._before, self._value) if self.media_type == MERGE_PATCH else patched

    def refused(self, ordered: Any, why: str) -> APIError:
        """422: a patched document is none of its type, for the reason `why` (a decoder's text)."""
        if self.media_type == STRATEGIC_PATCH:
            left = strategic.without_ordered(self._value) if self._directives else self._value
            return undecodable(plain(left), why)
        return undecodable(self.shown(ordered), why)

    def shown(self, ordered: Any) -> str:
        """A patched document as errors quote it."""
        return quoted.text(ordered).decode()


def parse_patch(media_type: str, data: bytes, schema: Schema, *, strict: bool = True) -> Patch:
    """The patch in a request's body. `strict`: look for repeated and unknown fields of the patch too.

    What is JSON but no patch is told once there is an object to patch, as the original does.
    Raises APIError 400 for what is no JSON; KeyError for an unknown media type.
    """
    check = _CHECKS[media_type]
    try:
        value = jsoncodec.loads(data)
    except NumberTooGreat as error:
        return Patch(media_type, {}, schema, [], bad_request(_too_great(media_type, str(error))))
    except JSONError:
        raise bad_request("invalid JSON patch") from None
    try:
        checked: Any = check(value, strict=strict)
    except APIError as refusal:
        return Patch(media_type, value, schema, [], refusal)
    text = jsoncodec.compact_shallow(value)
    findings = _findings(media_type, data, value, text) if strict else []
    if media_type == JSON_PATCH:  # its tests look at how a value is written
        checked = astold.with_texts(checked, data)
    floats = media_type == STRATEGIC_PATCH and may_have_floats(data) and restore.has_whole_float(value)
    nulls = text is None or mergepatch.may_have_nulls(text)
    directives = text is None or strategic.may_have_directives(text)
    return Patch(media_type, checked, schema, findings, floats=floats, nulls=nulls, directives=directives)


def _too_great(media_type: str, why: str) -> str:
    """How a number that no type can hold is told: by the decoder of the patch itself."""
    if media_type == STRATEGIC_PATCH:
        return why
    if media_type == JSON_PATCH:
        why = why.replace("Go value", "Go struct field jsonPatchOp.value")
    return f"error decoding patch: {why}"


def _findings(media_type: str, data: bytes, value: Any, text: bytes | None) -> list[str]:
    found = [] if jsoncodec.surely_unique(data, value, text) else jsoncodec.duplicates(data)
    if media_type != JSON_PATCH:
        return found
    return [f"json patch {text}" for text in found] + jsonpatch.unknown_fields(value or [])
