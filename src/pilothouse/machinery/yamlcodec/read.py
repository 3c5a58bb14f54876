"""Reading YAML event by event, without recursion, into what the equal JSON document would have given."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from typing import Any, Final

import orjson
import yaml
from yaml.reader import ReaderError
from yaml.scanner import ScannerError

from pilothouse.kit.sorting import in_order
from pilothouse.machinery import jsonexact, jsonpieces
from pilothouse.machinery.digits import has_digits, may_have_floats
from pilothouse.machinery.goquote import quote
from pilothouse.machinery.jsoncodec import go_float, plain_floats, surely_unique
from pilothouse.machinery.typed.text import syntax
from pilothouse.machinery.yamlcodec.errors import YAMLError
from pilothouse.machinery.yamlcodec.scalars import NUMERIC, TAG, WORDS, ScalarError, resolve, tagged

DEEPEST: Final = 10_000
_LONG: Final = 1 << 15  # bytes from which on a text is looked through first
_ALIAS: Final = re.compile(rb"\*[\w-]")  # what may be one
_BARE_LIST: Final = re.compile(rb"(?:\[|- )[^:?&*!.<]*")
_EXPONENT: Final = re.compile(rb"[0-9][eE]")
_SECOND: Final = (b"\n---", b"\n...", b"\r---", b"\r...")  # what may begin another document
_BEHIND: Final = "did not find expected <document start>"  # of what stands behind the only document that is read
_NONE: Final = type(None)
_TOO_DEEP: Final = f"yaml: exceeded max depth of {DEEPEST}"
_MERGE: Final = "<<"
_MOST_KNOWN: Final = 4096
_BEYOND: Final = 18  # digits of a number that may be none of int64
_HUGE: Final = 19  # and of one that the parser's reader takes otherwise
_MOST_REPEATED: Final = 1000  # keys that are noted; more would only make the answer long


def loads(data: bytes) -> Any:
    """The value of the first document, None for an empty one; members of objects sorted by name.

    Of repeated keys the last counts. A long list in the place of an object, which nobody takes, may come without its
    items. Raises YAMLError.
    """
    return loads_noting(data)[0]


def loads_noting(data: bytes) -> tuple[Any, list[str]]:
    """The same, and what strict decoding finds: `line 7: key "k" already set in map`."""
    if data.startswith((b"{", b"[")):
        # Most clients send JSON as YAML; that is twenty times faster to read.
        found = _as_json(data)
        if found is not None:
            return found
    builder = _Builder()
    return _built(data, builder), builder.repeated


def _as_json(data: bytes) -> tuple[Any, list[str]] | None:
    """The value of a document that is JSON, and its members that are there twice; None where it is none.

    Also where such a member stands in one of many lines, which are told.
    """
    if data[-1:].isspace() and data.rstrip(b" \r\n").endswith(b"\t"):
        return None  # a tab begins no token, also where none follows
    try:
        value = jsonpieces.loads(data)
        if surely_unique(data, value):
            return _ordered(value), []
        lines = data.rstrip(b"\r\n")
        if b"\n" in lines or b"\r" in lines or has_digits(data, _HUGE):
            return None
        return _ordered(value), _repeated(data)
    except (orjson.JSONDecodeError, RecursionError, ValueError):
        return None


def _ordered(value: Any) -> Any:
    """With members by name, and numbers as they are written."""
    try:
        text: bytes | None = orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except TypeError:
        text = jsonexact.compact(value, by_name=True)
    if text is None:
        return _ordered_slowly(value)
    value = jsonpieces.loads(text)
    return plain_floats(value) if may_have_floats(text) or has_digits(text, _BEYOND) else value


def _ordered_slowly(value: Any) -> Any:
    if value.__class__ is dict:
        return {key: _ordered_slowly(value[key]) for key in sorted(value)}
    if value.__class__ is list:
        return [_ordered_slowly(item) for item in value]
    return plain_floats(value)


class _Notes(list[Any]):
    """What is to be told of an object, in the place of the object."""


_NOTHING: Final = _Notes()


def _repeated(data: bytes) -> list[str]:
    """The members of a document of one line that are there twice, each told when its value ends."""

    def noted(pairs: list[tuple[str, Any]]) -> _Notes:
        if not pairs:
            return _NOTHING
        if len(dict(pairs)) == len(pairs) and not any(item.__class__ in _HOLDERS and item for _, item in pairs):
            return _NOTHING
        notes = _Notes()
        seen: set[str] = set()
        for key, item in pairs:
            if len(notes) >= _MOST_REPEATED:
                break
            if item.__class__ in _HOLDERS and item:
                notes += _within(item)
            if key in seen:
                notes.append(f"line 1: key {quote(key)} already set in map")
            seen.add(key)
        return notes

    return _within(json.loads(data, object_pairs_hook=noted))[:_MOST_REPEATED]


_HOLDERS: Final[frozenset[type]] = frozenset((_Notes, list))


def _within(item: Any) -> list[str]:
    """The notes of a value: of an object, or of all objects in a list."""
    if item.__class__ is _Notes:
        return list(item)
    notes: list[str] = []
    todo = [item]
    while todo:
        item = todo.pop()
        if item.__class__ is _Notes:
            notes += item
        else:
            todo += [inner for inner in reversed(item) if inner.__class__ in _HOLDERS and inner]
    return notes


def duplicates_text(repeated: list[str]) -> str:
    """How an error shows repeated keys."""
    return "yaml: unmarshal errors:" + "".join(f"\n  {one}" for one in repeated)


class _TextError(YAMLError):
    """What is wrong with the text of a document. The original tells it before anything that the document says."""


def _built(data: bytes, builder: _Builder) -> Any:
    """The value of the first document. Raises YAMLError."""
    # The C parser takes a byte order mark for the choice of an encoding, as Go's does.
    parser = yaml.CLoader(data)
    try:
        checked = len(data) >= _LONG and not _ALIAS.search(data) and not any(mark in data for mark in _SECOND)
        if checked:
            _check(data)
            if _is_bare_list(data):
                return []
        return _first(parser, builder, checked)
    except ReaderError as wrong:
        raise YAMLError(f"yaml: {_reason(wrong)}") from None
    except yaml.MarkedYAMLError as wrong:
        if wrong.problem == "exceeded maximum nesting depth":  # this parser goes less deep
            raise YAMLError(_TOO_DEEP) from None
        raise YAMLError(f"yaml: {_where(wrong)}{wrong.problem or 'unknown problem parsing YAML content'}") from None
    finally:
        parser.dispose()


def _first(parser: yaml.CLoader, builder: _Builder, checked: bool) -> Any:
    try:
        return builder.build(parser.get_event)
    except _TextError:
        raise
    except YAMLError:
        while not checked and parser.get_event().__class__ not in (yaml.DocumentEndEvent, yaml.StreamEndEvent, _NONE):
            pass
        raise


class _Pieces:
    """A document that is read piece by piece, so that others have their turns meanwhile."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def read(self, size: int = _LONG) -> bytes:
        start = self.at
        self.at += size
        return self.data[start : self.at]


