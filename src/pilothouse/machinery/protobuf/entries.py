"""Maps on the wire: one field for each entry, in which a key and then a value stand.

Generated decoders read entries as the original writes them; what is here reads all others: some writers leave out what
is empty, and any order is allowed. The first few are read one by one; what comes behind them is likely to be short and
much, and is cut many at a time (`cutting`). Maps are by key once they are kept; whoever asks for an object may put that
off until it is good, for a map that is long is put in order in no less time than it is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice
from operator import le
from typing import Any, Final

from pilothouse.kit.runs import RUN
from pilothouse.machinery.protobuf.cutting import cut
from pilothouse.machinery.protobuf.repair import entry_parts, length
from pilothouse.machinery.protobuf.wire import ProtobufError, narrow, read_unsigned, run
from pilothouse.machinery.unordered import Unordered, put_in_order

# (data, the same as wire text, from, to, where to add maps in disorder, what was read so far, its last key, depth) ->
# the map, and the place behind it; any map, and the place of the first entry that cannot be read, if there is one
Reader = Callable[..., tuple[dict[str, Any], int]]

MANY: Final = 8192  # bytes of a map that are read entry by entry
_ALONE: Final = 1024  # bytes of one that are read so behind an entry that is long or damaged
_RUN: Final = 64  # texts that are read together, with a sign between them that is in none
_BETWEEN: Final = "".join(map(chr, range(128)))


def entry_reader(tag: str, value: Callable[..., Any] | None, values: Callable[[list[str]], list[Any]] | None) -> Reader:
    """Reads the entries of a map field up to another field, or to an entry that is none.

    `value` makes a value of (data, wire text, from, to, unordered, depth), None where the text is the
    value. `values` makes many of wire texts, if there is a better way than one by one.
    """
    first, second, width = ord(tag[0]), ord(tag[-1]), len(tag)

    def read(
        data: bytes, text: str, at: int, end: int, unordered: Unordered, into: dict[str, Any], last: str, *depth: int
    ) -> tuple[dict[str, Any], int]:
        keys, found = [*into], [*into.values()]
        alone = end if value is not None and values is None else at + MANY
        while at < end and data[at] == first and (width == 1 or data[at + 1] == second):
            if at > alone:
                behind = _take(tag, data, text, at, end, keys, found, values)
                alone = behind if behind > at else at + _ALONE
                at = behind
                continue
            try:
                start = at + width + 1
                size = data[start - 1]
                if size > 127:
                    size, start = read_unsigned(data, start - 1)
                stop = start + size
                key_at, value_end = start + 2, stop
                size = data[start + 1]
                if size > 127:
                    size, key_at = read_unsigned(data, start + 1)
                key_end = key_at + size
                value_at = key_end + 2
                size = data[value_at - 1]
                if size > 127:
                    size, value_at = read_unsigned(data, value_at - 1)
                plain = data[start] == 10 and data[key_end] == 18 and value_at + size == stop <= end
            except (IndexError, ProtobufError):
                plain = False
            if not plain:
                try:
                    start, stop = length(data, at + width, end)
                    key_at, key_end, value_at, value_end = entry_parts(data, start, stop)
                except (IndexError, ProtobufError):
                    return {}, at
            key = _whole(text[key_at:key_end])
            if key == last:  # the last of equal ones will do
                stop = run(data, at, stop, end)
            last = key
            keys.append(key)
            if value is None:
                found.append(_whole(text[value_at:value_end]))
            else:
                found.append(value(data, text, value_at, value_end, unordered, *depth))
            at = stop
        return gathered(keys, found, unordered), at

    return read


def _take(
    tag: str,
    data: bytes,
    text: str,
    at: int,
    end: int,
    keys: list[str],
    found: list[Any],
    values: Callable[[list[str]], list[Any]] | None,
) -> int:
    """Adds the entries that are short, up to one that is not, to keys and what was `found`; the place behind them.

    Takes none where one is damaged.
    """
    try:
        names, wires, behind = cut(tag, data, text, at, end)
    except (IndexError, ProtobufError):
        return at
    if not text[at:behind].isascii():
        names = _all_whole(names)
        wires = wires if values is not None else _all_whole(wires)
    found += wires if values is None else values(wires)
    keys += names
    return behind


def _whole(wire: str) -> str:
    return wire if wire.isascii() else narrow(wire)


def _all_whole(wires: list[str]) -> list[str]:
    found: list[str] = []
    for at in range(0, len(wires), _RUN):
        run = wires[at : at + _RUN]
        text = "".join(run)
        between = next((sign for sign in _BETWEEN if sign not in text), "")
        if text.isascii():
            found += run
        elif between:
            found += narrow(between.join(run)).split(between)
        else:
            found += map(_whole, run)
    return found


def gathered(keys: list[str], values: list[Any], unordered: Unordered) -> dict[str, Any]:
    """The map; of equal keys the last counts. If it is long and not by key, it is added to `unordered`."""
    made = dict(zip(keys, values, strict=True))
    if not all(map(le, keys, islice(keys, 1, None))):
        if len(made) <= RUN:
            return dict(sorted(made.items()))
        unordered.append(made)
    return made


def merged(made: dict[str, Any], more: dict[str, Any], unordered: Unordered) -> dict[str, Any]:
    """One map of two, which is the first one."""
    made.update(more)
    forget(unordered, [made, more])
    if len(made) > RUN:
        unordered.append(made)
    else:
        put_in_order([made])
    return made


def forget(unordered: Unordered, values: Iterable[Any]) -> None:
    """Of maps that are not part of the object any more nobody needs to know."""
    if unordered:
        gone = {*map(id, values)}
        unordered[:] = [made for made in unordered if id(made) not in gone]
