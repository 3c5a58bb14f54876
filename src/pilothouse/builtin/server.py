"""The middle delegate: all built-in kinds, each with its store, its endpoints and its place in discovery."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import datetime
from functools import cache, partial

from pilothouse.admission.chain import Chain
from pilothouse.auth.identity import Identity
from pilothouse.builtin import facts, table
from pilothouse.builtin.binaryforms import ProtobufForms
from pilothouse.builtin.columns import columns_for, plain_columns
from pilothouse.builtin.core.connect.kubelets import Outgoing
from pilothouse.builtin.grace import grace_of
from pilothouse.builtin.namerules import AS_GIVEN
from pilothouse.builtin.oddparts import OTHER_VERSIONS, PartContext, connecter, odd_storage
from pilothouse.builtin.resource.adminaccess import guard_admin_access
from pilothouse.builtin.resource.statusrights import guard_status
from pilothouse.builtin.types import META, TypeTable
from pilothouse.builtin.virtuals import VirtualContext, kept, owner, virtual_resource, virtual_storage
from pilothouse.endpoints.body import BodyDecoder, Reading, Target
from pilothouse.endpoints.forms import Forms
from pilothouse.endpoints.installer import Entry, Router, connect_entry, odd_part_entry, store_entry, store_part_entry
from pilothouse.endpoints.render import Renderer
from pilothouse.endpoints.scope import Scope, ServerOptions
from pilothouse.endpoints.table import Columns
from pilothouse.kit.ids import UuidSource
from pilothouse.kit.record import record
from pilothouse.machinery.names import generate_name
from pilothouse.registry.deleter import Deleter
from pilothouse.registry.ownership import Ownership
from pilothouse.registry.resource import Resource, Subresource
from pilothouse.registry.store import GenericStore, Services
from pilothouse.storage.api import Storage

_APART = frozenset({"apiextensions.k8s.io", "apiregistration.k8s.io"})
_SCALES = ("autoscaling", "scales")
OpenStorage = Callable[[str], Storage]  # prefix -> storage


@record
class Needs:
    """What the built-in server takes from outside."""

    types: TypeTable
    open_storage: OpenStorage
    options: ServerOptions
    renderer: Renderer
    now: Callable[[], datetime]
    outgoing: Outgoing
    served: table.Served = table.served_by_default


class BuiltinServer:
    """Stores and routes of the built-in kinds. `admission` is set once the stores are there, as plug-ins read them."""

    def __init__(self, needs: Needs, router: Router) -> None:
        self._needs = needs
        self._router = router
        self.stores: dict[tuple[str, str], GenericStore] = {}
        self.chain = Chain(())
        self.rows = tuple(row for row in facts.load() if needs.served(row))
        self._new_uid = UuidSource()
        self._kinds = cache(partial(table.kinds, needs.types))  # only ever asked for when something is wrong
        self._resources = table.resources(needs.types, needs.served)

    def _reading(self, group: str) -> Reading:
        options, served = self._needs.types.get(META, "DeleteOptions"), self._needs.options
        return Reading(partial(self._knows, group), options, served.max_body, served.aside, served.offered)

    def _knows(self, group: str, api_version: str, kind: str) -> bool:
        """Whether the original's server of that group knows a kind: of its three, two have one group each."""
        asked = api_version.rpartition("/")[0]
        if group in _APART:
            near = asked == group or (not asked and (META, kind) in self._needs.types.kinds())
        else:
            near = asked not in _APART
        return near and (api_version, kind) in self._kinds()

    def install(self, make_chain: Callable[[dict[tuple[str, str], GenericStore]], Chain], identity: Identity) -> None:
        """Make every store and route. `make_chain` builds the admission chain over the stores."""
        chain = self.chain = make_chain(self.stores)
        self._parts_context = PartContext(self.stores, self._needs.now, identity, self._new_uid, self._needs.outgoing)
        for resource in self._resources:
            services = self._services(resource, chain)
            store = GenericStore(resource, self._needs.open_storage(resource.prefix), services)
            self.stores[resource.group, resource.plural] = store
        guard_admin_access(self.stores)
        guard_status(self.stores, identity.authorizer)
        for resource in self._resources:
            for version, served in resource.versions.items():
                if served.served:
                    self._install_version(self.stores[resource.group, resource.plural], version)
        for row in self.rows:
            if row.stored is None:
                self._install_virtual(row, chain)

    def _services(self, resource: Resource, chain: Chain) -> Services:
        make_name: Callable[[str], str] = partial(generate_name, choose=random.choice)
        if (resource.group, resource.plural) in AS_GIVEN:
            make_name = str
        options, bound = self._needs.options, chain.bound(resource)
        return Services(self._needs.now, self._new_uid, make_name, bound, options.aside, options.metrics.comparisons)

    def _install_version(self, store: GenericStore, version: str) -> None:
        resource = store.resource
        forms = self._forms(store)
        deleter = Deleter(store, grace_of(resource.group, resource.plural))
        scope = self._scope(store, version, "", forms, deleter, resource.versions[version].kind)
        self._router.add((resource.group, version, resource.plural, ""), store_entry(scope, resource.verbs))
        for part in self._parts(resource, version):
            entry = self._part_entry(store, version, part, forms, deleter)
            if entry is not None:
                self._router.add((resource.group, version, resource.plural, part.name), entry)

    def _parts(self, resource: Resource, version: str) -> tuple[Subresource, ...]:
        for row in self.rows:
            if (row.group, row.plural, row.version) == (resource.group, resource.plural, version):
                return tuple(Subresource(p.name, p.kind, p.group, p.version, p.verbs) for p in row.subresources)
        return ()

    def _part_entry(
        self, store: GenericStore, version: str, part: Subresource, forms: Forms, deleter: Deleter
    ) -> Entry | None:
        resource = store.resource
        through = connecter(resource, part, self._parts_context)
        if through is not None:
            return connect_entry(self._scope(store, version, part.name, forms, deleter, resource.kind), through)
        storage = odd_storage(resource, version, part, self._parts_context)
        if storage is not None:
            of_part = self._forms(store, _SCALES) if part.name == "scale" else forms
            scope = self._odd_scope(store, version, part, of_part, deleter)
            return odd_part_entry(scope, storage)
        if part.kind != resource.kind:
            return None
        scope = self._scope(store, version, part.name, forms, deleter, part.kind)
        return store_part_entry(scope, frozenset(part.verbs))

    def _forms(self, store: GenericStore, shown: tuple[str, str] | None = None) -> Forms:
        """`shown`: group and plural whose columns Tables have; None for the resource's own."""
        resource = store.resource
        group, plural = shown or (resource.group, resource.plural)
        return Forms(
            resource,
            store.codec,
            partial(_columns, group, plural),
            self._needs.renderer,
            ProtobufForms(resource, store.codec, self._needs.types, self._needs.options.aside),
            lambda: self._needs.now().timestamp(),
            self._needs.options.aside,
        )

    def _scope(
        self, store: GenericStore, version: str, subresource: str, forms: Forms, deleter: Deleter, kind: str
    ) -> Scope:
        resource = store.resource
        served = resource.versions[version]
        target = Target(resource.group, version, kind, served.schema, f"{resource.go_package}.{resource.kind}")
        body = self._body(resource, target, store)
        owner = Ownership(resource, version, subresource)
        return Scope(resource, version, subresource, store, deleter, forms, body, owner, self._needs.options)

    def _odd_scope(self, store: GenericStore, version: str, part: Subresource, forms: Forms, deleter: Deleter) -> Scope:
        """A subresource whose body is of another kind."""
        package = next(
            s.package for row in self.rows for s in row.subresources if (s.kind, s.version) == (part.kind, part.version)
        )
        schema = self._needs.types.get(package, part.kind)
        go_package = table.go_package(part.group)
        also = OTHER_VERSIONS.get(part.kind, frozenset())
        target = Target(part.group, part.version, part.kind, schema, f"{go_package}.{part.kind}", also)
        body = self._body(store.resource, target, None)
        owner = Ownership(store.resource, version, part.name)
        return Scope(store.resource, version, part.name, store, deleter, forms, body, owner, self._needs.options)

    def _body(self, resource: Resource, target: Target, store: GenericStore | None) -> BodyDecoder:
        own = (lambda: store.behaviour) if store is not None else resource.behaviour
        return BodyDecoder(resource, target, own, self._reading(resource.group), typed=store is not None)

    def _install_virtual(self, row: facts.ResourceFacts, chain: Chain) -> None:
        """Resources that keep nothing: reviews and bindings."""
        needs = self._needs
        resource = virtual_resource(row, needs.types)
        services = self._services(resource, chain)
        own, identity = owner(resource, row.version), self._parts_context.identity
        context = VirtualContext(self.stores, needs.now, identity, own, needs.options.aside)
        store = GenericStore(resource, kept(row, context, resource), services)
        forms = self._forms(store)
        deleter = Deleter(store, grace_of(resource.group, resource.plural))
        scope = self._scope(store, row.version, "", forms, deleter, row.kind)
        storage = virtual_storage(row, context)
        entry = store_entry(scope, resource.verbs) if storage is None else odd_part_entry(scope, storage, named=False)
        self._router.add((row.group, row.version, row.plural, ""), entry)


def _columns(group: str, plural: str) -> Columns:
    return columns_for(group, plural) or plain_columns()
