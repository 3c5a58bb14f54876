"""What every built-in resource is called and how it behaves, from `data/resources.json` and `data/groups.json`.

The tables are made by scripts/generate-resources out of measured answers of the original; usual values are left out of
them, and the defaults here say what is usual. Nothing in these facts is a decision of ours.
"""

from __future__ import annotations

import importlib.resources
from functools import cache
from typing import Any, Final

import orjson

from pilothouse.kit.record import record
from pilothouse.machinery.groupversion import api_version

USUAL_VERBS: Final = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")
PART_VERBS: Final = ("get", "patch", "update")

# How a name is checked (`StoreRules.name_rule`).
SUBDOMAIN: Final = "subdomain"  # at most 253 characters; generateName is checked as a prefix
DECLARED_SUBDOMAIN: Final = "declared-subdomain"  # the same, but "253 bytes", and generateName is not checked by itself
LABEL: Final = "label"  # at most 63 characters, no dots; generateName is checked as a prefix
PATH_SEGMENT: Final = "path-segment"  # anything but ".", "..", "/" and "%"; generateName is not checked
CRON_JOB: Final = "cron-job"  # a subdomain of at most 52 characters
DEFINITION: Final = "definition"  # a subdomain that is plural.group
API_SERVICE: Final = "api-service"  # a path segment that is version.group
ADDRESS: Final = "address"  # an IP address
EVENT: Final = "event"  # a subdomain, judged among the event's own rules
TRUST_BUNDLE: Final = "trust-bundle"  # a subdomain, with the signer's name and ":" before it if the bundle has a signer


@record
class GenerationRules:
    """When metadata.generation is set and raised.

    `raised_by`: of "spec" (all but metadata and status), "label", "annotation". `on_create`: 1, or 0 for none yet.
    `on_deletion_mark`: the mark of a graceful delete raises it too.
    """

    raised_by: tuple[str, ...]
    on_create: int
    on_deletion_mark: bool


@record
class StatusRules:
    """What /status and the main resource do with each other's part.

    `kept_on_create`, `kept_on_update`: a status sent to the main resource is kept (else dropped silently). `ignores`:
    parts of the metadata that /status leaves as they were. `unconditional`: PUT /status without resourceVersion is
    accepted. `creates_missing`: PUT /status of a missing name makes it (201).
    """

    kept_on_create: bool = False
    kept_on_update: bool = False
    ignores: frozenset[str] = frozenset()
    unconditional: bool = True
    creates_missing: bool = False


@record
class StoreRules:
    """How the original's store treats a resource.

    `measured`: False where the values are only the usual ones (versions that are off by default and have no v1).
    `create_on_update`: PUT of a missing name creates it. `unconditional_update`: PUT without resourceVersion is
    accepted. `delete_answers_object`: a plain delete that removes at once answers the object, else a Status.
    `orphan_by_default`: without a policy the dependents are orphaned. `gc_finalizers`: Orphan and Foreground add
    finalizers. `uuid_name`: an object without any name gets a UUID. `generation`: None where the resource has none (one
    that is sent on create is then kept). `field_labels`: selectable fields in the original's order.
    `field_label_refused`: text (400) for others, with `{label}`. `finalizers`: added on create. `ignored_on_update`:
    fields (of the measured example) whose change is dropped silently.
    """

    measured: bool = False
    create_on_update: bool = False
    unconditional_update: bool = True
    delete_answers_object: bool = False
    orphan_by_default: bool = False
    gc_finalizers: bool = True
    name_rule: str = SUBDOMAIN
    uuid_name: bool = False
    generation: GenerationRules | None = None
    status: StatusRules = StatusRules()
    field_labels: tuple[str, ...] = ("metadata.name", "metadata.namespace")
    field_label_refused: str = '"{label}" is not a known field selector: only "metadata.name", "metadata.namespace"'
    finalizers: tuple[str, ...] = ()
    ignored_on_update: tuple[str, ...] = ()


@record
class StoredAs:
    """Where and as what objects are kept: key `/registry/PREFIX/[NAMESPACE/]NAME`, apiVersion of the stored bytes
    (protobuf unless `json`).

    `also_read`: further apiVersions that are decoded when found in the store.
    """

    prefix: str
    api_version: str
    json: bool = False
    also_read: tuple[str, ...] = ()


@record
class SubresourceFacts:
    """One subresource; `group`, `version`, `kind` are those of its body.

    `package` and `type_name` are for `builtin_types().get`.
    """

    name: str
    group: str
    version: str
    kind: str
    package: str
    verbs: tuple[str, ...]

    @property
    def type_name(self) -> str:
        return self.kind


@record
class ResourceFacts:
    """One resource in one version. `stored` is None for what is never kept (reviews, bindings, component statuses).

    `default`: served unless switched off; else its version must be switched on and, where `gate` is not empty, that
    feature gate too.
    """

    group: str
    version: str
    plural: str
    singular: str
    kind: str
    namespaced: bool
    package: str
    verbs: tuple[str, ...]
    short_names: tuple[str, ...]
    categories: tuple[str, ...]
    subresources: tuple[SubresourceFacts, ...]
    storage_version_hash: str
    stored: StoredAs | None
    rules: StoreRules
    default: bool
    gate: str

    @property
    def type_name(self) -> str:
        return self.kind

    @property
    def list_kind(self) -> str:
        return self.kind + "List"

    @property
    def api_version(self) -> str:
        return api_version(self.group, self.version)


