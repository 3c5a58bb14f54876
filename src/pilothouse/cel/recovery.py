"""How the parser finds its way after a mistake, so that the same mistakes are told as by the original's.

One wrong word is skipped if the next one fits ("extraneous input"), one that is missing is made up ("missing"); else
the rule is given up ("mismatched input") and words are skipped up to one that can follow it. What is found before a
word fits again is not told.
"""

from __future__ import annotations

import re
from typing import Final

from pilothouse.cel.problems import Problem
from pilothouse.cel.tokens import BYTES, EOF, FLOAT, IDENTIFIER, INT, STRING, UINT, Token

# All kinds of words, in the order in which they are listed.
_ORDER: Final = (
    "==", "!=", "in", "<", "<=", ">=", ">", "&&", "||", "[", "]", "{", "}", "(", ")", ".", ",", "-", "!", "?", ":", "+",
    "*", "/", "%", "true", "false", "null", FLOAT, INT, UINT, STRING, BYTES, IDENTIFIER, EOF,
)  # fmt: skip
_RANK: Final = {kind: rank for rank, kind in enumerate(_ORDER)}
_BLANK: Final = re.compile(r"[\t \r\n\f]+")
_NAMED: Final = frozenset({FLOAT, INT, UINT, STRING, BYTES, IDENTIFIER, EOF})

FIRST: Final = frozenset(
    {"[", "{", "(", ".", "-", "!", "true", "false", "null", FLOAT, INT, UINT, STRING, BYTES, IDENTIFIER}
)  # what an expression begins with
AFTER: Final = frozenset(
    {"*", "/", "%", "+", "-", "<", "<=", ">=", ">", "==", "!=", "in", "&&", "||", "?"}
)  # what may follow an operand anywhere


class Abandoned(Exception):
    """The rule cannot be read; it was told."""


def _name(kind: str) -> str:
    return kind if kind in _NAMED else f"'{kind}'"


def _listed(kinds: frozenset[str]) -> str:
    names = [_name(kind) for kind in sorted(kinds, key=_RANK.__getitem__)]
    return names[0] if len(names) == 1 else "{" + ", ".join(names) + "}"


def _text(token: Token) -> str:
    return token.text.replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")


class Reader:
    """The words, one after another. `closing`: what may follow, innermost last."""

    def __init__(self, source: str, words: list[Token], problems: list[Problem]) -> None:
        self._source = source
        self._words = words
        self._at = 0
        self._problems = problems
        self._lost = False
        self._lost_at = -1
        self.closing: list[frozenset[str]] = [frozenset({EOF})]
        self.token = words[0]
        self.kind = words[0].kind

    def ahead(self, by: int = 1) -> str:
        return self._words[min(self._at + by, len(self._words) - 1)].kind

    def skip(self) -> Token:
        """The present word; goes on to the next."""
        token = self.token
        if token.kind is not EOF:
            self._at += 1
            self.token = self._words[self._at]
            self.kind = self.token.kind
        return token

    def take(self) -> Token:
        """The present word, which fits."""
        self._lost = False
        return self.skip()

    def tell(self, text: str, token: Token | None = None) -> None:
        if not self._lost:
            self._problems.append(Problem((token or self.token).start, f"Syntax error: {text}"))
        self._lost = True

    def match(self, kind: str) -> Token:
        """A word of that kind; one too many is skipped, one too few made up. Raises Abandoned."""
        if self.kind == kind:
            return self.take()
        if self.ahead() == kind:
            self.tell(f"extraneous input '{_text(self.token)}' expecting {_name(kind)}")
            self.skip()
            return self.take()
        if kind is not EOF and self.kind in (AFTER | self.closing[-1] | {".", "["}) and kind in (")", "]", "}"):
            self.tell(f"missing {_name(kind)} at '{_text(self.token)}'")
            return Token(kind, kind, self.token.start, self.token.start)
        self.mismatch(frozenset({kind}))
        raise Abandoned

    def mismatch(self, expected: frozenset[str]) -> None:
        self.tell(f"mismatched input '{_text(self.token)}' expecting {_listed(expected)}")

    def expect(self, expected: frozenset[str]) -> None:
        """The present word must be one of these; one too many is skipped. Raises Abandoned."""
        if self.kind in expected:
            return
        if self.ahead() in expected:
            self.tell(f"extraneous input '{_text(self.token)}' expecting {_listed(expected)}")
            self.skip()
            return
        self.mismatch(expected)
        raise Abandoned

    def no_way(self, first: Token) -> Abandoned:
        """No rule fits from `first` to the present word, or to the next one where that is `first`."""
        at = self._at + 1 if first is self.token else self._at
        last = self._words[min(at, len(self._words) - 1)]
        text, end = "", first.start
        for word in self._words[self._words.index(first) :]:
            text += "".join(_BLANK.findall(self._source[end : word.start]))
            if word.kind is EOF:
                break
            text += word.text
            end = word.end
            if word is last:
                break
        self.tell(f"no viable alternative at input '{_text(Token('', text, 0, 0))}'", last)
        return Abandoned()

    def recover(self) -> None:
        """Skips up to a word that may follow."""
        if self._lost_at == self._at:
            self.skip()  # or we would come back here for ever
        self._lost_at = self._at
        self._lost = True
        follow = AFTER.union(*self.closing)
        while self.kind not in follow and self.kind is not EOF:
            self.skip()
