"""Block style by way of JSON: members and items of any forms, in any order, at any depth.

The same steps as for flow style (`flowjson.py`): the words are cut out of all of the text at once, what is left of each
line is looked up (`blockforms.py`), and the words are put into the JSON text that comes of it.

Lines that are not sure to mean the same (a tag, an anchor, a text of several lines, something broken) stay as they
are, and so do the lines of what they are in. What is between those is cut out: a mark stands for it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from itertools import accumulate, chain
from typing import Any, Final

import orjson

from pilothouse.machinery import jsonpieces
from pilothouse.machinery.yamlcodec.blockforms import BREAK, NO_RANK, BlockForm, Step, begins_some, indent_of, rank_of
from pilothouse.machinery.yamlcodec.blocknotes import Notes
from pilothouse.machinery.yamlcodec.build import MOST_REPEATED
from pilothouse.machinery.yamlcodec.cuts import Cut, Items, Members, Shortened, text_of
from pilothouse.machinery.yamlcodec.flowforms import WORD, OtherForm
from pilothouse.machinery.yamlcodec.flowjson import filled

_CONTROLS: Final = bytes(byte for byte in (*range(0x20), 0x7F) if byte != 0x0A)
_DASH: Final = b"\1"  # stands for one that begins an item
_STRAY: Final = b"\2"  # and for a quote that begins no text, and none ends
_GO_ON: Final = (b",\n", b"[\n", b"{\n")  # how a line ends if a value in flow style goes on in the next one
_OTHERS: Final = (b"\n---", b"\n...", b"\n%")
_INDICATORS: Final = b"#&*!|>'%@`?<"  # which mean something where a scalar begins
_AS_SIGNS: Final = bytes(
    byte if byte in b',:[]{}"\3' else
    {0x20: 0x5F, 0x0A: 0x3B, 0x01: 0x2D, 0x02: 0x3F, 0x5C: 0x3F}.get(byte, 0x21 if byte in _INDICATORS else 0x20)
    for byte in range(256)
)  # fmt: skip
_AS_WORDS: Final = bytes(0x20 if byte in b" \n,:[]{}\1\3" else byte for byte in range(256))
_COMMENT_LINE: Final = re.compile(rb"\n *#[^\n]*")
_COMMENT: Final = re.compile(rb"\n([^\n\"'#]*) #[^\n]*")
_TEXT: Final = re.compile(  # begins with its quotes, which are found at once
    rb"(\"(?<=[\[{,: \n\3]\")[^\"\\\n]*+(?:\\[^\n][^\"\\\n]*+)*\"|'(?<=[\[{,: \n\3]')[^'\n]*+(?:''[^'\n]*+)*')"
)
_SAMPLES: Final = 4  # places whose lines tell what the others are
_SAMPLE: Final = 2 << 10  # bytes
_MOST_STRAY: Final = 16  # quotes
_FEW: Final = 16  # items or members
_LEAST: Final = 4  # lines that are worth a cut
_SHORT: Final = 10  # lines of an item or a member that stays where others are cut out
_KEPT: Final = b"!"  # makes a line odd
_NO_MEMBERS: Final = Members({}, 0, tuple, None, alone=True)
_GAP: Final = re.compile(b"\\0+")


@dataclass(frozen=True, slots=True)
class _Part:
    """Lines, by their numbers, that hold nothing but whole items of one list or members of one object."""

    start: int
    end: int
    rank: int

    @property
    def is_list(self) -> bool:
        return self.rank % 2 == 1

    @property
    def indent(self) -> bytes:
        return b" " * (self.rank // 2)


class Blocks:
    """A text in block style, line by line. `kept`: lines that must stay as they are."""

    def __init__(self, data: bytes, kept: Iterable[int] = ()) -> None:
        """Raises OtherForm where the text has what no line may have, or too few lines that are sure."""
        if len(data.translate(None, _CONTROLS)) != len(data) or text_of(data) is None:
            raise OtherForm
        if data[:1] in b"{[%" or any(other in data for other in _OTHERS):
            raise OtherForm
        self._data = data
        text = data.rstrip(b"\n")
        if b"#" in text:
            text = _COMMENT.sub(rb"\n\1", _COMMENT_LINE.sub(b"\n", b"\n%b" % text))[1:]
        for end in _GO_ON:
            text = text.replace(end, end[:1] + BREAK)
        self._text = text
        self._cut = _Cut(text)
        if BREAK in text and BREAK in b"".join(self._cut.texts):
            raise OtherForm  # a text in quotes goes on in the next line
        self._lines = self._cut.signs()
        self._first = self._numbers()
        for number in kept:
            self._lines[bisect_right(self._first, number) - 1] += _KEPT
        self._form = BlockForm()
        self._steps = self._form.read(self._lines)
        self._odd = [at for at, step in enumerate(self._steps) if step.odd] if self._form.has_odd else []
        self._parts = self._planned() if self._odd else []

    def _numbers(self) -> Sequence[int]:
        """The number of each line in the text as it came; of what goes on in the next line, the first."""
        if BREAK not in self._text:
            return range(len(self._lines) + 1)
        return [*accumulate((1 + line.count(BREAK) for line in self._lines), initial=0)]

    def value(self) -> tuple[Any, list[str]] | None:
        """The value of the text, and what strict decoding finds; None where not all of it is sure. Raises OtherForm."""
        if self._odd:
            return None
        value, unique = by_name(self._cut.filled(self._steps, _form(self._steps)))
        if unique:
            return value, []
        return value, self._repeated()

    def _repeated(self) -> list[str]:
        """What strict decoding finds, if all lines are regular; of others, whether that is anything."""
        lines = self._text.split(b"\n")
        return Notes(MOST_REPEATED).read(self._lines, lines, self._first, self._data.count(b"\n"))

    def _planned(self) -> list[_Part]:
        """What can be cut out: all but the odd lines and those of what they are in."""
        rank = {line: rank_of(line) for line in {*self._lines}}
        if max(rank.values()) > NO_RANK:
            raise OtherForm
        ranks = bytearray(map(rank.__getitem__, self._lines))
        kept = bytearray(len(ranks))
        for at in self._odd:
            ranks[at] = NO_RANK
            kept[at] = 1
        backward = bytes(ranks[::-1])
        count = len(ranks)
        last, before = 0, -1
        for at in self._odd:
            least, around = min(2 * indent_of(self._lines[at]) + 1, NO_RANK), at
            within = at == before + 1 and least >= last  # what is odd as well
            before = at
            if within:
                continue
            last = least
            while least > 0:
                found = _below(least).search(backward, count - around)
                if found is None or kept[around := count - 1 - found.start()]:
                    break
                kept[around] = 1
                least = ranks[around]
        parts: list[_Part] = []
        for gap in _GAP.finditer(kept):
            start = gap.start()
            while start < gap.end():
                found = _below(ranks[start]).search(ranks, start + 1, gap.end())
                end = gap.end() if found is None else found.start()
                begin, behind = self._second(ranks, start, end), end
                if self._steps[end - 1].behind.pending:  # what is wrong behind it is told otherwise
                    behind = ranks.rindex(ranks[start], start, end)
                if ranks[start] != NO_RANK and behind - begin >= _LEAST:
                    parts.append(_Part(begin, behind, ranks[start]))
                start = end
        return parts

    def _second(self, ranks: bytearray, start: int, end: int) -> int:
        """Where the second of some items or members begins, if the first is short: what is wrong is told there."""
        found = ranks.find(ranks[start], start + 1, min(end, start + _SHORT))
        return found if found >= 0 else start

    def shortened(self, short: Shortened, runs: Sequence[Items | Members] = ()) -> Shortened:
        """The text, of which `short` tells what was cut out before, without the parts; `runs` are their values."""
        marked = "block" + blake2b(self._data, digest_size=12).hexdigest()
        lines = self._data.split(b"\n")
        kept: list[bytes] = []
        cuts: list[tuple[str, Cut]] = []
        moved: list[tuple[int, int]] = []  # lines, and how many before them are gone
        at = 0
        for number, part in enumerate(self._parts):
            start, end = self._first[part.start], self._first[part.end]
            kept += lines[at:start]
            name = f"{marked}n{number}"
            mark = [b"%b- %b" % (part.indent, name.encode())]
            if not part.is_list:  # what stands behind it is in block style, so it is
                mark = [b"%b%b:" % (part.indent, name.encode()), b"%b - 0" % part.indent]
            more = short.line(end) - short.line(start) - len(mark)
            run = runs[number] if runs else Items([]) if part.is_list else _NO_MEMBERS
            cuts.append((name, Cut(run, len(kept), more)))
            kept += mark
            at = end
            moved.append((at, at - len(kept)))
        kept += lines[at:]
        for name, cut in short.cuts.items():
            place = bisect_right(moved, (cut.line, len(lines)))
            cuts.append((name, Cut(cut.run, cut.line - (moved[place - 1][1] if place else 0), cut.more)))
        cuts.sort(key=lambda one: one[1].line)
        return Shortened.of(b"\n".join(kept), dict(cuts))

    def runs(self) -> list[Items | Members]:
        """What the parts mean. Raises OtherForm."""
        lines = self._text.split(b"\n")
        if not self._parts:
            return []
        cut = _Cut(b"\n".join([b"\n".join(lines[part.start : part.end]) for part in self._parts]))
        steps = [self._form.read(self._lines[part.start : part.end]) for part in self._parts]
        text = b"[%b]" % b",".join(map(_form, steps))
        values, unique = by_name(cut.filled([*chain.from_iterable(steps)], text))
        if not unique and self._repeated():
            raise OtherForm
        return [
            Items(value) if value.__class__ is list else Members(value, len(value), value.keys, None, alone=True)
            for value in values
        ]


def is_regular(data: bytes) -> bool:
    """Whether most lines are items or members, as far as some of them tell."""
    step = len(data) // _SAMPLES + 1
    samples = [data[place : place + _SAMPLE].split(b"\n")[1:-1] for place in range(0, len(data), step)]
    lines = [line for sample in samples for line in sample]
    if len(data) < _SAMPLES * _SAMPLE:
        return True
    signs = _Cut(b"\n".join(lines)).signs()
    return 2 * sum(map(begins_some, signs)) > len(signs)


def _form(steps: Sequence[Step]) -> bytes:
    """The JSON text of some lines, with places for their words."""
    return b"".join([step.text for step in steps]) + steps[-1].behind.closing()


@cache
def _below(rank: int) -> re.Pattern[bytes]:
    """What finds a rank that is less."""
    return re.compile(b"[\0-%b]" % re.escape(bytes([rank - 1])) if rank else b"(?!)", re.DOTALL)


def by_name(text: bytes) -> tuple[Any, bool]:
    """The value of JSON, with members by name, and whether surely none is there twice."""
    value = jsonpieces.loads(text)
    ordered = orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    if ordered != text:
        value = _outside_by_name(value)
        if orjson.dumps(value) != ordered:
            value = jsonpieces.loads(ordered)
    return value, len(ordered) == len(text)


def _outside_by_name(value: Any) -> Any:
    """The value with those objects by name that are in no long list or object: in documents, others often are."""
    if value.__class__ is dict and len(value) <= _FEW:
        return {name: _outside_by_name(value[name]) for name in sorted(value)}
    return [*map(_outside_by_name, value)] if value.__class__ is list and len(value) <= _FEW else value


class _Cut:
    """A text without what is in quotes, in one line each."""

    def __init__(self, text: bytes) -> None:
        self._bare, self.texts = _without_texts(b"\n%b\n" % text)

    def signs(self) -> list[bytes]:
        """The signs of each line."""
        signs = WORD.join(_dashed(b'"'.join(self._bare)).translate(_AS_SIGNS).split())[1:-1]
        if b"!" in signs:
            while b"a!a" in signs:
                signs = signs.replace(b"a!a", WORD)
            signs = signs.replace(b"a!", WORD)
        return signs.split(b";")

    def filled(self, steps: Sequence[Step], text: bytes) -> bytes:
        """The JSON text that steps made, with the words and the texts. Raises OtherForm."""
        words = _dashed(b' " '.join(self._bare)).translate(_AS_WORDS).split()
        return filled(text, b"".join([step.kinds for step in steps]), words, self.texts)


def _dashed(text: bytes) -> bytes:
    """With a sign for each dash that no word follows at once."""
    if b"- " in text or b"-\n" in text:
        text = text.replace(b"- ", _DASH + b" ").replace(b"-\n", _DASH + b"\n")
    return text


def _without_texts(text: bytes) -> tuple[list[bytes], list[bytes]]:
    """What is around the texts in quotes, each in one line, and those."""
    if b'"' not in text and b"'" not in text:
        return [text], []
    if b"'" not in text and b"\\" not in text:
        parts = _in_lines(text.split(b'"'))
        if parts is not None:
            return parts[::2], parts[1::2]
    parts = _TEXT.split(text)
    bare, texts = parts[::2], [part[1:-1] for part in parts[1::2]]
    if any(b'"' in part for part in bare):
        bare = [part.replace(b'"', _STRAY) for part in bare]
    for at, part in enumerate(parts[1::2]):
        if part[0] == 0x27:
            texts[at] = texts[at].replace(b"''", b"'").replace(b"\\", b"\\\\").replace(b'"', b'\\"')
    return bare, texts


def _in_lines(parts: list[bytes]) -> list[bytes] | None:
    """The parts between quotes, where each second one has no break in it; None where too many quotes are odd."""
    start = 1
    for _ in range(_MOST_STRAY):
        odd = next((at for at in range(start, len(parts), 2) if b"\n" in parts[at]), len(parts) - len(parts) % 2)
        if odd == len(parts) - len(parts) % 2 and len(parts) % 2:
            return parts
        start = min(odd, len(parts) - 1)
        parts[start - 1 : start + 1] = [parts[start - 1] + _STRAY + parts[start]]
    return None
