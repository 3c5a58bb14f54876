"""What is wrong with a document, told by the parser without a second reading of what is known to be right.

The parser decides by what is open around a place: by the columns of the collections, and the brackets. So it is given
the fault with a spine before it, that is one short line for each collection that is open there.
"""

from __future__ import annotations

from typing import Final

from pilothouse.machinery.yamlcodec.errors import YAMLError
from pilothouse.machinery.yamlcodec.events import says_in_turn
from pilothouse.machinery.yamlcodec.faults import BLOCK, Pieces, fault, fault_of_first
from pilothouse.machinery.yamlcodec.frames import END, ENTRY, FLOW_MAP, LIST, MAP, PAIR, VALUE
from pilothouse.machinery.yamlcodec.nesting import Nesting
from pilothouse.machinery.yamlcodec.signs import LONGEST_KEY

_BLOCK: Final = (MAP, LIST)
_NEXT: Final = "\n"


def fault_behind(reader: Nesting, data: bytes, *, first: bool = False) -> YAMLError | None:
    """What is wrong behind the place up to which a document was surely read; None where nothing surely is.

    `first`: there may be breaks before another document that are none of ASCII.
    """
    before = _spine(reader)
    lines = data.count(b"\n", 0, reader.sure) - before.count(b"\n")
    border = _border(data, reader.sure)
    pieces = Pieces(before, data[reader.sure : border], data[border:])

    def line_of(line: int) -> int:
        return max(line + lines, 0)

    if first or says_in_turn(data, reader.sure):
        return fault_of_first(pieces, line_of, reader.anchors if reader.said is None else None)
    return fault(pieces, line_of)


def _border(data: bytes, place: int) -> int:
    """Where the block of bytes ends that the parser decodes at once when it comes to a place.

    A block is decoded before the text in it is looked at: so what is no text is told before what is wrong with it.
    """
    start = 0
    while start + BLOCK <= place:
        start += BLOCK
        back = 0
        while back < 3 and data[start - back - 1] & 0xC0 == 0x80:  # in a sign: it is decoded with the next block
            back += 1
        lead = data[start - back - 1]
        width = 4 if lead >= 0xF0 else 3 if lead >= 0xE0 else 2 if lead >= 0xC0 else 1
        if width > back + 1:
            start -= back + 1
    return start + BLOCK


def _spine(reader: Nesting) -> bytes:
    """The beginning of a document in which the same collections are open as at the sure place of the reader."""
    data, sure, due = reader.data, reader.sure, reader.sure_due
    frames = reader.stack[1 : reader.sure_depth]
    if len(frames) < reader.sure_depth - 1:
        frames.append(reader.left)
    line = data.rfind(b"\n", 0, sure) + 1

    def is_key(begin: int) -> bool:
        """Whether a bracket may begin a key: as long as its line goes on. That changes what is looked at first."""
        return line <= begin and sure - begin <= LONGEST_KEY

    begins = [*(frame.begin for frame in frames[1:]), reader.sure_begin if due == END else 0]
    made = ""
    if not frames and due == VALUE and (data.startswith(b"---") or data.find(b"\n---", 0, sure) >= 0):
        made = "---\n"
    for frame, begin in zip(frames, begins, strict=False):
        if frame.kind in _BLOCK:
            made += f"{made and _NEXT}{' ' * frame.indent}{'k: ' if frame.kind == MAP else '- '}"
            if frame.kind == MAP and data.find(b"\n", frame.colon, begin) >= 0:
                made += f"\n{' ' * frame.indent} "
        elif frame.kind == PAIR:
            made += " k: "
        else:
            made += _to_column(made, data[line : frame.begin]) if is_key(frame.begin) else ""
            made += ("{" if frame.kind == FLOW_MAP else "[") + ("" if is_key(frame.begin) else "\n ")
            if frame is not frames[-1] or due != ENTRY:
                made += "k: " if frame.kind == FLOW_MAP else ""
            elif frame.items or frame.members:
                made += "k, "
    if due == END:
        if is_key(reader.sure_begin):
            made += _to_column(made, data[line : reader.sure_begin]) + "["
            made += _to_column(made, data[line : sure - 1]) + "]"
        else:
            made += f"[\n{_to_column('', data[line : sure - 1])}]"
    elif not frames or frames[-1].kind in _BLOCK:
        made += "[]\n" if due == ENTRY else "\n" if frames else ""
    return made.encode()


def _to_column(made: str, before: bytes) -> str:
    """Spaces up to the column that is behind `before`: it counts where a block goes on, or a key begins."""
    return " " * (len(before.decode()) - len(made) + made.rfind("\n") + 1)
