"""How expressions are read, and what is said of those that cannot be."""

from __future__ import annotations

import pytest

from cel.trying import problem, value
from pilothouse.cel.environment import Environment, NotCompiled

OPERAND = (
    "expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, "
    "IDENTIFIER}"
)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("7 - 2 - 1", 4),
        ("-3 + 5", 2),
        ("--3", 3),
        ("!!t", True),
        ("t ? 1 : t ? 2 : 3", 1),
        ("true || false && false", True),
        ("n + 1 == 8 && n in [7]", True),
        ("l[0] + l[1]", 4),
        ("[1, 2,]", [1, 2]),
        ("{'a': 1,}", {"a": 1}),
        ("0x1F", 31),
        ("1.5e-3", 0.0015),
        (".5", 0.5),
        ("5u", 5),
        ("-9223372036854775808", -(2**63)),
        ("18446744073709551615u", 2**64 - 1),
        ("000000000000000000000000000000000000000000000000007", 7),
        (r"r'\d'", "\\d"),
        (r"'a\tb\x41\101\u00e9'", "a\tbAA\u00e9"),
        ('"""a"b"""', 'a"b'),
        (r"b'\xe9'", b"\xe9"),
        ("1 // the rest is a remark", 1),
        ("1 +\n  2", 3),
        ("any.`name`", "x"),
    ],
)
def test_what_is_written_is_what_is_meant(expression: str, expected: object) -> None:
    assert value(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("n ==", f"1:5: Syntax error: mismatched input '<EOF>' {OPERAND}"),
        ("n = 1", "1:3: Syntax error: token recognition error at: '= '"),
        ("n <> 1", f"1:4: Syntax error: extraneous input '>' {OPERAND}"),
        ("not t", "1:5: Syntax error: extraneous input 't' expecting <EOF>"),
        ("t and t", "1:3: Syntax error: mismatched input 'and' expecting <EOF>"),
        ("n.1a", "1:2: Syntax error: mismatched input '.1' expecting <EOF>"),
        ("any.", "1:5: Syntax error: no viable alternative at input '.'"),
        ("any.in == 1", "1:5: Syntax error: no viable alternative at input '.in'"),
        ("(n", "1:3: Syntax error: missing ')' at '<EOF>'"),
        ("l[0", "1:4: Syntax error: missing ']' at '<EOF>'"),
        ("[1,,]", "1:4: Syntax error: extraneous input ',' expecting ']'"),
        ("t ? 1", "1:6: Syntax error: mismatched input '<EOF>' expecting ':'"),
        ("'abc", "1:1: Syntax error: token recognition error at: ''abc'"),
        (r"'\q'", "1:1: Syntax error: token recognition error at: ''\\q'"),
        ("", f"1:0: Syntax error: mismatched input '<EOF>' {OPERAND}"),
        ("if == 1", "1:1: reserved identifier: if"),
        ("99999999999999999999", "1:1: invalid int literal"),
        ("9" * 9000, "1:1: invalid int literal"),
        ("0x" + "f" * 9000 + "u", "1:1: invalid uint literal"),
        ("1e99999", "1:1: invalid double literal"),
        ("has(n)", "1:5: invalid argument to has() macro"),
        ("l.all(1, true)", "1:7: argument must be a simple name"),
    ],
)
def test_mistakes_are_told_with_their_place(expression: str, expected: str) -> None:
    assert problem(expression) == expected


def test_two_lines_are_pointed_at_by_line_and_caret() -> None:
    with pytest.raises(NotCompiled) as found:
        Environment({}).compile("1 == 1 &&\n  x == 2")
    assert str(found.value) == "ERROR: <input>:2:3: undeclared reference to 'x' (in container '')\n |   x == 2\n | ..^"


def test_all_mistakes_are_told_in_the_order_of_their_places() -> None:
    with pytest.raises(NotCompiled) as found:
        Environment({}).compile("foo.bar(a, b)")
    places = [line.split(":")[3] for line in str(found.value).split("\n") if line.startswith("ERROR")]
    assert places == ["1", "8", "9", "12"]


@pytest.mark.parametrize(
    "expression",
    ["(" * 5000 + "1" + ")" * 5000, "[" * 3000 + "]" * 3000, " + ".join(["1"] * 3000), "a" + ".b" * 3000, "'" * 9999],
)
def test_what_is_too_deep_or_endless_is_refused_at_once(expression: str) -> None:
    assert problem(expression)


def test_long_lines_are_not_shown() -> None:
    with pytest.raises(NotCompiled) as found:
        Environment({}).compile("x" + " " * 20_000 + "+ y + z")
    assert len(str(found.value)) < 500


def test_what_is_too_long_is_not_read() -> None:
    text = "1 == 1 || " * 20_000
    assert problem(text) == f"1:1: expression code point size exceeds limit: size: {len(text)}, limit 100000"


@pytest.mark.parametrize(("sign", "expected"), [("&&", True), ("||", True)])
def test_long_chains_are_fine(sign: str, expected: bool) -> None:
    assert value(sign.join(["t"] * 2000)) is expected


def test_a_long_sum_is_fine() -> None:
    assert value("+".join(["1"] * 200)) == 200
