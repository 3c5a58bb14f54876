"""JSON Patch (RFC 6902) as the original carries it out.

Known differences from the RFC: an absent map key can be replaced (it is then added) and copied (as null), `test` for
null passes on an absent key, negative indices count from the end, the text before the first slash of a path is passed
over, and an operation without a value has null.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import chain, repeat
from typing import Any, Final

import orjson
from mypy_extensions import i64

from pilothouse.machinery.errors import APIError, bad_request
from pilothouse.machinery.goquote import quote
from pilothouse.machinery.jsoncodec import escape
from pilothouse.machinery.patch import astold
from pilothouse.machinery.patch.errors import rejected
from pilothouse.machinery.patch.longlist import LONG, LongList
from pilothouse.machinery.patch.turns import TURNS, check_depth

_DEEPEST: Final = 2_500  # levels of values that are compared
MAX_OPERATIONS: Final = 10_000
MAX_COPIED: Final = 3 * 1024 * 1024  # bytes of JSON that all copies of one patch may make together

_INDEX: Final = re.compile(r"[+-]?[0-9]{1,18}")
_LISTS: Final = (list, LongList)
_CONTAINERS: Final = (dict, *_LISTS)
_TEXT_FIELDS: Final = ("op", "from", "path")
_FIELDS: Final = (*_TEXT_FIELDS, "value")
_OPERATIONS: Final = frozenset((dict, type(None)))
_TEXT_OR_NULL: Final = frozenset((str, type(None)))

Operations = list[dict[str, Any] | None]
Opened = Callable[[Any], bool]  # whether the path of an operation led through this container of the patched document
_JSON_NAMES: Final = {
    dict: "object", list: "array", str: "string", bool: "bool", int: "number", float: "number",
}  # fmt: skip


# What an operation says whose path leads nowhere.
_NOWHERE: Final = {
    "add": 'add operation does not apply: doc is missing path: "{}": missing value',
    "remove": 'remove operation does not apply: doc is missing path: "{}": missing value',
    "replace": "replace operation does not apply: doc is missing path: {}: missing value",
    "move": "move operation does not apply: doc is missing from path: {}: missing value",
    "copy": "copy operation does not apply: doc is missing from path: {}: missing value",
    "test": "test operation does not apply: is missing path: {}: missing value",
}


class PatchFailed(Exception):
    """The operation cannot be carried out. A client whose patch it is, is not told why; webhooks are."""


def check(patch: Any, *, strict: bool = True) -> Operations:
    """The operations of a decoded patch document (null is none). `strict`: the types of their members are looked at.

    Raises APIError: 400 when it is no JSON Patch, 413 for too many operations.
    """
    if patch is None:
        return []
    if not isinstance(patch, list):
        raise _not_a_patch(patch, "[]handlers.jsonPatchOp", "jsonpatch.Patch", strict)
    if not _surely_operations(patch):
        for operation in patch:
            _check_operation(operation, strict)
    if len(patch) > MAX_OPERATIONS:
        most = f"The allowed maximum operations in a JSON patch is {MAX_OPERATIONS}, got {len(patch)}"
        raise APIError(413, "RequestEntityTooLarge", f"Request entity too large: {most}")
    return patch


def _surely_operations(patch: list[Any]) -> bool:
    """Whether all are objects without a text that is none; False only means: look closer."""
    if not _OPERATIONS.issuperset(map(type, patch)):
        return False
    operations = list(filter(None, patch))
    names = set(chain.from_iterable(operations)).intersection(_TEXT_FIELDS)
    return all(_TEXT_OR_NULL.issuperset(map(type, map(dict.get, operations, repeat(name)))) for name in names)


def _check_operation(operation: Any, strict: bool) -> None:
    if operation is not None and not isinstance(operation, dict):
        raise _not_a_patch(operation, "handlers.jsonPatchOp", "jsonpatch.Operation", strict)
    for name in _TEXT_FIELDS if strict else ():
        value = operation.get(name) if operation else None
        if value is not None and not isinstance(value, str):
            found = f"json: cannot unmarshal {_JSON_NAMES[type(value)]} into Go struct field "
            raise bad_request(f"error decoding patch: {found}jsonPatchOp.{name} of type string")


def unknown_fields(patch: Operations) -> list[str]:
    """What strict decoding says about fields that no operation has."""
    return [
        f"json patch unknown field {quote(f'[{position}].{name}')}"
        for position, operation in enumerate(patch)
        for name in operation or ()
        if name not in _FIELDS
    ]


def _not_a_patch(value: Any, type_strict: str, type_lax: str, strict: bool) -> APIError:
    """With fieldValidation=Ignore it is another decoder that complains."""
    found = f"json: cannot unmarshal {_JSON_NAMES[type(value)]} into Go value of type "
    return bad_request(f"error decoding patch: {found}{type_strict}" if strict else found + type_lax)


def apply(patch: Any, obj: dict[str, Any], *, strict: bool = True) -> Any:
    """`obj` after the operations: mostly a dict. `strict` as for `check`.

    Raises APIError: 400, 413, and 422 for whatever cannot be carried out.
    """
    return run(check(patch, strict=strict), obj)[0]


def run(operations: Operations, obj: dict[str, Any]) -> tuple[Any, Opened]:
    """As `apply`, of operations that were checked; and what was opened on the way."""
    document = _Document(obj)
    try:
        return document.after(operations), document.opened
    except PatchFailed:
        raise rejected() from None


def carried_out(operations: Operations, obj: dict[str, Any]) -> dict[str, Any]:
    """`obj` after the operations. Raises PatchFailed, which says what is wrong."""
    patched = _Document(obj).after(operations)
    if not isinstance(patched, dict):
        raise PatchFailed("the patched object is no object")
    return patched


class _Document:
    """The object while it is patched. Containers are copied when first changed; `_own` holds the copies, which may be
    changed again.
    """

    def __init__(self, root: Any) -> None:
        self.root = root
        self._own: dict[int, Any] = {}  # id -> container, kept alive so that no id is used twice
        self._read: dict[int, Any] = {}  # likewise, those that were only looked into
        self._long = False  # whether there is a LongList among them
        self._told = False  # whether there may be texts with what was told
        self._copied = 0

    def after(self, operations: Operations) -> Any:
        """The document once all operations are carried out. Raises PatchFailed."""
        self._told = isinstance(operations, astold.Told)
        try:
            for operation in operations:
                self.carry_out(operation or {})
        except RecursionError:
            raise PatchFailed("the patched object is too deep") from None
        return astold.plain(self.settled()) if self._told else self.settled()

    def opened(self, value: Any) -> bool:
        """As `Opened`."""
        return self._is_opened(id(value))

    def _is_opened(self, identity: int) -> bool:
        return identity in self._own or identity in self._read

    def settled(self) -> Any:
        """The patched document, with plain lists for long ones, which can only stand in containers of our own."""
        if not self._long:
            return self.root
        plain = {id(one): list(one) for one in self._own.values() if isinstance(one, LongList)}
        short = [one for one in self._own.values() if not isinstance(one, LongList)]
        self._read.update((id(one), one) for one in plain.values())  # as opened as what they stand for
        for container in (*short, *plain.values()):
            if LongList not in map(type, container.values() if isinstance(container, dict) else container):
                continue
            for key, value in container.items() if isinstance(container, dict) else enumerate(container):
                if isinstance(value, LongList):
                    container[key] = plain[id(value)]
        self._own.update((id(one), one) for one in plain.values())
        return plain.get(id(self.root), self.root)

    def carry_out(self, operation: dict[str, Any]) -> None:
        kind = operation.get("op")
        path = operation.get("path")
        if not isinstance(path, str):
            raise PatchFailed(f"{kind} operation failed to decode path: missing value")
        if kind == "add":
            self._add(path, operation.get("value"))
        elif kind == "replace":
            self._replace(path, operation.get("value"))
        elif kind == "remove":
            self._remove(path, "remove")
        elif kind == "test":
            self._test(path, operation.get("value"))
        elif kind in ("move", "copy"):
            source = operation.get("from")
            if not isinstance(source, str):
                raise PatchFailed(f"{kind} operation failed to decode from: missing value")
            self._move(source, path) if kind == "move" else self._copy(source, path)
        else:
            raise PatchFailed(f"Unexpected kind: {kind or 'unknown'}")

    def _replace(self, path: str, value: Any) -> None:
        if not path:
            if not isinstance(value, dict | list):
                raise PatchFailed("replace operation hit doc root with no object")
            self.root = value
            return
        container, key = self._open(path, "replace")
        if isinstance(container, dict):
            container[key] = value
        else:
            container[_position(container, key)] = value

    def _add(self, path: str, value: Any) -> None:
        container, key = self._open(path, "add")
        if isinstance(container, dict):
            container[key] = value
            return
        if key == "-":
            container.append(value)
            return
        at = _index(key)
        size = len(container) + 1
        if not -size <= at < size:
            raise PatchFailed(f"error in add for path: '{path}': {_no_index(at)}")
        container.insert(at if at >= 0 else at + size, value)

    def _remove(self, path: str, kind: str) -> Any:
        container, key = self._open(path, kind)
        if isinstance(container, dict):
            if key not in container:
                why = f"Unable to remove nonexistent key: {key}: missing value"
                raise PatchFailed(f"error in {kind} for path: '{path}': {why}")
            return container.pop(key)
        return container.pop(_position(container, key))

    def _move(self, source: str, path: str) -> None:
        self._add(path, self._remove(source, "move"))

    def _copy(self, source: str, path: str) -> None:
        value = self._get(source, "copy")
        text = escape(_written(value))
        self._copied += len(text)
        if self._copied > MAX_COPIED:
            raise PatchFailed(f"unable to copy: the copies are larger than {MAX_COPIED} bytes")
        if self._told:
            value = astold.copied(value)
        elif isinstance(value, _CONTAINERS):
            value = _read(text)
        self._add(path, value)

    def _test(self, path: str, value: Any) -> None:
        if not equal(self._get(path, "test") if path else self.root, value):
            raise PatchFailed(f"testing value {path} failed: test failed")

    def _get(self, path: str, kind: str) -> Any:
        parts = _parts(path, kind)
        key = parts.pop()
        container = self._opened_at(parts, changed=False)
        if container is None:
            container = self.root
            for part in parts:
                container = _child(container, part, path, kind)
                self._read[id(container)] = container
        return _child(container, key, path, kind, absent_is_null=True)

    def _open(self, path: str, kind: str) -> tuple[Any, str]:
        """The container that the path leads into, made ours to change, and the key in it."""
        parts = _parts(path, kind)
        key = parts.pop()
        container = self._opened_at(parts, changed=True)
        if container is not None:
            return container, key
        self.root = container = self._owned(self.root, path, kind)
        for part in parts:
            child = _child(container, part, path, kind)
            if id(child) not in self._own:
                child = self._owned(child, path, kind)
                container[part if isinstance(container, dict) else _position(container, part)] = child
            container = child
        return container, key

    def _opened_at(self, parts: list[str], *, changed: bool) -> Any:
        """The container at a path of names if an earlier path led there (`changed`: to change something): then all that
        it stands in is open too, and nothing is to be done on the way. Else None.
        """
        container = self.root
        for part in parts:
            if not isinstance(container, dict):
                return None
            container = container.get(part)
        return container if id(container) in self._own or (not changed and id(container) in self._read) else None

    def _owned(self, container: Any, path: str, kind: str) -> Any:
        if id(container) in self._own:
            return container
        if isinstance(container, dict):
            made: Any = dict(container)
        elif isinstance(container, list):
            self._long = self._long or len(container) > LONG
            made = LongList(container) if len(container) > LONG else list(container)
        else:
            raise _nowhere(path, kind)
        self._own[id(made)] = made
        return made


def _written(value: Any) -> bytes:
    """JSON of a part of the document. Raises RecursionError."""
    try:
        return orjson.dumps(value, default=list)
    except TypeError:  # deep, or with numbers that only the slow writer takes
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=list).encode()


def _read(text: bytes) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return json.loads(text)


def _nowhere(path: str, kind: str) -> PatchFailed:
    return PatchFailed(_NOWHERE[kind].format(path))


def _no_index(at: int) -> str:
    return f"Unable to access invalid index: {at}: invalid index referenced"


def _parts(path: str, kind: str) -> list[str]:
    """The keys of a path. What stands before the first slash does not count."""
    parts = path.split("/")
    if len(parts) < 2:
        raise _nowhere(path, kind)
    del parts[0]
    return [part.replace("~1", "/").replace("~0", "~") for part in parts] if "~" in path else parts


def _child(container: Any, key: str, path: str, kind: str, absent_is_null: bool = False) -> Any:
    if isinstance(container, dict):
        if key not in container and not absent_is_null:
            raise _nowhere(path, kind)
        return container.get(key)
    if isinstance(container, _LISTS):
        return container[_position(container, key)]
    raise _nowhere(path, kind)


def _index(key: str) -> int:
    if not _INDEX.fullmatch(key):
        raise PatchFailed(f'strconv.Atoi: parsing "{key}": invalid syntax')
    return int(key)


def _position(container: list[Any] | LongList, key: str) -> int:
    """An index within the list; negative ones count from the end."""
    at = _index(key)
    if not -len(container) <= at < len(container):
        raise PatchFailed(_no_index(at))
    return at


def equal(a: Any, b: Any) -> bool:
    """Equal as JSON texts are: 3 is not 3.0, and true is not 1. Objects and lists are so by what is in them.

    Raises RecursionError.
    """
    return _equal(a, b, 0)


def _equal(a: Any, b: Any, level: i64) -> bool:
    TURNS.one_more()
    if a is b:
        return True
    if isinstance(a, dict):
        if not isinstance(b, dict) or a.keys() != b.keys():
            return False
        check_depth(level, _DEEPEST)
        return all(_equal(item, b[name], level + 1) for name, item in a.items())
    if isinstance(a, list | LongList):
        if not isinstance(b, list) or len(a) != len(b):
            return False
        check_depth(level, _DEEPEST)
        return all(_equal(item, b[at], level + 1) for at, item in enumerate(a))
    return bool(astold.same(a, b))
