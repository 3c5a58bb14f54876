"""Flow style, alone and among other lines: each way of reading YAML tells the same of it."""

from __future__ import annotations

import random

import pytest
from yamlways import same

SURE = (
    "[]",
    "{}",
    "[a, [b, {c: d}], ]",
    "{a: , b, c:  [],}",
    "{a: 'it''s', \"b\":\"x\\n\\\"\", 'c':d}",
    "{'a': '\\', b: '\"', c: 'x, y: [z'}",
    "[1, -1, 0, 007, 0x1F, 1_000, 1.5, 1.50, 2.0, 1e3, 12345678901234567890]",
    "[yes, no, on, ~, null, True, y, tRUE, ~x]",
    "[12:30, 2001-01-01, a:b, nginx:1.2, http://a.b/c, 1 2, a  b c]",
    "{yes man: a, 1: b, none: , c#d: e}",
    "[\n  a b\n  c,\n  {d:\n     e}\n]",
    "[it's, a&b, a*b, x!, <<, é, 中]",
    "{a:b, c::d: e, f : g}",
    "[a # b\n, c, # 'd' [\n  'e # f', # g\n]",
    "['a\n  b', \"c \n\n d\", '']",
    '["\\x41", "\\u00e9\\t", "a\\\n  b"]',
    '["\\xe9\\U0001F600\\U00000022", "\\0\\a\\v\\e\\ \\_\\N\\L\\P\\/", "\\\\x41", \'\\x41\']',
)
UNSURE = (
    "[a # b]",
    "[a # b\n c]",
    "{'a\n  b': c}",
    '["a]',
    '["a\\"]',
    "[a: b]",
    "[&a b, *a]",
    "[!!str 1]",
    "{<<: {a: b}}",
    "{yes: a}",
    "{1.5: a}",
    "{a: 1, a: 2}",
    "{? a : b}",
    '["\\ud800"]',
    '["\\x4"]',
    '["\\q"]',
    '["\\U0000d800"]',
    '["\\U00110000"]',
    "[.inf]",
    "[a\tb]",
    "[a]]",
    "[a], [b]",
    "[,]",
    "['a' b]",
    "{a: b: c}",
    "{[a]: b}",
    "[a",
    "[\n--- ]",
    "a",
    '{"' + "a" * 1100 + '": b}',
    "{" + "a " * 600 + "b: c}",
)


@pytest.mark.parametrize("text", [*SURE, *UNSURE])
@pytest.mark.parametrize("around", ["@", "- @\n- last\n", "a: @\n", "[[x], @, @]", "x:\n    @\n"])
def test_a_value_is_what_its_events_say(text: str, around: str) -> None:
    same(around.replace("@", text).encode())


_SCALARS = (
    "a",
    "b1",
    "7",
    "yes",
    "1.5",
    "~",
    "'q r'",
    '"s: t"',
    "u v",
    "w:x",
    "-1",
    "0x1F",
    "",
    "*a",
    "it's",
    "1.0",
    "k#",
)
_SIGNS = ("[", "]", "{", "}", ",", ", ", ": ", ":", "'", '"', "\n", " ", "#", " #", "&", "\\", "-")


def _flow(dice: random.Random, level: int = 0) -> str:
    if level > 3 or (level and dice.random() < 0.5):
        return dice.choice(_SCALARS)
    comma = dice.choice((",", ", ", ",\n  "))
    if dice.random() < 0.5:
        return f"[{comma.join(_flow(dice, level + 1) for _ in range(dice.randrange(4)))}]"
    names = dice.sample(("a", "b", "c d", "'e'", '"f"', "1"), dice.randrange(4))
    colon = dice.choice((": ", ": ", ":", " : "))
    return f"{{{comma.join(f'{name}{colon}{_flow(dice, level + 1)}' for name in names)}}}"


