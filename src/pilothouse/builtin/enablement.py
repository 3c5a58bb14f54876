"""Which versions and resources are served, as `--runtime-config` and `--feature-gates` say (kube-apiserver reference).

What can't be honoured is refused by name, in the words of the original where it has some.
"""

from __future__ import annotations

import importlib.resources
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Final

from pilothouse.builtin import facts

Pairs = Sequence[tuple[str, str | None]]  # name and value as written; None where there was no "="
Served = Callable[[facts.ResourceFacts], bool]

# Gates that change what this server does; others may only be given the value they have.
HONOURED: Final = frozenset(
    {"GenericWorkload", "CompositePodGroup", "EvictionRequestAPI", "StorageVersionAPI", "CBORServingAndStorage"}
)
_STABLE: Final = re.compile(r"v\d+")
_LEVELS: Final[tuple[tuple[str, Callable[[str], bool]], ...]] = (
    ("api/all", lambda version: True),
    ("api/ga", lambda version: _STABLE.fullmatch(version) is not None),
    ("api/beta", lambda version: "beta" in version),
    ("api/alpha", lambda version: "alpha" in version),
)
_BOOLEANS: Final = {
    **dict.fromkeys(("1", "t", "T", "true", "TRUE", "True"), True),
    **dict.fromkeys(("0", "f", "F", "false", "FALSE", "False"), False),
}


@cache
def _gate_rows() -> tuple[tuple[str, str, str], ...]:
    text = (importlib.resources.files("pilothouse.builtin") / "data" / "feature-gates.tsv").read_text()
    rows = (line.split("\t") for line in text.splitlines()[1:])
    return tuple((name, stage, enabled) for name, stage, enabled in rows)


@cache
def known_gates() -> Mapping[str, bool]:
    """Every feature gate with its value by default."""
    return {name: enabled == "true" for name, _, enabled in _gate_rows()}


def stages() -> Mapping[str, str]:
    """Every feature gate with its stage (ALPHA, BETA, "" for GA)."""
    return {name: stage for name, stage, _ in _gate_rows()}


def gates(pairs: Pairs) -> Mapping[str, bool]:
    """All gates with their values. Raises ValueError for one that is unknown, no boolean or can't be changed here."""
    values = dict(known_gates())
    for name, written in pairs:
        if name not in values:
            raise ValueError(f"unrecognized feature gate: {name}")
        if written is None:
            raise ValueError(f"missing bool value for {name}")
        value = _BOOLEANS.get(written)
        if value is None:
            raise ValueError(
                f'invalid value of {name}={written}, err: strconv.ParseBool: parsing "{written}": invalid syntax'
            )
        if value != values[name] and name not in HONOURED:
            raise ValueError(f"feature gate {name} can't be switched {'on' if value else 'off'} in this server")
        values[name] = value
    return values


def served(runtime_config: Pairs, feature_gates: Pairs) -> Served:
    """Whether a resource of a version is served. Raises ValueError for what is not understood."""
    open_gates = gates(feature_gates)
    overrides = {key: _switch(key, written) for key, written in runtime_config}
    for key in overrides:
        _check(key)
    if overrides == {"api/all": False}:
        raise ValueError("invalid key with only api/all=false")
    levels = [(overrides[name], matches) for name, matches in _LEVELS if name in overrides]

    def decide(row: facts.ResourceFacts) -> bool:
        if row.gate and not open_gates[row.gate]:
            return False
        on = row.default
        for value, matches in levels:
            if matches(row.version):
                on = value
        on = overrides.get(row.api_version, on)
        return overrides.get(f"{row.api_version}/{row.plural}", on)

    return decide


def _switch(key: str, written: str | None) -> bool:
    value = _BOOLEANS.get(written or "true")
    if value is None:
        raise ValueError(f"invalid value {key}={written}")
    if not value and key == "v1":
        raise ValueError("v1 is the core group and can't be switched off")
    return value


def _check(key: str) -> None:
    """Raises ValueError for a key that names nothing."""
    if key == "v1" or any(key == name for name, _ in _LEVELS):
        return
    parts = key.split("/")
    if len(parts) not in (2, 3):
        raise ValueError(f"runtime-config invalid key {key}")
    group, version = parts[:2]
    versions = next((found.versions for found in facts.groups() if found.name == group and group), None)
    if versions is None:
        raise ValueError(f"unknown api groups {group}/{version}")
    if all(known.version != version for known in versions):
        raise ValueError(f"group version {group}/{version} that has not been registered")
