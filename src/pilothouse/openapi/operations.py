"""Which operations a resource has: paths, ids, parameters and answers follow from its verbs.

The rules here are those by which the original names its operations; both document forms are written from the result.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from pilothouse.kit.record import record
from pilothouse.openapi.model import META, Body, GroupVersion, Part, Resource, Style
from pilothouse.openapi.parameters import Parameter, Table, name_of

METHODS: Final = ("get", "put", "post", "delete", "options", "head", "patch")
DELETE_OPTIONS: Final = META + "DeleteOptions"
PATCH: Final = META + "Patch"
STATUS: Final = META + "Status"
WATCH_EVENT: Final = META + "WatchEvent"
TEXT: Final = ""  # the definition of an answer that is plain text
_DEPRECATED_LIST: Final = " deprecated: use the 'watch' parameter with a list operation instead."
_DEPRECATED_ONE: Final = (
    " deprecated: use the 'watch' parameter with a list operation instead, "
    "filtered to a single item with the 'fieldSelector' parameter."
)
_VERBS: Final = {"get": "read", "update": "replace", "patch": "partially update", "create": "create"}
_ID_VERBS: Final = {"get": "read", "update": "replace", "patch": "patch", "create": "create"}
_VERB_METHODS: Final = {"get": "get", "update": "put", "patch": "patch", "create": "post"}
_CODES: Final = {"get": (200,), "update": (200, 201), "patch": (200, 201), "create": (200, 201, 202)}


@record
class Operation:
    """One operation. `answers`: (code, definition); `request`: definition of the body or "" for none.

    `accepts` and `produces` are media types, None where the Swagger document does not say. `action` and `body` are None
    for operations that are no resource's.
    """

    method: str
    id: str
    description: str
    answers: tuple[tuple[int, str], ...]
    tag: str = ""
    parameters: tuple[Parameter, ...] = ()
    accepts: tuple[str, ...] | None = None
    produces: tuple[str, ...] = ()
    request: str = ""
    action: str | None = None
    body: Body | None = None

    @property
    def request_required(self) -> bool:
        return self.request != DELETE_OPTIONS


@record
class Path:
    """A path with its operations in the original's order; parameters that all have stand at the path."""

    path: str
    operations: tuple[Operation, ...]

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """Those that every operation has, sorted."""
        shared = set.intersection(*({parameter.key for parameter in found.parameters} for found in self.operations))
        first = self.operations[0].parameters
        return tuple(sorted((parameter for parameter in first if parameter.key in shared), key=lambda found: found.key))

    def own(self, operation: Operation) -> tuple[Parameter, ...]:
        """The parameters that stand at the operation, sorted."""
        lifted = {parameter.key for parameter in self.parameters}
        found = (parameter for parameter in operation.parameters if parameter.key not in lifted)
        return tuple(sorted(found, key=lambda parameter: parameter.key))


def camel(group: str) -> str:
    """`rbac.authorization.k8s.io` -> `rbacAuthorization`, `` -> `core`."""
    if not group:
        return "core"
    first, *rest = group.removesuffix(".k8s.io").split(".")
    return first + "".join(title(word) for word in rest)


def title(word: str) -> str:
    return word[:1].upper() + word[1:]


def article(resource: Resource, kind: str) -> str:
    """`a Pod`, `an Event`, `Endpoints`: a kind that is called as its plural takes no article."""
    if resource.name == kind.lower():
        return kind
    return f"an {kind}" if kind[0] in "AEIOU" else f"a {kind}"


