"""Long runs of alike lines or items, cut out of a document before the parser reads the rest.

An event costs the parser and us a microsecond, a list of a hundred thousand short lines some tenths of a second. A run
that can only mean "so many more items of the same list", or "members of the same object", is read as a whole, and the
parser finds a mark in its place. The first and the last of a run stay, so that what is around it is read as it would
have been. Where a mark turns up anywhere else (the run stood in a text, say), the document is read without cuts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, Protocol

from pilothouse.machinery.yamlcodec.alike import (
    ANCHOR,
    COLON,
    COMMENT,
    EQUAL_ITEMS,
    EQUAL_LINES,
    NUMBER,
    QUOTED_NAME,
    WORD,
    Alike,
    Equal,
)
from pilothouse.machinery.yamlcodec.cuts import NAME, QUOTED, SINGLE, TEXT, Read, Shortened, Span, Stride, without
from pilothouse.machinery.yamlcodec.few import Few
from pilothouse.machinery.yamlcodec.flows import flow_spans
from pilothouse.machinery.yamlcodec.listed import Listed
from pilothouse.machinery.yamlcodec.records import record_spans
from pilothouse.machinery.yamlcodec.several import Several
from pilothouse.machinery.yamlcodec.wrapped import Wrapped

_STEP: Final = 512  # bytes between places where a run is looked for: one that is worth it is longer
_FARTHEST: Final = 8 << 10


def shortened(data: bytes, aliases: bool, read: Read) -> Shortened | None:
    """A document without its long runs; None where there are none. `aliases`: it may have some.

    `read` gives the value of a short document.
    """
    records = [*record_spans(data, read)]
    # Where a bracket is missing the parser is likely to refuse the document: then little should be read before.
    closed = all(data.count(opening) == data.count(closing) for opening, closing in ((b"[", b"]"), (b"{", b"}")))
    items = [*_spans(data, b",", _ITEMS_IN_BRACKETS if closed else _ITEMS, records, aliases, read)]
    longer = sorted((*records, *flow_spans(data, items)), key=lambda span: span.start)
    lines = _COMMENTED_LINES if b" #" in data else _LINES
    spans = [*longer, *items, *_spans(data, b"\n", lines, longer, aliases, read)]
    if not spans:
        return None
    spans.sort(key=lambda span: span.start)
    return without(data, spans)


class _Form(Protocol):
    def at(self, data: bytes, at: int, aliases: bool, read: Read) -> tuple[Span | None, int] | None:
        """The run that begins with the sign at `at`, and where to look on; None where none begins."""


def _spans(
    data: bytes, mark: bytes, forms: Sequence[_Form], taken: Sequence[Span], aliases: bool, read: Read
) -> Iterator[Span]:
    """The runs of a document whose lines or items begin with `mark`, but for those within spans that were found."""
    ahead = [*reversed(taken)]
    at = data.find(mark)
    stride = Stride(_STEP, _FARTHEST)
    while at >= 0:
        while ahead and ahead[-1].end <= at:
            ahead.pop()
        if ahead and ahead[-1].start <= at:
            at = data.find(mark, ahead[-1].end)
            continue
        for form in forms:
            found = form.at(data, at, aliases, read)
            if found is not None:
                if found[0] is not None:
                    stride.found()
                    yield found[0]
                at = data.find(mark, found[1])
                break
        else:
            at = data.find(mark, at + stride.missed())


def _lines(comment: bytes) -> tuple[_Form, ...]:
    """Forms of lines; plain scalars with what may stand behind them."""
    text = TEXT + comment
    return (
        Equal(EQUAL_LINES),
        Alike(b"\n", b"- ", b"", ANCHOR + text),
        Alike(b"\n", b"- ", b"", QUOTED),
        Alike(b"\n", b"- ", b"", SINGLE),
        Alike(b"\n", b"- ", NAME + b": ", text),
        Alike(b"\n", b"", NAME + COLON, text),
        Alike(b"\n", b"", NAME + b": ", QUOTED),
        Alike(b"\n", b"", NAME + b": ", SINGLE),
        Alike(b"\n", b"", NUMBER + b": ", text),
        Alike(b"\n", b"", QUOTED_NAME + b": ", text),
        Alike(b"\n", b"", QUOTED_NAME + b": ", QUOTED),
        Few(),
        Several(),
    )


_LINES: Final = _lines(b"")
_COMMENTED_LINES: Final = _lines(COMMENT)
_ITEMS: Final[tuple[_Form, ...]] = (
    Equal(EQUAL_ITEMS),
    Alike(b",", b"", b"", WORD),
    Alike(b",", b"", NAME + b": ", WORD),
    Wrapped(named=True),
    Wrapped(named=False),
)
_ITEMS_IN_BRACKETS: Final = (*_ITEMS, Listed())
