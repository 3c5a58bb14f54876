"""Continue tokens: where a paged list goes on, and at which revision (API concepts, "Retrieving large results sets in
chunks").

The token's form is the original's, so that a list begun on one server can be continued on another.
"""

from __future__ import annotations

import base64
import re

import orjson

from pilothouse.machinery.errors import APIError, bad_request
from pilothouse.machinery.jsoncodec import JSONError, loads

_VERSION = "meta.k8s.io/v1"
_TYPES = {"v": "string", "rv": "int64", "start": "string"}


def encode(prefix: str, next_key: str, revision: int) -> str:
    """`next_key` is a whole key; the token holds what stands behind the list's prefix, with a leading slash."""
    start = "/" + next_key.removeprefix(prefix)
    token = orjson.dumps({"v": _VERSION, "rv": revision, "start": start})
    return base64.urlsafe_b64encode(token).rstrip(b"=").decode()


def decode(token: str, prefix: str) -> tuple[str, int]:
    """(key to start from, revision; -1 means the newest). Raises BadRequest with the decoder's words."""
    data = _unbase64(token)
    try:
        value = loads(data)
    except JSONError as error:
        raise _refused(str(error)) from None
    if value is None:
        value = {}
    if not isinstance(value, dict):
        raise _refused(f"json: cannot unmarshal {_json_kind(value)} into Go value of type storage.continueToken")
    for name, member in value.items():
        _check_type(name, member)
    version, revision, start = value.get("v") or "", value.get("rv") or 0, value.get("start") or ""
    if version != _VERSION:
        raise _refused(f"server does not recognize this encoded version {version}")
    if revision == 0:
        raise _refused(f"incorrect encoded start resourceVersion (version {version})")
    if not start:
        raise _refused(f"encoded start key empty (version {version})")
    key = start.removeprefix("/")
    if key and any(part in ("..", ".", "") for part in key.split("/")):  # it may not lead out of the collection
        raise _refused(start)
    return prefix + key, revision


def _check_type(name: str, value: object) -> None:
    """Raises BadRequest for a member of another type than it has; null is as if it was not there."""
    wanted = _TYPES.get(name)
    if wanted is None or value is None:
        return
    shown = _json_kind(value)
    if wanted == "int64" and shown == "number":
        if isinstance(value, int) and -(2**63) <= value < 2**63:
            return
        shown = f"number {value}"
    elif wanted == shown:
        return
    raise _refused(f"json: cannot unmarshal {shown} into Go struct field continueToken.{name} of type {wanted}")


def _refused(why: str) -> APIError:
    return bad_request(f"invalid continue token: continue key is not valid: {why}")


_UNPADDED = re.compile(r"[A-Za-z0-9_-]*", re.ASCII)


def _unbase64(token: str) -> bytes:
    """What the URL form of base64 without padding says; line breaks in it mean nothing. Raises BadRequest."""
    text = token.replace("\n", "").replace("\r", "")
    good = _UNPADDED.match(text)
    wrong = good.end() if good is not None else 0
    if wrong == len(text) and len(text) % 4 == 1:
        wrong -= 1
    if wrong < len(text):
        raise _refused(f"illegal base64 data at input byte {wrong}")
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def _json_kind(value: object) -> str:
    return {str: "string", list: "array", dict: "object", bool: "bool", float: "number", int: "number"}.get(
        type(value), "null"
    )
