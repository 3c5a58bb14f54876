"""Label and field selectors: read, written canonically, and compiled to fast predicates (API concepts, "Label
selectors").

Messages are the original's, as it answers them with 400.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from pilothouse.machinery.digits import whole
from pilothouse.machinery.errors import bad_request
from pilothouse.machinery.goquote import quote
from pilothouse.machinery.matching import Predicate, compile_fields, compile_labels
from pilothouse.machinery.names import label_value, qualified_name
from pilothouse.machinery.requirements import (
    DOUBLE_EQUALS,
    EQUALS,
    EXISTS,
    GREATER,
    IN,
    LESS,
    NOT_EQUALS,
    NOT_EXISTS,
    NOT_IN,
    FieldRequirement,
    Requirement,
)

_TOKEN: Final = re.compile(r"[ \t\r\n]*(?:(==|!=|=|!|\(|\)|,|>|<)|([^ \t\r\n=!(),><]+))")
_SIGNS: Final = {"=": EQUALS, "==": DOUBLE_EQUALS, "!=": NOT_EQUALS, ">": GREATER, "<": LESS, "in": IN, "notin": NOT_IN}
_INTEGER: Final = re.compile(r"[-+]?[0-9]+", re.ASCII)


class LabelSelector:
    """Requirements that must all hold, sorted by key; none: everything matches."""

    __slots__ = ("matches", "requirements")

    def __init__(self, requirements: tuple[Requirement, ...] = ()) -> None:
        self.requirements = tuple(sorted(requirements, key=lambda requirement: requirement.key))
        self.matches: Predicate = compile_labels(self.requirements)

    @property
    def empty(self) -> bool:
        return not self.requirements

    def __str__(self) -> str:
        """The canonical text."""
        return ",".join(str(requirement) for requirement in self.requirements)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LabelSelector) and self.requirements == other.requirements

    def __hash__(self) -> int:
        return hash(self.requirements)


class _Nothing(LabelSelector):
    """Matches no object: what a missing selector struct means."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__()
        self.matches = lambda labels: False

    @property
    def empty(self) -> bool:
        return False


EVERYTHING: Final = LabelSelector()
NOTHING: Final[LabelSelector] = _Nothing()


class SelectorError(ValueError):
    """A selector that cannot be read; the text is the original's."""


def parse_label_selector(text: str) -> LabelSelector:
    """Read `a=b,c in (d,e),!f,g>1`. Raises BadRequest with the original's text."""
    try:
        return read_label_selector(text)
    except SelectorError as wrong:
        raise bad_request(str(wrong)) from None


def read_label_selector(text: str) -> LabelSelector:
    """The same, for callers with an error of their own. Raises SelectorError."""
    return LabelSelector(tuple(_Reader(text).selector()))


class _Reader:
    """Looks at one token after the other; "" stands for the end."""

    def __init__(self, text: str) -> None:
        self._tokens = _TOKEN.finditer(text.rstrip(" \t\r\n"))  # of many at the end each would be looked behind
        self._next = self._read()

    def _read(self) -> tuple[str, str]:
        """The next token: a sign or a word. The other one is ""."""
        found = next(self._tokens, None)
        return ("", "") if found is None else (found[1] or "", found[2] or "")

    def look(self) -> str:
        return self._next[0] or self._next[1]

    def is_word(self) -> bool:
        return self._next[1] != ""

    def take(self) -> str:
        token = self.look()
        self._next = self._read()
        return token

    def selector(self) -> list[Requirement]:
        found: list[Requirement] = []
        while True:
            token = self.look()
            if self.is_word() or token == "!":
                found.append(self._named())
                after = self.take()
                if after == "":
                    return found
                if after != ",":
                    raise SelectorError(f"found '{after}', expected: ',' or 'end of string'")
                if not self.is_word() and self.look() != "!":
                    raise SelectorError(f"found '{self.look()}', expected: identifier after ','")
            elif token == "":
                return found
            else:
                raise SelectorError(f"found '{token}', expected: !, identifier, or 'end of string'")

    def _named(self) -> Requirement:
        try:
            return self._requirement()
        except SelectorError as wrong:
            raise SelectorError(f"unable to parse requirement: {wrong}") from None

    def _requirement(self) -> Requirement:
        negated = self.look() == "!"
        if negated:
            self.take()
        if not self.is_word():
            raise SelectorError(f"found '{self.look()}', expected: identifier")
        key = self.take()
        _check_key(key)
        if negated:
            return Requirement(key, NOT_EXISTS)
        if self.look() in ("", ","):
            return Requirement(key, EXISTS)
        sign = self.take()
        operator = _SIGNS.get(sign)
        if operator is None:
            raise SelectorError(f"found '{sign}', expected: in, notin, =, ==, !=, gt, lt")
        values = self._set() if operator in (IN, NOT_IN) else [self._exact()]
        return _checked(key, operator, values)

    def _exact(self) -> str:
        """The value after a sign; nothing there is the empty text."""
        if self.look() in ("", ","):
            return ""
        if not self.is_word():
            raise SelectorError(f"found '{self.look()}', expected: identifier")
        return self.take()

    def _set(self) -> list[str]:
        sign = self.take()
        if sign != "(":
            raise SelectorError(f"found '{sign}' expected: '('")
        if self.look() == ")":
            self.take()
            return [""]
        if not self.is_word() and self.look() != ",":
            raise SelectorError(f"found '{self.look()}', expected: ',', ')' or identifier")
        return self._listed()

    def _listed(self) -> list[str]:
        """Values up to the bracket; nothing on one side of a comma is the empty text, but not between two commas and
        the bracket.
        """
        values: list[str] = []
        while True:
            if self.is_word():
                values.append(self.take())
                if self.look() == ")":
                    break
                if self.look() != ",":
                    raise SelectorError(f"found '{self.look()}', expected: ',' or ')'")
            elif self.look() == ",":
                self.take()
                if not values:
                    values.append("")
                if self.look() == ")":
                    values.append("")
                    break
                if self.look() == ",":
                    self.take()
                    values.append("")
            else:
                raise SelectorError(f"found '{self.look()}', expected: ',', or identifier")
        self.take()
        return values


