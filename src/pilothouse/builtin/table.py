"""The resource table: every built-in resource as a `Resource`, put together from facts, types, columns and the kinds'
own files.

Versions of one group share one resource with one hub version, in which the store works; events.k8s.io shows the core
group's events.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from pilothouse.builtin import facts, namerules
from pilothouse.builtin.behaviours import behaviour
from pilothouse.builtin.conversions import conversion, hub_version
from pilothouse.builtin.types import META, TypeTable
from pilothouse.machinery.groupversion import api_version
from pilothouse.registry.behaviour import Behaviour
from pilothouse.registry.resource import (
    DeleteRule,
    FieldLabels,
    Generation,
    Resource,
    ServedVersion,
    StatusRule,
    Subresource,
)

REGISTRY: Final = "/registry/"
EVENT_TTL: Final = 3660.0  # seconds
_METADATA: Final = frozenset({"labels", "annotations", "finalizers", "ownerReferences"})
_DEFINITIONS: Final = ("apiextensions.k8s.io", "customresourcedefinitions")
_CLEANUP: Final = "customresourcecleanup.apiextensions.k8s.io"
_TERMINATING: Final = (
    "Terminating",
    "InstanceDeletionPending",
    "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
)
# Last word of the package of internal types, where it is not the first word of the group's name.
_GO_PACKAGES: Final = {
    "": "core",
    "internal.apiserver.k8s.io": "apiserverinternal",
    "rbac.authorization.k8s.io": "rbac",
}
_SPECIAL_DELETES: Final[dict[tuple[str, str], dict[str, Any]]] = {
    ("", "pods"): {"graceful": True},
    ("", "namespaces"): {
        "marks_first": True, "held_by": ("spec", "finalizers"), "marked_status": (("phase", "Terminating"),),
    },
    ("batch", "jobs"): {
        "warning": "child pods are preserved by default when jobs are deleted; "
        "set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning"
    },
}  # fmt: skip
# Field labels that are not called like the field they select.
_LABEL_PATHS: Final = {"source": "source.component|reportingComponent", "status.successful": "status.succeeded"}
_OLD_LABELS: Final = {("", "pods"): {"spec.host": "spec.nodeName"}}  # of clients of long ago, and the paths meant
_NOT_OWNED: Final = {
    ("certificates.k8s.io", "certificatesigningrequests"): ("spec",),
    ("scheduling.k8s.io", "priorityclasses"): ("globalDefault",),
}
_NO_BEHAVIOUR: Final = Behaviour()
Served = Callable[[facts.ResourceFacts], bool]


def resources(types: TypeTable, served: Served) -> list[Resource]:
    """Every stored resource that is served in some version, each with all its versions: those that are not served may
    still stand in the managed fields of stored objects, and the hub stays the same whatever is served.

    So is what is served by default and was switched off: the server itself reads and writes it all the same.
    """
    rows: dict[tuple[str, str], list[facts.ResourceFacts]] = {}
    for row in facts.load():
        if row.stored is not None:
            rows.setdefault((row.group, row.plural), []).append(row)
    return [
        _resource(types, _by_priority(group), served)
        for group in rows.values()
        if any(served(row) or row.default for row in group)
    ]


def _by_priority(rows: list[facts.ResourceFacts]) -> list[facts.ResourceFacts]:
    """The preferred version first, as the group's facts have them."""
    order = [version.version for group in facts.groups() if group.name == rows[0].group for version in group.versions]
    return sorted(rows, key=lambda row: order.index(row.version))


