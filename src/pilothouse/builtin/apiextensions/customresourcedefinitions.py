"""Custom resource definitions: the kinds that users add.

The definition's own fields are judged here. Whether defaults keep their schemas, and patterns and expressions compile,
is for those who run them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Any, Final

from pilothouse.builtin.apiextensions import versionparts
from pilothouse.builtin.apiextensions.conversionrules import conversion
from pilothouse.builtin.apiextensions.internalforms import Shared, rule_form, schema_form, shared, used, versions_form
from pilothouse.builtin.apiextensions.schemarules import schema_rules
from pilothouse.builtin.apiextensions.schemawarnings import warn
from pilothouse.builtin.apiextensions.structural import can_be_structural, structural_problems
from pilothouse.builtin.shared.fields import sent_empty
from pilothouse.builtin.types import META, builtin_types
from pilothouse.cel.definitionrules import definition_problems
from pilothouse.machinery import names
from pilothouse.machinery.decode import DecodeError, Findings, compile_decoder
from pilothouse.machinery.errors import Cause
from pilothouse.machinery.protectedgroups import (
    APPROVED,
    MISSING,
    NO_REASON,
    is_approval,
    is_protected,
    is_unapproved,
)
from pilothouse.machinery.rules import (
    Field,
    Rule,
    at,
    defaults,
    immutable,
    on_create,
    one_of,
    required,
    rules,
)
from pilothouse.machinery.rules.field import as_json, shown
from pilothouse.machinery.structural.defaults import default_problems, tidy_defaults
from pilothouse.machinery.structural.node import Node
from pilothouse.registry.behaviour import Behaviour, Context, Object, Part
from pilothouse.registry.metadata import validate_embedded

_VERSIONS: Final = "spec.versions"
_SCOPES: Final = ("Cluster", "Namespaced")
# With a status of its own, the root of a schema may say no more than this.
_BESIDE_STATUS: Final = (
    "Description", "Type", "Format", "Title", "Maximum", "ExclusiveMaximum", "Minimum", "ExclusiveMinimum", "MaxLength",
    "MinLength", "Pattern", "MaxItems", "MinItems", "UniqueItems", "MultipleOf", "Required", "Items", "Properties",
    "ExternalDocs", "Example", "XPreserveUnknownFields", "XValidations",
)  # fmt: skip

_BESIDE_STATUS_NAMES: Final = frozenset(_BESIDE_STATUS)


# -- defaults and what the server writes


def _fill_names(value: Object) -> None:
    kind = value.get("kind", "")
    if kind and not value.get("singular"):
        value["singular"] = kind.lower()
    if kind and not value.get("listKind"):
        value["listKind"] = f"{kind}List"


def _storage(crd: Object) -> str:
    """The first storage version."""
    versions = crd["spec"].get("versions") or ()
    return next((one.get("name", "") for one in versions if one.get("storage")), "")


def _fill_stored(crd: Object) -> None:
    status = crd.get("status")
    if status is not None and not status.get("storedVersions") and _storage(crd):
        status["storedVersions"] = [_storage(crd)]


_fill = defaults(
    {
        "spec.names": _fill_names,
        "spec.conversion": {"strategy": "None"},
        "spec.conversion.webhook.clientConfig.service.port": 443,
        "": _fill_stored,
    }
)


def _prepare(new: Object, old: Object | None, context: Context) -> None:
    storage = _storage(new)
    if old is None or new["spec"] != old["spec"]:
        metadata = compile_decoder(builtin_types().get(META, "ObjectMeta"))
        for version in new["spec"].get("versions") or ():
            tidy_defaults(_schema_of(version), metadata)
    if old is None:
        stored = [storage] if storage else None
        new["status"] = {"conditions": None, "acceptedNames": {"plural": "", "kind": ""}, "storedVersions": stored}
        return
    before = old["status"].get("storedVersions") or []
    if storage and storage not in before:
        new["status"] = {**old["status"], "storedVersions": [*before, storage]}


# -- names and groups


def _name(value: Object, field: Field) -> None:
    metadata, spec = value["metadata"], value["spec"]
    wanted = f"{spec['names'].get('plural', '')}.{spec.get('group', '')}"
    for member in ("generateName", "name"):
        if metadata.get(member) and metadata[member] != wanted:
            field.invalid(f"metadata.{member}", metadata[member], 'must be spec.names.plural+"."+spec.group')


def _group(value: str, field: Field) -> None:
    whys = names.subdomain(value)
    if whys:
        field.invalid("", value, ",".join(whys))
    elif "." not in value:
        field.invalid("", value, "should be a domain with at least one dot")


def _no_old_switch(value: bool, field: Field) -> None:
    if value:
        why = "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"
        field.invalid("", value, why)


def _label(name: str, text: str, field: Field, *, mixed: bool = False) -> None:
    whys = names.label_1035(text.lower() if mixed else text)
    if whys:
        head = "may have mixed case, but should otherwise match: " if mixed else ""
        field.invalid(name, text, head + ",".join(whys))


def _kind_names(must: bool) -> Rule:
    """Names of the kind; accepted names may be missing."""

    def run(value: Object, field: Field) -> None:
        for name, mixed in (("plural", False), ("singular", False), ("kind", True), ("listKind", True)):
            text = value.get(name, "")
            if text:
                _label(name, text, field, mixed=mixed)
            elif must:
                field.required(name)
        if value.get("kind") and value["kind"] == value.get("listKind"):
            field.invalid("listKind", value["listKind"], "kind and listKind may not be the same")
        for name in ("shortNames", "categories"):
            for index, text in field.doubtful(value.get(name) or (), names.are_labels_1035):
                _label(f"{name}[{index}]", text, field)

    return run


# -- versions


def _schema_of(version: Object) -> Object | None:
    found: Object | None = (version.get("schema") or {}).get("openAPIV3Schema")
    return found


def _has_status(version: Object) -> bool:
    return (version.get("subresources") or {}).get("status") is not None


def _schema(value: Object, field: Field, path: str, root_of_field: str, beside_status: bool) -> None:
    """A schema told at `path`, which is `root_of_field` from the root."""
    before = len(field.found)
    if beside_status and not _BESIDE_STATUS_NAMES.issuperset(used(value)):
        allowed = " ".join(_BESIDE_STATUS)
        why = f"only [{allowed}] fields are allowed at the root of the schema if the status subresource is enabled"
        field.invalid(path, schema_form(value), why)
    if value.get("nullable"):
        field.forbidden(f"{path}.nullable", "nullable cannot be true at the root")
    sound = can_be_structural(value) and _structural(value, field, root_of_field)
    field.within(path, schema_rules, value)
    wrong = [
        where[1:] if where[0] == "/" else root_of_field + where[len(path) :] for where, _, _ in field.found[before:]
    ]
    _expressions(value, field, root_of_field, wrong if sound else ("",))


def _structural(value: Object, field: Field, path: str) -> bool:
    """Whether the schema is structural and its defaults are as it wants them."""
    before = len(field.found)
    for where, reason, message in structural_problems(value, path):
        field.add(f"/{where}", reason, message)
    if len(field.found) == before:
        for cause in default_problems(Node(value, root=True), path, _judge_metadata):
            field.add(f"/{cause.field}", cause.reason, cause.message)
    return len(field.found) == before


def _expressions(value: Object, field: Field, path: str, wrong: Sequence[str]) -> None:
    """Rules are compiled where nothing is `wrong` with what they speak of (paths; "" is everything)."""

    ordered = sorted(wrong)

    def bad(place: str) -> bool:
        at = bisect_left(ordered, place)
        return "" in ordered[:1] or (at < len(ordered) and ordered[at].startswith(place))

    for cause in definition_problems(Node(value, root=True), path, bad, lambda rule: as_json(rule_form(rule))):
        field.add(f"/{cause.field}", cause.reason, cause.message)


def _judge_metadata(metadata: dict[str, Any], path: str) -> Sequence[Cause]:
    """What is wrong with metadata that a default makes; it may not even have the type."""
    try:
        typed = compile_decoder(builtin_types().get(META, "ObjectMeta"))(metadata, Findings())
    except DecodeError as error:
        return [Cause("FieldValueInvalid", f"Invalid value: {shown(metadata)}: {error}", path)]
    return validate_embedded(typed, path)


def _version(version: Object, index: int, top: Shared, field: Field) -> None:
    """The parts of one version that not all versions have in common."""
    if version.get("name") is not None:
        for why in names.label_1035(version.get("name", "")):
            field.invalid("name", version.get("name", ""), why)
    versionparts.deprecation(version, field)
    schema = _schema_of(version)
    if schema is not None and not top.schema:
        path = "schema.openAPIV3Schema"
        _schema(schema, field, path, f"spec.versions[{index}].{path}", _has_status(version))
    _parts(version, field, [not top.subresources, not top.columns, not top.fields])


def _parts(version: Object, field: Field, wanted: Sequence[bool]) -> None:
    found: tuple[tuple[str, Rule], ...] = (
        ("subresources", versionparts.subresources),
        ("additionalPrinterColumns", versionparts.columns),
        ("selectableFields", versionparts.selectable_fields(_schema_of(version))),
    )
    for (name, rule), told_here in zip(found, wanted, strict=True):
        if told_here and version.get(name) is not None:
            field.within(name, rule, version[name])


def _versions(value: Object, field: Field) -> None:
    versions: Sequence[Object] = value.get("versions") or ()
    top = shared(versions)
    for index, version in field.numbered(versions):
        if _schema_of(version) is None:
            field.required(f"versions[{index}].schema.openAPIV3Schema")
    for index, version in field.numbered(versions):
        before = len(field.found)
        _version(version, index, top, field)
        field.prefix(before, f"versions[{index}]")
    if field.full:
        return
    found = [version.get("name", "") for version in versions]
    if len(set(found)) < len(found):
        field.invalid("versions", versions_form(versions), "must contain unique version names")
    if sum(bool(version.get("storage")) for version in versions) != 1:
        why = "must have exactly one version marked as storage version"
        sent = [] if sent_empty(field, _VERSIONS) else value.get("versions")
        field.invalid("versions", versions_form(sent), why)
    if found:
        for why in names.label_1035(found[0]):
            field.invalid("version", found[0], why)


def _common_parts(value: Object, field: Field) -> None:
    """What all versions have in common is told once, at the top."""
    versions: Sequence[Object] = value.get("versions") or ()
    if not versions:
        return
    top, first = shared(versions), versions[0]
    schema = _schema_of(first)
    if schema is not None and top.schema:
        path = "validation.openAPIV3Schema"
        _schema(schema, field, path, f"spec.{path}", any(map(_has_status, versions)))
    _parts(first, field, [top.subresources, top.columns, top.fields])


def _if_spec_changed(rule: Rule) -> Rule:
    """What an older server let in stays while the versions do."""

    def run(value: Object, field: Field) -> None:
        if not field.updating or value.get("versions") != field.root_old["spec"].get("versions"):
            rule(value, field)

    return run


# -- approval, stored versions, what cannot change


def _approval(value: Object, field: Field) -> None:
    """Groups of the project itself need a word on who approved them."""
    group = value["spec"].get("group", "")
    if not is_protected(group):
        return
    annotation = (value["metadata"].get("annotations") or {}).get(APPROVED, "")
    if field.updating and annotation == (field.root_old["metadata"].get("annotations") or {}).get(APPROVED, ""):
        return
    path = f"metadata.annotations[{APPROVED}]"
    if not annotation:
        field.required(path, MISSING)
    elif not is_unapproved(annotation) and not is_approval(annotation):
        field.invalid(path, annotation, NO_REASON)


def _stored_versions(value: Object, field: Field) -> None:
    stored = value["status"].get("storedVersions")
    versions = value["spec"].get("versions") or ()
    if not stored:
        field.invalid("status.storedVersions", stored, "must have at least one stored version")
        return
    known = {one.get("name", "") for one in versions}
    for index, name in field.numbered(stored):
        if name not in known:
            why = (
                f"missing from spec.versions; {name} was previously a storage version, and must remain in "
                f"spec.versions until a storage migration ensures no data remains persisted in {name} and removes "
                f"{name} from status.storedVersions"
            )
            field.invalid(f"status.storedVersions[{index}]", name, why)
    storage = [one.get("name", "") for one in versions if one.get("storage")][-1:]
    if storage and storage[0] not in stored:
        field.invalid("status.storedVersions", stored, f"must have the storage version {storage[0]}")


def _established(value: Any, field: Field) -> bool:
    conditions = field.root_old["status"].get("conditions") or () if field.updating else ()
    return any(one.get("type") == "Established" and one.get("status") == "True" for one in conditions)


def _once_established(*parts: Rule) -> Rule:
    def run(value: Object, field: Field) -> None:
        if _established(value, field):
            for part in parts:
                part(value, field)

    return run


behaviour: Final = Behaviour(
    heeds_empty=(_VERSIONS,),
    defaults=_fill,
    prepare=_prepare,
    validate=rules(
        on_create(_name),
        at("spec.group", required, _group),
        at("spec.scope", required, one_of(*_SCOPES)),
        at("spec.preserveUnknownFields", _no_old_switch),
        at("spec", _if_spec_changed(_versions)),
        at("spec.names", _kind_names(must=True)),
        at("spec", _if_spec_changed(_common_parts)),
        at("spec.conversion", conversion),
        _approval,
        _stored_versions,
        _once_established(at("spec.scope", immutable), at("spec.names.kind", immutable)),
        at("spec.group", immutable),
        at("spec.names.plural", immutable),
    ),
    warn=warn,
    parts={"status": Part(validate=rules(at("status.acceptedNames", _kind_names(must=False))))},
)
