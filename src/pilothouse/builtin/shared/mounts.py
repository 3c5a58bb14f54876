"""Where containers mount volumes and block devices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pilothouse.builtin.shared.paths import descending
from pilothouse.machinery.rules import Field

_PROPAGATIONS: Final = ("Bidirectional", "HostToContainer", "None")
_RECURSIVE: Final = ("Disabled", "Enabled", "IfPossible")

Object = Mapping[str, Any]


def mounts(container: Object, field: Field, volumes: Mapping[str, Object]) -> None:
    """A container's `volumeMounts`, told from the list (some causes name no item, as in the original)."""
    points: set[str] = set()
    other = container.get("volumeDevices") or ()
    device_names = {one.get("name", "") for one in other}
    device_paths = {one.get("devicePath", "") for one in other}
    for index, mount in field.numbered(container["volumeMounts"]):
        name, path = mount.get("name", ""), mount.get("mountPath", "")
        if not name:
            field.required(f"[{index}].name")
        if name not in volumes:
            field.not_found(f"[{index}].name", name)
        if not path:
            field.required(f"[{index}].mountPath")
        if path in points:
            field.invalid(f"[{index}].mountPath", path, "must be unique")
        points.add(path)
        if name in device_names:
            field.invalid(f"[{index}].name", name, "must not already exist in volumeDevices")
        if path in device_paths:
            field.invalid(f"[{index}].mountPath", path, "must not already exist as a path in volumeDevices")
        if len(mount) > 2:
            _details(mount, field, container, index)


def _details(mount: Object, field: Field, container: Object, index: int) -> None:
    sub, expression = mount.get("subPath", ""), mount.get("subPathExpr", "")
    if sub:
        descending(sub, field, "subPath")
    if expression:
        if sub:
            why = "subPathExpr and subPath are mutually exclusive"
            field.invalid(f"[{index}].subPathExpr", expression, why)
        descending(expression, field, "subPathExpr")
    propagation = mount.get("mountPropagation")
    if propagation is not None:
        if propagation not in _PROPAGATIONS:
            field.not_supported("mountPropagation", propagation, _PROPAGATIONS)
        privileged = (container.get("securityContext") or {}).get("privileged")
        if propagation == "Bidirectional" and not privileged:
            why = "Bidirectional mount propagation is available only to privileged containers"
            field.forbidden("mountPropagation", why)
    recursive = mount.get("recursiveReadOnly")
    if recursive is None or recursive == "Disabled":
        return
    if recursive not in _RECURSIVE:
        field.not_supported("recursiveReadOnly", recursive, _RECURSIVE)
        return
    if not mount.get("readOnly"):
        field.forbidden("recursiveReadOnly", "may only be specified when readOnly is true")
    if propagation not in (None, "None"):
        field.forbidden("recursiveReadOnly", "may only be specified when mountPropagation is None or not specified")


def devices(container: Object, field: Field, volumes: Mapping[str, Object]) -> None:
    """A container's `volumeDevices`, told from the list."""
    names: set[str] = set()
    paths: set[str] = set()
    other = container.get("volumeMounts") or ()
    mounted = {one.get("name", ""): one.get("mountPath", "") for one in other}  # of several, the last
    mount_paths = set(mounted.values())
    for index, device in field.numbered(container["volumeDevices"]):
        name, path = device.get("name", ""), device.get("devicePath", "")
        if not name:
            field.required(f"[{index}].name")
        if name in names:
            field.invalid(f"[{index}].name", name, "must be unique")
        if name not in volumes:
            field.not_found(f"[{index}].name", name)
        elif "persistentVolumeClaim" not in volumes[name] and "ephemeral" not in volumes[name]:
            why = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode"
            field.invalid(f"[{index}].name", name, why)
        if not path:
            field.required(f"[{index}].devicePath")
        if path in paths:
            field.invalid(f"[{index}].devicePath", path, "must be unique")
        if ".." in path.split("/"):
            field.invalid(f"[{index}].devicePath", path, "can not contain backsteps ('..')")
        elif path:
            paths.add(path)
        if name in mounted:
            field.invalid(f"[{index}].name", name, "must not already exist in volumeMounts")
        if path in mount_paths:
            field.invalid(f"[{index}].devicePath", path, "must not already exist as a path in volumeMounts")
        names.add(name)
