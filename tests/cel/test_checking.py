"""Types: what fits what, and what is said where it does not."""

from __future__ import annotations

import pytest

from cel.trying import ENVIRONMENT, problem

NO_RANGE = "cannot be range of a comprehension (must be list, map, or dynamic)"
NO_DECIMAL = "decimal clause can only be used on integers, was given"


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("n == 1 && t", "bool"),
        ("[n]", "list(int)"),
        ("[1, 'a'] == [] || true ? {'a': l} : {}", ""),
        ("{'a': l}", "map(string, list(int))"),
        ("any.x", "dyn"),
        ("l.map(x, string(x))", "list(string)"),
        ("map.transformMap(k, v, double(v))", "map(string, double)"),
        ("any.?x", "optional_type(dyn)"),
        ("l[?0]", "optional_type(int)"),
        ("l[?0].orValue(1)", "int"),
        ("timestamp('2024-01-01T00:00:00Z') - timestamp('2024-01-01T00:00:00Z')", "duration"),
        ("t ? any : 1", "dyn"),
        ("type(n)", "type(int)"),
        ("[]", "list(dyn)"),
        ("n > d", "bool"),
    ],
)
def test_expressions_have_types(expression: str, expected: str) -> None:
    if expected:
        assert str(ENVIRONMENT.compile(expression).type) == expected
    else:
        assert problem(expression)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("nope", "1:1: undeclared reference to 'nope' (in container '')"),
        ("n + s", "1:3: found no matching overload for '_+_' applied to '(int, string)'"),
        ("n == 1.0", "1:3: found no matching overload for '_==_' applied to '(int, double)'"),
        ("n == null", "1:3: found no matching overload for '_==_' applied to '(int, null)'"),
        ("n && t", "1:1: expected type 'bool' but found 'int'"),
        ("n ? 1 : 2", "1:3: found no matching overload for '_?_:_' applied to '(int, int, int)'"),
        ("s.foo()", "1:6: undeclared reference to 'foo' (in container '')"),
        ("s.startsWith(1)", "1:13: found no matching overload for 'startsWith' applied to 'string.(int)'"),
        ("s.x", "1:2: type 'string' does not support field selection"),
        ("[1, 'a']", "1:5: expected type 'int' but found 'string'"),
        ("{'a': 1, 'b': 'c'}", "1:15: expected type 'int' but found 'string'"),
        ("l.all(x, x)", "1:10: expected type 'bool' but found 'int'"),
        ("n.all(x, true)", f"1:1: expression of type 'int' {NO_RANGE}"),
        ("s.matches('(')", "1:11: invalid matches argument"),
        ("duration('1 day')", "1:10: invalid duration argument"),
        ("timestamp('yesterday')", "1:11: invalid timestamp argument"),
        ("'%d'.format([s])", f"1:14: error during formatting: {NO_DECIMAL} string"),
        ("'%s %s'.format([s])", "1:15: index 1 out of range"),
        ("Thing{a: 1}", "1:6: undeclared reference to 'Thing' (in container '')"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_told(expression: str, expected: str) -> None:
    assert problem(expression) == expected


def test_a_loop_hides_names_only_within_itself() -> None:
    assert problem("l.all(n, n > 0) && n == 7") == ""
    assert problem("l.all(x, x > 0) && x == 7") == "1:20: undeclared reference to 'x' (in container '')"


def test_a_template_may_have_arguments_of_many_types() -> None:
    assert problem("'%s %d'.format([s, n])") == ""
