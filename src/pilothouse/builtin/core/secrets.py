"""Secrets: text becomes data, well-known types have their keys, and an immutable secret stays as it is."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from pilothouse.builtin.core.configmaps import MAX_SIZE, bytes_of_all, frozen
from pilothouse.builtin.core.tlspair import pair_problem
from pilothouse.machinery import names
from pilothouse.machinery.rules import IMMUTABLE, Field, on_update, rules
from pilothouse.registry.behaviour import Behaviour, Context, Object

_TOKEN: Final = "kubernetes.io/service-account-token"
_ACCOUNT: Final = "kubernetes.io/service-account.name"
# Keys that a type must have. A basic-auth secret needs one of its two.
_NEEDED: Final = {
    "kubernetes.io/dockercfg": (".dockercfg",),
    "kubernetes.io/dockerconfigjson": (".dockerconfigjson",),
    "kubernetes.io/ssh-auth": ("ssh-privatekey",),
    "kubernetes.io/tls": ("tls.crt", "tls.key"),
}
_BASIC: Final = ("username", "password")
_JSON_TYPES: Final = ("kubernetes.io/dockercfg", "kubernetes.io/dockerconfigjson")
_JSON_KINDS: Final = {list: "array", str: "string", bool: "bool"}
_REDACTED: Final = "<secret contents redacted>"


def _fill(secret: Object) -> None:
    """`stringData` wins over `data` and is gone afterwards; the type is Opaque unless told."""
    text = secret.pop("stringData", None)
    if text:
        data = dict(secret.get("data") or {})
        for key, value in text.items():
            data[key] = base64.b64encode(value.encode()).decode()
        secret["data"] = data
    if not secret.get("type"):
        secret["type"] = "Opaque"


def _prepare(new: Object, old: Object | None, context: Context) -> None:
    """A type that is left out in an update stays."""
    if old is not None and not new.get("type"):
        new["type"] = old.get("type", "")


def _data(new: Mapping[str, Any], field: Field) -> None:
    data = new.get("data") or {}
    for key in data if len(data) < 2 else field.names(data, names.are_config_keys):
        whys = names.config_key(key)
        if whys:
            field.all_invalid(f"data[{key}]", key, whys)
    if bytes_of_all(data.values()) > MAX_SIZE:
        field.too_long("data", MAX_SIZE)


def _json(key: str, text: str, field: Field) -> None:
    """An object of JSON (or null)."""
    try:
        found = json.loads(base64.b64decode(text))
    except ValueError as error:
        field.invalid(f"data[{key}]", _REDACTED, _go_words(base64.b64decode(text), error))
        return
    if found is not None and not isinstance(found, dict):
        kind = _JSON_KINDS.get(type(found), "number")
        why = f"json: cannot unmarshal {kind} into Go value of type map[string]interface {{}}"
        field.invalid(f"data[{key}]", _REDACTED, why)


def _go_words(text: bytes, error: ValueError) -> str:
    """What Go's JSON reader says of a broken document: cut short, or a sign where none may be."""
    position = getattr(error, "pos", 0)
    if position >= len(text.rstrip()):
        return "unexpected end of JSON input"
    sign = chr(text[position])
    start = "looking for beginning of value"
    if position == 0 or not text[:position].strip():
        literal = {"n": "null", "t": "true", "f": "false"}.get(sign)
        if literal is None:
            return f"invalid character '{sign}' {start}"
        for offset, expected in enumerate(literal):
            if position + offset >= len(text):
                return "unexpected end of JSON input"
            found = chr(text[position + offset])
            if found != expected:
                return f"invalid character '{found}' in literal {literal} (expecting '{expected}')"
    return f"invalid character '{sign}' after top-level value"


def _typed(new: Mapping[str, Any], field: Field) -> None:
    kind, data = new.get("type", ""), new.get("data") or {}
    if kind == _TOKEN:
        annotations = new["metadata"].get("annotations") or {}
        if not annotations.get(_ACCOUNT):
            field.required(f"metadata.annotations[{_ACCOUNT}]")
    elif kind == "kubernetes.io/basic-auth":
        if not any(key in data for key in _BASIC):
            for key in _BASIC:
                field.required(f"data[{key}]")
    else:
        for key in _NEEDED.get(kind, ()):
            missing = not data.get(key) if kind == "kubernetes.io/ssh-auth" else key not in data
            if missing:
                field.required(f"data[{key}]")
            elif kind in _JSON_TYPES:
                _json(key, data[key], field)


def _fixed_type(new: Mapping[str, Any], field: Field) -> None:
    if new.get("type") != field.old.get("type"):
        field.invalid("type", new.get("type", ""), IMMUTABLE)


def _warn(new: Object, old: Object | None) -> Sequence[str]:
    """A TLS pair that is no pair is kept, but said."""
    if new.get("type") != "kubernetes.io/tls":
        return ()
    data = new.get("data") or {}
    why = pair_problem(base64.b64decode(data.get("tls.crt", "")), base64.b64decode(data.get("tls.key", "")))
    return (why,) if why else ()


_validate: Final = rules(on_update(_fixed_type), on_update(frozen("data")), _data, _typed)

behaviour = Behaviour(defaults=_fill, prepare=_prepare, validate=_validate, warn=_warn)
