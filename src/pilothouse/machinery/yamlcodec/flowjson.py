"""Values in flow style, `[a, {b: c}]`, by way of JSON: the fast parser reads what is made of their text.

Each step is taken for all of the text at once. The words are cut out of it. What is left are signs, whose meaning is a
form of JSON text with a place for each word (`flowforms.py`). Words that are no texts, as numbers, are marked. Then all
words are put into the form.

Whatever is not sure to mean the same gives no value at all: anchors, tags, comments, `[a: b]`, a member twice.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import compress
from math import isfinite
from operator import itemgetter
from typing import Any, Final

import orjson
import yaml

from pilothouse.machinery import jsonpieces
from pilothouse.machinery.digits import has_digits, may_have_floats
from pilothouse.machinery.jsoncodec import GoFloat, plain_floats, surely_unique
from pilothouse.machinery.yamlcodec.cuts import text_of
from pilothouse.machinery.yamlcodec.flowforms import (
    END,
    NAME,
    NAME_PART,
    NAME_QUOTED,
    VALUE,
    VALUE_PART,
    VALUE_QUOTED,
    WORD,
    Form,
    OtherForm,
    Step,
)
from pilothouse.machinery.yamlcodec.scalars import NUMERIC, WORDS, resolve

_CONTROLS: Final = bytes(
    byte for byte in (*range(0x20), 0x7F) if byte != 0x0A
)  # tabs, too, are no signs in every place
# What no text has: the start or the end of a document in a line, more levels than anybody writes, a space before one.
_OTHERS: Final = (b"\n---", b"\n...", b"[" * 64, b"{" * 64, b"\0 ", b"\0\n")
_BEYOND: Final = 18  # digits of a number that may be none of int64
_OTHER_JSON: Final = (b"\\ud", b"\\uD", b"\\u0000", b" " * 64)  # surrogates, and spaces that make a name too long
_FAR_COLON: Final = re.compile(rb"\n *:")
_LONG_TEXT: Final = re.compile(rb'"[^"]{1000}')
_MARK: Final = b',"\\u0000",'  # an item between two values; no text has it
_MARKED: Final = "\0"

_QUOTE: Final = b'"'  # a text in quotes among the signs and the words
_AS_SIGNS: Final = bytes(
    byte if byte in b',:[]{}"\0' else {0x20: 0x5F, 0x0A: 0x3B, 0x09: 0x23}.get(byte, 0x20) for byte in range(256)
)
_AS_WORDS: Final = bytes(0x20 if byte in b" \n\t,:[]{}\0" else byte for byte in range(256))
_COMMENTED: Final = b"\t"  # stands for a comment; a tab is in no text
_DENSE: Final = 8  # bytes for each comment: more of them cost more than what is around them
_COMMENT: Final = re.compile(rb"#(?<=[ \n]#)[^\n\0]*+")
# A text without an end goes to the end of all, so that no other is looked for in it. What may be before a sign is asked
# behind it: so the search goes from sign to sign.
_TEXT: Final = re.compile(
    rb"(\"(?<=[\[{,: \n\0].)[^\"\\]*+(?:\\.[^\"\\]*+)*(?:\"|\\?\Z)|'(?<=[\[{,: \n\0].)[^']*+(?:''[^']*+)*(?:'|\Z)"
    rb"|\#(?<=[ \n].)[^\n\0]*+)",
    re.DOTALL,
)
_FOLD: Final = re.compile(rb" *\n[ \n]*")
_EMPTY_LINE: Final = re.compile(rb"\n *\n")
_OTHER_ESCAPE: Final = re.compile(rb"\\(?:[^\"\\/bfnrtu]|u[dD])")
_ESCAPE: Final = re.compile(rb"\\(?:x([0-9a-fA-F]{2})|U0000([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(u[dD].|[^\n]))")
_ESCAPES: Final = {
    **{sign: b"\\" + sign for sign in (b'"', b"\\", b"/", b"b", b"f", b"n", b"r", b"t", b"u")},
    b"0": b"\\u0000", b"a": b"\\u0007", b"v": b"\\u000b", b"e": b"\\u001b", b" ": b" ", b"_": b"\\u00a0",
    b"N": b"\\u0085", b"L": b"\\u2028", b"P": b"\\u2029",
}  # fmt: skip
_MOST_OTHER: Final = 500  # texts that are read by the parser
_FIRSTS: Final = bytes(byte for byte in range(0x21, 256) if byte not in b"?#&*!|>'%@`")
_LEAST_OF_FEW: Final = 8  # times that each of few different pieces comes again, on average
_SAMPLE: Final = 8 << 10  # bytes
_BEHIND_PIECE: Final = b"\1"
_END_OF_PIECE: Final = END + _BEHIND_PIECE
_NO_BRACKETS: Final = bytes(byte for byte in range(256) if byte not in b"[]{}")
_ENDS: Final = (END, b"},", b"],", b",")  # what ends pieces of signs and words
_MARKS: Final = (END, b"}", b"]")  # what ends longer pieces of signs
_LONGEST: Final = 200  # bytes of a word in a name

_MERGE: Final = b"<<"
_SPECIAL: Final = frozenset((_MERGE, *map(str.encode, WORDS)))
_IS_NUMERIC: Final = bytes(chr(byte) in NUMERIC for byte in range(256))
_IS_IN_NAME: Final = bytes(byte in NAME + NAME_PART + NAME_QUOTED for byte in range(256))
_IS_QUOTED: Final = bytes(byte in NAME_QUOTED + VALUE_QUOTED for byte in range(256))
_PLAIN: Final = NAME + NAME_PART + VALUE + VALUE_PART
_IS_VALUE: Final = bytes(byte in VALUE for byte in range(256))
_IS_NAME: Final = bytes(byte in NAME for byte in range(256))
_WHOLE: Final = re.compile(rb"0|-?[1-9][0-9]{0,17}")
_DIGITS: Final = b"0123456789 "
_SHAPE: Final = bytes(0x31 if byte in b"123456789" else byte for byte in range(256))
# Numbers, a space before each, that mean the same in JSON; those that may be no integers are written anew.
_WHOLE_NUMBERS: Final = re.compile(rb"(?: (?:0|-?[1-9][0-9]{0,17}))*")
_NUMBERS: Final = re.compile(rb"(?: -?(?:0|[1-9][0-9]{0,9})(?:\.[0-9]{1,4})?)*")


def flow_values(texts: Sequence[bytes]) -> list[Any] | None:
    """The values of texts, each a list or an object in flow style from its bracket to its bracket; None if one is not
    sure to be that: then read them in another way.

    A text may have breaks (`\n`) in it. Members are in order of their names. None also where an object has a member
    twice.
    """
    text = END.join(texts)
    if len(text.translate(None, _CONTROLS)) != len(text) - len(texts) + 1 or text_of(text) is None:
        return None
    if text[:1] in b" \n" or any(other in text for other in _OTHERS):
        return None
    try:
        if _QUOTE in text and _is_json(texts[0]) and _is_json(texts[-1]):
            values = _of_json(text, len(texts))
            if values is not None:
                return values
        return _by_name(b"[%b]" % _as_json(text))
    except (OtherForm, ValueError, TypeError):  # TypeError: too many levels
        return None


def _is_json(text: bytes) -> bool:
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError:
        return False
    return True


def _of_json(text: bytes, count: int) -> list[Any] | None:
    """Of texts that are JSON as it is; None where they are not, or where JSON and YAML are not the same."""
    if any(other in text for other in _OTHER_JSON) or (b"\n" in text and _FAR_COLON.search(text)):
        return None
    if may_have_floats(text) or has_digits(text, _BEYOND) or _LONG_TEXT.search(jsonpieces.unquoted(text)):
        return None
    try:
        values = _by_name(b"[%b]" % text.replace(END, _MARK))
    except orjson.JSONDecodeError:
        return None
    if values is None or len(values) != 2 * count - 1 or values[1::2].count(_MARKED) != count - 1:
        return None
    return values[::2]


def _by_name(text: bytes) -> list[Any] | None:
    """The values in a list of JSON, with members by name; None where one is there twice."""
    values: list[Any] = jsonpieces.loads(text)
    if b"{" not in text:
        return values
    ordered = orjson.dumps(values, option=orjson.OPT_SORT_KEYS)
    if ordered == text:
        return values
    if len(ordered) != len(text) and not surely_unique(text, values):
        return None
    return values if ordered == orjson.dumps(values) else jsonpieces.loads(ordered)


def _as_json(text: bytes) -> bytes:
    """JSON of the values, with commas between them. Raises OtherForm."""
    commented = b" #" in text or b"\n#" in text
    if text.count(b"#") * _DENSE > len(text):
        raise OtherForm
    if _QUOTE not in text and b"'" not in text:
        if commented:
            text, commented = _COMMENT.sub(_COMMENTED, text), False
        brackets = text.translate(None, _NO_BRACKETS)
        if brackets.count(b"[") != brackets.count(b"]") or brackets.count(b"{") != brackets.count(b"}"):
            raise OtherForm
    for mark in () if commented else _ENDS:
        if not _few(text[:_SAMPLE].split(mark)):
            continue
        pieces = _pieces(text, mark)
        try:
            if _few(pieces):
                return b"".join([step.text for step in _FewForm().read(pieces)])
        except OtherForm:
            pass  # a comma in quotes, say
    signs, words, texts = _cut(text)
    mark = next((mark for mark in _MARKS if _few(signs[:_SAMPLE].split(mark))), b"")
    steps = Form().read(_pieces(signs, mark) if mark else _pieces(signs.replace(END, _END_OF_PIECE), b","))
    form, kinds = b"".join([step.text for step in steps]), b"".join([step.kinds for step in steps])
    return filled(form, kinds, words, texts)


def _pieces(text: bytes, mark: bytes) -> list[bytes]:
    """The pieces of a text that end with a mark, or where a piece ends already."""
    return text.replace(mark, mark + _BEHIND_PIECE).split(_BEHIND_PIECE)


def _few(pieces: list[bytes]) -> bool:
    """Whether there are few different ones."""
    return len({*pieces}) * _LEAST_OF_FEW <= len(pieces)


class _FewForm(Form):
    """Reads pieces with their words."""

    def step(self, place: Any, piece: bytes) -> Step:
        """What a piece means there. Raises OtherForm."""
        signs, words, texts = _cut(piece)
        step = super().step(place, signs)
        return Step(filled(step.text, step.kinds, words, texts), b"", step.behind)


def _cut(text: bytes) -> tuple[bytes, list[bytes], list[bytes]]:
    """The signs, the words with `"` for those in quotes, and what is in the quotes, as in JSON. Raises OtherForm."""
    texts: list[bytes] = []
    spaced = text
    if _QUOTE in text or b"'" in text:
        bare, texts = _without_texts(text)
        text, spaced = _QUOTE.join(bare), b' " '.join(bare)
        if text.count(_QUOTE) != len(texts):
            raise OtherForm
    if b"\\" in text:
        raise OtherForm
    signs = b",%b," % text  # so that signs are around all words
    return WORD.join(signs.translate(_AS_SIGNS).split())[1:-1], spaced.translate(_AS_WORDS).split(), texts


def _without_texts(text: bytes) -> tuple[list[bytes], list[bytes]]:
    """What is around the texts in quotes, and those. Raises OtherForm."""
    if b"'" not in text and b"\\" not in text and b"#" not in text:
        parts = text.split(_QUOTE)
        return parts[::2], parts[1::2]
    parts = _TEXT.split(b",%b\n" % text)
    if not parts[-1]:
        raise OtherForm  # a text that does not end
    parts[0] = parts[0][1:]
    parts[-1] = parts[-1][:-1]
    bare, quoted = _without_comments(parts) if b"#" in text else (parts[::2], parts[1::2])
    texts = [part[1:-1] for part in quoted]
    single = [at for at, part in enumerate(quoted) if part[0] == 0x27]
    joined = END.join([texts[at] for at in single])
    if b"'" in joined or b"\\" in joined or _QUOTE in joined:
        joined = joined.replace(b"''", b"'").replace(b"\\", b"\\\\").replace(_QUOTE, b'\\"')
        for at, escaped in zip(single, joined.split(END), strict=True):
            texts[at] = escaped
    return bare, texts


def _without_comments(parts: list[bytes]) -> tuple[list[bytes], list[bytes]]:
    """What is around texts in quotes, and those; a comment becomes a part of what is around."""
    bare = [parts[:1]]
    quoted: list[bytes] = []
    for part, behind in zip(parts[1::2], parts[2::2], strict=True):
        if part[:1] == b"#":
            bare[-1] += (_COMMENTED, behind)
        else:
            quoted.append(part)
            bare.append([behind])
    return [*map(b"".join, bare)], quoted


def _settled(texts: list[bytes], kinds: bytes) -> list[bytes]:
    """Texts in quotes as JSON has them: those of several lines folded, others' escapes read. Raises OtherForm."""
    joined = END.join(texts)
    escaped = _OTHER_ESCAPE.search(joined) is not None
    if b"\n" not in joined:
        return json_escapes(joined).split(END) if escaped else texts
    if any(b"\n" in text for text in compress(texts, kinds.translate(_IS_IN_NAME))):
        raise OtherForm
    if not escaped:
        return _all_folded(joined).split(END)
    texts = texts.copy()
    left = _MOST_OTHER
    for at, text in enumerate(texts):
        if not _OTHER_ESCAPE.search(text):
            texts[at] = _all_folded(text)
        elif b"\n" not in text:
            texts[at] = json_escapes(text)
        elif left:
            left -= 1
            texts[at] = orjson.dumps(_read(b'"%b"' % text))[1:-1]
        else:
            raise OtherForm
    return texts


