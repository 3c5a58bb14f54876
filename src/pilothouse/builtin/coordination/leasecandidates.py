"""Lease candidates: who may be elected to hold a lease, and which versions it speaks."""

from __future__ import annotations

import re
from typing import Final

from pilothouse.builtin.shared.fields import fixed
from pilothouse.machinery import names
from pilothouse.machinery.digits import whole
from pilothouse.machinery.rules import Field, at, required, rules
from pilothouse.registry.behaviour import Behaviour, Object

_OLDEST: Final = "OldestEmulationVersion"
_NUMBER: Final = r"(0|[1-9][0-9]*)"
_PART: Final = r"(?:0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)"
_VERSION: Final = re.compile(
    rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(?:-({_PART}(?:\.{_PART})*))?(?:\+[0-9A-Za-z.-]+)?", re.ASCII
)
Parsed = tuple[tuple[int, int, int], bool, tuple[tuple[bool, int, str], ...]]


def _parsed(text: str) -> Parsed | None:
    """A semantic version in a form that compares: a release is above its previews."""
    found = _VERSION.fullmatch(text)
    if found is None:
        return None
    parts = found[4].split(".") if found[4] else []
    ranked = tuple((not part.isdigit(), whole(part) if part.isdigit() else 0, part) for part in parts)
    return (whole(found[1]), whole(found[2]), whole(found[3])), not parts, ranked


def _versions(value: Object, field: Field) -> None:
    emulated, binary = value.get("emulationVersion", ""), value.get("binaryVersion", "")
    lower = _parsed(emulated) if emulated else None
    upper = _parsed(binary) if binary else None
    if emulated and lower is None:
        field.invalid("emulationVersion", emulated, "must be a valid semantic version")
    if not binary:
        field.required("binaryVersion")
    elif upper is None:
        field.invalid("binaryVersion", binary, "must be a valid semantic version")
    elif lower is not None and upper < lower:
        field.invalid("binaryVersion", binary, "must be greater than or equal to `emulationVersion`")


def _strategy(value: str, field: Field) -> None:
    field.all_invalid("strategy", value, names.qualified_name(value))  # the doubled step is the original's


def _emulation(value: Object, field: Field) -> None:
    if value.get("strategy") == _OLDEST and not value.get("emulationVersion"):
        field.required("emulationVersion", f"must be specified when `strategy` is '{_OLDEST}'")


behaviour: Final = Behaviour(
    validate=rules(
        at("spec.leaseName", required),
        at("spec", _versions),
        at("spec.strategy", required, _strategy),
        at("spec", _emulation),
        at("spec.leaseName", fixed()),
    )
)
