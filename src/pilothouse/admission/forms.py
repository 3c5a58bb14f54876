"""Objects as webhooks and policies see them: in the version of the request, or in another that they asked for.

The store works in one version of each kind, the hub. What is shown is a copy; what comes back is decoded and defaulted
as a body would be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, ParamSpec, Protocol, TypeVar

from pilothouse.kit.record import record
from pilothouse.machinery import jsonpieces
from pilothouse.machinery.decode import Findings, compile_decoder
from pilothouse.machinery.jsoncodec import dumps
from pilothouse.registry.resource import Object, Resource

P = ParamSpec("P")
T = TypeVar("T")
_TYPE: Final = ("kind", "apiVersion")


@record
class Form:
    """One served way to see an object: a version of its resource, or of another one that keeps the same objects."""

    group: str
    version: str
    plural: str
    kind: str
    api_version: str


class Beside(Protocol):
    """Where work is done: at once, or in a thread if the object at hand is big."""

    async def __call__(self, work: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T: ...


class Forms(Protocol):
    """All forms of the objects of one resource."""

    def all(self) -> Sequence[Form]: ...

    async def shown(self, obj: Object, form: Form) -> Object:
        """An object of the store in a form: it and its metadata are new, what is below may be shared and is read only.

        Raises an APIError where it cannot be converted.
        """
        ...

    async def taken(self, value: Mapping[str, Any], form: Form, beside: Beside) -> Object:
        """The object of the store that a value in a form is, with its defaults. Raises DecodeError, APIError."""
        ...


def copied(obj: Object) -> Object:
    """A deep copy."""
    made: Object = jsonpieces.loads(dumps(obj))
    return made


def view(obj: Object, kind: str, api_version: str) -> Object:
    """The object with metadata of its own, which shares all else."""
    made = {**obj, "kind": kind, "apiVersion": api_version}
    metadata = obj.get("metadata")
    if metadata is not None:
        made["metadata"] = dict(metadata)
    return made


def forms_of(resource: Resource) -> list[Form]:
    """The served versions of a resource."""
    return [
        Form(resource.group, name, resource.plural, served.kind, served.api_version)
        for name, served in resource.versions.items()
        if served.served
    ]


class TypedForms:
    """Forms of a built-in resource. `kinds`: all of them; those with the same keys hold the same objects."""

    def __init__(self, resource: Resource, kinds: Callable[[], Iterable[Resource]]) -> None:
        self._resource = resource
        self._kinds = kinds
        self._all: dict[Form, Resource] = {}

    def _known(self) -> dict[Form, Resource]:
        if not self._all:
            others = [one for one in self._kinds() if one.prefix == self._resource.prefix and one != self._resource]
            self._all = {form: one for one in (self._resource, *others) for form in forms_of(one)}
        return self._all

    def all(self) -> Sequence[Form]:
        return tuple(self._known())

    async def shown(self, obj: Object, form: Form) -> Object:
        resource = self._known()[form]
        if form.version == resource.hub or resource.convert is None:
            return view(obj, form.kind, form.api_version)
        made = resource.convert.from_hub(copied(obj), form.version)
        return {**made, "kind": form.kind, "apiVersion": form.api_version}

    async def taken(self, value: Mapping[str, Any], form: Form, beside: Beside) -> Object:
        return await beside(self._taken, value, form)

    def _taken(self, value: Mapping[str, Any], form: Form) -> Object:
        resource = self._known()[form]
        document = {name: item for name, item in value.items() if name not in _TYPE}
        decoded = compile_decoder(resource.versions[form.version].schema)(document, Findings())
        obj: Object = {"kind": form.kind, "apiVersion": form.api_version, **decoded}
        if form.version != resource.hub and resource.convert is not None:
            obj = resource.convert.to_hub(obj, form.version)
        obj["kind"], obj["apiVersion"] = self._resource.kind, self._resource.hub_api_version
        defaults = self._resource.behaviour().defaults
        if defaults is not None:
            defaults(obj)
        return obj