def json_escapes(text: bytes) -> bytes:
    """A text in quotes, in one line, with the escapes of JSON for those of YAML. Raises OtherForm."""
    return _ESCAPE.sub(_as_json_escape, text)


def _as_json_escape(escape: re.Match[bytes]) -> bytes:
    """An escape of YAML as JSON has it. Raises OtherForm where it is none."""
    byte, low, any_code, other = escape.groups()
    if other is not None:
        if other not in _ESCAPES:
            raise OtherForm
        return _ESCAPES[other]
    if byte is not None:
        return b"\\u00%b" % byte
    code = int(low or any_code, 16)
    if 0xD800 <= code < 0xE000 or code > 0x10FFFF:
        raise OtherForm
    return b"\\u%b" % low if low is not None else chr(code).encode()


def _all_folded(text: bytes) -> bytes:
    """Texts of several lines as they are meant."""
    if _EMPTY_LINE.search(text):
        return _FOLD.sub(_folded, text)
    first, *lines = text.split(b"\n")
    return b" ".join((first.rstrip(b" "), *map(bytes.strip, lines[:-1]), lines[-1].lstrip(b" "))) if lines else first


def _folded(found: re.Match[bytes]) -> bytes:
    return b"\\n" * (found[0].count(b"\n") - 1) or b" "


