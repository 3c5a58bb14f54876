"""Words of an expression.

What cannot be a word is told as the original's lexer tells it: it skips all that it had read of the word, with the
letter at which it gave up, and goes on.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from pilothouse.cel.problems import Problem

EOF: Final = "<EOF>"
IDENTIFIER: Final = "IDENTIFIER"
ESCAPED: Final = "ESC_IDENTIFIER"
INT: Final = "NUM_INT"
UINT: Final = "NUM_UINT"
FLOAT: Final = "NUM_FLOAT"
STRING: Final = "STRING"
BYTES: Final = "BYTES"
WORDS: Final = frozenset({"in", "true", "false", "null"})
_KINDS: Final = {kind: kind for kind in (IDENTIFIER, ESCAPED, INT, UINT, FLOAT, STRING, BYTES)}

_BLANK: Final = re.compile(r"(?:[\t \r\n\f]+|//[^\n]*)+")
# What may stand behind a backslash.
_ESCAPE: Final = r"\\(?:[abfnrtv\"'\\?`]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7]{2})"
_TEXT: Final = rf"""
      (?:[rR](?:\"\"\"(?:.|\n|\r)*?\"\"\"|'''(?:.|\n|\r)*?'''|"[^"\n\r]*"|'[^'\n\r]*')
      |\"\"\"(?:{_ESCAPE}|[^\\])*?\"\"\"|'''(?:{_ESCAPE}|[^\\])*?'''
      |"(?:{_ESCAPE}|[^\\"\n\r])*"|'(?:{_ESCAPE}|[^\\'\n\r])*')"""
# One word, each kind a group of its name.
_WORD: Final = re.compile(
    rf"""(?:[\t\x20\r\n\f]++|//[^\n]*+)*+(?:
      (?P<BYTES>[bB]{_TEXT})|(?P<STRING>{_TEXT})
      |(?P<IDENTIFIER>[A-Za-z_][A-Za-z0-9_]*)
      |(?P<NUM_FLOAT>[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|\.[0-9]+(?:[eE][+-]?[0-9]+)?)
      |(?P<NUM_UINT>(?:0x[0-9a-fA-F]+|[0-9]+)[uU])|(?P<NUM_INT>0x[0-9a-fA-F]+|[0-9]+)
      |(?P<sign>[=!<>]=|&&|\|\||[<>\[\]{{}}().,\-!?:+*/%])
      |(?P<ESC_IDENTIFIER>`[A-Za-z0-9_.\-/\x20]+`))""",
    re.VERBOSE,
)
_OPENING: Final = re.compile(r"[bB]?[rR]?[\"']")
_BEGUN: Final = re.compile(
    rf"""[bB]?(?:[rR](?:"[^"\n\r]*|'[^'\n\r]*)|"(?:{_ESCAPE}|[^\\"\n\r])*|'(?:{_ESCAPE}|[^\\'\n\r])*)"""
)
_HALF_ESCAPE: Final = re.compile(
    r"\\(?:[xX][0-9a-fA-F]{0,1}|u[0-9a-fA-F]{0,3}|U[0-9a-fA-F]{0,7}|[0-3][0-7]{0,1})?"
)  # as much of an escape as was right


class Token(NamedTuple):
    """`kind`: a sign or keyword itself, or one of the names above. `start`, `end`: offsets."""

    kind: str
    text: str
    start: int
    end: int


def tokens(source: str, problems: list[Problem]) -> list[Token]:
    """The words, with EOF at the end; what is none is told in `problems`."""
    found: list[Token] = []
    at, size, match = 0, len(source), _WORD.match
    while True:
        word = match(source, at)
        if word is not None:
            kind = str(word.lastgroup)
            text, at = word[kind], word.end()
            if kind == "sign" or text in WORDS:
                kind = text
            found.append(Token(_KINDS.get(kind, kind), text, at - len(text), at))
            continue
        blank = _BLANK.match(source, at)
        if blank is not None:
            at = blank.end()
        if at >= size:
            found.append(Token(EOF, EOF, size, size))
            return found
        end = _given_up(source, at)
        problems.append(Problem(at, f"Syntax error: token recognition error at: '{_escaped(source[at:end])}'"))
        at = end


def _escaped(text: str) -> str:
    return text.replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")


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
