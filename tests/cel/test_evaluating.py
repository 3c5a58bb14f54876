"""What expressions evaluate to, and what goes wrong when they do."""

from __future__ import annotations

import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cel.trying import ENVIRONMENT, VALUES, error, value
from pilothouse.cel.values import float_text


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("n / 3", 2), ("-n / 3", -2), ("n % 3", 1), ("-n % 3", -1), ("n * m", 0), ("d / 2.0", 1.25),
        ("n > d", True), ("d <= 2", False), ("n == int(7u)", True), ("s + '!'", "text!"), ("'a' < 'b'", True),
        ("s.size() == 4 && size(l) == 3", True), ("'e' in words || 'a' in words", True), ("'a' in map", True),
        ("map.a + map['b']", 3), ("[1, 2] == [1, 2]", True), ("[1] == [1, 2]", False),
        ("{'a': 1, 'b': 2} == {'b': 2, 'a': 1}", True), ("dyn(1) == 1.0", True), ("dyn(1) == '1'", False),
        ("dyn(true) == 1", False), ("any.list[1] == 'a' && any.list[2] == null", True), ("has(any.name)", True),
        ("has(any.nope)", False), ("type(n) == int && type(d) == double && type(null) == null_type", True),
        ("words + ['c']", ["b", "a", "c"]),
        ("dyn(1) in {true: 'a'}", False), ("dyn(true) in {1: 'a'}", False), ("true in {true: 'a'}", True),
        ("dyn({true: 'a'}) == dyn({1: 'a'})", False), ("dyn({1: 'a'}) == dyn({1.0: 'a'})", True),
        ("{0: 'a'}[dyn(0.0)]", "a"), ("{true: 'a'}[?dyn(1)].hasValue()", False), ("{false: 'a'}[false]", "a"),
    ],
)  # fmt: skip
def test_operators(expression: str, expected: object) -> None:
    assert value(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("n / m", "division by zero"),
        ("n % m", "modulus by zero"),
        ("9223372036854775807 + n", "integer overflow"),
        ("-9223372036854775808 - n", "integer overflow"),
        ("4611686018427387904 * n", "integer overflow"),
        ("uint(-1 * n)", "unsigned integer overflow"),
        ("l[7]", "index out of bounds: 7"),
        ("{true: 'a'}[dyn(1)]", "no such key: 1"),
        ("{dyn(true): 'a'}[1]", "no such key: 1"),
        ("l[n - 8]", "index out of bounds: -1"),
        ("map['z']", "no such key: z"),
        ("map.z", "no such key: z"),
        ("any.z.y", "no such key: z"),
        ("int(s)", "type conversion error from 'string' to 'int'"),
        ("timestamp(s)", "type conversion error from 'string' to 'google.protobuf.Timestamp'"),
        ("duration(s)", "type conversion error from 'string' to 'google.protobuf.Duration'"),
        ("any.count + 'a'", "no such overload"),
        ("any.name.startsWith(any.count)", "no such overload"),
        ("any && t", "no such overload"),
        ("any.list.all(x, x > 0)", "no such overload"),
        ("s.substring(3, 2)", "invalid substring range. start: 3, end: 2"),
        ("s.charAt(9)", "index out of range: 9"),
        ("[].min() == 1", "min called on empty list"),
        ("optional.none().value() == 1", "optional.none() dereference"),
    ],
)
def test_what_goes_wrong_is_told(expression: str, expected: str) -> None:
    assert error(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("n / m == 1 || t", True),
        ("t || n / m == 1", True),
        ("n / m == 1 && false", False),
        ("false && n / m == 1", False),
        ("l.exists(x, 10 / (x - 1) == 10)", True),
        ("l.all(x, 10 / (x - 1) == 10)", False),
        ("t ? 1 : n / m", 1),
        ("any.nope == 1 || any.count == 3 || any.nothing == 2", True),
        ("dyn(d) && false", False),
        ("dyn(d) || true", True),
    ],
)
def test_errors_do_not_count_where_something_else_decides(expression: str, expected: object) -> None:
    assert value(expression) == expected