def _read(quoted: bytes) -> str:
    """What a text in quotes says, read by the parser. Raises OtherForm."""
    parser = yaml.CLoader(quoted)
    try:
        while not isinstance(event := parser.get_event(), yaml.ScalarEvent):
            pass
        return str(event.value)
    except yaml.YAMLError:
        raise OtherForm from None
    finally:
        parser.dispose()


def filled(form: bytes, kinds: bytes, words: list[bytes], texts: list[bytes]) -> bytes:
    """A form with its words. Raises OtherForm."""
    if len(kinds) != len(words):
        raise OtherForm
    firsts = bytes(map(itemgetter(0), words))
    if firsts.translate(None, _FIRSTS) or (b"-" in firsts and b"-" in words):
        raise OtherForm
    is_odd = _mark_odd(words, kinds, firsts)
    if texts:
        texts = _settled(texts, kinds.translate(None, _PLAIN))
    if len(texts) == len(words):
        words = texts
    elif texts:
        for at, text in zip(compress(range(len(words)), kinds.translate(_IS_QUOTED)), texts, strict=True):
            words[at] = text
    if max(map(len, words), default=0) > _LONGEST:
        names = compress(words, kinds.translate(_IS_IN_NAME))
        if max(map(len, names), default=0) > _LONGEST:
            raise OtherForm
    filled = form % tuple(words)
    return filled.replace(b'"\2', b"").replace(b'\3"', b"") if is_odd else filled