def _check(data: bytes) -> None:
    """Raises what is wrong with the text of a document, at a fifth of what it costs to make its events."""
    parser = yaml.CLoader(_Pieces(data))
    try:
        parser.raw_parse()
    except yaml.MarkedYAMLError as wrong:
        if wrong.problem != _BEHIND:
            raise
    finally:
        parser.dispose()


def _is_bare_list(data: bytes) -> bool:
    """Whether a document is a list, and nothing in it can be wrong: it has no members, no tags and no huge numbers."""
    return bool(_BARE_LIST.fullmatch(data)) and not _EXPONENT.search(data) and not has_digits(data, _HUGE)


def _reason(wrong: ReaderError) -> str:
    reason = wrong.reason
    return reason.decode() if isinstance(reason, bytes) else str(reason)


def _where(wrong: yaml.MarkedYAMLError) -> str:
    """Go counts lines from 0 and adds one for the scanner only; line 0 is not shown."""
    if wrong.problem_mark is not None and wrong.problem_mark.line:
        line = wrong.problem_mark.line + (1 if isinstance(wrong, ScannerError) else 0)
    elif wrong.context_mark is not None:
        line = wrong.context_mark.line
    else:
        line = 0
    return f"line {line}: " if line else ""


_NO_KEY: Final = object()