class Operations:
    """The paths of one group version."""

    def __init__(self, group_version: GroupVersion, table: Table, style: Style) -> None:
        self._version = group_version
        self._table = table
        self._style = style
        self._root = "/" + group_version.path
        self._tag = f"{camel(group_version.group)}_{group_version.version}"
        self._id = title(camel(group_version.group)) + title(group_version.version)
        self._streams = (*style.objects, *style.watch)

    def paths(self) -> list[Path]:
        """All paths, sorted, the resource list of the version included."""
        found: dict[str, dict[str, Operation]] = {}
        if self._style.lists_resources:
            found[f"{self._root}/"] = {"get": self._resources()}
        for resource in self._version.resources:
            for path, operation in self._of(resource):
                found.setdefault(path, {})[operation.method] = operation
        return [
            Path(path, tuple(operations[method] for method in METHODS if method in operations))
            for path, operations in sorted(found.items())
        ]

    def _resources(self) -> Operation:
        return Operation(
            method="get",
            id=f"get{self._id}APIResources",
            description="get available resources",
            tag=self._tag,
            parameters=(),
            accepts=self._style.objects,
            produces=self._style.objects,
            answers=((200, META + "APIResourceList"), (401, TEXT)),
        )

    def _of(self, resource: Resource) -> Iterator[tuple[str, Operation]]:
        collection = f"{self._root}/{resource.name}"
        if resource.namespaced:
            everywhere, collection = collection, f"{self._root}/namespaces/{{namespace}}/{resource.name}"
            if "list" in resource.verbs:
                yield everywhere, self._list(resource, everywhere=True)
                if resource.watch_paths:
                    yield self._watch_path(everywhere), self._watch_list(resource, everywhere=True)
        for operation in self._collection(resource):
            yield collection, operation
        for operation in self._item(resource):
            yield f"{collection}/{{name}}", operation
        if resource.watch_paths and "watch" in resource.verbs:
            yield self._watch_path(collection), self._watch_list(resource)
            yield self._watch_path(f"{collection}/{{name}}"), self._watch_one(resource)
        for part in resource.parts:
            yield from self._part(resource, part, f"{collection}/{{name}}/{part.name}")

    def _watch_path(self, path: str) -> str:
        return f"{self._root}/watch{path.removeprefix(self._root)}"

    def _of_resource(
        self,
        resource: Resource,
        operation: Operation,
        *,
        everywhere: bool = False,
        named: str = "",
        pretty: bool = True,
    ) -> Operation:
        """The operation with all that those of a resource have: the parameters of its path, media types, the tag, 401.

        `everywhere`: in all namespaces. `named`: kind of the one object that it is about.
        """
        shared = self._table.shared
        found = [*operation.parameters]
        if named:
            found.append(name_of(named))
        if resource.namespaced and not everywhere:
            found.append(shared["namespace"])
        if pretty:
            found.append(shared["pretty"])
        return replace(
            operation,
            tag=self._tag,
            parameters=tuple(found),
            accepts=operation.accepts or self._style.bodies,
            produces=operation.produces or self._style.objects,
            answers=(*operation.answers, (401, TEXT)),
            body=operation.body or resource.body,
        )

    @staticmethod
    def _scope(resource: Resource) -> str:
        return "Namespaced" if resource.namespaced else ""

    def _stream(
        self,
        resource: Resource,
        action: str,
        ident: tuple[str, str],
        description: str,
        answer: str,
        *,
        everywhere: bool = False,
        named: str = "",
    ) -> Operation:
        """A list or a watch: read with the options of a list, answered as a whole or as a stream.

        `ident`: what stands before and behind the name of the kind in the operation's id.
        """
        scope, end = ("", "ForAllNamespaces") if everywhere else (self._scope(resource), "")
        before, behind = ident
        operation = Operation(
            method="get",
            id=f"{before}{self._id}{scope}{resource.body.kind}{behind}{end}",
            description=description,
            action=action,
            answers=((200, answer),),
            parameters=self._table.set("list"),
            produces=self._streams,
        )
        return self._of_resource(resource, operation, everywhere=everywhere, named=named)

    def _list(self, resource: Resource, *, everywhere: bool = False) -> Operation:
        watched = "list or watch" if "watch" in resource.verbs and resource.watch_paths else "list"
        description = f"{watched} objects of kind {resource.body.kind}"
        return self._stream(
            resource, "list", ("list", ""), description, resource.list_definition, everywhere=everywhere
        )

    def _watch_list(self, resource: Resource, *, everywhere: bool = False) -> Operation:
        description = f"watch individual changes to a list of {resource.body.kind}.{_DEPRECATED_LIST}"
        return self._stream(resource, "watchlist", ("watch", "List"), description, WATCH_EVENT, everywhere=everywhere)

    def _watch_one(self, resource: Resource) -> Operation:
        kind = resource.body.kind
        description = f"watch changes to an object of kind {kind}.{_DEPRECATED_ONE}"
        return self._stream(resource, "watch", ("watch", ""), description, WATCH_EVENT, named=kind)

    def _collection(self, resource: Resource) -> Iterator[Operation]:
        if "list" in resource.verbs:
            yield self._list(resource)
        if "create" in resource.verbs:
            yield self._create(resource)
        if "deletecollection" in resource.verbs:
            yield self._delete_collection(resource)

    def _create(self, resource: Resource) -> Operation:
        kind, definition = resource.body.kind, resource.body.definition
        operation = Operation(
            method="post",
            id=f"create{self._id}{self._scope(resource)}{kind}",
            description=f"create {article(resource, kind)}",
            action="post",
            answers=tuple((code, definition) for code in _CODES["create"]),
            parameters=self._table.set("write"),
            request=definition,
        )
        return self._of_resource(resource, operation)

    def _delete_collection(self, resource: Resource) -> Operation:
        kind, options = resource.body.kind, self._style.deletes_with_options
        operation = Operation(
            method="delete",
            id=f"delete{self._id}Collection{self._scope(resource)}{kind}",
            description=f"delete collection of {kind}",
            action="deletecollection",
            answers=((200, STATUS),),
            parameters=self._table.set("deletecollection" if options else "list"),
            request=DELETE_OPTIONS if options else "",
        )
        return self._of_resource(resource, operation)

    def _item(self, resource: Resource) -> Iterator[Operation]:
        for verb in ("get", "update", "patch"):
            if verb in resource.verbs:
                yield self._verb(resource, verb, resource.body, f"{_VERBS[verb]} the specified {resource.body.kind}")
        if "delete" in resource.verbs:
            yield self._delete(resource)

    def _delete(self, resource: Resource) -> Operation:
        kind = resource.body.kind
        answer = resource.body.definition if resource.answers_deleted else STATUS
        operation = Operation(
            method="delete",
            id=f"delete{self._id}{self._scope(resource)}{kind}",
            description=f"delete {article(resource, kind)}",
            action="delete",
            answers=((200, answer), (202, answer)),
            parameters=self._table.set("delete"),
            request=DELETE_OPTIONS,
        )
        return self._of_resource(resource, operation, named=kind)

    def _verb(self, resource: Resource, verb: str, body: Body, description: str, part: Part | None = None) -> Operation:
        """Read, replace, patch or create one object or a part of it."""
        request, options = body.definition, self._table.set("write")
        if verb == "patch":
            request, options = PATCH, self._table.set("patch")
        elif verb == "get":
            request, options = "", self._table.set("read") if self._style.reads_at_revision else ()
        answer, produces = body.definition, self._style.objects
        if part is not None and verb == "get" and part.options:
            options = self._table.options[part.options]
        if part is not None and part.plain_text:
            answer, produces = TEXT, ("text/plain", *self._style.objects)
        end = title(part.name) if part else ""
        operation = Operation(
            method=_VERB_METHODS[verb],
            id=f"{_ID_VERBS[verb]}{self._id}{self._scope(resource)}{resource.body.kind}{end}",
            description=description,
            action=_VERB_METHODS[verb],
            answers=tuple((code, answer) for code in self._codes(verb)),
            body=body,
            parameters=options,
            request=request,
            accepts=self._style.patches if verb == "patch" else None,
            produces=produces,
        )
        return self._of_resource(resource, operation, named=body.kind)

    def _codes(self, verb: str) -> tuple[int, ...]:
        return (200,) if verb == "patch" and not self._style.creates_by_patch else _CODES[verb]

    def _part(self, resource: Resource, part: Part, path: str) -> Iterator[tuple[str, Operation]]:
        kind = resource.body.kind
        if part.connect:
            yield from self._connect(resource, part, path)
            return
        for verb in ("get", "update", "patch", "create"):
            if verb in part.verbs:
                whose = f"a {kind}" if verb == "create" else f"the specified {kind}"
                description = f"{_VERBS[verb]} {part.name} of {whose}"
                yield path, self._verb(resource, verb, part.body, description, part)

    def _connect(self, resource: Resource, part: Part, path: str) -> Iterator[tuple[str, Operation]]:
        kind = resource.body.kind
        places: list[tuple[str, str, tuple[Parameter, ...]]] = [(path, "", ())]
        if part.with_path:
            places.append((f"{path}/{{path}}", "WithPath", (self._table.shared["path"],)))
        for place, end, more in places:
            for method in part.connect:
                operation = Operation(
                    method=method,
                    id=f"connect{self._id}{title(method)}{self._scope(resource)}{kind}{title(part.name)}{end}",
                    description=f"connect {method.upper()} requests to {part.name} of {kind}",
                    action="connect",
                    answers=((200, TEXT),),
                    body=part.body,
                    parameters=(*self._table.options[part.options], *more),
                    produces=("*/*",),
                )
                yield place, self._of_resource(resource, operation, named=part.body.kind, pretty=False)
