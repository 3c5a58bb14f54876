"""Who owns which fields of an object: metadata.managedFields as create, update and apply leave it.

One `Tracker` an endpoint (a resource in one version, or a subresource of it). The store calls one method a verb, with
the objects as JSON in that version, and stores what comes back. Nothing is changed in place; unchanged parts are
shared.

A custom resource may need a webhook to convert an object into the version of another manager's entry, so the rules
are written as generators that ask for conversions (`steps.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import field
from operator import eq
from typing import Any, Final

from pilothouse.kit.record import record
from pilothouse.machinery.errors import APIError, bad_request, bare_internal
from pilothouse.machinery.schema import Schema, free_form
from pilothouse.machinery.typed import applied, compare, created, merge, problems, prune
from pilothouse.machinery.typed.create import without_skipped
from pilothouse.machinery.typed.fieldset import LEAF, SELF, Node, intersect, is_member, of_paths, subtract, union
from pilothouse.machinery.typed.prune import collapsed, with_named, without
from pilothouse.machinery.typed.same import same
from pilothouse.machinery.typed.validate import joined
from pilothouse.registry.managed import entries as e
from pilothouse.registry.managed import lastapplied
from pilothouse.registry.managed import scale as scales
from pilothouse.registry.managed.conflicts import ConflictError, Conflicts
from pilothouse.registry.managed.entries import APPLY, UPDATE, Entry
from pilothouse.registry.managed.objects import managed_fields, with_entries
from pilothouse.registry.managed.steps import Convert, Steps, run, too_deep

Object = dict[str, Any]
Changes = tuple[Node, Node]  # gained, lost

BEFORE_FIRST_APPLY: Final = "before-first-apply"

# What the server itself writes is never owned.
_SERVER_OWNED: Final = of_paths(
    ("f:apiVersion",),
    ("f:kind",),
    ("f:metadata",),
    *(("f:metadata", f"f:{name}") for name in (
        "name", "namespace", "creationTimestamp", "selfLink", "uid", "clusterName", "generation", "managedFields",
        "resourceVersion",
    )),
)  # fmt: skip


def _with_all_below(skip: Node, reset: Node) -> Node:
    """`skip` with the members of `reset`, each of which stands for all that is below it."""
    out = dict(skip)
    for element, child in reset.items():
        if element != SELF:
            out[element] = LEAF if is_member(child) else _with_all_below(out.get(element, LEAF), child)
    return out


@record
class Applied:
    """What comes of applying a configuration: the object without owners, and who tells its entries.

    That takes as long as all else, and may wait until the object is known to be good. `owners` is given the
    configuration, which must not have changed.
    """

    obj: Object
    owners: Callable[[Object], list[Object]]


def _no_conversion(obj: Object, api_version: str) -> Object:
    raise LookupError(api_version)


@record
class Tracker:
    """The rules for one endpoint.

    `schema`, `api_version`: of the objects it is given. `kind`: for messages. `subresource`: "" for the main resource.
    `reset`: by apiVersion, the fields that the endpoint does not write (status of the main resource), as a set whose
    members stand for all below them. `schemas`: of all versions that are served; entries of other versions are
    dropped. `convert`: into another served version. `custom`: a custom resource, which has no zero value.
    """

    schema: Schema
    api_version: str
    kind: str
    subresource: str = ""
    reset: Mapping[str, Node] = field(default_factory=dict)
    schemas: Mapping[str, Schema] = field(default_factory=dict)
    convert: Callable[[Object, str], Object] = _no_conversion
    custom: bool = False
    _created: Callable[[Object], Node] = field(init=False, repr=False)
    _skip: dict[str, Node] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        skip = {version: _with_all_below(_SERVER_OWNED, reset) for version, reset in self.reset.items()}
        object.__setattr__(self, "_skip", skip)
        own = created(self.schema, self.custom, skip.get(self.api_version, _SERVER_OWNED))
        object.__setattr__(self, "_created", own)

    # ------------------------------------------------------------------ what the store calls

    def create(self, obj: Object, manager: str, now: str) -> Object:
        """`obj` with its creator as the owner of all in it. Entries that were sent are dropped."""
        try:
            fields = self._created(obj)
        except RecursionError:
            raise too_deep() from None
        if not fields:
            return with_entries(obj, [])
        return with_entries(obj, [self._entry(manager, UPDATE, now, fields).render()])

    def update(self, live: Object, new: Object, manager: str, now: str, *, forget: bool = False) -> Object:
        """`new` with its entries, when `manager` replaces `live` by it (PUT, and patches that are no apply).

        `forget`: what was sent had `[]` or `[{}]` as managedFields (see `resets`), which a decoder may have dropped.
        """
        return run(self.update_steps(live, new, manager, now, forget=forget), self.convert)

    def apply(self, live: Object | None, config: Object, manager: str, now: str, *, force: bool = False) -> Object:
        """The object that comes of applying `config` to `live` (None: there is none yet), with its entries; not yet
        defaulted.

        Raises `ConflictError` (409), and APIErrors: 400 for managedFields in `config`, 500 when it does not fit the
        type.
        """
        found = self.apply_late(live, config, manager, now, force=force)
        return with_entries(found.obj, found.owners(config))

    def apply_late(
        self, live: Object | None, config: Object, manager: str, now: str, *, force: bool = False
    ) -> Applied:
        """As `apply`, for who asks for the entries later."""
        return run(self.apply_steps(live, config, manager, now, force=force), self.convert)

    def scale(self, live: Object, new: Object, manager: str, paths: scales.Paths) -> Object:
        """`new` with its entries, when `manager` has written its number of replicas through /scale.

        `paths`: by apiVersion, the field names down to that number. The tracker is the parent's.
        """
        changed = scales.value_at(live, paths, self.api_version) != scales.value_at(new, paths, self.api_version)
        written = scales.updated(self._stored(live), self.api_version, paths, manager, changed)
        return with_entries(new, written)

    def scale_apply(
        self, live: Object, replicas: int | None, manager: str, paths: scales.Paths, *, force: bool = False
    ) -> Object:
        """`live` with the number that a Scale was applied with (None: without one). Raises ConflictError."""
        known = self._stored(live)
        before = scales.value_at(live, paths, self.api_version)
        if not known and before is not None:
            known = [scales.before_first_apply(self.api_version, paths, BEFORE_FIRST_APPLY)]
        changed = replicas != before
        owns = replicas is not None
        written = scales.applied(known, self.api_version, paths, manager, owns=owns, changed=changed, force=force)
        gone = not owns and scales.owned(known, paths) and not scales.owned(e.read(written, trusted=True), paths)
        new = (
            scales.with_value_at(live, paths.get(self.api_version, ("spec", "replicas")), replicas)
            if owns or gone
            else live
        )
        return with_entries(new, written)

    def unconvertible(self, applied: Object, why: str) -> APIError:
        """500: what came of an apply does not decode, for the reason `why` (see `machinery.patch.restore`)."""
        named = self._named(applied)
        what = named.partition("; ")[2]
        return bare_internal(
            f"failed to convert new object ({named}) to proper version: unable to convert unstructured object to "
            f"{what}: {why}"
        )

    # ------------------------------------------------------------------ update

    def update_steps(self, live: Object, new: Object, manager: str, now: str, *, forget: bool = False) -> Steps[Object]:
        known = [] if forget and not self.subresource else self._entries_of(live, new)
        if not known:
            return with_entries(new, [])
        changes = self._changes(self.schema, self.api_version, live, new)
        left = yield from self._taken(known, live, new, changes, None)
        if changes[0]:
            left = e.joined(left, self._entry(manager, UPDATE, now, changes[0]))
        return with_entries(new, e.write(e.capped(left)))

    def _entries_of(self, live: Object, new: Object) -> list[Entry]:
        """The entries to start from: those sent where they are good, else those of the live object."""
        stored = managed_fields(live)
        sent = managed_fields(new)
        if not self.subresource and sent is not None and sent is not stored and sent != stored:
            if e.is_reset(sent):
                return []
            try:
                found = e.read(sent, trusted=False)
            except (ValueError, AttributeError):
                found = []
            if found:
                return found
        return self._stored(live)

    def _stored(self, live: Object) -> list[Entry]:
        """The entries of a live object; none when they cannot be read."""
        try:
            found = e.read(managed_fields(live), trusted=True)
        except ValueError:
            return []
        if not self.custom:
            return found
        return [entry.owning(collapsed(self.schemas.get(entry.api_version), entry.fields)) for entry in found]

    def _changes(
        self, schema: Schema, api_version: str, live: Object, new: Object, losers: Iterable[Entry] | None = None
    ) -> Changes:
        """What differs; only as far as it matters to `losers`, if they are given."""
        within = tuple(entry.fields for entry in losers if entry.api_version == api_version) if losers else None
        gained, lost = compare(schema, live, new, within)
        return self._ownable(gained, api_version), self._ownable(lost, api_version)

    def _ownable(self, node: Node, api_version: str) -> Node:
        """The fields that a writer of this endpoint can own."""
        return without_skipped(node, self._skip.get(api_version, _SERVER_OWNED)) if node else node

    def _taken(
        self, known: list[Entry], live: Object, new: Object, changes: Changes, conflicts: Conflicts | None
    ) -> Generator[Convert, Object, list[Entry]]:
        """The entries without what changed and what is gone. What they lose to a change is added to `conflicts`."""
        by_version: dict[str, Changes] = {self.api_version: changes}
        left = []
        for entry in known:
            found = by_version.get(entry.api_version)
            if found is None:
                schema = self.schemas.get(entry.api_version)
                if schema is None:
                    continue  # a version that is no longer served owns nothing
                found = ({}, {})
                if changes[0] or changes[1] or self._differ(live, new):
                    before = yield (live, entry.api_version)
                    after = yield (new, entry.api_version)
                    found = self._changes(schema, entry.api_version, before, after, known)
                by_version[entry.api_version] = found
            gained, lost = found
            fields = subtract(entry.fields, gained) if gained else entry.fields
            if conflicts is not None and fields is not entry.fields:
                conflicts.append((entry, intersect(entry.fields, gained)))
            left.append(entry.owning(subtract(fields, lost) if lost else fields))
        return left

    def _differ(self, one: Object, other: Object) -> bool:
        return one is not other and not (same if free_form(self.schema) else eq)(one, other)

    # ------------------------------------------------------------------ apply

    def apply_steps(
        self, live: Object | None, config: Object, manager: str, now: str, *, force: bool = False
    ) -> Steps[Applied]:
        check_applied(self.schema, config, self.api_version, self.kind)
        before: Object = live if live is not None else {}
        known = self._known_before_apply(live, now)
        result = yield from self._apply(before, config, manager, now, known, force)
        if manager == lastapplied.KUBECTL:
            return Applied(lastapplied.renewed(result.obj, config), result.owners)
        return result

    def _named(self, obj: Object) -> str:
        return _named(obj, self.api_version, self.kind)

    def _known_before_apply(self, live: Object | None, now: str) -> list[Entry]:
        if live is None:
            return []
        known = self._stored(live)
        if known:
            return known
        fields = self._created(live)
        return [self._entry(BEFORE_FIRST_APPLY, UPDATE, now, fields)] if fields else []

    def _apply(
        self, live: Object, config: Object, manager: str, now: str, known: list[Entry], force: bool
    ) -> Steps[Applied]:
        mine = self._entry(manager, APPLY, "", {})
        last = next((entry for entry in known if entry.key == mine.key), None)
        others = [entry for entry in known if entry is not last]
        merged = merge(self.schema, live, config)
        sent: Node | None = None
        if last is not None and last.fields:
            sent = applied(self.schema)(config)
            if self._prunes(last, others, self._ownable(sent, self.api_version)):
                # What the server owns is nobody's, but the name in the configuration keeps the metadata around it.
                merged = yield from self._pruned(merged, last, [*others, mine.owning(sent)])
        conflicts: Conflicts = []
        left: list[Entry] = []
        if others:
            changes = self._changes(self.schema, self.api_version, live, merged, others)
            left = yield from self._taken(others, live, merged, changes, conflicts)
        if conflicts and not force:
            self._refuse(conflicts, live, manager)
        changed = self._differ(merged, live)
        time = now if changed else last.time if last is not None else ""

        def owners(config: Object) -> list[Object]:
            try:
                fields = self._ownable(applied(self.schema)(config) if sent is None else sent, self.api_version)
            except RecursionError:
                raise too_deep() from None
            now_mine = self._entry(manager, APPLY, time, fields)
            if last is not None and not changed and last.api_version == self.api_version and last.fields == fields:
                now_mine = last
            return e.write([*left, now_mine])

        return Applied(with_entries(merged, []), owners)

    def _refuse(self, conflicts: Conflicts, live: Object, manager: str) -> None:
        """Raises ConflictError, but kubectl may change what it applied by other means before."""
        if manager == lastapplied.KUBECTL:
            agreed = lastapplied.agreed(self.schema, live, self.api_version)
            conflicts = [(entry, left) for entry, fields in conflicts if (left := subtract(fields, agreed))]
        if conflicts:
            raise ConflictError(conflicts)

    def _prunes(self, last: Entry, others: list[Entry], fields: Node) -> bool:
        """Whether there may be something to take out: the applier dropped fields, or other versions must be asked."""
        return any(entry.api_version != self.api_version for entry in (last, *others)) or bool(
            subtract(last.fields, fields)
        )

    def _pruned(self, merged: Object, last: Entry, owners: list[Entry]) -> Steps[Object]:
        if all(entry.api_version == self.api_version for entry in (last, *owners)):
            kept: Node = {}
            for entry in owners:
                kept = union(kept, entry.fields)
            left: Object = prune(self.schema, merged, last.fields, kept)
            return left
        try:
            result = yield from self._pruned_across_versions(merged, last, owners)
        except ValueError as wrong:
            raise bare_internal(f"failed to prune fields: {wrong}") from None
        return result

    def _pruned_across_versions(self, merged: Object, last: Entry, owners: list[Entry]) -> Steps[Object]:
        """As `prune`, in steps: each version's owners keep what they own as that version sees it."""
        if last.api_version not in self.schemas and last.api_version != self.api_version:
            return merged
        schema = self._schema(last.api_version)
        converted = yield from self._typed(
            merged, last.api_version, "failed to convert merged object to last applied version"
        )
        pruned = without(schema, converted, with_named(schema, last.fields)) or {}
        owned: dict[str, Node] = {last.api_version: {}}
        for entry in owners:
            owned[entry.api_version] = union(owned.get(entry.api_version, {}), entry.fields)
        for version, fields in owned.items():
            if version != self.api_version and version not in self.schemas:
                continue
            at = "failed add back owned items: failed to convert {} object at version " + version
            whole = yield from self._typed(converted, version, at.format("merged"))
            part = yield from self._typed(pruned, version, at.format("pruned"))
            kept = union(self._set(version, part), with_named(self._schema(version), fields))
            part = without(self._schema(version), whole, subtract(self._set(version, whole), kept)) or {}
            pruned = yield from self._typed(part, last.api_version, at.format("pruned"))
        named_last = with_named(schema, last.fields)
        gone = subtract(self._set(last.api_version, converted), self._set(last.api_version, pruned))
        result = without(schema, converted, intersect(gone, named_last)) or {}
        return (yield from self._typed(result, self.api_version, "failed to convert pruned object"))

    def _schema(self, api_version: str) -> Schema:
        return self.schema if api_version == self.api_version else self.schemas[api_version]

    def _set(self, api_version: str, obj: Object) -> Node:
        schema = self._schema(api_version)
        return with_named(schema, applied(schema)(obj))

    def _typed(self, obj: Object, api_version: str, doing: str) -> Steps[Object]:
        if obj.get("apiVersion", self.api_version) == api_version:
            return obj
        converted = yield (obj, api_version)
        found = problems(self._schema(api_version), converted, duplicates=True)
        if found:
            raise ValueError(f"{doing}: {joined(found)}")
        return converted

    # ------------------------------------------------------------------ entries

    def _entry(self, manager: str, operation: str, time: str, fields: Node) -> Entry:
        return Entry(manager or "unknown", operation, self.api_version, self.subresource, time, fields)


def check_applied(schema: Schema, config: Object, api_version: str, kind: str) -> None:
    """Raises what an applied configuration is refused with that claims owners or does not fit its type."""
    metadata = config.get("metadata")
    if isinstance(metadata, dict) and metadata.get("managedFields") is not None:
        raise bad_request("metadata.managedFields must be nil")
    found = problems(schema, config)
    if found:
        named = _named(config, api_version, kind)
        raise bare_internal(f"failed to create typed patch object ({named}): {joined(found)}")


def _named(obj: Object, api_version: str, kind: str) -> str:
    """`namespace/name; group/version, Kind=kind` of an object, as messages show it."""
    metadata = obj.get("metadata")
    known = metadata if isinstance(metadata, dict) else {}
    namespace, name = (value if isinstance(value, str) else "" for value in map(known.get, ("namespace", "name")))
    group_version = api_version if "/" in api_version else f"/{api_version}"
    return f"{namespace}/{name}; {group_version}, Kind={kind}"
