"""The YAML that people write, read line by line: several times faster than one event of the parser after another.

What it knows is read exactly as the parser would: blocks of members and items, plain and quoted scalars of one line,
flow collections of one line, literal blocks, comments. At anything else (anchors, tags, scalars of several lines, tabs,
whatever is wrong) it gives up, and the document is read anew by the parser, which also says what is wrong.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final

from pilothouse.machinery.jsoncodec import plain_floats
from pilothouse.machinery.yamlcodec import flow
from pilothouse.machinery.yamlcodec.flow import (
    DOUBLE,
    SINGLE,
    Known,
    NotQuick,
    by_name,
    give_up,
    name_of,
    put,
    unquoted,
)

_ODD: Final = re.compile("[^\n -~\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
from pilothouse.machinery.yamlcodec.scalars import WORDS

_USUAL: Final = bytes((10, *range(32, 127)))
_PART: Final = 256 << 10  # signs
_UNKNOWN: Final = re.compile(r"(?:^|[\n:,\[{-]) *+[&*!?>%@`]")  # looked for first: late it would cost the most
_PLAIN: Final = r"(?:[A-Za-z0-9_./(+$~^;<=\\]|-(?=[0-9A-Za-z./]))(?:[^\n:#]++|:(?=[^ \n])|(?<=[^ ])#)*+"
_KEY: Final = r"[A-Za-z0-9_./][A-Za-z0-9_./-]*+"
_EMPTY: Final = r" *+(?:#[^\n]*+)?+\n"  # a line, or the rest of one, that says nothing
_REMARK: Final = r" *+(?:(?<![^ \n])#[^\n]*+)?+\n"  # behind a value
_LINE: Final = re.compile(
    rf"( *+)(-(?: ++|(?=\n)))?+(?:({_KEY}|{DOUBLE}|{SINGLE}):(?: ++|(?=\n)))?+"
    rf"(?:({_PLAIN})|({DOUBLE}|{SINGLE})|([\[{{])|(\|[-+]?+))?+({_REMARK}(?:{_EMPTY})*+)?+"
)
_TAIL: Final = re.compile(_REMARK)
_EMPTIES: Final = re.compile(rf"(?:{_EMPTY}){{1,4096}}+")
_OFTEN: Final = 8  # members or items in a row, after which many are looked for
_REST: Final = r"[A-Za-z0-9_./-]*+"
_SIMPLE: Final = rf"[A-Za-z0-9_./]{_REST}"
_PAIR: Final = re.compile(r"([^ :]*+): ([^\n]*+)\n *+")
_SPACES: Final = re.compile(" *+")
_MOST_NAMES: Final = 4096
_INDENTS: Final = 64  # different ones for which patterns are kept


def read(data: bytes) -> tuple[Any, list[str]] | None:
    """The value of the first document, and the keys that are there twice; None where the parser must be asked."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    odd = bool(data.translate(None, _USUAL)) if data.isascii() else _holds(_ODD, text)
    if odd or _holds(_UNKNOWN, text):
        return None
    try:
        return _Lines(text).read()
    except NotQuick:
        return None


def _holds(pattern: re.Pattern[str], text: str) -> bool:
    """Whether there is such a sign. A search lets no other thread run, so it is made in parts."""
    return any(pattern.search(text, at, at + _PART) is not None for at in range(0, len(text), _PART))


@lru_cache(_INDENTS)
def _members(indent: int) -> re.Pattern[str]:
    """Many simple members."""
    return re.compile(rf"(?: {{{indent}}}[A-Za-z_]{_REST}: {_SIMPLE}\n){{4,1024}}+")


@lru_cache(_INDENTS)
def _items(indent: int) -> re.Pattern[str]:
    """Many simple items."""
    return re.compile(rf"(?: {{{indent}}}- {_SIMPLE}\n){{4,1024}}+")


@lru_cache(_INDENTS)
def _literal_lines(indent: int) -> re.Pattern[str]:
    """The lines of a literal block."""
    return re.compile(rf"(?: {{{indent}}}[^\n]*+\n| {{0,{indent}}}\n)++")


