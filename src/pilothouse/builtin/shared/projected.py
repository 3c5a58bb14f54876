"""Volumes made of files: keys of ConfigMaps and Secrets, fields of the pod, tokens, trust bundles and certificates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from pilothouse.builtin.certificates.signers import signer_name, user_annotations
from pilothouse.builtin.shared.env import FILE_FIELDS, field_ref, resource_field_ref
from pilothouse.builtin.shared.internals import internal
from pilothouse.builtin.shared.paths import not_reserved
from pilothouse.builtin.shared.selectors import label_selector
from pilothouse.machinery import names as words
from pilothouse.machinery.rules import Field
from pilothouse.machinery.rules.alike import are_alike

_MODE: Final = "must be a number between 0 and 0777 (octal), both inclusive"
_CONFLICT: Final = "conflicting duplicate paths"
_KEY_TYPES: Final = ("RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519")
_SOURCES: Final = ("secret", "configMap", "downwardAPI", "serviceAccountToken", "clusterTrustBundle", "podCertificate")
_WHOLE: Final = ({"secret"}, {"configMap"})  # of a source that may be taken as a whole,
_NAMED: Final = ({"name"}, {"name", "optional"})  # by its name
_HOUR: Final = 3600
_DAY: Final = 86400
_LONGEST: Final = 91 * _DAY

Object = Mapping[str, Any]


def mode(path: str, value: int | None, field: Field) -> None:
    """Permission bits of files."""
    if value is not None and not 0 <= value <= 0o777:
        field.invalid(path, value, _MODE)


def key_paths(items: Sequence[Object], field: Field) -> None:
    """`items` of a ConfigMap or Secret, told from their owner."""
    field.each("items", _key_path, items, alone=True)


def _key_path(item: Object, field: Field) -> None:
    path = item.get("path", "")
    if not item.get("key"):
        field.required("key")
    if not path:
        field.required("path")
    else:
        not_reserved(path, field, "path")
    mode("mode", item.get("mode"), field)


def downward_files(items: Sequence[Object], field: Field) -> None:
    """`items` of a downward API volume; as in the original, causes do not say which item."""
    for _, item in field.numbered(items):
        path = item.get("path", "")
        if not path:
            field.required("path")
        else:
            not_reserved(path, field, "path")
        by_field, by_resource = item.get("fieldRef"), item.get("resourceFieldRef")
        before = len(field.found)
        if by_field is not None:
            field_ref(by_field, field, FILE_FIELDS)
            if len(field.found) > before:
                field.prefix(before, "fieldRef")
            if by_resource is not None:
                why = "fieldRef and resourceFieldRef can not be specified simultaneously"
                field.invalid("", "resource", why)
        elif by_resource is not None:
            resource_field_ref(by_resource, field, of_volume=True)
            if len(field.found) > before:
                field.prefix(before, "resourceFieldRef")
        else:
            field.required("", "one of fieldRef and resourceFieldRef is required")
        mode("mode", item.get("mode"), field)


class _Paths:
    """Every path of a projected volume (those of tokens apart) may be used once; told at the volume."""

    def __init__(self) -> None:
        self.used: set[str] = set()
        self.conflicts: list[str] = []

    def take(self, path: str, shown: str, even_empty: bool = False) -> None:
        if not path and not even_empty:
            return
        if path in self.used:
            self.conflicts.append(shown)
        self.used.add(path)


def _named(value: Object, field: Field, paths: _Paths) -> None:
    name = value.get("name", "")
    if not name:
        field.required("name")
    items = value.get("items")
    if items:
        key_paths(items, field)
        for item in items if not field.full else ():
            paths.take(item.get("path", ""), name)


def _token(value: Object, field: Field) -> None:
    seconds = value.get("expirationSeconds", _HOUR)
    if seconds < 600:
        field.invalid("expirationSeconds", seconds, "may not specify a duration less than 10 minutes")
    elif seconds > 1 << 32:
        field.invalid("expirationSeconds", seconds, "may not specify a duration larger than 2^32 seconds")


def _bundle_name(name: str, field: Field) -> None:
    """A trust bundle's name; where it belongs to a signer, it begins with the signer's."""
    if not name:
        field.required("name", "must be a valid object name")
    for why in words.subdomain(name.rpartition(":")[2]):
        field.invalid("name", name, f"not a valid clustertrustbundlename: {why}")


def _trust_bundle(value: Object, field: Field) -> None:
    name, signer, selector = value.get("name"), value.get("signerName"), value.get("labelSelector")
    if name is None and signer is None:
        field.required("", "either name or signerName must be specified")
    elif name is not None and signer is not None:
        shown = internal("ClusterTrustBundleProjection", dict(value))
        field.invalid("", shown, "only one of name and signerName may be used")
    elif name is not None:
        _bundle_name(name, field)
        if selector is not None:
            field.invalid("labelSelector", selector, "labelSelector must be unset if name is specified")
    else:
        if not signer:
            field.required("signerName", "must be a valid signer name")
        field.within("signerName", signer_name, signer)
        if selector is not None:
            field.within("labelSelector", label_selector, selector)
    path = value.get("path", "")
    if not path:
        field.required("path")
    else:
        not_reserved(path, field, "path")


def _certificate(value: Object, field: Field, paths: _Paths) -> None:
    signer, kind = value.get("signerName", ""), value.get("keyType", "")
    if not signer:
        field.required("signerName")
    else:
        field.within("signerName", signer_name, signer)
    if kind not in _KEY_TYPES:
        field.not_supported("keyType", kind, _KEY_TYPES)
    seconds = value.get("maxExpirationSeconds")
    if seconds is not None:
        longest = _DAY if signer.partition("/")[0].endswith("kubernetes.io") else _LONGEST
        if seconds < _HOUR:
            field.invalid("maxExpirationSeconds", seconds, f"if provided, maxExpirationSeconds must be >= {_HOUR}")
        elif seconds > longest:
            field.invalid("maxExpirationSeconds", seconds, f"if provided, maxExpirationSeconds must be <= {longest}")
    count = 0
    for name in ("credentialBundlePath", "keyPath", "certificateChainPath"):
        path = value.get(name, "")
        if path:
            count += 1
            not_reserved(path, field, name)
            paths.take(path, path)
    if not count:
        why = "specify at least one of credentialBundlePath, keyPath, and certificateChainPath"
        field.required("", why)
    if value.get("userAnnotations"):
        field.within("userAnnotations", user_annotations, value["userAnnotations"])


def _one(source: Object, field: Field, path: str, paths: _Paths) -> None:
    """One source; `path` is where it is told."""
    kinds = [*source] if len(source) == 1 else [name for name in _SOURCES if name in source]
    for name in kinds:
        value = source[name]
        before = len(field.found)
        known = len(paths.conflicts)
        if name in ("secret", "configMap"):
            _named(value, field, paths)
        elif name == "downwardAPI":
            downward_files(value.get("items") or (), field)
            for item in value.get("items") or ():
                paths.take(item.get("path", ""), item.get("path", ""))
        elif name == "serviceAccountToken":
            _token(value, field)
        elif name == "clusterTrustBundle":
            _trust_bundle(value, field)
            paths.take(value.get("path", ""), value.get("path", ""), even_empty=True)
        else:
            _certificate(value, field, paths)
        if len(field.found) > before:
            field.prefix(before, f"{path}.{name}")
        if name == "serviceAccountToken":
            _token_path(value.get("path", ""), field)
        for shown in paths.conflicts[known:]:
            field.invalid("", shown, _CONFLICT)
    if len(kinds) > 1:
        field.forbidden(path, "may not specify more than 1 volume type per source")


def _are_fine(sources: Sequence[dict[str, Any]]) -> bool:
    """Whether there is nothing in some sources, or a name each of what is taken as a whole."""
    if not any(sources):
        return True
    return sources[0].keys() in _WHOLE and are_alike(sources, dict.fromkeys(sources[0], _are_named))


def _are_named(values: Sequence[dict[str, Any]]) -> bool:
    return values[0].keys() in _NAMED and are_alike(values, {"name": all})


def _token_path(path: str, field: Field) -> None:
    """Told at the volume. A token's path is not compared with the others."""
    if not path:
        field.required("path")
    else:
        not_reserved(path, field, "path")


def projected(value: Object, field: Field) -> None:
    """A projected volume."""
    mode("defaultMode", value.get("defaultMode"), field)
    paths = _Paths()
    for index, source in field.doubtful(value.get("sources") or (), _are_fine):
        _one(source, field, f"sources[{index}]", paths)
