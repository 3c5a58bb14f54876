"""JSON paths of printer columns and scales (kubectl documentation, "JSONPath Support"), compiled to closures.

Supported are fields, quoted fields, indices, slices, wildcards, unions, filters and recursive descent.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

Find = Callable[[Any], list[Any]]  # every value that the path leads to
_Step = Callable[[Any], Iterator[Any]]

_NAME: Final = re.compile(r"[^\s.\[\]{}()'\"|?*@,:=!<>\\]+(?:\\.[^\s.\[\]{}()'\"|?*@,:=!<>\\]*)*")
_QUOTED: Final = re.compile(r"'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\"")
_SLICE: Final = re.compile(r"(-?\d*):(-?\d*)(?::(-?\d*))?")
_FILTER: Final = re.compile(r"^\?\((.*)\)$", re.DOTALL)
_COMPARE: Final = re.compile(r"^(.*?)(==|!=|<=|>=|<|>)(.*)$", re.DOTALL)


class PathError(ValueError):
    """Not a path."""


def compiled(path: str) -> Find:
    """`f(value)` of a path that begins with a dot. Raises PathError."""
    steps = _Parser(path).steps()

    def find(value: Any) -> list[Any]:
        found = [value]
        for step in steps:
            found = [inner for one in found for inner in step(one)]
            if not found:
                break
        return found

    return find


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def steps(self) -> list[_Step]:
        found: list[_Step] = []
        while self.at < len(self.text):
            found.append(self._step())
        return found

    def _step(self) -> _Step:
        text = self.text
        if text.startswith("..", self.at):
            self.at += 2
            return _below(self._name()) if self.at < len(text) and text[self.at] != "[" else _everything
        sign = text[self.at]
        if sign == ".":
            self.at += 1
            if self.at == len(text):
                return _itself
            if text[self.at] == "[":
                return self._bracket()
            if text[self.at] == "*":
                self.at += 1
                return _all_of
            return _field(self._name())
        if sign == "[":
            return self._bracket()
        raise PathError(f"unrecognized character in action: {sign!r}")

    def _name(self) -> str:
        found = _NAME.match(self.text, self.at)
        if found is None:
            raise PathError(f"unrecognized character in action: {self.text[self.at :][:1]!r}")
        self.at = found.end()
        return re.sub(r"\\(.)", r"\1", found[0])

    def _bracket(self) -> _Step:
        inner = self._until_bracket()
        if inner.startswith("?"):
            return _filter(inner)
        parts = _split(inner)
        steps = [_selector(part.strip()) for part in parts]
        return steps[0] if len(steps) == 1 else _union(steps)

    def _until_bracket(self) -> str:
        """What stands between the brackets, nested ones and quotes taken along."""
        start, depth, quote = self.at + 1, 0, ""
        for at in range(self.at, len(self.text)):
            sign = self.text[at]
            if quote:
                quote = "" if sign == quote and self.text[at - 1] != "\\" else quote
            elif sign in "'\"":
                quote = sign
            elif sign == "[":
                depth += 1
            elif sign == "]":
                depth -= 1
                if depth == 0:
                    self.at = at + 1
                    return self.text[start:at]
        raise PathError("unterminated array")


def _split(text: str) -> list[str]:
    """At commas outside of quotes."""
    parts, quote = [""], ""
    for sign in text:
        if not quote and sign == ",":
            parts.append("")
            continue
        if sign in "'\"" and quote in ("", sign):
            quote = "" if quote else sign
        parts[-1] += sign
    return parts


def _selector(text: str) -> _Step:
    if text == "*":
        return _all_of
    quoted = _QUOTED.fullmatch(text)
    if quoted is not None:
        name = quoted[1] if quoted[1] is not None else quoted[2]
        return _field(re.sub(r"\\(.)", r"\1", name))
    if re.fullmatch(r"-?\d+", text):
        return _index(int(text))
    sliced = _SLICE.fullmatch(text)
    if sliced is not None:
        begin, end, step = (int(part) if part not in ("", None) else None for part in sliced.groups())
        return _slice(slice(begin, end, step))
    if _NAME.fullmatch(text):
        return _field(text)
    raise PathError(f"invalid array index {text}")


def _itself(value: Any) -> Iterator[Any]:
    yield value


def _field(name: str) -> _Step:
    def step(value: Any) -> Iterator[Any]:
        if isinstance(value, dict) and name in value:
            yield value[name]

    return step


def _index(index: int) -> _Step:
    def step(value: Any) -> Iterator[Any]:
        if isinstance(value, list) and -len(value) <= index < len(value):
            yield value[index]

    return step


def _slice(part: slice) -> _Step:
    def step(value: Any) -> Iterator[Any]:
        if isinstance(value, list):
            yield from value[part]

    return step


def _all_of(value: Any) -> Iterator[Any]:
    if isinstance(value, list):
        yield from value
    elif isinstance(value, dict):
        yield from value.values()


def _union(steps: list[_Step]) -> _Step:
    def step(value: Any) -> Iterator[Any]:
        for one in steps:
            yield from one(value)

    return step


def _everything(value: Any) -> Iterator[Any]:
    yield value
    for inner in _all_of(value):
        yield from _everything(inner)


def _below(name: str) -> _Step:
    """The field wherever it is below a value."""

    def step(value: Any) -> Iterator[Any]:
        for one in _everything(value):
            if isinstance(one, dict) and name in one:
                yield one[name]

    return step


def _filter(text: str) -> _Step:
    inner = _FILTER.match(text)
    if inner is None:
        raise PathError("unterminated filter")
    compare = _COMPARE.match(inner[1])
    if compare is None:
        return _kept(_operand(inner[1].strip()), "exists", None)
    return _kept(_operand(compare[1].strip()), compare[2], _operand(compare[3].strip()))


def _operand(text: str) -> Find:
    if text.startswith("@"):
        return compiled(text[1:])
    quoted = _QUOTED.fullmatch(text)
    if quoted is not None:
        words = [quoted[1] if quoted[1] is not None else quoted[2]]
        return lambda value: list(words)
    if text in ("true", "false"):
        return lambda value: [text == "true"]
    try:
        number = float(text) if "." in text else int(text)
    except ValueError:
        raise PathError(f"unrecognized identifier {text}") from None
    return lambda value: [number]


def _kept(left: Find, operator: str, right: Find | None) -> _Step:
    def step(value: Any) -> Iterator[Any]:
        for item in value if isinstance(value, list) else ():
            found = left(item)
            if right is None:
                if found:
                    yield item
            elif found and _compares(found[0], operator, (right(item) or [None])[0]):
                yield item

    return step


def _compares(left: Any, operator: str, right: Any) -> bool:
    if operator == "==":
        return bool(left == right)
    if operator == "!=":
        return bool(left != right)
    try:
        if operator in ("<", "<="):
            return bool(left < right or (operator == "<=" and left == right))
        return bool(left > right or (operator == ">=" and left == right))
    except TypeError:
        return False