@pytest.mark.parametrize(
    "expression",
    ["n / m == 1 || false", "n / m == 1 && true", "l.all(x, 10 / (x - 1) > -99)", "l.map(x, 10 / (x - 1)).size() > 0"],
)
def test_errors_count_where_nothing_else_decides(expression: str) -> None:
    assert error(expression) == "division by zero"


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("l.all(x, x > 0)", True), ("l.exists(x, x == 2)", True), ("l.exists_one(x, x > 1)", False),
        ("l.map(x, x * 2)", [6, 2, 4]), ("l.map(x, x > 1, x + 1)", [4, 3]), ("l.filter(x, x % 2 == 1)", [3, 1]),
        ("map.all(k, map[k] > 0)", True), ("map.map(k, k)", ["a", "b"]), ("l.all(i, v, v >= 0 && i < 3)", True),
        ("l.existsOne(i, v, v == 1)", True), ("l.transformList(i, v, i * v)", [0, 1, 4]),
        ("map.transformMap(k, v, v > 1, v * 10)", {"b": 20}),
        ("map.transformMapEntry(k, v, {string(v): k})", {"1": "a", "2": "b"}),
        ("l.map(x, l.filter(y, y < x)).map(z, size(z))", [2, 0, 1]),
        ("[].all(x, false)", True), ("[].exists(x, true)", False),
        ("any.?name.orValue('none')", "x"), ("any.?nope.?deep.orValue('none')", "none"), ("l[?9].hasValue()", False),
        ("any.?name.optMap(x, size(x)).orValue(0)", 1), ("[1, ?l[?0], ?l[?9]]", [1, 3]),
        ("{'a': 1, ?'b': l[?9]}", {"a": 1}), ("optional.of(1).or(optional.of(2)).value()", 1),
    ],
)  # fmt: skip
def test_loops_and_optionals(expression: str, expected: object) -> None:
    assert value(expression) == expected


def test_loops_within_loops_within_loops() -> None:
    assert value("l.all(a, l.all(b, l.all(c, l.all(d, l.all(e, l.all(f, l.all(g, a + g > 0)))))))") is True


def test_deep_logic_with_errors_on_the_way() -> None:
    expression = "(" * 25 + "t" + " && any.a == 1 || any.b == 1)" * 25
    assert error(expression).startswith("no such key: ")


def test_values_that_are_given_are_not_changed() -> None:
    words = ["b", "a"]
    assert value("words.sort() == ['a', 'b'] && (words + ['c']).size() == 3 && words.map(x, x) == words", words=words)
    assert words == ["b", "a"]


def test_one_program_serves_many_threads() -> None:
    program = ENVIRONMENT.compile("l.map(x, x * n).filter(x, x > 0).size() == 3")
    found: list[object] = []
    threads = [threading.Thread(target=lambda: found.append(program.evaluate(VALUES).value)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 8


def test_a_program_knows_what_it_speaks_of() -> None:
    assert ENVIRONMENT.compile("l.all(n, n > m) && has(any.x)").names() == {"l", "m", "any"}


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (2.5, "2.5"), (1000.0, "1000"), (1e-7, "1e-07"), (123456789.123, "1.23456789123e+08"), (0.0015, "0.0015"),
        (-0.5, "-0.5"), (1e21, "1e+21"), (0.0, "0"), (float("inf"), "+Inf"), (5e-324, "5e-324"),
    ],
)  # fmt: skip
def test_doubles_are_written_as_the_original_writes_them(number: float, text: str) -> None:
    assert float_text(number) == text


@settings(max_examples=200, deadline=None)
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_written_doubles_read_back(number: float) -> None:
    assert float(float_text(number)) == number


@settings(max_examples=200, deadline=None)
@given(st.integers(-(2**63), 2**63 - 1), st.integers(-(2**63), 2**63 - 1))
def test_whole_numbers_divide_toward_zero(one: int, other: int) -> None:
    if other == 0:
        assert error("n / m", n=one, m=other) == "division by zero"
    elif (one, other) == (-(2**63), -1):
        assert error("n / m", n=one, m=other) == "integer overflow"
    else:
        assert value("(n / m) * m + n % m == n", n=one, m=other) is True
