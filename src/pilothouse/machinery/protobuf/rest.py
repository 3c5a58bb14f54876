"""What the straight-line decoder could not read of a message, because its fields are in another order or unknown.

They are put in order, read by the same decoder as a message of their own, and added to what is there. Nothing is read
twice, so it costs little more than a message in order. Where that cannot be, because a message is in two parts, the
message around it is put in order as a whole, and read again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from pilothouse.machinery.protobuf import plan
from pilothouse.machinery.protobuf.absent import most_items
from pilothouse.machinery.protobuf.again import Again
from pilothouse.machinery.protobuf.entries import forget, merged
from pilothouse.machinery.protobuf.plan import INLINE, LIST, MAP, Slot
from pilothouse.machinery.protobuf.repair import (
    SHORT,
    Known,
    Way,
    check_counts,
    known,
    length,
    more_of,
    put,
    put_again,
    sized,
    skip,
)
from pilothouse.machinery.protobuf.wire import (
    END_GROUP,
    LENGTH,
    VARINT,
    Loose,
    Odd,
    ProtobufError,
    TooLong,
    TooMany,
    read_unsigned,
    run,
)  # fmt: skip
from pilothouse.machinery.schema import Schema
from pilothouse.machinery.unordered import Unordered

_ABSENT: Final = object()


def rest_of(schema: Schema, decode: Callable[..., Any]) -> Callable[..., dict[str, Any]]:
    """The function that reads data[at:end], with which the message from `start` ends, into `obj`.

    That holds what was before.
    """
    fields = known(schema)
    slots = plan.slots(schema)
    order = _names(schema)
    empty: dict[str, Any] = decode(b"", "", 0, 0, [], {})

    def rest(
        data: bytes, at: int, end: int, unordered: Unordered, obj: dict[str, Any], start: int, *depth: int
    ) -> dict[str, Any]:
        if at > end:
            raise Odd
        try:
            found = _sort(fields, data, at, end)
            if not found:
                return obj
            written = _joined(found)
            if not at and written == data:
                raise Odd  # nothing was read of it, and nothing would be now
            more = decode(written, written.decode("latin-1"), 0, len(written), unordered, {}, *depth)
            for slot in slots:
                if slot.number in found:
                    _add(slot, obj, more, empty, unordered)
        except Loose:  # a message in parts: all must be read again
            written = _joined(_sort(fields, data, start, end, in_parts=True))
            forget(unordered, [obj.pop(name, None) for name in order])
            obj.update(decode(written, written.decode("latin-1"), 0, len(written), unordered, {}, *depth))
            return obj
        ordered = {name: obj.pop(name) for name in order if name in obj}
        obj.update(ordered)
        return obj

    return rest


def _joined(found: dict[int, bytes]) -> bytes:
    return b"".join([found[number] for number in sorted(found)])


def _names(schema: Schema) -> list[str]:
    """The members in the order of the JSON form."""
    names: list[str] = []
    for slot in sorted(plan.slots(schema), key=lambda slot: slot.place):
        names += _names(slot.schema) if slot.label == INLINE else [slot.name]
    return names


def _sort(fields: Known, data: bytes, at: int, end: int, *, in_parts: bool = False) -> dict[int, bytes]:
    """The known fields by number, as they are written: of plain values the last, of lists and maps all.

    `in_parts`: a message that comes more than once is put together; else it is Loose.
    """
    found: dict[int, Any] = {}  # as `put` keeps it
    ways, last = fields.ways, -1
    strange: set[int] = set()  # tags of unknown numbers
    again = Again(at)
    look = again.look
    while at < end:
        if at >= look:
            at, look = _look(fields, again, data, at, end, found), again.look
            continue
        start = at
        tag = data[at]
        at += 1
        if tag > 127:
            tag, at = _long_tag(data, start)
        way = ways.get(tag)
        if way is None:
            if tag in strange:
                at = fields.skip_again(data, start, at, tag & 7, end, look)
                continue
            way = fields.numbers.get(tag >> 3)
            if way is not None:
                at = _packed(way, tag, data, start, at, end, found)
                continue
            if tag & 7 == END_GROUP or not tag >> 3:
                raise Odd
            strange.add(tag)
            at = run(data, start, skip(data, at, tag & 7, end), end)
            continue
        size = data[at]
        if way.wire == LENGTH:
            at = at + 1 + size if size < 128 else length(data, at, end)[1]
        elif way.wire == VARINT:
            at = at + 1 if size < 128 else read_unsigned(data, at)[1]
        else:
            at += 8
        if at > end:
            raise Odd
        if way.once:
            found[way.number] = data[start:at]
        elif way.merged and in_parts:
            put(found, way, data[at - size if size < 128 else length(data, start + len(way.tag), end)[0] : at])
        elif way.merged and way.number in found:
            if size:
                raise Loose
            continue  # an empty part adds nothing
        else:
            if way.message is None or way.label == MAP:  # all that matters of them is where they end
                at = more_of(way, tag, data, at, end if way.label == MAP else min(look, end))
            put(found, way, data[start:at])
        if tag == last and at - start < SHORT and data.startswith(data[start:at], at):
            at = put_again(found[way.number], way, data, start, at, end)
        last = tag
    if at > end:
        raise Odd
    return _written(fields, found, in_parts)


def _look(fields: Known, again: Again, data: bytes, at: int, end: int, found: dict[int, Any]) -> int:
    """Takes many fields at once, if there are such; the place to go on from."""
    at = again.step(data, at, end, found)
    check_counts(fields, found)
    if again.begun < 0:
        at = fields.single.take(data, at, end, found)
        again.look = max(again.look, at)
    return at


def _written(fields: Known, found: dict[int, Any], in_parts: bool) -> dict[int, bytes]:
    for number, value in found.items():
        if value.__class__ is not bytes:
            way, whole = fields.numbers[number], b"".join(value)
            found[number] = way.tag + sized(whole) if way.merged and in_parts else whole
    return found


def _long_tag(data: bytes, start: int) -> tuple[int, int]:
    """A tag of more than one byte, and the place behind it."""
    more = data[start + 1]
    if 0 < more < 128:
        return data[start] & 127 | more << 7, start + 2
    tag, at = read_unsigned(data, start)
    if not 1 << 14 <= tag < 1 << 34:
        raise Odd
    return tag, at


def _packed(way: Way, tag: int, data: bytes, start: int, at: int, end: int, found: dict[int, Any]) -> int:
    """Numbers of a list that are packed into the field from `start` on, behind its tag; the place behind them."""
    if tag & 7 != LENGTH or not way.packed:
        raise Odd
    begin, at = length(data, at, end)
    if begin < at:
        put(found, way, data[start:at])
    return at


def _add(slot: Slot, obj: dict[str, Any], more: dict[str, Any], empty: dict[str, Any], unordered: Unordered) -> None:
    """One field of `more` to `obj`. `empty` is what an empty message shows. Raises Odd where both hold a message."""
    name = slot.name
    if slot.label == LIST and obj.get(name):
        obj[name] += more[name]
        most = most_items(slot)
        if most and len(obj[name]) > most:
            raise TooMany(slot.go_name, most)
    elif slot.label == MAP and obj.get(name):
        merged(obj[name], more[name], unordered)
    else:
        names = _names(slot.schema) if slot.label == INLINE else (name,)
        for name in names:
            if plan.message_of(slot) is not None and obj.get(name, _ABSENT) != empty.get(name, _ABSENT):
                raise Loose
            if name in more:
                obj[name] = more[name]
            else:
                obj.pop(name, None)


def check_count(data: bytes, at: int, end: int, tag: int, name: str, most: int, filled: int) -> None:
    """Count the messages of the list that begins at `at`, before any of them is read.

    `tag` is two bytes, the second one zero where there is but one; `filled` is how many may be once they have their
    defaults. Raises TooMany, TooLong.
    """
    first, second = tag & 255, tag >> 8
    width = 2 if second else 1
    count = 0
    try:
        while count <= most and at < end and data[at] == first and (not second or data[at + 1] == second):
            start = at
            at += width
            size = data[at]
            if size < 128:
                at += size + 1
            else:
                size, at = read_unsigned(data, at)
                at += size
            count += 1
            if not size:
                behind = run(data, start, at, end)
                count += (behind - at) // (at - start)
                at = behind
    except (IndexError, ProtobufError):
        return  # whoever reads the list will find it
    if count > most:
        raise TooMany(name, most)
    if count > filled:
        raise TooLong(name, filled)
