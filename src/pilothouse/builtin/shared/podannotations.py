"""Annotations of pods and pod templates that mean something: who may set them, and what they may say.

Profiles for seccomp and AppArmor were annotations before they were fields; where both are there, they must agree.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from pilothouse.builtin.shared.paths import descending
from pilothouse.machinery.rules import Field

MIRROR: Final = "kubernetes.io/config.mirror"
DELETION_COST: Final = "controller.kubernetes.io/pod-deletion-cost"
_SECCOMP_POD: Final = "seccomp.security.alpha.kubernetes.io/pod"
_SECCOMP_OF: Final = "container.seccomp.security.alpha.kubernetes.io/"
ARMOR_OF: Final = "container.apparmor.security.beta.kubernetes.io/"
_LOCAL: Final = "localhost/"
_SECCOMP_DEFAULT: Final = ("runtime/default", "docker/default")
_ARMOR_DEFAULT: Final = ("runtime/default",)
_COST: Final = re.compile(r"-[0-9]+|0|[1-9][0-9]*", re.ASCII)
_WATCHED: Final = (MIRROR, DELETION_COST, _SECCOMP_POD, _SECCOMP_OF, ARMOR_OF)
_KINDS: Final = ("initContainers", "containers", "ephemeralContainers")

Object = Mapping[str, Any]


def _containers(spec: Object) -> Iterator[tuple[str, Object]]:
    """(path, container) of every container, in the order of the original."""
    for kind in _KINDS:
        for index, container in enumerate(spec.get(kind) or ()):
            yield f"{kind}[{index}]", container


def _is_cost(text: str) -> bool:
    """A 32 bit integer without a plus sign or leading zeros."""
    return _COST.fullmatch(text) is not None and -(2**31) <= int(text) < 2**31


def _seccomp(key: str, text: str, field: Field) -> None:
    if text in _SECCOMP_DEFAULT or text == "unconfined":
        return
    if text.startswith(_LOCAL):
        descending(text.removeprefix(_LOCAL), field, key)
    else:
        field.invalid(key, text, "must be a valid seccomp profile")


def _armor(key: str, text: str, names: set[str], field: Field) -> None:
    name = key.removeprefix(ARMOR_OF)
    if name not in names:
        field.invalid(f"[{key}]", name, "container not found")
    if text and text != "unconfined" and text not in _ARMOR_DEFAULT and not text.startswith(_LOCAL):
        field.invalid(f"[{key}]", text, f'invalid AppArmor profile name: "{text}"')


def _keys(found: Mapping[str, str]) -> list[str]:
    return sorted(key for key in found if key.startswith(_WATCHED))


def pod_annotations(found: Mapping[str, str], spec: Object, field: Field, old: Mapping[str, str] | None = None) -> None:
    """What the annotations may say, told from their map. `old`: those before, on update."""
    keys = _keys(found)
    if not keys:
        return
    if MIRROR in found and not spec.get("nodeName"):
        field.invalid(f"[{MIRROR}]", found[MIRROR], "must set spec.nodeName if mirror pod annotation is set")
    cost = found.get(DELETION_COST)
    was_bad = old is not None and DELETION_COST in old and not _is_cost(old[DELETION_COST])
    if cost is not None and not _is_cost(cost) and not was_bad:
        field.invalid(f"[{DELETION_COST}]", cost, "must be a 32bit integer")
    if _SECCOMP_POD in found:
        _seccomp(_SECCOMP_POD, found[_SECCOMP_POD], field)
    for key in keys:
        if key.startswith(_SECCOMP_OF):
            _seccomp(key, found[key], field)
    names = {container.get("name", "") for _, container in _containers(spec)}
    for key in keys:
        if key.startswith(ARMOR_OF):
            _armor(key, found[key], names, field)


def annotation_changes(found: Mapping[str, str], old: Mapping[str, str], field: Field) -> None:
    """Some annotations are for the life of a pod; told from their map."""
    if found == old:
        return
    for key in _keys(old):
        if found.get(key) != old[key]:
            if key.startswith(ARMOR_OF):
                field.forbidden(f"[{key}]", "may not remove or update AppArmor annotations")
            elif key == MIRROR:
                field.forbidden(f"[{key}]", "may not remove or update mirror pod annotation")
    for key in _keys(found):
        if key not in old:
            if key.startswith(ARMOR_OF):
                field.forbidden(f"[{key}]", "may not add AppArmor annotations")
            elif key == MIRROR:
                field.forbidden(f"[{key}]", "may not add mirror pod annotation")


def _agrees(profile: Object, text: str, plain: tuple[str, ...], path: str, what: str, field: Field) -> None:
    kind = profile.get("type", "")
    fits = {"Unconfined": text == "unconfined", "RuntimeDefault": text in plain, "Localhost": text.startswith(_LOCAL)}
    if not fits.get(kind, True):
        field.forbidden(f"{path}.type", f"{what} type in annotation and field must match")
    elif kind == "Localhost" and profile.get("localhostProfile") != text.removeprefix(_LOCAL):
        field.forbidden(f"{path}.localhostProfile", f"{what} profile in annotation and field must match")


def seccomp_agrees(found: Mapping[str, str] | None, spec: Object, field: Field) -> None:
    """Annotations and fields must say the same; told from the spec."""
    if not found or not _keys(found):
        return
    whole = (spec.get("securityContext") or {}).get("seccompProfile")
    if whole is not None and _SECCOMP_POD in found:
        _agrees(whole, found[_SECCOMP_POD], _SECCOMP_DEFAULT, "securityContext.seccompProfile", "seccomp", field)
    for path, container in _containers(spec):
        own = (container.get("securityContext") or {}).get("seccompProfile")
        text = found.get(_SECCOMP_OF + container.get("name", ""))
        if own is not None and text is not None:
            _agrees(own, text, _SECCOMP_DEFAULT, f"{path}.securityContext.seccompProfile", "seccomp", field)


def armor_agrees(found: Mapping[str, str] | None, spec: Object, field: Field) -> None:
    """As `seccomp_agrees`, for AppArmor; a container without a profile has the pod's."""
    if not found or not _keys(found) or (spec.get("os") or {}).get("name") == "windows":
        return
    whole = (spec.get("securityContext") or {}).get("appArmorProfile")
    for path, container in _containers(spec):
        profile = (container.get("securityContext") or {}).get("appArmorProfile") or whole
        text = found.get(ARMOR_OF + container.get("name", ""))
        if profile is not None and text is not None:
            _agrees(profile, text, _ARMOR_DEFAULT, f"{path}.securityContext.appArmorProfile", "apparmor", field)
