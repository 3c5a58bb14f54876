"""The generic store: how every kind is created, read, changed and watched (docs/architecture.md, "A write, step by
step").

It asks the resource's data and behaviour at fixed points and knows no kind. A write is a transform that runs again on
every
conflict; what it answers is the object as stored, whose bytes serve every reader.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import field
from datetime import datetime

from pilothouse.kit.aside import Aside, effort
from pilothouse.kit.keylock import KeyLock
from pilothouse.kit.record import record
from pilothouse.machinery import jsonpieces
from pilothouse.machinery.errors import (
    APIError,
    already_exists,
    bare_internal,
    conflict,
    generate_name_conflict,
    invalid,
    modified,
)
from pilothouse.registry import metadata as meta
from pilothouse.registry.behaviour import Behaviour, Part
from pilothouse.registry.claims import Claims, Pending
from pilothouse.registry.codec import ObjectCodec
from pilothouse.registry.deletion import finished
from pilothouse.registry.managed.objects import differs_in_times, with_times_of
from pilothouse.registry.metrics import ComparisonMetrics
from pilothouse.registry.request import Admission, Causes, Write
from pilothouse.registry.resource import Object, Resource
from pilothouse.registry.translate import missing, translate
from pilothouse.storage import errors as stored_errors
from pilothouse.storage.api import Read, Storage, StoredObject

NAME_TRIES = 8
CONFLICT_TRIES = 5
_OUTSIDE_SPEC = frozenset({"status", "binding"})  # subresources whose writes do not count as changes of the spec
Produce = Callable[[Object | None], Awaitable[Object]]
"""(current object or None) -> the new one, in the hub version; the current one is the producer's to keep or change."""


@record
class Services:
    """What the store takes from outside: clock, randomness, admission, and where big objects are worked on."""

    now: Callable[[], datetime]
    new_uid: Callable[[], str]
    generate_name: Callable[[str], str]
    admission: Admission
    aside: Aside = field(default_factory=Aside)
    comparisons: ComparisonMetrics = field(default_factory=ComparisonMetrics)


class _LastFinalizerGone(Exception):
    """Raised out of a transform: the update leaves nothing that holds a marked object, so it is to be removed."""

    def __init__(self, answer: StoredObject) -> None:
        self.answer = answer


@record
class _Rules:
    """How an update runs: see `GenericStore.update`."""

    unconditional: bool
    leaves: bool
    owners: meta.NewOwners | None


