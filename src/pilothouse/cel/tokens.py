"""Words of an expression.

What cannot be a word is told as the original's lexer tells it: it skips all that it had read of the word, with the
letter at which it gave up, and goes on.
"""

from __future__ import annotations

import re
from typing import Final

from pilothouse.cel.problems import Problem
from pilothouse.kit.record import record

EOF: Final = "<EOF>"
IDENTIFIER: Final = "IDENTIFIER"
ESCAPED: Final = "ESC_IDENTIFIER"
INT: Final = "NUM_INT"
UINT: Final = "NUM_UINT"
FLOAT: Final = "NUM_FLOAT"
STRING: Final = "STRING"
BYTES: Final = "BYTES"
WORDS: Final = frozenset({"in", "true", "false", "null"})

_SIGNS: Final = ("==", "!=", "<=", ">=", "&&", "||", *"<>[]{}().,-!?:+*/%")
_BLANK: Final = re.compile(r"(?:[\t \r\n\f]+|//[^\n]*)+")
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_QUOTED_NAME: Final = re.compile(r"`[A-Za-z0-9_.\-/ ]+`")
_NUMBER: Final = re.compile(
    r"(?P<float>[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|\.[0-9]+(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<uint>(?:0x[0-9a-fA-F]+|[0-9]+)[uU])|(?P<int>0x[0-9a-fA-F]+|[0-9]+)"
)
# What may stand behind a backslash.
_ESCAPE: Final = r"\\(?:[abfnrtv\"'\\?`]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7]{2})"
_TEXT: Final = re.compile(
    rf"""(?P<head>[bB]?)(?:
      (?P<raw>[rR])(?:\"\"\"(?:.|\n|\r)*?\"\"\"|'''(?:.|\n|\r)*?'''|"[^"\n\r]*"|'[^'\n\r]*')
      |\"\"\"(?:{_ESCAPE}|[^\\])*?\"\"\"|'''(?:{_ESCAPE}|[^\\])*?'''
      |"(?:{_ESCAPE}|[^\\"\n\r])*"|'(?:{_ESCAPE}|[^\\'\n\r])*')""",
    re.VERBOSE,
)
_OPENING: Final = re.compile(r"[bB]?[rR]?[\"']")
_BEGUN: Final = re.compile(
    rf"""[bB]?(?:[rR](?:"[^"\n\r]*|'[^'\n\r]*)|"(?:{_ESCAPE}|[^\\"\n\r])*|'(?:{_ESCAPE}|[^\\'\n\r])*)"""
)
_HALF_ESCAPE: Final = re.compile(
    r"\\(?:[xX][0-9a-fA-F]{0,1}|u[0-9a-fA-F]{0,3}|U[0-9a-fA-F]{0,7}|[0-3][0-7]{0,1})?"
)  # as much of an escape as was right


@record
class Token:
    """`kind`: a sign or keyword itself, or one of the names above. `start`, `end`: offsets."""

    kind: str
    text: str
    start: int
    end: int


def tokens(source: str, problems: list[Problem]) -> list[Token]:
    """The words, with EOF at the end; what is none is told in `problems`."""
    found: list[Token] = []
    at, size = 0, len(source)
    while True:
        blank = _BLANK.match(source, at)
        if blank is not None:
            at = blank.end()
        if at >= size:
            found.append(Token(EOF, EOF, size, size))
            return found
        token = _token(source, at)
        if token is None:
            end = _given_up(source, at)
            problems.append(Problem(at, f"Syntax error: token recognition error at: '{_escaped(source[at:end])}'"))
            at = end
        else:
            found.append(token)
            at = token.end


def _escaped(text: str) -> str:
    return text.replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")


def _token(source: str, at: int) -> Token | None:
    letter = source[at]
    if letter in "bBrR\"'":
        text = _TEXT.match(source, at)
        if text is not None:
            return Token(BYTES if text["head"] else STRING, text[0], at, text.end())
    name = _NAME.match(source, at)
    if name is not None:
        return Token(name[0] if name[0] in WORDS else IDENTIFIER, name[0], at, name.end())
    if letter.isascii() and (letter.isdigit() or letter == "."):
        number = _NUMBER.match(source, at)
        if number is not None:
            kind = FLOAT if number["float"] else UINT if number["uint"] else INT
            return Token(kind, number[0], at, number.end())
    if letter == "`":
        quoted = _QUOTED_NAME.match(source, at)
        return Token(ESCAPED, quoted[0], at, quoted.end()) if quoted is not None else None
    for sign in _SIGNS:
        if source.startswith(sign, at):
            return Token(sign, sign, at, at + len(sign))
    return None


def _given_up(source: str, at: int) -> int:
    """Where the lexer stops reading what cannot be a word."""
    letter, size = source[at], len(source)
    if letter in "=&|":  # half of a sign: the next letter was wrong
        return min(at + 2, size)
    if letter == "`":
        end = at + 1
        while end < size and re.match(r"[A-Za-z0-9_.\-/ ]", source[end]):
            end += 1
        return min(end + 1, size)
    if _OPENING.match(source, at):
        begun = _BEGUN.match(source, at)
        end = begun.end() if begun is not None else at + 1
        half = _HALF_ESCAPE.match(source, end)
        if half is not None:
            end = half.end()
        return min(end + 1, size)
    return at + 1