def _mark_odd(words: list[bytes], kinds: bytes, firsts: bytes) -> bool:
    """Marks values that are no texts, so that they can lose their quotes; whether there are any. Raises OtherForm."""
    values = kinds.translate(_IS_VALUE)
    numeric = firsts.translate(_IS_NUMERIC)
    numbers = [*compress(range(len(words)), _both(numeric, values))] if 1 in numeric else []
    special: list[int] = []
    has_special = not _SPECIAL.isdisjoint(words)
    if has_special:
        special = [at for at in compress(range(len(words)), values) if words[at] in _SPECIAL]
    if has_special or len(numbers) < numeric.count(1):
        names = kinds.translate(_IS_NAME)
        _check_names({*compress(words, _both(numeric, names))} | _SPECIAL.intersection(compress(words, names)))
    written = _written(b" ".join([words[at] for at in numbers])) if numbers else None
    if written is not None:
        marked = b"\2%b\3" % b"\3 \2".join(written)
        for at, word in zip(numbers, marked.split(b" "), strict=True):
            words[at] = word
    else:
        special += numbers
    meant = {word: _meant(word) for word in {words[at] for at in special}}
    for at in special:
        words[at] = meant[words[at]]
    return bool(numbers or special)


def _both(one: bytes, other: bytes) -> bytes:
    """1 where both have it, of two rows of 0 and 1."""
    return (int.from_bytes(one) & int.from_bytes(other)).to_bytes(len(one))


