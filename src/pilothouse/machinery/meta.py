"""Reading and changing the metadata of an object (a dict as it is decoded). Missing parts read as empty and are made
when set.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from pilothouse.machinery.scheme import GroupVersionKind, parse_group_version

Object = dict[str, Any]

_NONE: Final[Mapping[str, Any]] = {}


def metadata(obj: Object) -> Mapping[str, Any]:
    """The metadata, for reading."""
    return obj.get("metadata") or _NONE


def make_metadata(obj: Object) -> dict[str, Any]:
    """The metadata, for changing."""
    found: dict[str, Any] | None = obj.get("metadata")
    if found is None:
        found = obj["metadata"] = {}
    return found


def _text(obj: Object, member: str) -> str:
    found: str | None = metadata(obj).get(member)
    return found or ""


def name(obj: Object) -> str:
    return _text(obj, "name")


def namespace(obj: Object) -> str:
    return _text(obj, "namespace")


def generate_name(obj: Object) -> str:
    return _text(obj, "generateName")


def uid(obj: Object) -> str:
    return _text(obj, "uid")


def resource_version(obj: Object) -> str:
    return _text(obj, "resourceVersion")


def creation_timestamp(obj: Object) -> str:
    """A Time text, "" without one."""
    return _text(obj, "creationTimestamp")


def deletion_timestamp(obj: Object) -> str:
    """A Time text, "" while the object is not being deleted."""
    return _text(obj, "deletionTimestamp")


def deletion_grace_period(obj: Object) -> int | None:
    """Seconds, None without one."""
    found: int | None = metadata(obj).get("deletionGracePeriodSeconds")
    return found


def generation(obj: Object) -> int:
    return metadata(obj).get("generation") or 0


def labels(obj: Object) -> Mapping[str, str]:
    return metadata(obj).get("labels") or _NONE


def annotations(obj: Object) -> Mapping[str, str]:
    return metadata(obj).get("annotations") or _NONE


def finalizers(obj: Object) -> list[str]:
    """A copy."""
    return list(metadata(obj).get("finalizers") or ())


def owner_references(obj: Object) -> list[dict[str, Any]]:
    """A copy of the list."""
    return list(metadata(obj).get("ownerReferences") or ())


def managed_fields(obj: Object) -> list[dict[str, Any]]:
    """A copy of the list."""
    return list(metadata(obj).get("managedFields") or ())


def controller(obj: Object) -> dict[str, Any] | None:
    """The owner reference that is marked as controller."""
    for reference in metadata(obj).get("ownerReferences") or ():
        if reference.get("controller"):
            found: dict[str, Any] = reference
            return found
    return None


def gvk(obj: Object) -> GroupVersionKind:
    """From apiVersion and kind. Raises ValueError for an apiVersion with two slashes."""
    group, version = parse_group_version(obj.get("apiVersion") or "")
    return GroupVersionKind(group, version, obj.get("kind") or "")


def key(obj: Object) -> str:
    """`namespace/name`, or the name alone for objects of the whole cluster."""
    space = namespace(obj)
    return f"{space}/{name(obj)}" if space else name(obj)


def being_deleted(obj: Object) -> bool:
    return bool(metadata(obj).get("deletionTimestamp"))


def has_finalizer(obj: Object, finalizer: str) -> bool:
    return finalizer in (metadata(obj).get("finalizers") or ())


def set_or_drop(obj: Object, member: str, value: Any) -> None:
    """Set a member of the metadata; an empty value takes it out."""
    if value in ("", None, 0) or value in ([], {}):
        found = obj.get("metadata")
        if found:
            found.pop(member, None)
    else:
        make_metadata(obj)[member] = value


def set_resource_version(obj: Object, version: str) -> None:
    set_or_drop(obj, "resourceVersion", version)


def set_label(obj: Object, label: str, value: str) -> None:
    """Into a new map, as the old one may be shared; sorted by key."""
    set_or_drop(obj, "labels", dict(sorted({**labels(obj), label: value}.items())))


def set_annotation(obj: Object, annotation: str, value: str) -> None:
    """Into a new map, as the old one may be shared; sorted by key."""
    set_or_drop(obj, "annotations", dict(sorted({**annotations(obj), annotation: value}.items())))


def set_finalizers(obj: Object, wanted: Iterable[str]) -> None:
    set_or_drop(obj, "finalizers", list(wanted))


def drop_finalizer(obj: Object, finalizer: str) -> bool:
    """True if it was there."""
    found = finalizers(obj)
    if finalizer not in found:
        return False
    set_finalizers(obj, [other for other in found if other != finalizer])
    return True
