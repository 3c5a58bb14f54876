"""Conversion by a webhook: ConversionReviews out, converted objects back (Kubernetes documentation, "Versions in
CustomResourceDefinitions"). Nothing but labels and annotations of an object's metadata may come back changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import orjson

from pilothouse.machinery.jsoncodec import dumps
from pilothouse.serving.webhook import CallError, Endpoint, Outside

Object = dict[str, Any]

SECONDS: Final = 30.0  # for one call
_GROUP: Final = "apiextensions.k8s.io"
_V1: Final = "v1"
_KNOWN: Final = (_V1, "v1beta1")
_CHANGEABLE: Final = ("labels", "annotations")
_FIXED: Final = (("name", "name"), ("namespace", "namespace"), ("uid", "UID"))


class ConversionFailed(Exception):
    """The objects could not be converted; the text is told to the client."""


class Webhook:
    """The webhook of one definition. `webhook`: its `spec.conversion.webhook`, whose first known version of reviews is
    spoken.
    """

    def __init__(self, webhook: Object, outside: Outside) -> None:
        self._new_uid = outside.new_uid
        self._endpoint = Endpoint(webhook.get("clientConfig") or {}, outside)
        self._version = next((one for one in webhook.get("conversionReviewVersions") or () if one in _KNOWN), _V1)

    def close(self) -> None:
        self._endpoint.close()

    async def convert(self, objects: Sequence[Object], api_version: str) -> list[Object]:
        """The objects (all of one version) in another one. Raises ConversionFailed."""
        first = objects[0]
        head = f"conversion webhook for {first['apiVersion']}, Kind={first['kind']}"
        uid = self._new_uid()
        review = {
            "kind": "ConversionReview",
            "apiVersion": f"{_GROUP}/{self._version}",
            "request": {"uid": uid, "desiredAPIVersion": api_version, "objects": list(objects)},
            "response": {"uid": "", "convertedObjects": None, "result": {"metadata": {}}},
        }
        try:
            answer = await self._endpoint.post(dumps(review), SECONDS)
        except CallError as error:
            raise ConversionFailed(f"{head} failed: {error}") from error
        made = self._converted(answer, uid, head, len(objects))
        for before, after in zip(objects, made, strict=True):
            _check(before, after, api_version, head)
        return made

    def _converted(self, data: bytes, uid: str, head: str, count: int) -> list[Object]:
        """The objects of an answer. Raises ConversionFailed."""
        try:
            review = orjson.loads(data)
            kind, api_version, response = review.get("kind"), review.get("apiVersion"), review.get("response")
            result = (response or {}).get("result") or {}
            status, message = result.get("status") or "", result.get("message") or ""
            found = (response or {}).get("convertedObjects") or []
        except (orjson.JSONDecodeError, AttributeError) as error:
            raise ConversionFailed(f"{head} failed: the answer is no ConversionReview: {error!r}") from error
        if (kind, api_version) != ("ConversionReview", f"{_GROUP}/{self._version}"):
            expected, got = (
                f"{_GROUP}/{self._version}, Kind=ConversionReview",
                f"{api_version or ''}, Kind={kind or ''}",
            )
            raise ConversionFailed(f"{head} failed: expected webhook response of {expected}, got {got}")
        if response is None:
            raise ConversionFailed(f"{head} failed: no response provided")
        if self._version == _V1 and response.get("uid") != uid:  # the older reviews need not tell it
            raise ConversionFailed(f'{head} failed: expected response.uid "{uid}", got "{response.get("uid", "")}"')
        if status != "Success":
            raise ConversionFailed(f"{head} failed: {message or _unsuccessful(status)}")
        if len(found) != count:
            raise ConversionFailed(f"{head} returned {len(found)} objects, expected {count}")
        made: list[Object] = found
        return made


def _unsuccessful(status: str) -> str:
    return f"response.result.status was '{status}', not 'Success'"


def _check(before: Object, after: Any, api_version: str, head: str) -> None:
    """Put back what a conversion may not touch; what it must not touch at all is refused."""
    if not isinstance(after, dict) or not isinstance(after.get("metadata"), dict):
        raise ConversionFailed(f"{head} returned invalid object: missing metadata")
    if after.get("apiVersion") != api_version:
        why = f"invalid groupVersion (expected {api_version}, received {after.get('apiVersion')})"
        raise ConversionFailed(f"{head} returned invalid converted object: {why}")
    if after.get("kind") != before["kind"]:
        why = f"invalid kind (expected {before['kind']}, received {after.get('kind')})"
        raise ConversionFailed(f"{head} returned invalid converted object: {why}")
    old, new = before["metadata"], after["metadata"]
    for member, word in _FIXED:
        if new.get(member, "") != old.get(member, ""):
            why = f"must have the same {word}: {old.get(member, '')} != {new.get(member, '')}"
            raise ConversionFailed(f"{head} returned invalid object: {why}")
    kept = {name: value for name, value in old.items() if name not in _CHANGEABLE}
    after["metadata"] = kept | {name: new[name] for name in _CHANGEABLE if new.get(name)}