def _check_names(names: set[bytes]) -> None:
    """Raises OtherForm where a name is not its text."""
    for name in names:
        if name == _MERGE or not (_WHOLE.fullmatch(name) or resolve(name.decode()).__class__ is str):
            raise OtherForm


def _written(joined: bytes) -> list[bytes] | None:
    """Numbers, with spaces between them, as JSON writes them, if they are simple ones."""
    if not joined.translate(None, _DIGITS) and not has_digits(joined, _BEYOND + 1):
        shapes = b" %b" % joined.translate(_SHAPE)
        if b" 01" not in shapes and b" 00" not in shapes:
            return joined.split(b" ")
    spaced = b" %b" % joined
    if _WHOLE_NUMBERS.fullmatch(spaced):
        return joined.split(b" ")
    if not _NUMBERS.fullmatch(spaced):
        return None
    written = orjson.dumps(orjson.loads(b"[%b]" % joined.replace(b" ", b",")))
    shown = b",%b," % written[1:-1]
    while b".0," in shown:
        shown = shown.replace(b".0,", b",")
    return shown[1:-1].replace(b"-0,", b"0,").split(b",")


def _meant(word: bytes) -> bytes:
    """A word as it is put into the place of a text. Raises OtherForm."""
    value = resolve(word.decode())
    if value.__class__ is str:
        return word
    if value.__class__ is float:
        value = plain_floats(value) if isfinite(value) else GoFloat(value)
    if value.__class__ is GoFloat:
        raise OtherForm
    return b"\2%b\3" % orjson.dumps(value)
