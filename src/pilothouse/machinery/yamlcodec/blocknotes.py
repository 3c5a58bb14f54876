"""What strict decoding tells of members that are there twice in block style that was read as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import orjson

from pilothouse.machinery.goquote import quote
from pilothouse.machinery.yamlcodec.blockforms import BREAK, LINE, NO_RANK, rank_of
from pilothouse.machinery.yamlcodec.flowforms import OtherForm
from pilothouse.machinery.yamlcodec.flowjson import flow_values
from pilothouse.machinery.yamlcodec.scalars import resolve

_NOWHERE: Final = -1


@dataclass(slots=True)
class _Object:
    """An object that is open: its column, its names so far, and what to tell when the value of the last one ends."""

    column: int
    names: set[str] = field(default_factory=set)
    again: str = ""
    line: int = 0  # where that is told, if nothing more belongs to the value
    goes_on: bool = False


class Notes:
    """Reads lines, of which it is known that they are regular, for names only."""

    def __init__(self, most: int) -> None:
        """`most`: so many are told."""
        self.told: list[str] = []
        self._most = most
        self._open: list[_Object] = []
        self._kinds: dict[bytes, tuple[int, int, bool]] = {}

    def read(self, signs: Sequence[bytes], texts: Sequence[bytes], first: Sequence[int], lines: int) -> list[str]:
        """The notes, by where the values end. `first`: the number of each line, from 0; `lines`: how many there are.

        Raises OtherForm where a value in flow style has a member twice.
        """
        _refuse_in_flow(signs, texts)
        for number, line in enumerate(signs):
            rank, begin, has_value = self._kinds.get(line) or self._kinds.setdefault(line, _kind(line))
            if rank == NO_RANK:
                continue
            self._ended(rank, first[number] + 1)
            if begin != _NOWHERE:
                self._name(texts[number], begin, has_value, first[number + 1])
            if len(self.told) >= self._most:
                return self.told[: self._most]
        self._ended(_NOWHERE, lines + 1)
        return self.told[: self._most]

    def _ended(self, rank: int, line: int) -> None:
        """What a line of that rank ends."""
        while self._open:
            last = self._open[-1]
            if rank > 2 * last.column:
                last.goes_on = True
                return
            if last.again:
                self.told.append(f"line {line if last.goes_on else last.line}: key {last.again} already set in map")
                last.again = ""
            if rank == 2 * last.column:
                return
            self._open.pop()

    def _name(self, text: bytes, begin: int, has_value: bool, line: int) -> None:
        """A member begins; `line`: where it ends, if that is the line in which it begins."""
        if not self._open or self._open[-1].column != begin:
            self._open.append(_Object(begin))
        last = self._open[-1]
        name = _name_of(text, begin)
        if name in last.names:
            shown = quote(name) if text[begin] in b"\"'" or resolve(name).__class__ is str else name
            if has_value:
                self.told.append(f"line {line}: key {shown} already set in map")
            else:
                last.again, last.line, last.goes_on = shown, line, False
        last.names.add(name)


def _kind(line: bytes) -> tuple[int, int, bool]:
    """The rank of a line, where its name begins, and whether there is a value behind it."""
    found = LINE.fullmatch(line)
    if found is None or found["name"] is None:
        return rank_of(line), _NOWHERE, False
    return rank_of(line), found.start("name"), found["value"] is not None


def _name_of(text: bytes, begin: int) -> str:
    sign = text[begin : begin + 1]
    if sign == b'"':
        end = begin + 1
        while text[end : end + 1] != sign:
            end += 2 if text[end : end + 1] == b"\\" else 1
        name: str = orjson.loads(text[begin : end + 1])
        return name
    if sign == b"'":
        return text[begin + 1 :].replace(b"''", BREAK).partition(b"'")[0].replace(BREAK, b"'").decode()
    end = text.index(b":", begin)
    while text[end + 1 : end + 2] not in (b" ", b""):
        end = text.index(b":", end + 1)
    return text[begin:end].decode()


def _refuse_in_flow(signs: Sequence[bytes], texts: Sequence[bytes]) -> None:
    """Raises OtherForm where a value in flow style has a member twice."""
    flows = [
        text[text.index(b"{") if b"[" not in sign else min(text.index(b"{"), text.index(b"[")) :]
        for sign, text in zip(signs, texts, strict=True)
        if b"{" in sign and b"," in sign and sign.rstrip(b"_").endswith((b"}", b"]"))
    ]
    if flows and flow_values([text.rstrip(b" ").replace(BREAK, b"\n") for text in flows]) is None:
        raise OtherForm