def _by_name(made: dict[str, Any]) -> dict[str, Any]:
    """An object with its members in order."""
    names = in_order(made)
    return made if names == [*made] else {name: made[name] for name in names}


class _Builder:
    def __init__(self) -> None:
        self.repeated: list[str] = []
        self.anchors: dict[str, Any] = {}
        self.known: dict[str, Any] = {**WORDS, _MERGE: math.nan}  # plain scalars that are no texts, or need care
        self.count = 0  # nodes in all,
        self.copied = 0  # and those that aliases made

    def build(self, next_event: Callable[[], Any]) -> Any:
        """The value of the first document, whose events are asked for one by one. Raises YAMLError."""
        next_event()  # the stream begins
        if next_event().__class__ is not yaml.DocumentStartEvent:
            return None
        value = self._value(next_event)
        next_event()  # the document's end: what stands there may be wrong
        return plain_floats(value) if value.__class__ is not dict else value

    def _value(self, next_event: Callable[[], Any]) -> Any:
        """The next value, with all that is in it."""
        scalar, sequence, sequence_end = yaml.ScalarEvent, yaml.SequenceStartEvent, yaml.SequenceEndEvent
        mapping, mapping_end = yaml.MappingStartEvent, yaml.MappingEndEvent
        known, repeated = self.known, self.repeated
        # The collection that is being read; of a mapping, the key whose value comes next; and the collections around.
        made: Any = None
        key: Any = _NO_KEY
        anchor: str | None = None
        around: list[tuple[Any, Any, str | None]] = []
        count = 0
        while True:
            event = next_event()
            kind = event.__class__
            count += 1
            if kind is scalar:
                if event.tag is None and event.anchor is None:
                    value = text = event.value
                    if not event.style and (text in known or text[0] in NUMERIC):
                        value = known[text] if text in known else self._plain(text)
                    if value.__class__ is float:
                        pass
                    elif made.__class__ is list:
                        made.append(value)
                        continue
                    elif key is _NO_KEY:
                        if value.__class__ is str and made is not None:
                            key = value
                            continue
                    elif key.__class__ is str and (key not in made or len(repeated) >= _MOST_REPEATED):
                        made[key] = value
                        key = _NO_KEY
                        continue
                value = self._scalar(event)
            elif kind is mapping or kind is sequence:
                if len(around) >= DEEPEST:
                    raise _TextError(_TOO_DEEP)
                around.append((made, key, anchor))
                made, key, anchor = {} if kind is mapping else [], _NO_KEY, event.anchor
                if anchor is not None:
                    self.anchors[anchor] = _UNFINISHED
                continue
            elif kind is mapping_end or kind is sequence_end:
                value = _by_name(made) if made.__class__ is dict and len(made) > 1 else made
                if anchor is not None:
                    self.anchors[anchor] = value
                made, key, anchor = around.pop()
                if made.__class__ is list:
                    made.append(value)
                    continue
                if key.__class__ is str and key not in made:
                    made[key] = value
                    key = _NO_KEY
                    continue
            else:
                value = self._alias(event.anchor or "", count)
                count = self.count
            if made is None:
                return value
            key = self._add(made, key, value, event)

    def _plain(self, text: str) -> Any:
        """What a plain scalar means that begins as numbers do."""
        value = resolve(text)
        if len(self.known) < _MOST_KNOWN:
            self.known[text] = value
        return value

    def _scalar(self, event: Any) -> Any:
        value = _explicit(event) if event.style or event.tag is not None else resolve(event.value)
        if event.anchor is not None:
            self.anchors[event.anchor] = value
        return value

    def _alias(self, anchor: str, count: int) -> Any:
        self.count = count
        if anchor not in self.anchors:
            raise _TextError(f"yaml: unknown anchor '{anchor}' referenced")
        if self.anchors[anchor] is _UNFINISHED:
            raise YAMLError(f"yaml: anchor '{anchor}' value contains itself")
        return self._copy(self.anchors[anchor])

    def _copy(self, value: Any) -> Any:
        """A copy of what an anchor stands for, with the original's limit on how much aliases may make."""
        self.count += 1
        self.copied += 1
        if self.copied > 100 and self.count > 1000 and self.copied > self.count * _allowed(self.count):
            raise YAMLError("yaml: document contains excessive aliasing")
        if value.__class__ is dict:
            return {key: self._copy(item) for key, item in value.items()}
        return [self._copy(item) for item in value] if value.__class__ is list else value

    def _add(self, made: Any, key: Any, value: Any, event: Any) -> Any:
        """Puts what came into a collection: the key whose value comes next."""
        if made.__class__ is list:
            made.append(_finite(value) if value.__class__ is float else value)
        elif key is _NO_KEY:
            return _Merge if value == _MERGE and _is_merge(event) else value
        elif key is _Merge:
            self._merge(made, value, event)
        else:
            self._set(made, key, value, event)
        return _NO_KEY

    def _set(self, made: dict[str, Any], found: Any, value: Any, event: Any) -> None:
        if found is None:
            shown = "<nil>" if value is None else syntax(value)
            raise YAMLError(f"unsupported map key of type: %!s(<nil>), key: <nil>, value: {shown}")
        key = found if found.__class__ is str else _key(found)
        if key in made and len(self.repeated) < _MOST_REPEATED:
            shown = quote(key) if found.__class__ is str else key
            self.repeated.append(f"line {event.start_mark.line + 1}: key {shown} already set in map")
        made[key] = _finite(value) if value.__class__ is float else value

    def _merge(self, made: dict[str, Any], value: Any, event: Any) -> None:
        for source in reversed(value) if value.__class__ is list else [value]:
            if source.__class__ is not dict:
                raise YAMLError("yaml: map merge requires map or sequence of maps as the value")
            for key, item in source.items():
                made[key] = item


