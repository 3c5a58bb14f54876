"""The rules of object metadata that hold for every kind (Kubernetes documentation, "Object Names and IDs", "Labels
and Selectors",
"Annotations", "Finalizers", "Owners and Dependents").
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import islice
from typing import Any, Final

from pilothouse.kit.runs import RUN, doubtful, doubtful_names
from pilothouse.machinery import names
from pilothouse.machinery.digits import unsigned
from pilothouse.machinery.errors import MOST_CAUSES, Cause, bad_request, bare_internal, invalid, modified
from pilothouse.machinery.goquote import quote
from pilothouse.machinery.jsoncodec import dumps
from pilothouse.machinery.times import format_time
from pilothouse.registry.request import Causes, Write
from pilothouse.registry.resource import Object, Resource
from pilothouse.storage.api import StoredObject

ORDER: Final = (
    "name", "generateName", "namespace", "selfLink", "uid", "resourceVersion", "generation", "creationTimestamp",
    "deletionTimestamp", "deletionGracePeriodSeconds", "labels", "annotations", "ownerReferences", "finalizers",
    "managedFields",
)  # fmt: skip
MAX_ANNOTATIONS: Final = 256 * 1024
_MOST_TOLD: Final = 1 << 20  # characters of causes that each show a whole list
_STANDARD_FINALIZERS: Final = frozenset({"orphan", "foregroundDeletion", "kubernetes"})
OWNERS_WARNING: Final = (
    ".metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may "
    "reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: "
)
_BANNED_OWNERS: Final = frozenset({("v1", "Event")})

Owners = Callable[[], list[Object]]
"""The metadata.managedFields of a new object."""
NewOwners = Callable[[StoredObject | None], list[Object] | None]
"""The same of what was made of a stored object (None: of a new one); None where they are known already."""


def ordered(metadata: dict[str, Any]) -> dict[str, Any]:
    """Members in the order of the original's output."""
    return {key: metadata[key] for key in ORDER if key in metadata}


def refuse_other_namespace(sent: str | None, namespace: str) -> None:
    """`sent`: the namespace in a body, `namespace`: that of the request. Raises BadRequest."""
    if sent and sent != namespace:
        raise bad_request("the namespace of the provided object does not match the namespace sent on the request")


def check_namespace(resource: Resource, metadata: dict[str, Any], write: Write) -> None:
    """Fill in the namespace of the request; another one in the body is refused.

    Cluster-scoped objects lose theirs silently.
    """
    if not resource.namespaced:
        metadata.pop("namespace", None)
        return
    refuse_other_namespace(metadata.get("namespace"), write.namespace)
    metadata["namespace"] = write.namespace


def names_version(obj: Object) -> bool:
    """Whether an object says of which version it is; what is no number says nothing."""
    version = (obj.get("metadata") or {}).get("resourceVersion")
    number = unsigned(version) if version else 0
    return isinstance(number, int) and number != 0


def prepare_create(
    resource: Resource, obj: Object, write: Write, new_uid: Callable[[], str], suffix: Callable[[str], str]
) -> None:
    """Give a new object its identity. `suffix` makes a name of a generateName."""
    metadata: dict[str, Any] = obj.setdefault("metadata", {})
    check_namespace(resource, metadata, write)
    metadata.pop("resourceVersion", None)
    for sent in ("deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"):
        metadata.pop(sent, None)
    if not metadata.get("name"):
        if metadata.get("generateName"):
            metadata["name"] = suffix(metadata["generateName"])
        elif resource.uuid_name:
            metadata["name"] = new_uid()
    metadata["uid"] = new_uid()
    metadata["creationTimestamp"] = format_time(write.now)
    if resource.generation is not None:
        if resource.generation.initial:
            metadata["generation"] = resource.generation.initial
        else:
            metadata.pop("generation", None)
    obj["metadata"] = ordered(metadata)


