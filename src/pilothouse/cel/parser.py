"""Text to tree.

Mistakes are told in the words and at the places of the original (see recovery.py). Macros become loops at once
(macros.py).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

from pilothouse.cel import literals
from pilothouse.cel.literals import BadLiteral
from pilothouse.cel.macros import bind, expand
from pilothouse.cel.problems import Problem
from pilothouse.cel.recovery import FIRST, Abandoned, Reader
from pilothouse.cel.syntax import (
    AND,
    CONDITION,
    INDEX,
    NEGATE,
    NOT,
    OPTIONAL_INDEX,
    OPTIONAL_SELECT,
    OR,
    Call,
    Const,
    Expr,
    Ident,
    ListOf,
    MapOf,
    Message,
    Select,
)
from pilothouse.cel.tokens import BYTES, EOF, ESCAPED, FLOAT, IDENTIFIER, INT, STRING, UINT, Token, tokens

T = TypeVar("T")
_LONGEST: Final = 100_000  # characters of an expression
_DEEPEST: Final = 250
_DEEP_ENOUGH: Final = 60  # expressions within expressions; what follows them walks the tree in calls
_RESERVED: Final = frozenset(
    {
        "as", "break", "const", "continue", "else", "for", "function", "if", "import", "let", "loop", "package",
        "namespace", "return", "var", "void", "while",
    }
)  # fmt: skip
# Binding of the operators that stand between two values, the loosest first.
_BINDING: Final = {
    "<": 1, "<=": 1, ">=": 1, ">": 1, "==": 1, "!=": 1, "in": 1, "+": 2, "-": 2, "*": 3, "/": 3, "%": 3,
}  # fmt: skip
_FUNCTION: Final = {sign: f"_{sign}_" for sign in _BINDING} | {"in": "@in"}
_NEXT: Final = FIRST | {"?"}
_TOO_DEEP: Final = f"expression recursion limit exceeded: {_DEEPEST}"


def parse(source: str, *, optional: bool = True, bindings: bool = False) -> tuple[Expr | None, list[Problem]]:
    """The tree, or what is wrong. `optional`: `?` before fields, keys and items is known;
    `bindings`: `cel.bind` is.
    """
    if len(source) > _LONGEST:
        text = f"expression code point size exceeds limit: size: {len(source)}, limit {_LONGEST}"
        return None, [Problem(0, text)]
    problems: list[Problem] = []
    reader = Reader(source, tokens(source, problems), problems)
    try:
        tree = _Parser(reader, problems, optional, bindings).whole()
    except RecursionError:
        return None, [Problem(0, _TOO_DEEP)]
    return (None if problems else tree), problems


class _Parser:
    def __init__(self, reader: Reader, problems: list[Problem], optional: bool, bindings: bool) -> None:
        self._in = reader
        self._problems = problems
        self._optional = optional
        self._bindings = bindings
        self._depth = 0

    def _problem(self, at: int, text: str) -> None:
        self._problems.append(Problem(at, text))

    def _lost(self, at: int) -> Expr:
        """Stands for what could not be read."""
        return Const(at, None)

    def whole(self) -> Expr:
        tree = self._expr()
        try:
            self._in.match(EOF)
        except Abandoned:
            self._in.recover()
        return tree

    def _expr(self) -> Expr:
        """`or ? or : expr`."""
        reader = self._in
        self._depth += 1
        if self._depth > _DEEP_ENOUGH:
            raise RecursionError
        try:
            first = self._chain(OR)
            if reader.kind != "?":
                return first
            at = reader.take().start
            try:
                reader.closing.append(frozenset({":"}))
                yes = self._chain(OR)
                reader.closing.pop()
                reader.match(":")
            except Abandoned:
                reader.recover()
                return first
            return Call(at, CONDITION, [first, yes, self._expr()])
        finally:
            self._depth -= 1

    def _chain(self, function: str) -> Expr:
        """Values joined by && or by ||; however many, they are one call."""
        reader = self._in
        sign = "||" if function is OR else "&&"
        first = self._chain(AND) if function is OR else self._binary(1)
        if reader.kind != sign:
            return first
        at = reader.token.start
        terms = [first]
        while reader.kind == sign:
            reader.take()
            terms.append(self._chain(AND) if function is OR else self._binary(1))
        return Call(at, function, terms)

    def _binary(self, least: int) -> Expr:
        reader = self._in
        left = self._unary()
        count = 0
        while (binding := _BINDING.get(reader.kind, 0)) >= least:
            count += 1
            if count > _DEEPEST:
                raise RecursionError
            sign = reader.take()
            left = Call(sign.start, _FUNCTION[sign.kind], [left, self._binary(binding + 1)])
        return left

    def _unary(self) -> Expr:
        reader = self._in
        at = reader.token.start
        try:
            reader.expect(FIRST)
        except Abandoned:
            reader.recover()
            return self._lost(at)
        sign = reader.token
        if sign.kind == "!" or (sign.kind == "-" and reader.ahead() not in (INT, FLOAT)):
            count = 0
            while reader.kind == sign.kind:
                if count and sign.kind == "-" and reader.ahead() in (INT, FLOAT):
                    break
                reader.take()
                count += 1
            try:
                reader.expect(FIRST - {"!"})
            except Abandoned:
                reader.recover()
                return self._lost(at)
            operand = self._member()
            return Call(sign.start, NOT if sign.kind == "!" else NEGATE, [operand]) if count % 2 else operand
        return self._member()

    # -- members

    def _member(self) -> Expr:
        reader = self._in
        try:
            tree = self._primary()
            count = 0
            while reader.kind in (".", "["):
                count += 1
                if count > _DEEPEST:
                    raise RecursionError
                tree = self._select(tree) if reader.kind == "." else self._index(tree)
        except Abandoned:
            at = reader.token.start
            reader.recover()
            return self._lost(at)
        return tree

    def _select(self, operand: Expr) -> Expr:
        reader = self._in
        dot = reader.token
        if reader.ahead() == "?" and reader.ahead(2) in (IDENTIFIER, ESCAPED):
            reader.take()
            reader.take()
            name = self._name(reader.take())
            self._needs_optional(dot)
            return Call(dot.start, OPTIONAL_SELECT, [operand, Const(dot.start, name)])
        if reader.ahead() not in (IDENTIFIER, ESCAPED):
            raise reader.no_way(dot)
        reader.take()
        word = reader.take()
        if reader.kind != "(" or word.kind == ESCAPED:
            return Select(dot.start, operand, self._name(word))
        opening = reader.take()
        args = self._list(")")
        return self._call(opening.start, word.text, args, operand)

    def _name(self, word: Token) -> str:
        return word.text[1:-1] if word.kind == ESCAPED else word.text

    def _needs_optional(self, sign: Token) -> None:
        if not self._optional:
            self._problem(sign.start, "unsupported syntax '?'")

    def _index(self, operand: Expr) -> Expr:
        reader = self._in
        opening = reader.take()
        function = INDEX
        if reader.kind == "?":
            self._needs_optional(reader.take())
            function = OPTIONAL_INDEX
        reader.closing.append(frozenset({"]"}))
        key = self._expr()
        reader.closing.pop()
        reader.match("]")
        return Call(opening.start, function, [operand, key])

    def _list(self, end: str) -> list[Expr]:
        """Arguments up to and with the closing parenthesis."""
        reader = self._in
        reader.expect(FIRST | {end})
        args: list[Expr] = []
        if reader.kind != end:
            reader.closing.append(frozenset({",", end}))
            args.append(self._expr())
            while reader.kind == ",":
                reader.take()
                args.append(self._expr())
            reader.closing.pop()
        reader.match(end)
        return args

    def _call(self, at: int, name: str, args: list[Expr], target: Expr | None) -> Expr:
        call = Call(at, name, args, target)
        if self._bindings and (bound := bind(call, self._problem)) is not None:
            return bound
        return expand(call, self._problem) or call

    # -- primaries

    def _primary(self) -> Expr:
        reader = self._in
        token = reader.token
        kind = token.kind
        if kind == "(":
            reader.take()
            reader.closing.append(frozenset({")"}))
            tree = self._expr()
            reader.closing.pop()
            reader.match(")")
            return tree
        if kind == "[":
            return self._list_of()
        if kind == "{":
            return self._map_of()
        if kind == "." or kind is IDENTIFIER:
            return self._named()
        return self._literal()

    def _named(self) -> Expr:
        reader = self._in
        first = reader.token
        rooted = first.kind == "."
        if rooted:
            if reader.ahead() is not IDENTIFIER:
                raise reader.no_way(first)
            reader.take()
        word = reader.take()
        message = self._message_name(word)
        if message:
            return self._message(message)
        if word.text in _RESERVED:
            self._problem(word.start, f"reserved identifier: {word.text}")
        if reader.kind == "(":
            opening = reader.take()
            return self._call(opening.start, word.text, self._list(")"), None)
        return Ident(word.start, word.text, rooted)

    def _message_name(self, word: Token) -> str:
        """`a.b.C`, where a brace follows it."""
        reader = self._in
        ahead = 0
        while reader.ahead(ahead) == "." and reader.ahead(ahead + 1) is IDENTIFIER:
            ahead += 2
        if reader.ahead(ahead) != "{":
            return ""
        name = word.text
        while reader.kind == ".":
            reader.take()
            name += "." + reader.take().text
        return name

    def _message(self, name: str) -> Expr:
        reader = self._in
        opening = reader.take()
        fields: list[tuple[str, Expr, int]] = []
        optional: set[int] = set()
        reader.closing.append(frozenset({",", "}", ":"}))
        while reader.kind != "}":
            if reader.kind == "?":
                self._needs_optional(reader.take())
                optional.add(len(fields))
            if reader.kind is not ESCAPED:
                reader.expect(frozenset({IDENTIFIER, "}", "?"}))
            field = reader.take()
            at = reader.match(":").start
            fields.append((self._name(field), self._expr(), at))
            if reader.kind != ",":
                break
            reader.take()
        reader.closing.pop()
        reader.match("}")
        return Message(opening.start, name, fields, frozenset(optional))

    def _list_of(self) -> Expr:
        opening = self._in.take()
        items, optional = self._elements("]", self._expr)
        return ListOf(opening.start, items, optional)

    def _map_of(self) -> Expr:
        opening = self._in.take()
        entries, optional = self._elements("}", self._entry, ":")
        return MapOf(opening.start, entries, optional)

    def _entry(self) -> tuple[Expr, Expr]:
        key = self._expr()
        self._in.match(":")
        return key, self._expr()

    def _elements(self, end: str, read: Callable[[], T], *inside: str) -> tuple[list[T], frozenset[int]]:
        """What stands between commas up to the bracket `end`, and which of it is marked as optional. `inside`: signs
        that end an expression, too.
        """
        reader = self._in
        reader.expect(FIRST | {"?", ",", end})
        found: list[T] = []
        optional: set[int] = set()
        reader.closing.append(frozenset({",", end, *inside}))
        while reader.kind not in (end, ","):
            if reader.kind == "?":
                self._needs_optional(reader.take())
                optional.add(len(found))
            found.append(read())
            if reader.kind != "," or reader.ahead() not in _NEXT:
                break
            reader.take()
        reader.closing.pop()
        if reader.kind == ",":
            reader.take()
        reader.match(end)
        return found, frozenset(optional)

    def _literal(self) -> Expr:
        reader = self._in
        first = reader.token
        sign = ""
        if first.kind == "-":
            if reader.ahead() not in (INT, FLOAT):
                raise reader.no_way(first)
            reader.take()
            sign = "-"
        token = reader.take()
        text = sign + token.text
        try:
            if token.kind is STRING:
                return Const(token.start, literals.text_of(text))
            if token.kind is BYTES:
                return Const(token.start, literals.bytes_of(text))
            if token.kind is INT:
                return Const(first.start, literals.int_of(text))
            if token.kind is UINT:
                return Const(token.start, literals.uint_of(text))
            if token.kind is FLOAT:
                return Const(first.start, literals.float_of(text))
        except BadLiteral as error:
            self._problem(first.start, str(error))
            return self._lost(first.start)
        return Const(token.start, {"true": True, "false": False}.get(token.kind))