def _check_key(key: str) -> None:
    found = qualified_name(key)
    if found:
        raise SelectorError(f"<nil>: Invalid value: {quote(key)}: {'; '.join(found)}")


def _is_int64(text: str) -> bool:
    return _INTEGER.fullmatch(text) is not None and -(2**63) <= whole(text) < 2**63


def _checked(key: str, operator: str, values: list[str]) -> Requirement:
    values = sorted(set(values))
    wrong: list[str] = []
    if operator in (GREATER, LESS) and not _is_int64(values[0]):
        wrong.append(
            f"values[0]: Invalid value: {quote(values[0])}: for 'Gt', 'Lt' operators, the value must be an integer"
        )
    for index, value in enumerate(values):
        found = label_value(value)
        if found:
            wrong.append(f"values[{index}][{key}]: Invalid value: {quote(value)}: {'; '.join(found)}")
    if wrong:
        raise SelectorError(wrong[0] if len(wrong) == 1 else f"[{', '.join(wrong)}]")
    return Requirement(key, operator, tuple(values))


_STRUCT_OPERATORS: Final = {"In": IN, "NotIn": NOT_IN, "Exists": EXISTS, "DoesNotExist": NOT_EXISTS}


def label_selector_of(struct: Mapping[str, Any] | None) -> LabelSelector:
    """The selector of a LabelSelector struct (matchLabels, matchExpressions): None matches nothing, `{}` everything.

    Raises SelectorError for what validation would have refused.
    """
    if struct is None:
        return NOTHING
    found = [_checked(key, IN, [value]) for key, value in (struct.get("matchLabels") or {}).items()]
    for expression in struct.get("matchExpressions") or ():
        named = expression.get("operator", "")
        operator = _STRUCT_OPERATORS.get(named)
        if operator is None:
            raise SelectorError(f"{quote(named)} is not a valid label selector operator")
        values = list(expression.get("values") or ())
        key = expression.get("key", "")
        _check_key(key)
        if operator in (IN, NOT_IN) and not values:
            raise SelectorError("values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty")
        if operator in (EXISTS, NOT_EXISTS) and values:
            shown = ",".join(quote(value) for value in values)
            raise SelectorError(
                f"values: Invalid value: [{shown}]: values set must be empty for exists and does not exist"
            )
        found.append(_checked(key, operator, values))
    return LabelSelector(tuple(found))


class FieldSelector:
    """Conditions that must all hold; `matches` takes the values of an object's selectable fields by label."""

    __slots__ = ("matches", "requirements")

    def __init__(self, requirements: tuple[FieldRequirement, ...] = ()) -> None:
        self.requirements = requirements
        self.matches: Predicate = compile_fields(requirements)

    @property
    def empty(self) -> bool:
        return not self.requirements

    def exact(self, label: str) -> str | None:
        """The value that a field must have, None when any will do."""
        for requirement in self.requirements:
            if requirement.label == label and requirement.equal:
                return requirement.value
        return None

    def labels(self) -> list[str]:
        """The labels of the fields that are asked about, in order."""
        return [requirement.label for requirement in self.requirements]

    def __str__(self) -> str:
        """The canonical text."""
        return ",".join(str(requirement) for requirement in self.requirements)


_TERM_END: Final = re.compile(r"(?:[^,\\]|\\.|\\$)*", re.DOTALL)
_OPERATOR: Final = re.compile(r"!=|==|=")


def parse_field_selector(text: str) -> FieldSelector:
    """Read `metadata.name=a,status.phase!=Running`. Raises BadRequest with the original's text."""
    try:
        return read_field_selector(text)
    except SelectorError as wrong:
        raise bad_request(str(wrong)) from None


def read_field_selector(text: str) -> FieldSelector:
    """The same, for callers with an error of their own. Raises SelectorError."""
    found = []
    for term in _terms(text):
        if not term:
            continue
        sign = _unescaped_operator(term)
        if sign is None:
            raise SelectorError(f"invalid selector: '{text}'; can't understand '{term}'")
        value = unescape_value(term[sign.end() :])
        found.append(FieldRequirement(term[: sign.start()], sign[0] != "!=", value))
    return FieldSelector(tuple(found))


def _terms(text: str) -> list[str]:
    terms = []
    at = 0
    while at <= len(text):
        found = _TERM_END.match(text, at)
        end = found.end() if found else len(text)
        terms.append(text[at:end])
        at = end + 1
    return terms


def _unescaped_operator(term: str) -> re.Match[str] | None:
    """The first sign of comparison; the label before it has no escapes."""
    return _OPERATOR.search(term)


def unescape_value(text: str) -> str:
    """The reverse. Raises SelectorError for other escapes and for unescaped signs."""
    if not any(sign in text for sign in "\\,="):
        return text
    made = []
    escaped = False
    for sign in text:
        if escaped:
            if sign not in "\\,=":
                raise SelectorError(f"invalid field selector: invalid escape sequence: \\{sign}")
            made.append(sign)
            escaped = False
        elif sign == "\\":
            escaped = True
        elif sign in ",=":
            raise SelectorError(f"invalid field selector: unescaped character in value: {ord(sign)}")
        else:
            made.append(sign)
    if escaped:
        raise SelectorError("invalid field selector: invalid escape sequence: \\")
    return "".join(made)