class _Block:
    """A collection whose lines are indented by `indent` signs. `key` is the one whose value comes in lines below."""

    __slots__ = ("indent", "key", "made")

    def __init__(self, made: Any, indent: int) -> None:
        self.made = made
        self.indent = indent
        self.key: Any = _NO_KEY


_NO_KEY: Final = object()


class _Lines:
    def __init__(self, text: str) -> None:
        self.cut = not text.endswith("\n")  # the last line has no end
        self.text = f"{text}\n" if self.cut else text
        self.at = 0
        self.line = 1
        self.known = Known()
        self.names: dict[str, str] = {}  # what keys mean that stand in the document
        self.repeated: list[str] = []
        self.stack: list[_Block] = []

    def read(self) -> tuple[Any, list[str]]:
        self._pass_empty()
        if self.text.startswith("---\n", self.at):
            self._step(self.at + 4)
            self._pass_empty()
        text = self.text
        if text.startswith(("[", "{"), self.at):
            value, end = flow.read(text, self.at, self.known, self.repeated, self.line)
            if _TAIL.match(text, end) is None or text[end:].strip(" \n"):
                give_up()
            return (value if value.__class__ is dict else plain_floats(value)), self.repeated
        self._read_lines()
        value = None
        if not self.stack:
            give_up()
        while self.stack:
            value = self._close()
        return value, self.repeated

    def _read_lines(self) -> None:
        text, size, known, names = self.text, len(self.text), self.known, self.names
        top: _Block | None = None
        row = 0
        while self.at < size:
            found = _LINE.match(text, self.at)
            if found is None:
                give_up()
            parts = found.groups()
            indent, dash, key, plain, _, _, _, tail = parts
            if plain is None or tail is None or key not in names or dash or top is None or len(indent) != top.indent:
                if key is None and dash is None:
                    if self.stack and text.startswith("---\n", self.at):
                        return
                    give_up()
                top = self._take(found, parts)
            else:  # what most lines are: one more member of an object, with a short plain value
                made, name = top.made, names[key]
                value = known[plain if plain[-1] != " " else plain.rstrip(" ")]
                if top.key is not _NO_KEY or made.__class__ is list or name in made:
                    top = self._take(found, parts)
                else:
                    made[name] = value
                    self.at = found.end()
                    self.line += 1 if tail == "\n" else tail.count("\n")
            row = row + 1 if plain is not None and not dash else 0
            if row == _OFTEN:
                self._runs(top)
                row = 0

    def _step(self, end: int) -> None:
        """To the next line."""
        self.at = end
        self.line += 1

    def _tail(self, at: int) -> None:
        """Over what stands behind a value."""
        found = _TAIL.match(self.text, at)
        if found is None:
            give_up()
        self._step(found.end())
        self._pass_empty()

    def _pass_empty(self) -> None:
        """Over lines that say nothing."""
        while (found := _EMPTIES.match(self.text, self.at)) is not None:
            self.at = found.end()
            self.line += found[0].count("\n")

    def _name(self, key: str) -> Any:
        found = self.names.get(key)
        if found is None:
            found = name_of(key, self.known)
            if found.__class__ is str and len(self.names) < _MOST_NAMES:
                self.names[key] = found
        return found

    def _take(self, found: re.Match[str], parts: tuple[Any, ...]) -> _Block:
        """A line with an item, a member, or both. The block that it is in."""
        indent, dash, key, plain, quoted, opened, literal, tail = parts
        column = len(indent)
        if self.stack and column <= self.stack[-1].indent:
            self._leave(column, dash is not None)
        if dash is not None:
            block = self._list(column)
            if key is not None:
                block = self._open({}, column + len(dash))
        elif key is not None:
            block = self._object(column)
            if block.key is not _NO_KEY:
                self._set(block, None)
        else:
            give_up()
        if key is not None:
            block.key = self._name(key)
        if opened is not None:
            value, end = flow.read(self.text, found.start(6), self.known, self.repeated, self.line)
            self._set(block, value)
            self._tail(end)
            return block
        if literal is not None:
            self._literal(block, literal, found.end(7))
            return block
        if tail is None:
            give_up()
        if plain is not None:
            self._set(block, self.known[plain.rstrip(" ")])
        elif quoted is not None:
            self._set(block, unquoted(quoted))
        elif key is None:
            give_up()
        self.at = found.end()
        self.line += 1 if tail == "\n" else tail.count("\n")
        if key is None:
            self._runs(block)
        return block

    def _leave(self, column: int, to_item: bool) -> None:
        """Ends the blocks that a line at this column is not in."""
        while self.stack:
            top = self.stack[-1]
            if top.indent < column or (top.indent == column and (to_item or top.made.__class__ is dict)):
                return
            self._close()
            if not self.stack:
                give_up()

    def _list(self, column: int) -> _Block:
        """The list that has an item at `column`."""
        top = self.stack[-1] if self.stack else give_up()
        if top.made.__class__ is list:
            return top if top.indent == column else give_up()
        if top.key is _NO_KEY:
            give_up()
        return self._open([], column)

    def _object(self, column: int) -> _Block:
        """The object that has a member at `column`."""
        if not self.stack:
            return self._open({}, column)
        top = self.stack[-1]
        if top.made.__class__ is not dict:
            give_up()
        if top.indent == column:
            return top
        return self._open({}, column) if top.key is not _NO_KEY else give_up()

    def _open(self, made: Any, column: int) -> _Block:
        if len(self.stack) > flow.DEEPEST:
            give_up()
        self.stack.append(_Block(made, column))
        return self.stack[-1]

    def _close(self) -> Any:
        """Puts the innermost block into the one around it."""
        done = self.stack.pop()
        if done.key is not _NO_KEY:
            self._set(done, None)
        value = by_name(done.made) if done.made.__class__ is dict else done.made
        if self.stack:
            self._set(self.stack[-1], value)
        return value

    def _set(self, block: _Block, value: Any) -> None:
        made, key = block.made, block.key
        if made.__class__ is list:
            made.append(value)
            return
        if key.__class__ is str and key not in made:
            made[key] = value
            block.key = _NO_KEY
            return
        if (value is None or value.__class__ in (dict, list)) and flow.shown(key) in made:
            give_up()  # the line that is told is not this one
        put(made, key, value, self.repeated, self.line)
        block.key = _NO_KEY

    def _literal(self, block: _Block, style: str, at: int) -> None:
        """A text of several lines (`|`)."""
        begin, text = self.line, self.text
        remark = _TAIL.match(text, at)
        if remark is None:
            give_up()
        self.at = remark.end()
        depth = _depth(text, self.at)
        found = _literal_lines(depth).match(text, self.at) if depth > block.indent else None
        if found is None or text.startswith("\n", self.at + depth) or (self.cut and found.end() == len(text)):
            give_up()
        lines = found[0].split("\n")
        content = "\n".join([line[depth:] for line in lines])
        if style != "|+":
            content = content.rstrip("\n") + ("\n" if style == "|" else "")
        self.line = begin
        self._set(block, content)
        self.line = begin + len(lines)
        self.at = found.end()
        self._pass_empty()

    def _runs(self, block: _Block) -> None:
        """Simple lines like the last one, many at a time."""
        known, made = self.known, block.made
        pattern = _items(block.indent) if made.__class__ is list else _members(block.indent)
        while (found := pattern.match(self.text, self.at)) is not None:
            self.at = found.end()
            if made.__class__ is list:
                values = [line[block.indent + 2 :] for line in found[0].split("\n")[:-1]]
                made += map(known.__getitem__, values)
                self.line += len(values)
                continue
            pairs = _PAIR.findall(found[0], block.indent)
            names = [name for name, _ in pairs]
            new = set(names)
            if len(new) == len(pairs) and new.isdisjoint(WORDS) and new.isdisjoint(made):
                made.update(zip(names, map(known.__getitem__, [plain for _, plain in pairs]), strict=True))
                self.line += len(pairs)
                continue
            for key, plain in pairs:
                block.key = self._name(key)
                self._set(block, known[plain])
                self.line += 1


def _depth(text: str, at: int) -> int:
    """How many spaces there are."""
    found = _SPACES.match(text, at)
    return found.end() - at if found is not None else 0
