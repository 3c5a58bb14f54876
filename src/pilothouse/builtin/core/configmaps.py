"""ConfigMaps: keys are file names, in one of two maps, and an immutable map stays as it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from pilothouse.kit.runs import doubtful
from pilothouse.machinery import names
from pilothouse.machinery.rules import Field, Rule, on_update, rules
from pilothouse.registry.behaviour import Behaviour

MAX_SIZE: Final = 1024 * 1024
FROZEN: Final = "field is immutable when `immutable` is set"

Object = Mapping[str, Any]


def bytes_of(text: str) -> int:
    """How many bytes a base64 text means."""
    return len(text) * 3 // 4 - text[-2:].count("=")


def frozen(*members: str) -> Rule:
    """What was made immutable may not change, nor stop being immutable."""

    def run(new: Object, field: Field) -> None:
        old = field.old
        if not old.get("immutable"):
            return
        if not new.get("immutable"):
            field.forbidden("immutable", FROZEN)
        for name in members:
            if (new.get(name) or {}) != (old.get(name) or {}):
                field.forbidden(name, FROZEN)

    return run


def _fine(keys: Sequence[str], others: Object) -> bool:
    """Whether some keys of one map are surely good, and not in the other one."""
    return others.keys().isdisjoint(keys) and names.are_config_keys(keys)


def _keys(new: Object, field: Field) -> None:
    data, binary = new.get("data") or {}, new.get("binaryData") or {}
    for _, key in doubtful(sorted(data), lambda keys: field.full or _fine(keys, binary)):
        whys = names.config_key(key)
        if whys:
            field.all_invalid(f"data[{key}]", key, whys)
        if key in binary:
            field.invalid(f"data[{key}]", key, "duplicate of key present in binaryData")
    texts = "".join(data.values())
    size = len(texts) if texts.isascii() else len(texts.encode())
    for key in field.names(binary):
        field.all_invalid(f"binaryData[{key}]", key, names.config_key(key))
        size += bytes_of(binary[key])
    if size > MAX_SIZE:
        field.too_long("[]", MAX_SIZE)


_validate: Final = rules(on_update(frozen("data", "binaryData")), _keys)

behaviour = Behaviour(validate=_validate)
