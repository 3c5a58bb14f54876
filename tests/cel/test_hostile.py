"""Expressions of any kind: they compile or are refused, and evaluating never breaks anything."""

from __future__ import annotations

import contextlib
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cel.trying import ENVIRONMENT, VALUES
from pilothouse.cel.environment import NotCompiled

WORDS = st.sampled_from(
    [
        "n", "m", "d", "s", "t", "l", "words", "map", "any", "x", "1", "2u", "0.5", "'a'", "b'a'", "r'\\d'", "null",
        "true",
        "false", "[", "]", "{", "}", "(", ")", ".", ",", ":", "?", "!", "-", "+", "*", "/", "%", "==", "!=", "<",
        ">=", "&&",
        "||", "in", "=", "&", "'", "`", "\\", "\n", "// x", "has(", ".all(x, ", ".map(x, ", ".exists_one(",
        ".filter(x, ",
        ".?a", "[?0]", ".size()", "size(", ".matches(", ".format([", "optional.of(", ".orValue(", "type(", "timestamp(",
        "duration(", "quantity(", "ip(", "url(", ".split(", "string(", "int(", ".optMap(x, ", ".transformMap(k, v, ",
        ".sortBy(x, ", "sets.contains(", ".sum()", ".min()", "lists.range(", "x > 0)", "if", "Foo{", "dyn(", "é",
        "\U0001f600",
    ]
)  # fmt: skip
LEAF = st.sampled_from(
    [
        "n", "m", "d", "s", "t", "l", "words", "map", "any", "any.name", "any.nope", "1", "0", "-1", "2.5", "'a'",
        "''", "null", "[]", "{}",
    ]
)  # fmt: skip


def grown(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    shapes = [
        "({0} + {1})", "({0} == {1})", "({0} && {1})", "({0} || {1})", "({0} ? {1} : {2})", "({0} < {1})", "{0}[{1}]",
        "[{0}, {1}]", "{{'k': {0}}}", "{0}.size()", "{0}.all(v, {1})", "{0}.map(v, {1} + v)", "{0}.exists(v, v == {1})",
        "({0} in {1})", "dyn({0})", "string({0})", "int({0})", "({0} / {1})", "({0} % {1})", "-{0}", "!{0}",
        "type({0})",
        "optional.of({0}).orValue({1})", "{0}.filter(v, v != {1})", "'%s'.format([{0}])", "{0}.?name.orValue({1})",
        "{0}.transformList(i, v, v)", "{0}.sort()", "{0}.contains({1})", "{0}.substring({1})",
        "dyn({0}).all(k, v, {1})",
        "dyn({0}).x", "has(dyn({0}).x)", "dyn({0})[{1}]", "dyn({0}) - dyn({1})", "dyn({0}).startsWith(dyn({1}))",
    ]  # fmt: skip
    return st.builds(lambda shape, a, b, c: shape.format(a, b, c), st.sampled_from(shapes), inner, inner, inner)


def tried(expression: str) -> None:
    try:
        program = ENVIRONMENT.compile(expression)
    except NotCompiled as error:
        assert str(error).startswith("ERROR: <input>:")
        return
    assert program.estimate() >= 0
    answer = program.evaluate(VALUES, budget=10_000)
    assert answer.error is None or answer.value is None
    assert answer.cost >= 0


@settings(max_examples=400, deadline=None)
@given(st.lists(WORDS, max_size=14))
def test_a_soup_of_words(words: list[str]) -> None:
    tried(" ".join(words))
    tried("".join(words))


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=30))
def test_any_text(text: str) -> None:
    tried(text)


@settings(max_examples=600, deadline=None)
@given(st.recursive(LEAF, grown, max_leaves=12))
def test_expressions_of_any_shape(expression: str) -> None:
    tried(expression)


@pytest.mark.parametrize("expression", ["(a+)+$", "(.*)*x", "((a|aa)+)+b", "a{1000}{1000}", "(?:x+x+)+y"])
def test_patterns_cannot_take_long(expression: str) -> None:
    started = time.process_time()
    with contextlib.suppress(NotCompiled):
        ENVIRONMENT.compile(f"s.matches('{expression}')").evaluate(VALUES | {"s": "a" * 20_000 + "!"})
    assert time.process_time() - started < 2.0
