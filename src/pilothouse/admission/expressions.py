"""What expressions of webhooks and policies may speak of: the objects, the request, the authorizer; of policies also
the parameters, the namespace and their variables (Kubernetes documentation, "Validating Admission Policy").
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, Final, TypeVar

from pilothouse.admission.certificates import Authorize
from pilothouse.auth.attributes import Attributes as Asked
from pilothouse.auth.attributes import Decision as Decided
from pilothouse.cel import types
from pilothouse.cel.declarations import overload
from pilothouse.cel.environment import LIBRARIES, Environment, NotCompiled, Program
from pilothouse.cel.library.authorizing import Authorizer, Decision, Question, ResourceCheck
from pilothouse.cel.types import Member, Type
from pilothouse.kit.memo import remembered
from pilothouse.machinery.selectors import (
    FieldSelector,
    LabelSelector,
    SelectorError,
    read_field_selector,
    read_label_selector,
)
from pilothouse.registry.request import Caller

T = TypeVar("T")
AUTHORIZER: Final = "authorizer"
REQUEST_RESOURCE: Final = "authorizer.requestResource"
VARIABLES: Final = "variables"
PARAMS: Final = "params"
NAMESPACE: Final = "namespaceObject"


class Declared:
    """Fields of an object type by a table. Variables are added while they are compiled, one after the other."""

    def __init__(self, fields: Mapping[str, Type]) -> None:
        self._fields = {name: Member(name, kind) for name, kind in fields.items()}

    def field(self, name: str) -> Member | None:
        return self._fields.get(name)

    def add(self, name: str, kind: Type) -> None:
        self._fields[name] = Member(name, kind)


def _object(title: str, /, **fields: Type) -> Type:
    return Type("object", title, fields=Declared(fields))


_TEXT: Final = types.STRING
_GVK: Final = _object("kubernetes.GroupVersionKind", group=_TEXT, version=_TEXT, kind=_TEXT)
_GVR: Final = _object("kubernetes.GroupVersionResource", group=_TEXT, version=_TEXT, resource=_TEXT)
_USER: Final = _object(
    "kubernetes.UserInfo",
    username=_TEXT,
    uid=_TEXT,
    groups=types.list_of(_TEXT),
    extra=types.map_of(_TEXT, types.list_of(_TEXT)),
)
_REQUEST: Final = _object(
    "kubernetes.AdmissionRequest",
    kind=_GVK,
    resource=_GVR,
    subResource=_TEXT,
    requestKind=_GVK,
    requestResource=_GVR,
    requestSubResource=_TEXT,
    name=_TEXT,
    namespace=_TEXT,
    operation=_TEXT,
    userInfo=_USER,
    dryRun=types.BOOL,
    options=types.DYN,
)
_META: Final = _object(
    "kubernetes.NamespaceMetadata",
    name=_TEXT,
    generateName=_TEXT,
    namespace=_TEXT,
    labels=types.map_of(_TEXT, _TEXT),
    annotations=types.map_of(_TEXT, _TEXT),
    UID=_TEXT,
    creationTimestamp=types.TIMESTAMP,
    deletionGracePeriodSeconds=types.INT,
    deletionTimestamp=types.TIMESTAMP,
    generation=types.INT,
    resourceVersion=_TEXT,
    finalizers=types.list_of(_TEXT),
)
_NAMESPACE: Final = _object(
    "kubernetes.Namespace",
    metadata=_META,
    spec=_object("kubernetes.NamespaceSpec", finalizers=types.list_of(_TEXT)),
    status=_object("kubernetes.NamespaceStatus", phase=_TEXT),
)
_BASE: Final[Mapping[str, Type]] = {
    "object": types.DYN,
    "oldObject": types.DYN,
    NAMESPACE: _NAMESPACE,
    "request": _REQUEST,
}
_ASKING: Final[Mapping[str, Type]] = {
    AUTHORIZER: types.opaque(Authorizer.type_name),
    REQUEST_RESOURCE: types.opaque(ResourceCheck.type_name),
}


@cache
def base() -> Environment:
    """What match conditions of webhooks may speak of. Made at the first use: libraries are compiled with it."""
    return Environment({**_BASE, **_ASKING}, bindings=True)


class _Anything:
    """Fields of an object that may hold anything."""

    def field(self, name: str) -> Member | None:
        return Member(name, types.DYN)


OBJECT: Final = Type("object", "Object", fields=_Anything())
JSON_PATCH: Final = Type(
    "object", "JSONPatch", fields=Declared({"op": _TEXT, "path": _TEXT, "from": _TEXT, "value": types.DYN})
)
_PATCHING: Final = (
    overload("jsonpatch.escapeKey", "(string) -> string", lambda key: key.replace("~", "~0").replace("/", "~1")),
)


class _Made(Mapping[str, Type]):
    """The types of what mutations make: JSONPatch, and Object with all that is below it (`Object.spec`)."""

    def __init__(self) -> None:
        self._known: dict[str, Type] = {"JSONPatch": JSON_PATCH, "Object": OBJECT}

    def __getitem__(self, name: str) -> Type:
        if name not in self._known and name.startswith("Object."):
            return Type("object", name, fields=_Anything())
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)


@cache
def _mutating() -> Environment:
    return Environment({}, (*LIBRARIES, _PATCHING), _Made(), bindings=True)


def environment(
    *, params: bool = False, asking: bool = True, variables: Declared | None = None, mutating: bool = False
) -> Environment:
    """`params`: the policy has parameters. `asking`: the authorizer may be asked. `variables`: those of the policy.
    `mutating`: expressions may make patches and objects.
    """
    named = dict(_BASE)
    if asking:
        named |= _ASKING
    if params:
        named[PARAMS] = types.DYN
    if variables is not None:
        named[VARIABLES] = Type("object", "kubernetes.variables", fields=variables)
    return (_mutating() if mutating else base()).with_variables(named)


@remembered(256)
def problem(text: str, within: Environment, *wanted: Type) -> str:
    """What is wrong with an expression, as clients are told; "" for nothing. `wanted`: what it may evaluate to.

    No variable may be declared in the environment from now on: what was told of a text is told again.
    """
    try:
        program = within.compile(text)
    except NotCompiled as error:
        return f"compilation failed: {error}"
    if not wanted or program.type in wanted:
        return ""
    if len(wanted) == 1:
        return f"must evaluate to {wanted[0]} but got {program.type}"
    return f"must evaluate to one of [{' '.join(map(_named, wanted))}] but got {program.type}"


def _named(kind: Type) -> str:
    return "null_type" if kind == types.NULL else str(kind)


def compiled(text: str, within: Environment) -> Program | str:
    """The program, or why there is none."""
    try:
        return within.compile(text)
    except NotCompiled as error:
        return f"compilation failed: {error}"


def asking(authorize: Authorize, caller: Caller, request: Mapping[str, Any]) -> dict[str, Any]:
    """The values of the authorizer's variables for one request."""

    def ask(question: Question) -> Decision:
        return _decision(authorize, caller, question)

    resource = request["requestResource"]
    whole = Question(
        group=resource["group"],
        resource=resource["resource"],
        subresource=request.get("requestSubResource", ""),
        namespace=request.get("namespace", ""),
        name=request.get("name", ""),
    )
    return {AUTHORIZER: Authorizer(ask), REQUEST_RESOURCE: ResourceCheck(ask, whole)}


def _decision(authorize: Authorize, caller: Caller, question: Question) -> Decision:
    if question.service_account:
        namespace, name = question.service_account
        caller = account(namespace, name)
    asked = Asked(
        caller,
        question.verb,
        not question.path,
        question.path,
        question.group,
        "*",
        question.namespace,
        question.resource,
        question.subresource,
        question.name,
        _fields(question.field_selector),
        _labels(question.label_selector),
    )
    decision, reason = authorize(asked)
    return Decision(decision is Decided.ALLOW, reason)


def account(namespace: str, name: str) -> Caller:
    """A service account as authorizers know it."""
    groups = ("system:serviceaccounts", f"system:serviceaccounts:{namespace}", "system:authenticated")
    return Caller(f"system:serviceaccount:{namespace}:{name}", "", groups)


def _fields(text: str) -> FieldSelector | None:
    return _read(text, read_field_selector)


def _labels(text: str) -> LabelSelector | None:
    return _read(text, read_label_selector)


def _read(text: str, read: Callable[[str], T]) -> T | None:
    """Of a selector that cannot be read authorizers see nothing: then all is asked for."""
    if not text:
        return None
    try:
        return read(text)
    except SelectorError:
        return None
