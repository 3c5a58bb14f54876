"""Tags, anchors and aliases in the fast reader."""

from __future__ import annotations

from typing import Any, Final

from mypy_extensions import i64

from pilothouse.machinery.yamlcodec.build import allowed
from pilothouse.machinery.yamlcodec.errors import YAMLError
from pilothouse.machinery.yamlcodec.frames import UNFINISHED, Odd
from pilothouse.machinery.yamlcodec.nesting import Nesting
from pilothouse.machinery.yamlcodec.scalars import TAG, ScalarError, tagged
from pilothouse.machinery.yamlcodec.signs import ANCHOR_ENDS, ANCHORS, BLANK_OR_END

_DEEPEST: Final = 500  # levels of a value that are copied here
_NOT_SPECIFIC: Final = "!"
_MERGE_TAGS: Final = ("", _NOT_SPECIFIC, f"{TAG}merge")


class Aliases(Nesting):
    """What values are called, and where they are called for."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self._begun: i64 = 0  # where the last ones began
        self._copied: i64 = 0  # nodes that aliases made
        self._sizes: dict[str, tuple[Any, i64]] = {}

    def properties(self, *, flow: bool) -> None:
        """Reads an anchor, a tag, or both, that stand at the place: up to what stands behind them in the line."""
        data = self.data
        if not self.anchor and not self.tag:
            self._begun = self.at
        while True:
            sign = data[self.at]
            if sign == 38 and not self.anchor:
                self.anchor = self._anchor(flow=flow)
            elif sign == 33 and not self.tag:
                self.tag = self._tag()
            elif sign == 38 or sign == 33:
                raise Odd
            else:
                return
            self.skip_blanks()

    def _anchor(self, *, flow: bool) -> str:
        """The name behind a `&` or `*` at the place."""
        data = self.data
        start = self.at + 1
        at = start
        while ANCHORS[data[at]]:
            at += 1
        if at == start or not (BLANK_OR_END[data[at]] or (flow and ANCHOR_ENDS[data[at]])):
            raise Odd
        self.at = at
        return self.cut(start, at)

    def _tag(self) -> str:
        data = self.data
        start = self.at
        at = start + 1
        if data[at] == 33:
            at += 1
        name = at
        while ANCHORS[data[at]]:
            at += 1
        if not BLANK_OR_END[data[at]] or (at == name and name > start + 1):
            raise Odd
        self.at = at
        return self.cut(start, at) if name == start + 1 else TAG + self.cut(name, at)

    def scalar(self, text: str, *, sign: i64) -> Any:
        """What a scalar means; `sign` is the first byte of a plain one, 0 for one in quotes or a block."""
        if not self.anchor and not self.tag:
            return self.value(text, sign) if sign else text
        value: Any = text
        if self.tag and self.tag != _NOT_SPECIFIC:
            try:
                value = tagged(self.tag, text)
            except ScalarError as wrong:
                self.say(YAMLError(f"yaml: {wrong}"))
        elif sign and not self.tag:
            value = self.value(text, sign)
        if self.anchor:
            self.anchors[self.anchor] = value
        self.anchor = self.tag = ""
        self.begun = self._begun
        return value

    def is_merge(self, text: str) -> bool:
        """Whether a plain scalar in the place of a key is the sign of a merge."""
        return text == "<<" and self.tag in _MERGE_TAGS

    def alias(self, *, flow: bool) -> Any:
        """The value that the alias at the place calls for; behind it then."""
        if self.anchor or self.tag:
            raise Odd
        name = self._anchor(flow=flow)
        if self.said is None:
            if name not in self.anchors:
                raise Odd  # what stands behind it may be wrong, and is told first
            if self.anchors[name] is UNFINISHED:
                self.say(YAMLError(f"yaml: anchor '{name}' value contains itself"))
        if self.said is not None:
            return None
        value = self.anchors[name]
        known = self._sizes.get(name)
        if known is None or known[0] is not value:  # a name may be given again
            known = (value, _nodes(value, 0))
            self._sizes[name] = known
        self.count += known[1]
        self._copied += known[1]
        count, copied = int(self.count + 1), int(self._copied)
        if copied > 100 and count > 1000 and copied > float(count) * allowed(count):
            self.say(YAMLError("yaml: document contains excessive aliasing"))
            return None
        return _copy(value)


def _nodes(value: Any, depth: i64) -> i64:
    """How many nodes a value is made of."""
    if depth > _DEEPEST:
        raise Odd
    count: i64 = 1
    if isinstance(value, dict):
        for item in value.values():
            count += 1 + _nodes(item, depth + 1)
    elif isinstance(value, list):
        for item in value:
            count += _nodes(item, depth + 1)
    return count


def _copy(value: Any) -> Any:
    """A value of its own that is equal; `_nodes` has found that it is not too deep."""
    if isinstance(value, dict):
        return {name: _copy(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_copy(item) for item in value]
    return value
