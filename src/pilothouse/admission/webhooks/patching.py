"""The patch of a mutating webhook: carried out on the object as the webhook saw it, then taken back as a body is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from pilothouse.admission.forms import Form, copied
from pilothouse.admission.webhooks.answer import BadAnswer
from pilothouse.admission.webhooks.review import Shown
from pilothouse.machinery.decode import DecodeError
from pilothouse.machinery.errors import bare_internal, internal
from pilothouse.machinery.jsoncodec import JSONError, kind_of, loads
from pilothouse.machinery.patch import astold
from pilothouse.machinery.patch.jsonpatch import PatchFailed, carried_out
from pilothouse.registry.metadata import refuse_other_namespace
from pilothouse.registry.resource import Object

Operations = list[dict[str, Any] | None]


def _texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _numbers(value: object) -> bool:
    return isinstance(value, list) and all(type(one) is int for one in value)


# Options of connections: what each may be. Others are left out.
_OPTIONS: Final[Mapping[str, Callable[[object], bool]]] = {
    **dict.fromkeys(("kind", "apiVersion", "container", "path"), lambda value: isinstance(value, str)),
    **dict.fromkeys(("stdin", "stdout", "stderr", "tty"), lambda value: isinstance(value, bool)),
    "command": _texts,
    "ports": _numbers,
}


def operations_of(patch: bytes) -> Operations:
    """The operations of a patch. Raises BadAnswer."""
    try:
        value = loads(patch)
        if value is None:
            return []
        if not isinstance(value, list):
            raise JSONError(f"json: cannot unmarshal {kind_of(value)} into Go value of type jsonpatch.Patch")
        for one in value:
            if one is not None and not isinstance(one, dict):
                raise JSONError(f"json: cannot unmarshal {kind_of(one)} into Go value of type jsonpatch.Operation")
    except JSONError as error:
        raise BadAnswer(f"received undecodable patch in webhook response: {error}") from error
    return astold.with_texts(value, patch)


async def patched(shown: Shown, form: Form, operations: Operations) -> bool:
    """Change the object of a write; whether it is another one now. Raises an APIError where that cannot be."""
    before = await shown.new(form)
    assert before is not None  # for the caller to see
    try:
        return await replaced(shown, form, await shown.beside(carried_out, operations, before))
    except (PatchFailed, DecodeError) as error:
        raise internal(str(error)) from error


async def replaced(shown: Shown, form: Form, value: Object) -> bool:
    """Make the object of a write what `value` is in a form; whether it is another one now.

    Raises DecodeError, APIError.
    """
    attributes = shown.attributes
    obj = attributes.obj
    assert obj is not None  # for the caller to see
    if value == await shown.new(form):
        return False
    made = await _taken(shown, form, await shown.beside(copied, value))
    if attributes.resource.namespaced:
        refuse_other_namespace((made.get("metadata") or {}).get("namespace"), attributes.write.namespace)
    obj.clear()
    obj.update(made)
    shown.changed()
    return True


async def _taken(shown: Shown, form: Form, value: Object) -> Object:
    """The object that the patched one is. Raises DecodeError, APIError."""
    attributes = shown.attributes
    if not shown.foreign:
        return await shown.forms.taken(value, _form_of(shown, form, value), shown.beside)
    if attributes.decode is not None:
        return attributes.decode(value)
    for name, fits in _OPTIONS.items():
        if name in value and not fits(value[name]):
            raise DecodeError(f"json: cannot unmarshal {kind_of(value[name])} into Go struct field .{name}")
    return {name: item for name, item in value.items() if name in _OPTIONS}


def _form_of(shown: Shown, form: Form, value: Object) -> Form:
    """The form that a patched object says it has: kind and version may be left out, or be those of another version."""
    kind, api_version = value.get("kind") or form.kind, value.get("apiVersion") or form.api_version
    if (kind, api_version) == (form.kind, form.api_version):
        return form
    for other in shown.forms.all():
        if (kind, api_version) == (other.kind, other.api_version):
            return other
    resource = shown.attributes.resource
    version = str(api_version).rpartition("/")[2]
    raise bare_internal(f"converting ({version}.{kind}) to ({resource.go_package}.{form.kind}): unknown conversion")