def prepare_update(resource: Resource, obj: Object, old: Object, write: Write) -> None:
    """What an update may not touch is put back, or fails in validation when it was changed."""
    metadata: dict[str, Any] = obj.setdefault("metadata", {})
    before = old["metadata"]
    check_namespace(resource, metadata, write)
    metadata.pop("selfLink", None)
    if not metadata.get("uid"):
        metadata["uid"] = before.get("uid", "")
    if "creationTimestamp" in before:
        metadata["creationTimestamp"] = before["creationTimestamp"]
    else:
        metadata.pop("creationTimestamp", None)
    dying = "deletionTimestamp" in before
    for kept in ("deletionTimestamp", "deletionGracePeriodSeconds"):
        if kept in before and (kept not in metadata or (dying and kept == "deletionTimestamp")):
            metadata[kept] = before[kept]
    if "generation" in before:
        metadata["generation"] = before["generation"]
    else:
        metadata.pop("generation", None)


def check_version(resource: Resource, name: str, obj: Object, old: Object, *, unconditional: bool) -> None:
    """The optimistic lock. Raises Conflict for a stale resourceVersion, Invalid where one is demanded."""
    sent = obj["metadata"].pop("resourceVersion", "")
    number = unsigned(sent or "0")
    if not number:
        if not unconditional:
            cause = Cause(
                "FieldValueInvalid", "Invalid value: 0: must be specified for an update", "metadata.resourceVersion"
            )
            raise invalid(resource.group, resource.plural, name, [cause])
        return
    if isinstance(number, str):
        raise bare_internal(number)
    if str(number) != old["metadata"].get("resourceVersion"):
        raise modified(resource.group, resource.plural, name)


def raise_generation(
    resource: Resource,
    obj: Object,
    old: Object,
    custom: Callable[[Object, Object], bool] | None,
    floats: frozenset[str] = frozenset(),
) -> None:
    """metadata.generation counts the changes of what a client asks for.

    `floats`: members with whole floats, which count as a change, since what is stored is an integer.
    """
    rules = resource.generation
    if rules is None:
        return
    changed = custom(obj, old) if custom is not None else rules.on_change and spec_changed(obj, old, resource.same)
    if not changed and floats:
        changed = bool(floats - {"status"} if resource.status is not None else floats)
    new_meta, old_meta = obj["metadata"], old["metadata"]
    if not changed and rules.on_labels:
        changed = new_meta.get("labels") != old_meta.get("labels")
    if not changed and rules.on_annotations:
        changed = new_meta.get("annotations") != old_meta.get("annotations")
    if changed:
        new_meta["generation"] = old_meta.get("generation", 0) + 1


def spec_changed(obj: Object, old: Object, same: Callable[[Any, Any], bool]) -> bool:
    """Anything but metadata and status differs."""
    for key in obj.keys() | old.keys():
        if key not in ("metadata", "status", "kind", "apiVersion") and not same(obj.get(key), old.get(key)):
            return True
    return False


def own(obj: Object, owners: Owners) -> None:
    """Let the owners of a new object be known. It has them already when it is tried under another name."""
    if "managedFields" not in obj["metadata"]:
        entries = owners()
        if entries:
            obj["metadata"]["managedFields"] = entries


def own_again(obj: Object, current: StoredObject | None, owners: NewOwners) -> None:
    """Let the owners of what an update made be known, unless they are already."""
    entries = owners(current)
    if entries:
        obj["metadata"]["managedFields"] = entries
    elif entries is not None:
        obj["metadata"].pop("managedFields", None)


def validate_create(resource: Resource, obj: Object) -> Causes:
    metadata = obj["metadata"]
    causes: Causes = []
    generate = metadata.get("generateName")
    if generate:
        causes += [_invalid("metadata.generateName", generate, text) for text in resource.name_rule(generate, True)]
    name = metadata.get("name", "")
    if not name:
        causes.append(Cause("FieldValueRequired", "Required value: name or generateName is required", "metadata.name"))
    else:
        causes += [_invalid("metadata.name", name, text) for text in resource.name_rule(name, False)]
    return causes + validate_common(metadata, plain=_plain(resource))