_UNFINISHED: Final = object()


class _Merge:
    """Stands for the key of a merge."""


def _is_merge(event: Any) -> bool:
    return isinstance(event, yaml.ScalarEvent) and not event.style and event.tag in (None, "!", f"{TAG}merge")


def _allowed(count: int) -> float:
    """The part of all nodes that aliases may make: 99% of small documents, a tenth of very large ones."""
    if count <= 400_000:
        return 0.99
    if count >= 4_000_000:
        return 0.1
    return 0.99 - 0.89 * (count - 400_000) / 3_600_000


def _explicit(event: Any) -> Any:
    """A scalar in quotes or with a tag."""
    if event.tag is None or event.tag == "!":
        return event.value
    try:
        return tagged(event.tag, event.value)
    except ScalarError as wrong:
        raise YAMLError(f"yaml: {wrong}") from None


def _finite(value: Any) -> Any:
    """Numbers as JSON has them."""
    if value.__class__ is float:
        if not math.isfinite(value):
            shown = "NaN" if math.isnan(value) else "+Inf" if value > 0 else "-Inf"
            raise YAMLError(f"json: unsupported value: {shown}")
        return plain_floats(value)
    return value


def _key(value: Any) -> str:
    """The text of a key that is not text; the original takes numbers and booleans."""
    if value.__class__ is str:
        return str(value)
    if value.__class__ is bool:
        return "true" if value else "false"
    if value.__class__ is int:
        return str(value)
    if value.__class__ is float:
        if math.isfinite(value):
            return go_float(value)
        return ".nan" if math.isnan(value) else ".inf" if value > 0 else "-.inf"
    shown = syntax(value).replace("map[string]", "map[interface {}]")  # what YAML is first read into
    raise YAMLError(f"yaml: invalid map key: {shown}")
