"""ConfigMaps: keys are file names, in one of two maps, and an immutable map stays as it is."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from pilothouse.machinery import names
from pilothouse.machinery.rules import Field, Rule, on_update, rules
from pilothouse.registry.behaviour import Behaviour

MAX_SIZE: Final = 1024 * 1024
FROZEN: Final = "field is immutable when `immutable` is set"

Object = Mapping[str, Any]


def bytes_of_all(texts: Collection[str]) -> int:
    """How many bytes base64 texts mean together."""
    whole = "".join(texts)
    return len(whole) * 3 // 4 - whole.count("=")


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
    return names.are_config_keys(keys) and (not others or others.keys().isdisjoint(keys))


def _keys(new: Object, field: Field) -> None:
    data, binary = new.get("data") or {}, new.get("binaryData") or {}
    for key in field.names(data, lambda keys: _fine(keys, binary)):
        whys = names.config_key(key)
        if whys:
            field.all_invalid(f"data[{key}]", key, whys)
        if key in binary:
            field.invalid(f"data[{key}]", key, "duplicate of key present in binaryData")
    texts = "".join(data.values())
    size = len(texts) if texts.isascii() else len(texts.encode())
    for key in field.names(binary, names.are_config_keys):
        field.all_invalid(f"binaryData[{key}]", key, names.config_key(key))
    size += bytes_of_all(binary.values())
    if size > MAX_SIZE:
        field.too_long("[]", MAX_SIZE)


_validate: Final = rules(on_update(frozen("data", "binaryData")), _keys)

behaviour = Behaviour(validate=_validate)