class GenericStore:
    """One resource in the store. Raises only APIErrors.

    `claims`: what objects of the kind hold outside of themselves; set where the rooms are put together.
    """

    def __init__(self, resource: Resource, storage: Storage, services: Services) -> None:
        self.resource = resource
        self.storage = storage
        self.codec = ObjectCodec(resource)
        self.services = services
        self.claims: Claims | None = None
        self._behaviour: Behaviour | None = None
        self._turns = KeyLock()
        self._aside = services.aside.run

    @property
    def behaviour(self) -> Behaviour:
        if self._behaviour is None:
            self._behaviour = self.resource.behaviour()
        return self._behaviour

    # Reading

    async def get(self, namespace: str, name: str, read: Read = Read.LATEST, revision: int = 0) -> StoredObject:
        try:
            return await self.storage.get(self.resource.key(namespace, name), read, revision)
        except stored_errors.StorageError as error:
            raise translate(error, self.resource, name) from error

    # Writing

    async def _fold_owners(self, obj: Object, write: Write) -> None:
        if (obj.get("metadata") or {}).get("ownerReferences"):
            repeated = await self._aside(write.load.size, meta.fold_owners, obj)
            if repeated:
                write.warn(meta.OWNERS_WARNING + repeated)

    def _weight(self, write: Write) -> int:
        """How much work it is to validate, in bytes of usual JSON."""
        size, effort_of = write.load.size, self.behaviour.effort
        return size if effort_of is None else max(size, effort_of(size))

    async def create(self, obj: Object, write: Write, owners: meta.Owners | None = None) -> StoredObject:
        """`obj` is in the hub version, decoded, defaulted and owned; it becomes the store's, who may empty it.

        `owners`: who owns its fields is not known yet, but shall be asked if the object is good.
        """
        admission = self.services.admission
        generated = not (obj.get("metadata") or {}).get("name") and bool(
            (obj.get("metadata") or {}).get("generateName")
        )
        await self._fold_owners(obj, write)
        await admission.mutate("CREATE", obj, None, write)
        for attempt in range(NAME_TRIES):
            if generated and attempt:
                obj["metadata"].pop("name", None)
            try:
                return await self._create_once(obj, write, owners, again=generated)
            except stored_errors.Exists as error:
                if not generated:
                    raise await self._exists(write, error.key.rpartition("/")[2]) from error
        raise generate_name_conflict(self.resource.group, self.resource.plural, obj["metadata"]["name"])

    async def _exists(self, write: Write, name: str) -> APIError:
        """409; an object on its way out says so."""
        failure = already_exists(self.resource.group, self.resource.plural, name)
        try:
            there = await self.storage.get(self.resource.key(write.namespace, name))
        except stored_errors.StorageError:
            return failure
        if "deletionTimestamp" in self.codec.decode(there)["metadata"]:
            failure.message = f"object is being deleted: {failure.message}"
        return failure

    async def _create_once(self, obj: Object, write: Write, owners: meta.Owners | None, *, again: bool) -> StoredObject:
        """`again`: the object is needed again where the name is taken."""
        pending = Pending(self.claims)
        versioned = meta.names_version(obj) and not write.dry_run
        try:
            await self._aside(write.load.size, self._shape_create, obj, write)
            await pending.take(obj, None, write)
            await self._aside(self._weight(write), self._check_create, obj, write)
            if owners is not None:
                await self._aside(write.load.size, meta.own, obj, owners)
            await self.services.admission.validate("CREATE", obj, None, write)
            if versioned:
                raise bare_internal("resourceVersion should not be set on objects to be created")
        except APIError:
            await pending.settle(False)
            raise
        try:
            stored = await self._write_new(obj, write, keep=again or self.claims is not None)
        except (stored_errors.Exists, APIError) as error:
            if isinstance(error, stored_errors.Exists) or error.code < 500:  # else nobody knows whether it is written
                await pending.settle(False)
            raise
        await pending.settle(True)
        return stored

    async def _write_new(self, obj: Object, write: Write, *, keep: bool) -> StoredObject:
        resource = self.resource
        name = obj["metadata"]["name"]
        key = resource.key(write.namespace, name)
        value = await self._aside(write.load.size, self.codec.encode, obj)
        if not keep:
            obj.clear()  # so those who come while this one waits for the disk have memory that is still in the caches
        try:
            if write.dry_run:
                await self._must_be_absent(key, name)
                return StoredObject(key, value, 0)
            try:
                return await self.storage.create(key, value, resource.ttl)
            except stored_errors.ValueTooLarge:
                return await self.storage.create(key, await self._disowned(value), resource.ttl)
        except stored_errors.Exists:
            raise
        except stored_errors.StorageError as error:
            raise translate(error, resource, name) from error

    async def _disowned(self, value: bytes) -> bytes:
        """An object's bytes without its managedFields."""

        def encoded() -> bytes:
            obj: Object = jsonpieces.loads(value)
            obj["metadata"].pop("managedFields", None)
            return self.codec.encode(obj)

        return await self._aside(len(value), encoded)

    async def _must_be_absent(self, key: str, name: str) -> None:
        try:
            await self.storage.get(key)
        except stored_errors.NotFound:
            return
        raise already_exists(self.resource.group, self.resource.plural, name)

    def prepare_create(self, obj: Object, write: Write) -> None:
        """Identity, reset fields, validation. Raises Invalid."""
        self._shape_create(obj, write)
        self._check_create(obj, write)

    def _shape_create(self, obj: Object, write: Write) -> None:
        resource, behaviour = self.resource, self.behaviour
        meta.prepare_create(resource, obj, write, self.services.new_uid, self.services.generate_name)
        if resource.status is not None and resource.status.dropped_on_create and "status" in obj:
            obj["status"] = {}
        if behaviour.prepare is not None:
            behaviour.prepare(obj, None, write.context())

    def _check_create(self, obj: Object, write: Write) -> None:
        resource, behaviour = self.resource, self.behaviour
        causes = meta.validate_create(resource, obj)
        if behaviour.validate is not None:
            causes += behaviour.validate(obj, None, write.context())
        if causes:
            raise invalid(resource.hub_group, resource.kind, obj["metadata"].get("name", ""), causes)
        write.load.put_in_order(obj)
        if behaviour.warn is not None:
            for text in behaviour.warn(obj, None):
                write.warn(text)

    async def update(
        self,
        name: str,
        produce: Produce,
        write: Write,
        *,
        create: bool = False,
        unconditional: bool | None = None,
        applies: bool = False,
        leaves: bool = False,
        owners: meta.NewOwners | None = None,
    ) -> tuple[StoredObject, bool]:
        """Change (or, with `create`, make) an object; the object as stored and whether it is new.

        `produce` makes the new object of the current one, and runs again on a conflict. `unconditional` False demands
        a resourceVersion from the new object; None is as the resource says. What is too large for the store is written
        without managedFields, unless the write `applies` a configuration. `leaves`: `produce` leaves the current object
        as it is, and may share its parts; then it is read but once, and parts that are the same are soon compared.
        `owners` are asked for those of the new object if it is good.
        """
        resource = self.resource
        key = resource.key(write.namespace, name)
        created = False
        free = resource.unconditional_update if unconditional is None else unconditional
        pending = Pending(self.claims)
        alone = await self._alone(key, write, create)
        rules = _Rules(free, leaves and alone, owners)

        async def transform(current: StoredObject | None) -> bytes:
            nonlocal created
            created = current is None
            if current is None:
                if not create:
                    raise missing(resource, name)
                return await self._created_by_update(name, produce, write, rules, pending)
            return await self._changed(current, name, produce, write, rules, pending)

        try:
            for _ in range(CONFLICT_TRIES):
                try:
                    if write.dry_run:
                        return await self._dry_update(key, transform), created
                    stored = await self._store(key, transform, applies)
                    await pending.settle(True)
                    return stored, created
                except _LastFinalizerGone as gone:
                    if write.dry_run or await self._remove_finished(key, gone.answer, pending):
                        return gone.answer, False
        except APIError:
            await pending.settle(False)
            raise
        except stored_errors.StorageError as error:
            if isinstance(error, stored_errors.Conflict | stored_errors.NotFound):  # else it may be written
                await pending.settle(False)
            raise translate(error, resource, name) from error
        finally:
            if alone:
                self._turns.leave(key)
        await pending.settle(False)
        raise modified(resource.group, resource.plural, name)

    async def _alone(self, key: str, write: Write, create: bool) -> bool:
        """Whether writes of one object take turns: who is asked elsewhere takes his time, and may write it himself."""
        elsewhere = self.services.admission.asks_elsewhere
        alone = not elsewhere("UPDATE", write) and not (create and elsewhere("CREATE", write))
        if alone:
            await self._turns.enter(key)
        return alone

    async def _store(
        self, key: str, transform: Callable[[StoredObject | None], Awaitable[bytes]], applies: bool
    ) -> StoredObject:
        ttl = self.resource.ttl
        try:
            return await self.storage.update(key, transform, ttl=ttl)
        except stored_errors.ValueTooLarge:
            if applies:
                raise

        async def lean(current: StoredObject | None) -> bytes:
            return await self._disowned(await transform(current))

        return await self.storage.update(key, lean, ttl=ttl)

    async def _dry_update(self, key: str, transform: Callable[[StoredObject | None], Awaitable[bytes]]) -> StoredObject:
        current: StoredObject | None
        try:
            current = await self.storage.get(key)
        except stored_errors.NotFound:
            current = None
        return StoredObject(key, await transform(current), current.revision if current else 0)

    async def _created_by_update(
        self, name: str, produce: Produce, write: Write, rules: _Rules, pending: Pending
    ) -> bytes:
        obj = await produce(None)
        uid = (obj.get("metadata") or {}).get("uid")
        if uid:
            why = (
                f"StorageError: invalid object, Code: 4, Key: {self.resource.key(write.namespace, name)}, "
                f"ResourceVersion: 0, "
                f"AdditionalErrorMsg: Precondition failed: UID in precondition: {uid}, UID in object meta: "
            )
            raise conflict(self.resource.group, self.resource.plural, name, why)
        obj.setdefault("metadata", {}).pop("resourceVersion", None)
        await self._fold_owners(obj, write)
        await self.services.admission.mutate("CREATE", obj, None, write)
        await self._aside(write.load.size, self._shape_create, obj, write)
        await pending.take(obj, None, write)
        await self._aside(self._weight(write), self._check_create, obj, write)
        if rules.owners is not None:
            await self._aside(write.load.size, meta.own_again, obj, None, rules.owners)
        await self.services.admission.validate("CREATE", obj, None, write)
        return await self._aside(write.load.size, self.codec.encode, obj)

    async def _changed(
        self, current: StoredObject, name: str, produce: Produce, write: Write, rules: _Rules, pending: Pending
    ) -> bytes:
        """The new bytes of an existing object; the current ones where nothing changed."""
        write.load.at_least(effort(current.value))

        async def decode() -> Object:
            return await self._aside(write.load.size, self.codec.decode, current)

        old = await decode()
        shared = {**old, "metadata": {**old["metadata"]}} if rules.leaves else await decode()
        obj = await self._made(shared, old, name, produce, write, rules, pending)
        if rules.leaves and not await self._aside(write.load.size, self._is_still, old, current):
            old = await decode()  # what the patch left alone was changed later, so nothing may be shared
            obj = await self._made(await decode(), old, name, produce, write, rules, pending)
        await self._aside(self._weight(write), self._check_update, obj, old, write)
        if rules.owners is not None:
            await self._aside(write.load.size, meta.own_again, obj, current, rules.owners)
        await self.services.admission.validate("UPDATE", obj, old, write)
        old["metadata"].pop("resourceVersion", None)
        value = await self._aside(write.load.size, self._written, obj, old)
        if value is None:
            return current.value
        if finished(self.resource, obj) and value != current.value:
            raise _LastFinalizerGone(StoredObject(current.key, value, current.revision))
        return value

    async def _made(
        self, current: Object, old: Object, name: str, produce: Produce, write: Write, rules: _Rules, pending: Pending
    ) -> Object:
        """The new object with all that is still changed in it, not yet looked at by those who may refuse it."""
        obj = await produce(current)
        await self._fold_owners(obj, write)
        await self.services.admission.mutate("UPDATE", obj, old, write)
        obj.setdefault("metadata", {})
        meta.check_version(self.resource, name, obj, old, unconditional=rules.unconditional)
        await self._aside(write.load.size, self._shape_update, obj, old, write)
        await pending.take(obj, old, write)
        return obj

    def _is_still(self, obj: Object, stored: StoredObject) -> bool:
        """Whether what was read of the store says the same as it did then."""
        metadata = obj["metadata"]
        revision = metadata.get("resourceVersion")
        same = self.codec.encode(obj) == stored.value
        metadata["resourceVersion"] = revision
        return same

    def _settled(self, old: Object, obj: Object) -> Object:
        """`obj`, or with the times of owners of `old` where nothing else differs."""
        metrics = self.services.comparisons
        began = metrics.clock()
        if not differs_in_times(old, obj):
            metrics.fast(metrics.clock() - began)
            return obj
        found = with_times_of(old, obj, self.resource.same)
        (metrics.slow if found is obj else metrics.equal)(metrics.clock() - began)
        return found

    def _written(self, obj: Object, old: Object) -> bytes | None:
        """The bytes to store; None where nothing changed."""
        same = self.resource.same
        obj = self._settled(old, obj)
        return None if same(obj, old) else self.codec.encode(obj)  # in whatever order its members are

    def prepare_update(self, obj: Object, old: Object, write: Write) -> None:
        """Metadata rules, reset fields, generation, validation. Raises Invalid."""
        self._shape_update(obj, old, write)
        self._check_update(obj, old, write)

    def _shape_update(self, obj: Object, old: Object, write: Write) -> None:
        resource, behaviour = self.resource, self.behaviour
        meta.prepare_update(resource, obj, old, write)
        context = write.context()
        part = behaviour.parts.get(write.subresource) if write.subresource else None
        if write.subresource:
            self._keep_outside_part(obj, old, write.subresource, part)
            if part is not None and part.prepare is not None:
                part.prepare(obj, old, context)
        else:
            if resource.status is not None and resource.status.dropped_on_update:
                _copy_member(obj, old, "status")
            if behaviour.prepare is not None:
                behaviour.prepare(obj, old, context)
        if write.subresource not in _OUTSIDE_SPEC:
            meta.raise_generation(resource, obj, old, behaviour.generation, write.load.floats)
        obj["metadata"] = meta.ordered(obj["metadata"])

    def _check_update(self, obj: Object, old: Object, write: Write) -> None:
        behaviour = self.behaviour
        part = behaviour.parts.get(write.subresource) if write.subresource else None
        causes = meta.validate_update(self.resource, obj, old)
        if causes and not self.resource.typed:
            causes = causes * 2  # as the original tells them
        validate = behaviour.validate if not write.subresource else part.validate if part is not None else None
        if validate is not None:
            causes += validate(obj, old, write.context())
        self._refuse(causes, obj)
        warn = behaviour.warn if not write.subresource else part.warn if part is not None else None
        if warn is not None:
            for text in warn(obj, old):
                write.warn(text)

    def _refuse(self, causes: Causes, obj: Object) -> None:
        if causes:
            raise invalid(self.resource.hub_group, self.resource.kind, obj["metadata"].get("name", ""), causes)

    def _keep_outside_part(self, obj: Object, old: Object, subresource: str, part: Part | None) -> None:
        """A write to /status keeps everything but status, and the metadata that the table of facts lets through."""
        if subresource != "status" or self.resource.status is None:
            return
        for member in (obj.keys() | old.keys()) - {"metadata", "status", "kind", "apiVersion"}:
            _copy_member(obj, old, member)
        metadata, before = obj["metadata"], old["metadata"]
        for member in ("labels", "annotations", "finalizers", "ownerReferences"):
            if member not in self.resource.status.keeps:
                _copy_member(metadata, before, member)

    async def _remove_finished(self, key: str, answer: StoredObject, pending: Pending) -> bool:
        """Remove what nothing holds any more; False where another writer came first."""

        async def unchanged(current: StoredObject) -> None:
            if current.revision != answer.revision:
                raise stored_errors.Conflict(key)

        try:
            await self.storage.delete(key, unchanged)
        except stored_errors.Conflict:
            return False
        if self.claims is not None:
            await pending.removed(self.codec.decode(answer))
        return True


def _copy_member(target: Object, source: Object, member: str) -> None:
    if member in source:
        target[member] = source[member]
    else:
        target.pop(member, None)
