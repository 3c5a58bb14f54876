"""The parameters of a policy: objects of any kind that a binding names or selects."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Protocol

from pilothouse.admission.forms import copied
from pilothouse.admission.lookups import StoreReader, Stores
from pilothouse.machinery.selectors import SelectorError, label_selector_of
from pilothouse.registry.resource import Object
from pilothouse.registry.store import GenericStore

_NOT_FOUND: Final = "no params found for policy binding with `Deny` parameterNotFoundAction"
_NO_NAMESPACE: Final = "cannot use namespaced paramRef in policy binding that matches cluster-scoped resources"
_NOT_NAMESPACED: Final = "paramRef.namespace must not be provided for a cluster-scoped `paramKind`"


class ParamsFailed(Exception):
    """There are no parameters to be had; the text is told to the client."""


class Source(Protocol):
    """Objects of one kind, in the version that was asked for. They are read, never changed."""

    @property
    def namespaced(self) -> bool: ...

    async def get(self, namespace: str, name: str) -> Object | None: ...

    async def all(self, namespace: str) -> Sequence[Object]: ...


Find = Callable[[str, str], "Source | None"]
"""(apiVersion, kind) -> its objects; None for a kind that is not served."""


class StoreSource:
    """Objects of one kind out of its store."""

    def __init__(self, store: GenericStore, version: str) -> None:
        resource = self._resource = store.resource
        self._reader = StoreReader({(resource.group, resource.plural): store}, resource.group, resource.plural)
        self._version = version
        self.namespaced = resource.namespaced

    async def get(self, namespace: str, name: str) -> Object | None:
        found = await self._reader.get(namespace, name)
        return None if found is None else self._shown(found)

    async def all(self, namespace: str) -> Sequence[Object]:
        return [self._shown(one) for one in await self._reader.all(namespace)]

    def _shown(self, obj: Object) -> Object:
        if self._version == self._resource.hub or self._resource.convert is None:
            return obj
        made = self._resource.convert.from_hub(copied(obj), self._version)
        return {**made, "apiVersion": self._resource.api_version(self._version)}


class CustomKinds:
    """Stores of custom kinds: (apiVersion, kind) -> the store of objects in that version.

    `find` is set once there is a server of them.
    """

    def __init__(self) -> None:
        self.find: Callable[[str, str], GenericStore | None] = lambda api_version, kind: None


def stored(stores: Stores, custom: CustomKinds) -> Find:
    """Finds built-in kinds, then custom ones."""

    def find(api_version: str, kind: str) -> Source | None:
        for store in stores.values():
            for version, served in store.resource.versions.items():
                if served.served and (served.api_version, served.kind) == (api_version, kind):
                    return StoreSource(store, version)
        found = custom.find(api_version, kind)
        return None if found is None else StoreSource(found, found.resource.hub)

    return find


async def params_of(
    find: Find, kind: tuple[str, str] | None, reference: Mapping[str, Any] | None, namespace: str
) -> Sequence[Object | None]:
    """What a policy is evaluated with, once for each. `namespace`: of the write. Raises ParamsFailed."""
    if kind is None or reference is None:
        return (None,)
    source = find(*kind)
    if source is None:
        raise ParamsFailed(f"paramKind kind `{_shown(kind)}` not known")
    place = reference.get("namespace") or ""
    if source.namespaced:
        place = place or namespace
        if not place:
            raise ParamsFailed(_NO_NAMESPACE)
    elif place:
        raise ParamsFailed(_NOT_NAMESPACED)
    found = await _found(source, reference, place)
    if not found and reference.get("parameterNotFoundAction") == "Deny":
        raise ParamsFailed(_NOT_FOUND)
    return found


def _shown(kind: tuple[str, str]) -> str:
    """As the original shows a group, version and kind."""
    group, _, version = kind[0].rpartition("/")
    return f"{group}/{version}, Kind={kind[1]}"


async def _found(source: Source, reference: Mapping[str, Any], namespace: str) -> Sequence[Object]:
    name = reference.get("name")
    if name:
        one = await source.get(namespace, name)
        return [] if one is None else [one]
    try:
        matches = label_selector_of(reference.get("selector")).matches
    except SelectorError as error:
        raise ParamsFailed(str(error)) from error
    return [one for one in await source.all(namespace) if matches((one.get("metadata") or {}).get("labels") or {})]
