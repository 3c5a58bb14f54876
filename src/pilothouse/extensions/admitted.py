"""Custom objects as webhooks and policies see them: in the version of the request, or in another that they ask for."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

from pilothouse.admission.forms import Beside, Form, copied, forms_of, view
from pilothouse.extensions.conversion import ConversionFailed
from pilothouse.machinery.errors import internal
from pilothouse.registry.resource import Object, Resource

_TYPE: Final = ("kind", "apiVersion")
Decode = Callable[[Object], Object]
Convert = Callable[[Sequence[Object], str], Awaitable[list[Object]]]
"""(objects, apiVersion) -> the same in that version. Raises ConversionFailed."""


class VersionForms:
    """Forms of the objects of one version. `decode` prunes and defaults an object of a version, by the version's name.

    `convert` None: versions differ in their name alone.
    """

    def __init__(self, resource: Resource, decode: Callable[[str], Decode], convert: Convert | None) -> None:
        self._resource = resource
        self._decode = decode
        self._convert = convert
        self._all = forms_of(resource)

    def all(self) -> Sequence[Form]:
        return self._all

    async def shown(self, obj: Object, form: Form) -> Object:
        if form.version == self._resource.hub:
            return view(obj, form.kind, form.api_version)
        return await self._in(copied(obj), form.version)

    async def taken(self, value: Mapping[str, Any], form: Form, beside: Beside) -> Object:
        obj = await beside(self._decoded, dict(value), form.version)
        return obj if form.version == self._resource.hub else await self._in(obj, self._resource.hub)

    async def _in(self, obj: Object, version: str) -> Object:
        if self._convert is not None:
            try:
                obj = (await self._convert([obj], self._resource.api_version(version)))[0]
            except ConversionFailed as error:
                raise internal(str(error)) from error
        return self._decoded(obj, version)

    def _decoded(self, obj: Object, version: str) -> Object:
        return self._decode(version)({name: item for name, item in obj.items() if name not in _TYPE})
