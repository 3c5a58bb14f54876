"""Reading YAML into what the equal JSON document would have given: as JSON, in runs, or event by event."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, Final

import orjson
import yaml
from yaml.reader import ReaderError
from yaml.scanner import ScannerError

from pilothouse.machinery import jsonpieces
from pilothouse.machinery.digits import has_digits
from pilothouse.machinery.goquote import quote
from pilothouse.machinery.jsoncodec import surely_unique
from pilothouse.machinery.yamlcodec.blocks import Blocks, is_regular
from pilothouse.machinery.yamlcodec.build import MOST_REPEATED, TOO_DEEP, Builder, NotMet, TextError
from pilothouse.machinery.yamlcodec.cuts import Shortened, without
from pilothouse.machinery.yamlcodec.errors import YAMLError
from pilothouse.machinery.yamlcodec.flowforms import OtherForm
from pilothouse.machinery.yamlcodec.flowjson import flow_values
from pilothouse.machinery.yamlcodec.jsonruns import json_spans, same_in_yaml, shortly_before, stop_of
from pilothouse.machinery.yamlcodec.jsonvalue import ordered
from pilothouse.machinery.yamlcodec.runs import shortened
from pilothouse.machinery.yamlcodec.table import lines_come_again, table_value

_LONG: Final = 1 << 15  # bytes from which on a text is looked through first
_BEGINNING: Final = 1 << 16  # bytes of a document that tell whether it is broken everywhere
_ALIAS: Final = re.compile(rb"\*[\w-]")  # what may be one
_BARE_LIST: Final = re.compile(rb"(?:\[|- )[^:?&*!.<]*")
_EXPONENT: Final = re.compile(rb"[0-9][eE]")
_SECOND: Final = (b"\n---", b"\n...", b"\r---", b"\r...")  # what may begin another document
_BEHIND: Final = "did not find expected <document start>"  # of what stands behind the only document that is read
_CONTENT_BEHIND: Final = "unexpected content after document"  # the same of JSON
_CONTROLS: Final = bytes(byte for byte in (*range(0x20), 0x7F) if byte not in b"\t\n\r")
_NO_SIGNS: Final = bytes(byte for byte in range(256) if byte not in b'"[]{}')
_BREAKS: Final = bytes.maketrans(b"\r", b"\n")
_NONE: Final = type(None)
_SMALL: Final = 4  # so many times less of a document has to be left by `blocks`
_DENSE: Final = 16  # a document that is JSON is read as YAML if so many times less of it has to be read
_NEAR: Final = 16 << 10  # bytes behind a place that is no JSON any more
_AHEAD: Final = 2 << 10  # characters behind what is wrong that the parser may have looked at
_HUGE: Final = 19  # and of one that the parser's reader takes otherwise


def loads(data: bytes) -> Any:
    """The value of the first document, None for an empty one; members of objects sorted by name.

    Of repeated keys the last counts. A long list in the place of an object, which nobody takes, may come without its
    items. Raises YAMLError.
    """
    return loads_noting(data)[0]


def loads_noting(data: bytes) -> tuple[Any, list[str]]:
    """The same, and what strict decoding finds: `line 7: key "k" already set in map`."""
    in_flow, fault = data.startswith((b"{", b"[")), None
    if in_flow:
        # Most clients send JSON as YAML; that is twenty times faster to read.
        try:
            found = _dense_json(data) or _as_json(data)
        except orjson.JSONDecodeError as wrong:
            found, fault = None, wrong
        if found is not None:
            return found
    if b"\r\n" in data and b"\r\r" not in data:
        data, fault = data.replace(b"\r\n", b"\n"), None  # both end a line and mean the same
    aliases = _ALIAS.search(data) is not None
    found, checked = None, False
    if len(data) >= _LONG and _is_text(data):
        if in_flow:
            found = _nearly_json(data, fault)
        if found is None:
            checked = _check_first(data, aliases, len(data) if in_flow or _is_unbalanced(data) else _BEGINNING)
            found = (_as_flow(data) if in_flow else _as_table(data)) or _shortly(data, aliases)
    return _built(data, aliases, checked=checked) if found is None else found


def _as_json(data: bytes) -> tuple[Any, list[str]] | None:
    """The value of a document that is JSON, and its members that are there twice; None where it is none.

    Also where such a member stands in one of many lines, which are told. May raise orjson.JSONDecodeError.
    """
    if data[-1:].isspace() and data.rstrip(b" \r\n").endswith(b"\t"):
        return None  # a tab begins no token, also where none follows
    if (b"\n" in data or b"\r" in data) and b"\n:" in data.translate(_BREAKS, b" \t"):
        return None  # a colon stands in the line of its name
    try:
        value = jsonpieces.loads(data)
        if surely_unique(data, value):
            return ordered(value), []
        lines = data.rstrip(b"\r\n")
        if b"\n" in lines or b"\r" in lines or has_digits(data, _HUGE):
            return None
        return ordered(value), _repeated(data)
    except orjson.JSONDecodeError:
        raise
    except (RecursionError, ValueError):
        return None


def _dense_json(data: bytes) -> tuple[Any, list[str]] | None:
    """The same of a long document that is hardly more than a run."""
    if len(data) < _LONG:
        return None
    try:
        return _shortly(data, aliases=True, most=len(data) // _DENSE)
    except YAMLError:  # of what is no YAML, JSON as it is
        return None


def _nearly_json(data: bytes, fault: orjson.JSONDecodeError | None) -> tuple[Any, list[str]] | None:
    """The value of a document that is JSON but for some places; None where it is less. Raises YAMLError.

    `fault`: what is wrong with it as JSON, if that is known.
    """
    if not same_in_yaml(data):
        return None
    end = len(data)
    try:
        if fault is None:
            jsonpieces.loads(data)
    except orjson.JSONDecodeError as wrong:
        fault = wrong
    except RecursionError:
        return None
    if fault is not None:
        stop = stop_of(data, fault)
        _check_near(data, stop)
        end = stop if fault.msg.startswith(_CONTENT_BEHIND) else end
    short = without(data, json_spans(data[:end]))
    return _read_short(short) if len(short.text) < len(data) - end // 2 else None


def _check_near(data: bytes, stop: int) -> None:
    """Raises what is wrong near the place where a text is no JSON any more: as a rule it is no YAML there either."""
    text = data[: stop + _NEAR].decode("utf-8", "ignore").encode()
    short = shortly_before(text, stop)
    if short is None or _ALIAS.search(short.text) or any(mark in text for mark in _SECOND):
        return
    parser = yaml.CLoader(short.text)
    try:
        parser.raw_parse()
    except yaml.MarkedYAMLError as wrong:
        behind = short.text.decode()[_index(wrong) + _AHEAD :]
        if (len(text) == len(data) or "," in behind) and wrong.problem != _BEHIND:
            raise _wrong(wrong, short.line) from None
    finally:
        parser.dispose()


def _as_flow(data: bytes) -> tuple[Any, list[str]] | None:
    """The value of a document in flow style, as JSON with a plain word in it; None where it is none."""
    values = flow_values([data.rstrip(b" \n")])
    return None if values is None else (values[0], [])


class _Notes(list[Any]):
    """What is to be told of an object, in the place of the object."""


_NOTHING: Final = _Notes()


def _repeated(data: bytes) -> list[str]:
    """The members of a document of one line that are there twice, each told when its value ends."""

    def noted(pairs: list[tuple[str, Any]]) -> _Notes:
        if not pairs:
            return _NOTHING
        if len(dict(pairs)) == len(pairs) and not any(item.__class__ in _HOLDERS and item for _, item in pairs):
            return _NOTHING
        notes = _Notes()
        seen: set[str] = set()
        for key, item in pairs:
            if len(notes) >= MOST_REPEATED:
                break
            if item.__class__ in _HOLDERS and item:
                notes += _within(item)
            if key in seen:
                notes.append(f"line 1: key {quote(key)} already set in map")
            seen.add(key)
        return notes

    return _within(json.loads(data, object_pairs_hook=noted))[:MOST_REPEATED]


_HOLDERS: Final[frozenset[type]] = frozenset((_Notes, list))


def _within(item: Any) -> list[str]:
    """The notes of a value: of an object, or of all objects in a list."""
    if item.__class__ is _Notes:
        return list(item)
    notes: list[str] = []
    todo = [item]
    while todo:
        item = todo.pop()
        if item.__class__ is _Notes:
            notes += item
        else:
            todo += [inner for inner in reversed(item) if inner.__class__ in _HOLDERS and inner]
    return notes


def duplicates_text(repeated: list[str]) -> str:
    """How an error shows repeated keys."""
    return "yaml: unmarshal errors:" + "".join(f"\n  {one}" for one in repeated)


def _is_unbalanced(data: bytes) -> bool:
    """Whether quotes or brackets are likely to be broken: what is wrong is better looked for before anything else."""
    signs = data.translate(None, _NO_SIGNS)
    return bool(
        signs.count(b'"') % 2 or signs.count(b"[") != signs.count(b"]") or signs.count(b"{") != signs.count(b"}")
    )


def _is_text(data: bytes) -> bool:
    """Whether there are no bytes that the parser refuses wherever they stand."""
    if len(data.translate(None, _CONTROLS)) < len(data):
        return False
    try:
        return data.isascii() or bool(data.decode())
    except UnicodeDecodeError:
        return False


def _shortly(data: bytes, aliases: bool, most: int | None = None) -> tuple[Any, list[str]] | None:
    """The value of a document that has long runs, which are not read line by line; None where there are none.

    Also None where that tells less than reading the document would, and where more than `most` bytes are left to be
    read line by line. Raises YAMLError.
    """
    short = shortened(data, aliases, lambda text: _built(text, aliases=False))
    left = data if short is None else short.text
    if most is None and len(left) >= _LONG and is_regular(left):
        try:
            return _in_blocks(short or Shortened.of(data, {}), aliases)
        except OtherForm:
            if short is not None:
                _check_first(data, aliases)
    if short is None or (most is not None and len(short.text) > most):
        return None
    return _read_short(short)


def _as_table(data: bytes) -> tuple[Any, list[str]] | None:
    """The value of a document in block style whose lines come again; None where it is no table of lines."""
    if not lines_come_again(data):
        return None
    found = table_value(data, lambda text: _built(text, aliases=False, checked=True))
    if found is None:
        return None
    value, repeated = found
    try:
        return jsonpieces.loads(orjson.dumps(value, option=orjson.OPT_SORT_KEYS)), repeated
    except TypeError:  # it has numbers that orjson does not write
        return ordered(value), repeated


def _in_blocks(short: Shortened, aliases: bool) -> tuple[Any, list[str]] | None:
    """The value of a document of which something long is left, by way of JSON. Raises OtherForm, YAMLError."""
    blocks = Blocks(short.text, [cut.line for cut in short.cuts.values()])
    found = blocks.value()
    if found is not None:
        return found
    left = blocks.shortened(short)
    if len(left.text) * _SMALL > len(short.text):
        raise OtherForm
    if not aliases:
        _check_short(left)
    return _read_short(blocks.shortened(short, blocks.runs()))


def _check_short(short: Shortened) -> None:
    """Raises what is wrong with the text that is left of a document."""
    builder, parser = Builder(short), yaml.CLoader(short.text)
    try:
        wrong = _behind(parser, builder)
    except ReaderError:
        raise OtherForm from None
    finally:
        parser.dispose()
    if builder.missed(None if wrong is None else _line(wrong)):
        raise OtherForm
    if wrong is not None:
        raise _wrong(wrong, short.line)


def _read_short(short: Shortened) -> tuple[Any, list[str]] | None:
    """The value of a document out of which runs were cut; None where that tells too little. Raises YAMLError."""
    builder = Builder(short)
    parser = yaml.CLoader(short.text)
    event: Any = None

    def next_event() -> Any:
        nonlocal event
        event = parser.get_event()
        return event

    try:
        value = builder.build(next_event)
        return None if builder.missed() else (value, builder.repeated)
    except (NotMet, ReaderError):
        return None
    except TextError:
        _behind(parser, builder)  # there may be marks that it has to look at
        if builder.missed(event.start_mark.line):
            return None
        raise
    except yaml.MarkedYAMLError as wrong:
        if builder.missed(_line(wrong)):
            return None
        raise _wrong(wrong, short.line) from None
    except YAMLError as said:
        wrong_text = _behind(parser, builder)
        if builder.missed(None if wrong_text is None else _line(wrong_text)):
            return None
        raise (said if wrong_text is None else _wrong(wrong_text, short.line)) from None
    finally:
        parser.dispose()


def _behind(parser: yaml.CLoader, builder: Builder) -> yaml.MarkedYAMLError | None:
    """What is wrong with the text behind something that a document says: that is told first."""
    try:
        event = parser.get_event()
        while event.__class__ not in (yaml.DocumentEndEvent, yaml.StreamEndEvent, _NONE):
            builder.pass_by(event)
            event = parser.get_event()
    except yaml.MarkedYAMLError as wrong:
        return wrong
    return None


def _built(data: bytes, aliases: bool, *, checked: bool = False) -> tuple[Any, list[str]]:
    """The value of the first document, read event by event. `checked`: by `_check`. Raises YAMLError."""
    builder = Builder()
    # The C parser takes a byte order mark for the choice of an encoding, as Go's does.
    parser = yaml.CLoader(data)
    try:
        checked = checked or _check(data, aliases)
        if checked and _is_bare_list(data):
            return [], []
        return _first(parser, builder, checked), builder.repeated
    except ReaderError as wrong:
        raise YAMLError(f"yaml: {_reason(wrong)}") from None
    except yaml.MarkedYAMLError as wrong:
        raise _wrong(wrong) from None
    finally:
        parser.dispose()


def _first(parser: yaml.CLoader, builder: Builder, checked: bool) -> Any:
    try:
        return builder.build(parser.get_event)
    except TextError:
        raise
    except YAMLError:
        wrong = None if checked else _behind(parser, builder)
        if wrong is not None:
            raise wrong from None
        raise


class _Enough(Exception):
    """All that is wanted of a document has been read."""


class _Pieces:
    """A document that is read piece by piece, so that others have their turns meanwhile, as far as it is wanted."""

    def __init__(self, data: bytes, most: int) -> None:
        self.data, self.most = data, most
        self.at = 0

    def read(self, size: int = _LONG) -> bytes:
        """The next piece. Raises _Enough."""
        start = self.at
        if start >= self.most and start < len(self.data):
            raise _Enough
        self.at += size
        return self.data[start : self.at]


def _check_first(data: bytes, aliases: bool, most: int | None = None) -> bool:
    """As `_check`, before anything else is tried. Raises YAMLError."""
    try:
        return _check(data, aliases, most)
    except ReaderError as wrong:
        raise YAMLError(f"yaml: {_reason(wrong)}") from None
    except yaml.MarkedYAMLError as wrong:
        raise _wrong(wrong) from None


def _check(data: bytes, aliases: bool, most: int | None = None) -> bool:
    """Raises what is wrong with the text of a long document, or the first `most` bytes of it.

    That takes a fifth of what it costs to make its events. False where not all was read, and where what is wrong has to
    be told together with what the document says.
    """
    if len(data) < _LONG or aliases or any(mark in data for mark in _SECOND):
        return False
    parser = yaml.CLoader(_Pieces(data, len(data) if most is None else most))
    try:
        parser.raw_parse()
    except _Enough:
        return False
    except yaml.MarkedYAMLError as wrong:
        if wrong.problem != _BEHIND:
            raise
    finally:
        parser.dispose()
    return True


def _is_bare_list(data: bytes) -> bool:
    """Whether a document is a list, and nothing in it can be wrong: it has no members, no tags and no huge numbers."""
    return bool(_BARE_LIST.fullmatch(data)) and not _EXPONENT.search(data) and not has_digits(data, _HUGE)


def _index(wrong: yaml.MarkedYAMLError) -> int:
    """The place where something is wrong, in characters."""
    mark = wrong.problem_mark or wrong.context_mark
    return int(mark.index) if mark is not None else 0


def _reason(wrong: ReaderError) -> str:
    reason = wrong.reason
    return reason.decode() if isinstance(reason, bytes) else str(reason)


def _line(wrong: yaml.MarkedYAMLError) -> int:
    """The line where something is wrong, from 0."""
    mark = wrong.problem_mark or wrong.context_mark
    return int(mark.line) if mark is not None else 0


def _wrong(wrong: yaml.MarkedYAMLError, line_of: Callable[[int], int] = int) -> YAMLError:
    """What the original says of a text that is none; `line_of` tells the line of the whole document, from 0.

    Go counts lines from 0 and adds one for the scanner only; line 0 is not shown.
    """
    if wrong.problem == "exceeded maximum nesting depth":  # this parser goes less deep
        return YAMLError(TOO_DEEP)
    line = line_of(wrong.problem_mark.line) if wrong.problem_mark is not None else 0
    if line:
        line += 1 if isinstance(wrong, ScannerError) else 0
    elif wrong.context_mark is not None:
        line = line_of(wrong.context_mark.line)
    where = f"line {line}: " if line else ""
    return YAMLError(f"yaml: {where}{wrong.problem or 'unknown problem parsing YAML content'}")
