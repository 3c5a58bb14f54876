"""Environment variables of containers, and the references to fields and resources that volumes use too."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from pilothouse.builtin.shared.amounts import nanos
from pilothouse.builtin.shared.paths import not_reserved
from pilothouse.machinery import names as words
from pilothouse.machinery.rules import Field

ENV_FIELDS: Final = (
    "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName", "status.hostIP",
    "status.hostIPs", "status.podIP", "status.podIPs",
)  # fmt: skip
FILE_FIELDS: Final = ("metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid")
_ALL_FIELDS: Final = frozenset({*ENV_FIELDS, *FILE_FIELDS, "spec.restartPolicy", "spec.schedulerName", "status.phase"})
_OLD_NAMES: Final = {"spec.host": "spec.nodeName"}  # what clients of long ago call it
_SUBSCRIPT: Final = re.compile(r"(.+?)\['(.*)'\]", re.DOTALL)
_RESOURCES: Final = (
    "limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu", "requests.ephemeral-storage",
    "requests.memory",
)  # fmt: skip
_HUGE: Final = ("limits.hugepages-", "requests.hugepages-")
_CPU_DIVISORS: Final = ("1m", "1")
_SIZE_DIVISORS: Final = ("1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei")
_SOURCES: Final = ("fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef")

Object = Mapping[str, Any]


def field_ref(value: Object, field: Field, supported: Sequence[str]) -> None:
    """A reference to a field of the pod; told from the reference."""
    version, path = value.get("apiVersion", ""), value.get("fieldPath", "")
    if not version:
        field.required("apiVersion")
        return
    if not path:
        field.required("fieldPath")
        return
    if version != "v1":
        field.invalid("fieldPath", path, f"error converting fieldPath: unsupported pod version: {version}")
        return
    found = _SUBSCRIPT.fullmatch(path)
    if found:
        _subscripted(path, found[1], found[2], field)
        return
    named = _OLD_NAMES.get(path, path)
    if named not in _ALL_FIELDS:
        field.invalid("fieldPath", path, f"error converting fieldPath: field label not supported: {path}")
    elif named not in supported:
        field.not_supported("fieldPath", named, supported)


def _subscripted(path: str, base: str, key: str, field: Field) -> None:
    if base == "metadata.annotations":
        field.all_invalid("", key.lower(), words.qualified_name(key.lower()))
    elif base == "metadata.labels":
        field.all_invalid("", key, words.qualified_name(key))
    else:
        why = f"error converting fieldPath: field label does not support subscript: {path}"
        field.invalid("fieldPath", path, why)


def _divisor(value: Object, field: Field) -> None:
    divisor, name = value.get("divisor"), value.get("resource", "")
    if divisor is None or nanos(divisor) == 0 or (name not in _RESOURCES and not name.startswith(_HUGE)):
        return
    kind = "local ephemeral storage" if name.endswith("ephemeral-storage") else name.partition(".")[2]
    kind = "hugepages" if name.startswith(_HUGE) else kind
    allowed = _CPU_DIVISORS if kind == "cpu" else _SIZE_DIVISORS
    if divisor not in allowed:
        listed = " and ".join(allowed) if kind == "cpu" else ", ".join(allowed)
        field.invalid("divisor", name, f"only divisor's values {listed} are supported with the {kind} resource")


def resource_field_ref(value: Object, field: Field, of_volume: bool) -> None:
    """A reference to a container's own limits; told from the reference."""
    name = value.get("resource", "")
    if of_volume and not value.get("containerName"):
        field.required("containerName")
    elif not name:
        field.required("resource")
    elif name not in _RESOURCES and not name.startswith(_HUGE):
        field.not_supported("resource", name, _RESOURCES)
    _divisor(value, field)


def key_ref(value: Object, field: Field) -> None:
    """A key of a ConfigMap or Secret."""
    name, key = value.get("name", ""), value.get("key", "")
    field.all_invalid("name", name, words.subdomain(name))
    if not key:
        field.required("key")
    else:
        field.all_invalid("key", key, words.config_key(key))


def _file_key_ref(value: Object, field: Field, volumes: Mapping[str, Object]) -> None:
    volume, path, key = value.get("volumeName", ""), value.get("path", ""), value.get("key", "")
    if not key:
        field.required("key")
    else:
        field.all_invalid("key", key, words.environment_name(key))
    if not volume:
        field.required("volumeName")
    else:
        field.all_invalid("volumeName", volume, words.label(volume))
        if volume not in volumes:
            field.not_found("volumeName", volume)
        elif "emptyDir" not in volumes[volume]:
            field.invalid("volumeName", volume, "referenced volume must be of type emptyDir")
    if not path:
        field.required("path")
    else:
        not_reserved(path, field, "path")


def _value_from(value: Object, field: Field, variable: Object, volumes: Mapping[str, Object]) -> None:
    count = 0
    for name in _SOURCES:
        inner = value.get(name)
        if inner is None:
            continue
        count += 1
        before = len(field.found)
        if name == "fieldRef":
            field_ref(inner, field, ENV_FIELDS)
        elif name == "resourceFieldRef":
            resource_field_ref(inner, field, of_volume=False)
        elif name == "fileKeyRef":
            _file_key_ref(inner, field, volumes)
        else:
            key_ref(inner, field)
        if len(field.found) > before:
            field.prefix(before, name)
    if not count:
        last = "`fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"
        field.invalid("", "", f"must specify one of: {last}")
    elif variable.get("value"):
        field.invalid("", "", "may not be specified when `value` is not empty")
    elif count > 1:
        field.invalid("", "", "may not have more than one field specified at a time")


def variables(items: Sequence[Object], field: Field, volumes: Mapping[str, Object]) -> None:
    """A container's `env`, told from the list. `volumes` by name."""
    for index, item in field.numbered(items):
        name = item.get("name", "")
        if not name:
            field.required(f"[{index}].name")
        elif not (name.isidentifier() and name.isascii()):  # such names are always fine
            whys = words.environment_name(name)
            if whys:
                field.all_invalid(f"[{index}].name", name, whys)
        if "valueFrom" in item:
            source = item["valueFrom"] or {}
            before = len(field.found)
            _value_from(source, field, item, volumes)
            if len(field.found) > before:
                field.prefix(before, f"[{index}].valueFrom")


def variable_sources(items: Sequence[Object], field: Field) -> None:
    """A container's `envFrom`, told from the list."""
    for index, item in field.numbered(items):
        prefix = item.get("prefix", "")
        if prefix:
            field.all_invalid(f"[{index}].prefix", prefix, words.environment_name(prefix))
        count = 0
        for kind in ("configMapRef", "secretRef"):
            inner = item.get(kind)
            if inner is None:
                continue
            count += 1
            name = inner.get("name", "")
            if not name:
                field.required(f"[{index}].{kind}.name")
            else:
                field.all_invalid(f"[{index}].{kind}.name", name, words.subdomain(name))
        if not count:
            field.invalid("", "", "must specify one of: `configMapRef` or `secretRef`")
        elif count > 1:
            field.invalid("", "", "may not have more than one field specified at a time")
