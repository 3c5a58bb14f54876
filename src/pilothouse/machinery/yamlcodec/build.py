"""From the events of a parser to the value of a document, without recursion, as the original reads YAML."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import yaml

from pilothouse.kit.sorting import in_order
from pilothouse.machinery.goquote import quote
from pilothouse.machinery.jsoncodec import go_float, plain_floats
from pilothouse.machinery.typed.text import syntax
from pilothouse.machinery.yamlcodec.errors import YAMLError
from pilothouse.machinery.yamlcodec.scalars import NUMERIC, TAG, WORDS, ScalarError, resolve, tagged

DEEPEST: Final = 10_000
TOO_DEEP: Final = f"yaml: exceeded max depth of {DEEPEST}"
MOST_REPEATED: Final = 1000  # keys that are noted; more would only make the answer long
_MERGE: Final = "<<"
_MOST_KNOWN: Final = 4096


class TextError(YAMLError):
    """What is wrong with the text of a document. The original tells it before anything that the document says."""


_NO_KEY: Final = object()


def by_name(made: dict[str, Any]) -> dict[str, Any]:
    """An object with its members in order."""
    names = in_order(made)
    return made if names == [*made] else dict(zip(names, map(made.__getitem__, names), strict=True))


class Builder:
    """Makes the value of one document."""

    def __init__(self) -> None:
        self.repeated: list[str] = []  # what strict decoding finds
        self.anchors: dict[str, Any] = {}
        # What aliases ask for: it, how many values are in it, and what makes copies of it.
        self._copied: dict[str, tuple[Any, int, Callable[[], Any]]] = {}
        # Plain scalars that are no texts, or need care.
        self.known: dict[str, Any] = {**WORDS, _MERGE: math.nan}
        self.count = 0  # nodes in all,
        self.copied = 0  # and those that aliases made

    def build(self, next_event: Callable[[], Any]) -> Any:
        """The value of the first document, whose events are asked for one by one. Raises YAMLError."""
        next_event()  # the stream begins
        if next_event().__class__ is not yaml.DocumentStartEvent:
            return None
        value = self._value(next_event)
        next_event()  # the document's end: what stands there may be wrong
        return plain_floats(value) if value.__class__ is float else value

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
                    elif key.__class__ is str and (key not in made or len(repeated) >= MOST_REPEATED):
                        made[key] = value
                        key = _NO_KEY
                        continue
                value = self._scalar(event)
            elif kind is mapping or kind is sequence:
                if len(around) >= DEEPEST:
                    raise TextError(TOO_DEEP)
                around.append((made, key, anchor))
                made, key, anchor = {} if kind is mapping else [], _NO_KEY, event.anchor
                if anchor is not None:
                    self.anchors[anchor] = _UNFINISHED
                continue
            elif kind is mapping_end or kind is sequence_end:
                value = self._ended(made, anchor)
                made, key, anchor = around.pop()
                if made.__class__ is list:
                    made.append(value)
                    continue
                if key.__class__ is str and key not in made:
                    made[key] = value
                    key = _NO_KEY
                    continue
            else:
                self.count = count
                value = self._alias(event.anchor or "")
                count = self.count
            if made is None:
                return value
            self.count = count
            key = self._add(made, key, value, event)
            count = self.count

    def _ended(self, made: Any, anchor: str | None) -> Any:
        """A collection that is complete."""
        value = by_name(made) if made.__class__ is dict and len(made) > 1 else made
        if anchor is not None:
            self.anchors[anchor] = value
        return value

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

    def _alias(self, anchor: str) -> Any:
        if anchor not in self.anchors:
            raise TextError(f"yaml: unknown anchor '{anchor}' referenced")
        if self.anchors[anchor] is _UNFINISHED:
            raise YAMLError(f"yaml: anchor '{anchor}' value contains itself")
        return self._copy(anchor)

    def _copy(self, anchor: str) -> Any:
        """A copy of what an anchor stands for, with the original's limit on how much aliases may make."""
        value = self.anchors[anchor]
        known = self._copied.get(anchor)
        if known is None or known[0] is not value:  # a name may be given again
            known = self._copied[anchor] = (value, nodes(value), copier(value))
        self.count += known[1]
        self.copied += known[1]
        self._limit()
        return known[2]()

    def _limit(self) -> None:
        if self.copied > 100 and self.count > 1000 and self.copied > self.count * allowed(self.count):
            raise YAMLError("yaml: document contains excessive aliasing")

    def _add(self, made: Any, key: Any, value: Any, event: Any) -> Any:
        """Puts what came into a collection: the key whose value comes next."""
        if made.__class__ is list:
            made.append(finite(value) if value.__class__ is float else value)
        elif key is _NO_KEY:
            return _Merge if value == _MERGE and _is_merge(event) else value
        elif key is _Merge:
            self._merge(made, value, event)
        else:
            self._set(made, key, value, event)
        return _NO_KEY

    def _set(self, made: dict[str, Any], found: Any, value: Any, event: Any) -> None:
        if found is None:
            raise no_name(value)
        key = found if found.__class__ is str else key_text(found)
        if key in made and len(self.repeated) < MOST_REPEATED:
            shown = quote(key) if found.__class__ is str else key
            self.repeated.append(f"line {event.start_mark.line + 1}: key {shown} already set in map")
        made[key] = finite(value) if value.__class__ is float else value

    def _merge(self, made: dict[str, Any], value: Any, event: Any) -> None:
        for source in reversed(value) if value.__class__ is list else [value]:
            if source.__class__ is not dict:
                raise YAMLError("yaml: map merge requires map or sequence of maps as the value")
            for key, item in source.items():
                made[key] = item


