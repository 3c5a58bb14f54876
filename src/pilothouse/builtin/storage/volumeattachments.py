"""Volume attachments: that a volume is (to be) attached to a node."""

from __future__ import annotations

from typing import Any, Final

from pilothouse.builtin.core.persistentvolumes import inline_spec
from pilothouse.machinery import names
from pilothouse.machinery.rules import Field, at, between, immutable_null, required, rules
from pilothouse.registry.behaviour import Behaviour, Context, Object, Part

_ONE_SOURCE: Final = "must specify exactly one of inlineVolumeSpec and persistentVolumeName"
_LONGEST_ATTACHER: Final = 63
_LONGEST_MESSAGE: Final = 1024  # bytes
_MOST_FACTS: Final = 256 << 10  # bytes
_CODES: Final = between(0, 2**31 - 1)


def _prepare(new: Object, old: Object | None, context: Context) -> None:
    if old is None:
        new["status"] = {"attached": False}


def _source(value: Object, field: Field) -> None:
    name, inline = value.get("persistentVolumeName"), value.get("inlineVolumeSpec")
    if name is None and inline is None:
        field.required("", _ONE_SOURCE)
    elif name is not None and inline is not None:
        field.forbidden("", _ONE_SOURCE)
    elif inline is not None:
        field.within("inlineVolumeSpec", inline_spec, inline)
    elif not name:
        field.required("persistentVolumeName", "must specify non empty persistentVolumeName")


def _node(value: Object, field: Field) -> None:
    name = value.get("nodeName", "")
    field.all_invalid("nodeName", name, names.subdomain(name))


def _volume_name(value: str, field: Field) -> None:
    field.all_invalid("", value, names.subdomain(value))


def _attacher(value: Any, field: Field) -> None:
    if len(value) > _LONGEST_ATTACHER:
        field.add("", "FieldValueTooLong", f"Too long: may not be more than {_LONGEST_ATTACHER} characters")
        return
    field.all_invalid("", value, names.mixed_case_subdomain(value))


def _facts(value: Object, field: Field) -> None:
    """What was told of the volume where it was attached; told from the map."""
    if sum(len(key.encode()) + len(text.encode()) for key, text in value.items()) > _MOST_FACTS:
        field.too_long("", _MOST_FACTS)


def _message(value: str, field: Field) -> None:
    if len(value.encode()) > _LONGEST_MESSAGE:
        field.too_long("", _LONGEST_MESSAGE)


_error: Final = (at("message", _message), at("errorCode", _CODES))
_status: Final = at("status", at("attachmentMetadata", _facts), at("attachError", *_error), at("detachError", *_error))

behaviour: Final = Behaviour(
    prepare=_prepare,
    validate=rules(
        at("spec.source", _source),
        at("spec", _node),
        _status,
        at("spec.source.persistentVolumeName", _volume_name),
        at("spec.attacher", required, _attacher),
        at("spec", immutable_null),
    ),
    parts={"status": Part(validate=rules(_status))},
)