@record
class VersionFacts:
    """One version of a group; `package` is the Go package of its types.

    `priority` is the APIService's versionPriority (0: has none).
    """

    version: str
    package: str
    priority: int
    default: bool


@record
class GroupFacts:
    """A group with its versions, the preferred one first. `priority` is the APIServices' groupPriorityMinimum (0: has
    none).

    apiregistration.k8s.io has no APIService: the aggregator serves it, before all others.
    """

    name: str
    priority: int
    versions: tuple[VersionFacts, ...]


def _table(name: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = orjson.loads(
        (importlib.resources.files("pilothouse.builtin") / "data" / name).read_bytes()
    )
    return rows


def _generation(row: dict[str, Any] | None) -> GenerationRules | None:
    return GenerationRules(tuple(row["raisedBy"]), row["onCreate"], row["onDeletionMark"]) if row else None


def _status(row: dict[str, Any]) -> StatusRules:
    return StatusRules(
        kept_on_create=row.get("keptOnCreate", False),
        kept_on_update=row.get("keptOnUpdate", False),
        ignores=frozenset(row.get("ignores", ())),
        unconditional=not row.get("conditional", False),
        creates_missing=row.get("createsMissing", False),
    )


_USUAL: Final = StoreRules()


def _rules(row: dict[str, Any] | None) -> StoreRules:
    if row is None:
        return _USUAL
    always = _USUAL.field_labels[:1] if row.get("noNamespaceLabel") else _USUAL.field_labels
    return StoreRules(
        measured=True,
        create_on_update=row.get("createOnUpdate", False),
        unconditional_update=not row.get("conditionalUpdate", False),
        delete_answers_object=row.get("deleteAnswersObject", False),
        orphan_by_default=row.get("orphanByDefault", False),
        gc_finalizers=not row.get("noGCFinalizers", False),
        name_rule=row.get("nameRule", SUBDOMAIN),
        uuid_name=row.get("uuidName", False),
        generation=_generation(row.get("generation")),
        status=_status(row.get("status", {})),
        field_labels=(*always, *row.get("fieldLabels", ())),
        field_label_refused=row.get("fieldLabelRefused", _USUAL.field_label_refused),
        finalizers=tuple(row.get("finalizers", ())),
        ignored_on_update=tuple(row.get("ignoredOnUpdate", ())),
    )


def _stored(row: dict[str, Any] | None) -> StoredAs | None:
    if row is None:
        return None
    return StoredAs(row["prefix"], row["apiVersion"], row.get("json", False), tuple(row.get("alsoRead", ())))


def _subresource(row: dict[str, Any], parent: dict[str, Any], packages: dict[tuple[str, str], str]) -> SubresourceFacts:
    group, version = row.get("group", parent["group"]), row.get("version", parent["version"])
    return SubresourceFacts(
        name=row["name"],
        group=group,
        version=version,
        kind=row.get("kind", parent["kind"]),
        package=packages[group, version],
        verbs=tuple(row.get("verbs", PART_VERBS)),
    )


def _resource(row: dict[str, Any], packages: dict[tuple[str, str], str]) -> ResourceFacts:
    return ResourceFacts(
        group=row["group"],
        version=row["version"],
        plural=row["plural"],
        singular=row.get("singular") or row["kind"].lower(),
        kind=row["kind"],
        namespaced=not row.get("cluster", False),
        package=packages[row["group"], row["version"]],
        verbs=tuple(row.get("verbs", USUAL_VERBS)),
        short_names=tuple(row.get("shortNames", ())),
        categories=tuple(row.get("categories", ())),
        subresources=tuple(_subresource(part, row, packages) for part in row.get("subresources", ())),
        storage_version_hash=row.get("hash", ""),
        stored=_stored(row.get("stored")),
        rules=_rules(row.get("rules")),
        default=not row.get("off", False),
        gate=row.get("gate", ""),
    )


@cache
def groups() -> tuple[GroupFacts, ...]:
    """All groups in the order of /apis, the core group (name "") first."""
    return tuple(
        GroupFacts(
            name=row["name"],
            priority=row.get("priority", 0),
            versions=tuple(
                VersionFacts(
                    version["version"], version["package"], version.get("priority", 0), not version.get("off", False)
                )
                for version in row["versions"]
            ),
        )
        for row in _table("groups.json")
    )


@cache
def deprecations() -> dict[tuple[str, str], str]:
    """(apiVersion, resource) -> what its users are warned of."""
    text = (importlib.resources.files("pilothouse.builtin") / "data" / "deprecations.tsv").read_text()
    rows = [line.split("\t") for line in text.splitlines()[1:]]
    return {(api_version, resource): warning for api_version, resource, warning in rows}


@cache
def load() -> tuple[ResourceFacts, ...]:
    """All resources in all versions, by group, version and plural; read once (about 2 ms)."""
    packages = {(group.name, version.version): version.package for group in groups() for version in group.versions}
    return tuple(_resource(row, packages) for row in _table("resources.json"))