def copier(value: Any) -> Callable[[], Any]:
    """What makes copies of a value."""
    inner: Any = value.values() if value.__class__ is dict else value if value.__class__ is list else None
    if inner is None:
        return lambda: value
    if any(item.__class__ is dict or item.__class__ is list for item in inner):
        return partial(_copied, value)
    copied: Callable[[], Any] = value.copy
    return copied


def _copied(value: Any) -> Any:
    """A value with all collections that are in it, however deep."""
    copied = value.copy()
    todo = [copied]
    while todo:
        made = todo.pop()
        for place, item in list(made.items() if made.__class__ is dict else enumerate(made)):
            if item.__class__ is dict or item.__class__ is list:
                made[place] = item.copy()
                todo.append(made[place])
    return copied


def nodes(value: Any) -> int:
    """How many nodes a value is made of, itself counted."""
    count, todo = 0, [value]
    while todo:
        count += len(todo)
        inner: list[Any] = []
        for item in todo:
            if item.__class__ is dict:
                count += len(item)
                inner += item.values()
            elif item.__class__ is list:
                inner += item
        todo = inner
    return count


_UNFINISHED: Final = object()


class _Merge:
    """Stands for the key of a merge."""


def _is_merge(event: Any) -> bool:
    return isinstance(event, yaml.ScalarEvent) and not event.style and event.tag in (None, "!", f"{TAG}merge")


def allowed(count: int) -> float:
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


def finite(value: Any) -> Any:
    """Numbers as JSON has them."""
    if value.__class__ is float:
        if not math.isfinite(value):
            shown = "NaN" if math.isnan(value) else "+Inf" if value > 0 else "-Inf"
            raise YAMLError(f"json: unsupported value: {shown}")
        return plain_floats(value)
    return value


def no_name(value: Any) -> YAMLError:
    """What is said of a member whose key is null."""
    shown = "<nil>" if value is None else syntax(value)
    return YAMLError(f"unsupported map key of type: %!s(<nil>), key: <nil>, value: {shown}")


def key_text(value: Any) -> str:
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
