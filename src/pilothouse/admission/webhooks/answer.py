"""What webhooks answer: read strictly, since a wrong answer must not count as a yes (Kubernetes documentation, "Dynamic
Admission Control", "Response").
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from typing import Any, Final

from pilothouse.admission.webhooks.review import GROUP, KIND, VERSIONS
from pilothouse.kit.record import record
from pilothouse.machinery import yamlcodec
from pilothouse.machinery.decode import DecodeError, Findings, compile_decoder
from pilothouse.machinery.errors import APIError
from pilothouse.machinery.goquote import quote
from pilothouse.machinery.jsoncodec import JSONError, loads, type_meta
from pilothouse.machinery.schema import Schema

Schemas = Mapping[str, Schema]
"""Version of the review -> its type."""

_SCHEME: Final = "pkg/runtime/scheme.go:111"
_MOST_YAML: Final = 16 << 10  # bytes of an answer that is no JSON and may be YAML
_LOWEST_REFUSAL: Final = 400
_HIGHEST_CODE: Final = 999  # that HTTP can tell


class BadAnswer(Exception):
    """The answer is none; the text says why."""


@record
class Verdict:
    """An answer that was understood. `status`: of a refusal, as it was sent."""

    allowed: bool
    status: dict[str, Any]
    patch: bytes
    patch_type: str
    annotations: Mapping[str, str]
    warnings: Sequence[str]


def verdict(data: bytes, uid: str, version: str, schemas: Schemas, *, mutating: bool) -> Verdict:
    """Read the answer to a review. Raises BadAnswer."""
    value, api_version, kind = _read(data, version)
    try:
        review = compile_decoder(schemas[version])(value, Findings())
    except DecodeError as error:
        raise BadAnswer(f"failed to call webhook: {error}") from error
    response = review.get("response")
    if response is None:
        raise _invalid("webhook response was absent")
    if version == "v1":
        _check_identity(response, uid, api_version, kind)
    patch = _bytes(response.get("patch"))
    if version == "v1":
        patch_type = _patch_type(response, patch, mutating=mutating)
    else:
        patch_type = "JSONPatch" if patch and mutating else ""
    return Verdict(
        allowed=bool(response.get("allowed")),
        status=response.get("status") or {},
        patch=patch if mutating else b"",
        patch_type=patch_type,
        annotations=response.get("auditAnnotations") or {},
        warnings=response.get("warnings") or (),
    )


def _read(data: bytes, version: str) -> tuple[dict[str, Any], str, str]:
    """The document, its apiVersion and kind as they were sent. Raises BadAnswer."""
    try:
        try:
            value = loads(data)
        except JSONError:
            if len(data) > _MOST_YAML:
                raise
            value = yamlcodec.loads(data)
        api_version, kind = type_meta(value)
    except (JSONError, yamlcodec.YAMLError) as error:
        raise BadAnswer(f"failed to call webhook: {error}") from error
    expected = f"{GROUP}/{version}"
    if (api_version or expected, kind or KIND) != (expected, KIND):
        known = kind in ("", KIND) and api_version in {f"{GROUP}/{one}" for one in VERSIONS}
        other = (api_version or expected).rpartition("/")[2]
        why = (
            f"converting ({other}.{KIND}) to ({version}.{KIND}): unknown conversion"
            if known
            else f'no kind "{kind or KIND}" is registered for version "{api_version or expected}" in scheme "{_SCHEME}"'
        )
        raise BadAnswer(f"failed to call webhook: {why}")
    document = {name: item for name, item in (value or {}).items() if name in ("response", "request")}
    return document, api_version, kind


def _check_identity(response: Mapping[str, Any], uid: str, api_version: str, kind: str) -> None:
    answered = response.get("uid") or ""
    if answered != uid:
        raise _invalid(f"expected response.uid={quote(uid)}, got {quote(answered)}")
    if (api_version, kind) != (f"{GROUP}/v1", KIND):
        group, _, version = api_version.rpartition("/")
        got = f"{group}/{version}, Kind={kind}"
        raise _invalid(f"expected webhook response of {GROUP}/v1, Kind={KIND}, got {got}")


def _patch_type(response: Mapping[str, Any], patch: bytes, *, mutating: bool) -> str:
    found = response.get("patchType")
    if not mutating:
        if patch:
            raise _invalid("validating webhook may not return response.patch")
        if found is not None:
            raise _invalid("validating webhook may not return response.patchType")
        return ""
    if patch and found is None:
        raise _invalid("webhook returned response.patch but not response.patchType")
    if not patch and found is not None:
        raise _invalid("webhook returned response.patchType but not response.patch")
    if found == "":
        raise _invalid('webhook returned invalid response.patchType of ""')
    return str(found or "JSONPatch")


def _bytes(encoded: str | None) -> bytes:
    if not encoded:
        return b""
    try:
        return base64.b64decode(encoded.replace("\n", "").replace("\r", ""), validate=True)
    except binascii.Error as error:
        raise BadAnswer(f"failed to call webhook: illegal base64 data: {error}") from error


def _invalid(why: str) -> BadAnswer:
    return BadAnswer(f"received invalid webhook response: {why}")


def refusal(name: str, status: Mapping[str, Any]) -> APIError:
    """What the client is told. A refusal is never told as a success."""
    by = f'admission webhook "{name}" denied the request'
    message, reason = status.get("message") or "", status.get("reason") or ""
    code = int(status.get("code") or 0)
    details = status.get("details")
    retry = int((details or {}).get("retryAfterSeconds") or 0)
    return APIError(
        min(max(code, _LOWEST_REFUSAL), _HIGHEST_CODE),
        reason,
        f"{by}: {message or reason}" if message or reason else f"{by} without explanation",
        details,
        retry_after=retry,
        metadata=status.get("metadata") or None,
    )