def validate_update(resource: Resource, obj: Object, old: Object) -> Causes:
    """Finalizers need not be qualified names here, only with a domain in the kinds that ask for one."""
    metadata, before = obj["metadata"], old["metadata"]
    causes = _finalizers_while_deleting(metadata, before)
    for member in ("name", "namespace", "uid", "creationTimestamp"):
        if metadata.get(member, "") != before.get(member, ""):
            causes.append(_invalid(f"metadata.{member}", metadata.get(member), "field is immutable"))
    for member in ("deletionTimestamp", "deletionGracePeriodSeconds"):
        if metadata.get(member) != before.get(member):
            causes.append(_invalid(f"metadata.{member}", metadata.get(member), "field is immutable"))
    causes += _validate_shared(metadata, "metadata")
    if _plain(resource) and "finalizers" in metadata:
        causes += _without_domain(metadata["finalizers"], "metadata.finalizers")
    return causes


def _finalizers_while_deleting(metadata: dict[str, Any], before: dict[str, Any]) -> Causes:
    """An object on its way out takes no new finalizers."""
    if "deletionTimestamp" not in before:
        return []
    had = set(before.get("finalizers") or ())
    added = [name for name in metadata.get("finalizers") or () if name not in had]
    if not added:
        return []
    shown = ", ".join(f'"{name}"' for name in added)
    text = (
        "Forbidden: no new finalizers can be added if the object is being deleted, "
        f"found new finalizers []string{{{shown}}}"
    )
    return [Cause("FieldValueForbidden", text, "metadata.finalizers")]


def validate_common(metadata: dict[str, Any], path: str = "metadata", *, plain: bool = True) -> Causes:
    """What is checked of new metadata, in the original's order: labels, annotations, owners, finalizers.

    `plain`: finalizers must be qualified or well known, as those of built-in kinds.
    """
    causes = _validate_shared(metadata, path)
    if "finalizers" in metadata:
        causes += validate_finalizers(metadata["finalizers"], f"{path}.finalizers", plain=plain)
    return causes


def _validate_shared(metadata: dict[str, Any], path: str) -> Causes:
    """What create and update check alike."""
    causes: Causes = []
    if "labels" in metadata:
        causes += validate_labels(metadata["labels"], f"{path}.labels")
    if "annotations" in metadata:
        causes += validate_annotations(metadata["annotations"], f"{path}.annotations")
    if "ownerReferences" in metadata:
        causes += validate_owners(metadata["ownerReferences"], f"{path}.ownerReferences")
    return causes


def _plain(resource: Resource) -> bool:
    """Custom resources and their definitions may have finalizers that are only warned about."""
    return resource.typed and not resource.delete.cleanup_finalizer


def validate_embedded(metadata: dict[str, Any], path: str) -> Causes:
    """The metadata of an object inside of another one, which is nobody's to name."""
    name, namespace = metadata.get("name", ""), metadata.get("namespace", "")
    causes = [_invalid(f"{path}.name", name, text) for text in names.path_segment(name) if name]
    causes += [_invalid(f"{path}.namespace", namespace, text) for text in names.label(namespace) if namespace]
    return causes + validate_common(metadata, path, plain=False)


def validate_labels(labels: dict[str, str], path: str) -> Causes:
    causes: Causes = []

    def fine(keys: Sequence[str]) -> bool:
        return names.are_qualified_names(keys) and names.are_label_values([*map(labels.__getitem__, keys)])

    for key in labels if len(labels) <= RUN else doubtful_names(labels, fine, partial(_many, causes)):
        if _many(causes):
            break
        wrong = names.qualified_name(key)
        if wrong:
            causes += [_invalid(path, key, text) for text in wrong]
        wrong = names.label_value(labels[key])
        if wrong:
            causes += [_invalid(path, labels[key], text) for text in wrong]
    return causes


def validate_annotations(annotations: dict[str, str], path: str) -> Causes:
    causes: Causes = []
    fine = names.are_qualified_names  # without capitals in the prefix, but those are few
    for key in annotations if len(annotations) <= RUN else doubtful_names(annotations, fine, partial(_many, causes)):
        if _many(causes):
            break
        wrong = names.annotation_key(key)
        if wrong:
            causes += [_invalid(path, key, text) for text in wrong]
    size = sum(map(len, annotations)) + _size("".join(annotations.values()))
    if size > MAX_ANNOTATIONS:
        causes.append(Cause("FieldValueTooLong", f"Too long: may not be more than {MAX_ANNOTATIONS} bytes", path))
    return causes