@pytest.mark.parametrize("seed", range(6))
def test_random_values_are_what_their_events_say(seed: int) -> None:
    dice = random.Random(seed)
    for _ in range(150):
        text = _flow(dice)
        if dice.random() < 0.4:
            at = dice.randrange(len(text) + 1)
            text = text[:at] + dice.choice(_SIGNS) + text[at + dice.randrange(2) :]
        same(text.encode())


_LINES = "".join(f"- {{name: a{place}, value: [{place}, 'x']}}\n" for place in range(400))
_NAMED = "".join(f"  a{place}: {{v: [{place}, 'x']}},\n" for place in range(400))
_TORN = "".join(f"  {{name: a{place},\n   value: [{place}, 'x']}},\n" for place in range(400))


@pytest.mark.parametrize(
    "text",
    [
        "x:\n" + _LINES,
        "x:\n" + _LINES.replace("a200,", "a200, # here\n "),
        "x:\n" + _LINES.replace("a200,", "a200, name: b,"),
        "x:\n" + _LINES.replace(", value", ",\n   value"),
        "x: [\n" + _TORN + "]\ny: z\n",
        "x: a\ny: z\nx: [\n" + _TORN + "]\nx: z\n",
        "x: {a: [" + _TORN.replace("\n", "") + "]}\ny: z\n",
        "x: {\n" + _NAMED + "}\ny: z\n",
        "x: a\ny: z\nx: {\n" + _NAMED + "}\nx: z\n",
        "x: {a: {" + _NAMED.replace("\n", "") + "}}\ny: z\n",
    ],
)
def test_many_values_in_a_document(text: str) -> None:
    same(text.encode())


_WRAPPED = ",\n    ".join(f"k{place}: a{place}, l{place}: {place}, m{place}: v&e" for place in range(400))
_WORDS = ",\n    ".join(f"a{place}, {place}, yes" for place in range(400))


@pytest.mark.parametrize(
    "text",
    [
        f"x: {{{_WRAPPED}}}\ny: z\n",
        "x: {{{}}}\ny: z\n".format(_WRAPPED.replace("k300:", "k2:")),
        "x: {{{},\n  {}}}\ny: z\n".format(_WRAPPED, _WRAPPED.replace("\n", "\n ")),
        f"x: {{{_WRAPPED}\ny: z\n",
        f"x: [{_WRAPPED}}}\ny: z\n",
        f"x:\n- [{_WORDS}]\n- [{_WORDS}\n  b, c]\n",
        f"x: {{a: [{_WORDS}], {_WRAPPED}: 1, a: b}}\n",
        f"x: a\n  b: {{{_WRAPPED}}}\n",
        f"x: {_WORDS}\n",
        f"x: {{{_WORDS}}}\n",
        f"x: |\n    {_WRAPPED}\n",
        f"{{{_WRAPPED},\n &x a: b, *x : c, {_WRAPPED}}}\n",
        "x: {{\n  {}\n}}\n".format("".join(f"k{place}: v, # c\n  " for place in range(200))),
        "x: {{\n  {}&a b: c}}\n".format("".join(f"k{place}: v,\n  " for place in range(2000))),
    ],
)
def test_long_flow_style_in_several_lines(text: str) -> None:
    same(text.encode())


_OBJECTS = ",\n  ".join(f"{{name: a{place}, value: [{place}]}}" for place in range(1500))


@pytest.mark.parametrize(
    "odd", ["&x a", "{a: 1, a: 2}", "!!str 1", "a: b", "{<<: {a: b}}", "[a", "}", "'", "{a: b}: c", ","]
)
@pytest.mark.parametrize(
    "around", ["x: [{}]\ny: z\n", "x:\n- [{}]\n", "{{x: [{}], y: z}}\n", "x: |\n  {}\n", "x: {{{}}}\n"]
)
def test_an_odd_item_among_many_in_flow_style(around: str, odd: str) -> None:
    same(around.format(_OBJECTS.replace("{name: a1000, value: [1000]}", odd)).encode())