def _resource(types: TypeTable, rows: list[facts.ResourceFacts], served: Served) -> Resource:
    first = rows[0]
    rules, stored = first.rules, first.stored
    assert stored is not None
    versions = {row.version: _version(types, row, served(row)) for row in rows}
    hub = hub_version(first.group, first.plural, first.version)
    if first.plural == "events":  # each of the two kinds knows the form of the other, in which owners may have written
        if first.group:
            hub = "core/v1"
            versions[hub] = ServedVersion(hub, "Event", types.get("k8s.io/api/core/v1", "Event"), "v1", served=False)
        else:
            other = "events.k8s.io/v1"
            versions[other] = ServedVersion(
                other, "Event", types.get("k8s.io/api/events/v1", "Event"), other, served=False
            )
    return Resource(
        group=first.group,
        plural=first.plural,
        singular=first.singular,
        kind=first.kind,
        list_kind=first.list_kind,
        namespaced=first.namespaced,
        hub=hub,
        versions=versions,
        prefix=f"{REGISTRY}{stored.prefix}/",
        verbs=frozenset(first.verbs),
        name_rule=namerules.rule(rules.name_rule),
        behaviour=partial(_behaviour, first.group, first.plural),
        short_names=first.short_names,
        categories=first.categories,
        create_on_update=rules.create_on_update,
        unconditional_update=rules.unconditional_update,
        generation=_generation(rules.generation),
        status=_status(types, first),
        delete=_delete(first),
        field_labels=_labels(first),
        subresources=tuple(_part(part) for part in first.subresources),
        storage_hash=first.storage_version_hash,
        go_package=go_package(first.group),
        ttl=EVENT_TTL if first.plural == "events" else None,
        convert=conversion(first.group, first.plural),
        uuid_name=rules.uuid_name,
        not_owned=_NOT_OWNED.get((first.group, first.plural), ()),
    )


def go_package(group: str) -> str:
    """Last word of the package of a group's internal types."""
    return _GO_PACKAGES.get(group, group.partition(".")[0])


def _version(types: TypeTable, row: facts.ResourceFacts, served: bool) -> ServedVersion:
    deprecated = facts.deprecations().get((row.api_version, row.plural), "")
    return ServedVersion(
        row.version, row.kind, types.get(row.package, row.type_name), row.api_version, deprecated, served
    )


def _behaviour(group: str, plural: str) -> Behaviour:
    return behaviour(group, plural) or _NO_BEHAVIOUR


def _generation(rules: facts.GenerationRules | None) -> Generation | None:
    if rules is None:
        return None
    return Generation(
        on_labels="label" in rules.raised_by,
        on_annotations="annotation" in rules.raised_by,
        on_change="spec" in rules.raised_by,
        initial=rules.on_create,
        on_deletion=rules.on_deletion_mark,
    )


def _status(types: TypeTable, row: facts.ResourceFacts) -> StatusRule | None:
    """Kinds without a status field have no rule."""
    if "status" not in types.get(row.package, row.type_name).properties:
        return None
    rules = row.rules.status
    return StatusRule(
        dropped_on_create=not rules.kept_on_create,
        dropped_on_update=not rules.kept_on_update,
        subresource=any(part.name == "status" for part in row.subresources),
        keeps=_METADATA - rules.ignores,
        unconditional=rules.unconditional,
        creates=rules.creates_missing,
    )


def _delete(row: facts.ResourceFacts) -> DeleteRule:
    definition = (row.group, row.plural) == _DEFINITIONS
    return DeleteRule(
        answers_object=row.rules.delete_answers_object,
        orphans=row.rules.orphan_by_default,
        finalizers=row.rules.gc_finalizers,
        grace_seconds=not definition and row.plural != "namespaces",
        cleanup_finalizer=_CLEANUP if definition else "",
        marked_condition=_TERMINATING if definition else None,
        **_SPECIAL_DELETES.get((row.group, row.plural), {}),
    )


def _labels(row: facts.ResourceFacts) -> FieldLabels:
    paths = {label: _LABEL_PATHS.get(label, label) for label in row.rules.field_labels}
    return FieldLabels(paths | _OLD_LABELS.get((row.group, row.plural), {}), row.rules.field_label_refused)


def _part(part: facts.SubresourceFacts) -> Subresource:
    return Subresource(part.name, part.kind, part.group, part.version, part.verbs)


def served_by_default(row: facts.ResourceFacts) -> bool:
    return row.default


def kinds(types: TypeTable) -> frozenset[tuple[str, str]]:
    """(apiVersion, kind) of all kinds that the original knows, served or not, lists included."""
    folders = {one.package.rpartition("/")[0]: group.name for group in facts.groups() for one in group.versions}
    found: set[tuple[str, str]] = set()
    for package, kind in types.kinds():
        folder, _, version = package.rpartition("/")
        group = "" if package == META else folders.get(folder, folder.rpartition("/")[2])
        found.add((api_version(group, version), kind))
    return frozenset(found)