def _many(causes: Causes) -> bool:
    return len(causes) >= MOST_CAUSES


def _size(text: str) -> int:
    """In bytes."""
    return len(text) if text.isascii() else len(text.encode())


def validate_owners(owners: list[dict[str, Any]], path: str = "metadata.ownerReferences") -> Causes:
    causes: Causes = []
    controllers: list[str] = []
    listed = ""
    for index, owner in enumerate(owners):
        if len(causes) >= MOST_CAUSES:
            break
        causes += _validate_owner(owner, f"{path}[{index}]")
        if owner.get("controller"):
            controllers.append(f"{owner.get('kind', '')}/{owner.get('name', '')}")
            if len(controllers) > 1 and len(controllers) * len(listed) < _MOST_TOLD:
                listed = listed or shown(owners)
                text = (
                    "Only one reference can have Controller set to true. "
                    f'Found "true" in references for {controllers[0]} and {controllers[-1]}'
                )
                causes.append(Cause("FieldValueInvalid", f"Invalid value: {listed}: {text}", path))
    return causes


def _validate_owner(owner: dict[str, Any], path: str) -> Causes:
    causes = [
        Cause("FieldValueRequired", "Required value: must not be empty", f"{path}.{member}")
        for member in ("apiVersion", "kind", "name", "uid")
        if not owner.get(member)
    ]
    version = owner.get("apiVersion", "")
    if version.count("/") > 1:
        causes.append(_invalid(f"{path}.apiVersion", version, "must be <group>/<version> or <version>"))
    if (version, owner.get("kind")) in _BANNED_OWNERS:
        shown_version = version if "/" in version else f"/{version}"
        causes.append(_invalid(path, owner, f"{shown_version}, Kind={owner['kind']} is disallowed from being an owner"))
    return causes


def validate_finalizers(finalizers: list[str], path: str = "metadata.finalizers", *, plain: bool = True) -> Causes:
    causes: Causes = []
    wrong: dict[str, Sequence[str]] = {}  # what is wrong with a name: there may be very many of few
    for _, name in enumerate(finalizers) if len(finalizers) <= RUN else doubtful(finalizers, names.are_qualified_names):
        if len(causes) >= MOST_CAUSES:
            break
        whys = wrong.get(name)
        if whys is None:
            whys = wrong[name] = names.qualified_name(name)
        if whys:
            causes += [_invalid(path, name, text) for text in whys]
    if "orphan" in finalizers and "foregroundDeletion" in finalizers:
        causes.append(_invalid(path, finalizers, "finalizer orphan and foregroundDeletion cannot be both set"))
    return causes + _without_domain(finalizers, path) if plain else causes


def _without_domain(finalizers: list[str], path: str) -> Causes:
    text = "name is neither a standard finalizer name nor is it fully qualified"
    wrong = (
        (index, name) for index, name in enumerate(finalizers) if "/" not in name and name not in _STANDARD_FINALIZERS
    )
    return [_invalid(f"{path}[{index}]", name, text) for index, name in islice(wrong, MOST_CAUSES)]


def fold_owners(obj: Object) -> str:
    """Fold equal owner references into one; the uids of those that were there twice, "" for none."""
    metadata = obj.get("metadata")
    owners = metadata.get("ownerReferences") if metadata else None
    if not owners or len(owners) < 2:
        return ""
    if len(set(map(tuple, map(dict.values, owners)))) == len(owners):
        return ""
    kept: dict[frozenset[Any], Any] = {}
    repeated: list[str] = []
    for owner in owners:
        members = frozenset(owner.items())  # of decoded metadata: texts and booleans
        if members in kept:
            repeated.append(str(owner.get("uid", "")))
        else:
            kept[members] = owner
    if repeated and metadata is not None:
        metadata["ownerReferences"] = list(kept.values())
    return ", ".join(dict.fromkeys(repeated))


def _invalid(path: str, value: Any, text: str) -> Cause:
    return Cause("FieldValueInvalid", f"Invalid value: {shown(value)}: {text}", path)


def shown(value: Any) -> str:
    """A value as messages show it: strings quoted, the rest as JSON."""
    return quote(value) if value.__class__ is str else dumps(value).decode()
