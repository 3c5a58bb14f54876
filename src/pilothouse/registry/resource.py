"""`Resource`: all that the generic store and the endpoints need to know of a kind, as frozen data.

Built-in kinds are made from the table of facts (`builtin/table.py`), custom ones from their definition. Nothing in
the rooms
below names a kind: they ask the resource.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from operator import eq
from typing import Any

from pilothouse.kit.record import record
from pilothouse.machinery.jsoncodec import identical
from pilothouse.machinery.schema import Schema, free_form
from pilothouse.registry.behaviour import Behaviour

NameRule = Callable[[str, bool], list[str]]  # (name, is a prefix) -> what is wrong with it
Object = dict[str, Any]


@record
class ServedVersion:
    """One version in which a resource is read and written."""

    version: str
    kind: str
    schema: Schema
    api_version: str  # "apps/v1"
    deprecated: str = ""  # told to everyone who uses this version
    served: bool = True  # the hub of a group that stores its objects in another group's form is not


@record
class Generation:
    """When metadata.generation rises beside a change of anything but metadata and status."""

    on_labels: bool = False
    on_annotations: bool = False
    on_change: bool = True
    initial: int = 1  # 0: none until the first change
    on_deletion: bool = True


@record
class StatusRule:
    """How status and the rest of an object are kept apart."""

    dropped_on_create: bool = True
    dropped_on_update: bool = True
    subresource: bool = True
    keeps: frozenset[str] = (
        frozenset()
    )  # metadata that a write to /status takes: labels, annotations, finalizers, ownerReferences
    unconditional: bool = True
    creates: bool = False  # PUT of a missing object makes it


@record
class DeleteRule:
    """What DELETE answers and leaves behind."""

    answers_object: bool = False
    orphans: bool = False  # without a policy, dependents are orphaned
    finalizers: bool = True  # propagation policies leave a finalizer
    grace_seconds: bool = True  # the mark carries deletionGracePeriodSeconds
    cleanup_finalizer: str = ""  # what a definition gets instead
    graceful: bool = False  # the kind has a grace period: what is removed at once is shown with its marks
    marks_first: bool = False  # the first DELETE only ever marks
    held_by: tuple[str, ...] = ()  # path of a list of its own that holds a marked object, beside metadata.finalizers
    marked_status: tuple[tuple[str, str], ...] = ()  # what a mark sets in the status
    marked_condition: tuple[str, str, str] | None = None  # type, reason, message of a condition that a mark makes true
    warning: str = ""  # told to who deletes without a propagation policy


@record
class FieldLabels:
    """Field selectors: label -> path in the object (several with "|": the first that says something); what others are
    answered, with `{label}`.
    """

    paths: Mapping[str, str]
    refused: str


@record
class Subresource:
    """One subresource as discovery shows it."""

    name: str
    kind: str
    group: str = ""  # of the kind, where it is another than the resource's
    version: str = ""
    verbs: tuple[str, ...] = ()


@record
class Convert:
    """Between the hub version and others, in place or anew; lossless both ways."""

    to_hub: Callable[[Object, str], Object]
    from_hub: Callable[[Object, str], Object]


@record
class Resource:
    """`hub` is the version in which the store works and keeps objects; `versions` are by name, the preferred first."""

    group: str
    plural: str
    singular: str
    kind: str
    list_kind: str
    namespaced: bool
    hub: str
    versions: Mapping[str, ServedVersion]
    prefix: str
    verbs: frozenset[str]
    name_rule: NameRule
    behaviour: Callable[[], Behaviour]
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    create_on_update: bool = False
    unconditional_update: bool = True
    generation: Generation | None = None
    status: StatusRule | None = None
    delete: DeleteRule = field(default_factory=DeleteRule)
    field_labels: FieldLabels = field(default_factory=lambda: FieldLabels({}, ""))
    subresources: tuple[Subresource, ...] = ()
    not_owned: tuple[str, ...] = ()  # top-level fields that a create never owns
    storage_hash: str = ""
    go_package: str = ""  # last word of the internal package, for the texts that show a Go type
    ttl: float | None = None  # seconds an object lives, events only
    convert: Convert | None = None
    uuid_name: bool = False  # a missing name becomes a UUID
    typed: bool = True  # items of lists carry no kind of their own (built-in kinds)

    @property
    def schema(self) -> Schema:
        return self.versions[self.hub].schema

    @property
    def same(self) -> Callable[[Any, Any], bool]:
        """Equality of objects: where any JSON may stand, Python's holds true and 1 for equal."""
        return identical if free_form(self.schema) else eq

    @property
    def hub_api_version(self) -> str:
        return self.api_version(self.hub)

    @property
    def hub_group(self) -> str:
        """The group that refusals name: events.k8s.io shows events of the core group."""
        return self.hub_api_version.rpartition("/")[0]

    def api_version(self, version: str) -> str:
        return self.versions[version].api_version

    def key(self, namespace: str, name: str) -> str:
        return f"{self.prefix}{namespace}/{name}" if self.namespaced else f"{self.prefix}{name}"

    def folder(self, namespace: str) -> str:
        """The prefix of a list: of one namespace, or of all."""
        return f"{self.prefix}{namespace}/" if self.namespaced and namespace else self.prefix
