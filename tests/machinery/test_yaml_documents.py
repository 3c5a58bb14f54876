"""Block style read as a table of lines: it means what the parser's events say, or nothing is said of it."""

from __future__ import annotations

import random
from typing import Any

import pytest
import yaml
from yamlways import same

from pilothouse.machinery.yamlcodec import YAMLError, loads_noting

SURE = (
    "a: b\n",
    "a:\n  b: c\n  d:\n  - e\n  - f: g\n    h:\n    - - i\n      - j\n    - k\nl: m\n",
    "- a\n-   b: 1\n    c: 2\n-\n  - d\n- - - e\n    - f\n  - g\n",
    "a:\nb:\n-\n-\nc:   \n",
    "a: 1\nb: -1\nc: 0\nd: 1.50\ne: 012\nf: 0x1F\ng: 1_0\nh: .5\ni: 1e3\nj: 1234567890123456\nk: -0\nl: 2.0\n",
    "m: 1:30\nn: 1.2.3\no: +1\n",
    "a: yes\nb: ~\nc: null\nyes: d\n1: e\n1.5: f\n'~': g\n",
    "a: 'it''s'\nb: \"x\\n\\\"\\x41\\u00e9\\U0001F600\\L\\/\"\n'c': d\n\"e:\": f\n\"g\\\\\": h\n'i: j': k\n",
    "a: {b: c}\nd: [e, {f: g}]\nh: {}\n",
    "a: b c\n  d\n\n  e\nf: g\n",
    "a:\n  b c\n  d\ne:\n  'f\n\n  g'\n",
    "a: |\n  b: c\n   - d\n\n  # e\nf: >-\n  g\n  h\ni: j\n",
    "- |\n a\n- >\n  b\n\n  c\n- d\n",
    "a: {b: c,\n  d: e}\nf: [g,\n  h]\n",
    "# a\na: b # c\n\n  # d\ne: f\n",
    "? a\n: b\nc: d\n",
    "a: &x b\nc: *x\nd: !!str 1\n",
    "---\na: b\n",
    'é: zoë\n中: "\\u65e5"\nf:metadata: {}\nhttp://a.b/c: d\n',
    "a: 1\na: 2\nb:\n  c: 1\n  d: 2\n  c: 3\n",
    "  a: b\n  c: d\n",
    "<<: {a: b}\nc: d\n",
    "a: &x\n- b\nc: d\n",
)
UNSURE = (
    "a: b\n c: d\n",
    "a: b: c\n",
    "a\n",
    "{a: b}\n",
    "a:\n  b: c\n d: e\n",
    "a: b\n- c\n",
    "- a\nb: c\n",
    "a: 'b\n",
    "a: [b\nc: d\n",
    "a: b\n---\nc: d\n",
    "a: b\n... c: d\n",
    "a: .inf\n",
    "~: a\n",
    "a: *x\n",
    "a: b\n{c: d}\n",
    "a: 1\n'a': 2\n",
    "a:\n  b: c\na:\n  d: e\n",
    "a:\n\tb: c\n",
    "a" * 1001 + ": b\n",
    "".join(f"{' ' * depth}a:\n" for depth in range(200)),
    "a: \u2028b\n",
)
SIGNS = (
    "\n", "  ", "- ", "a: b\n", "k: |\n    l\n   m\n", "# c\n", " # c", "\t", "? x\n: y\n", "'", '"', "{", "}", "[",
    "]", ": ", "---\n", "...\n", "&a ", "*a", "!!str ", "<<: ",
    "'a'", "- - - x\n", "\\", '"a": 1\n', "a:\n", "  b: c\n",
)  # fmt: skip
WORDS = (
    "a", "b c", "é", "-", "0x1f", "true", "1.5", "~", "c: d", "e\nf", "\t", "'g'", '"h"', "# i", "*j", "&k", "<<", "y",
    "012", "-1", "1e3", "{l}", "\U0001f600", "m ", "x" * 60 + " " + "y" * 40, "9223372036854775808",
)  # fmt: skip


@pytest.mark.parametrize("text", [*SURE, *UNSURE])
def test_a_document_is_what_its_events_say(text: str) -> None:
    same(text.encode())


def tree(chance: random.Random, depth: int) -> Any:
    kind = chance.random()
    if not depth or kind < 0.3:
        return chance.choice((*WORDS, *WORDS, None, True, 7, -0.25, 2.0))
    if kind < 0.6:
        return [tree(chance, depth - 1) for _ in range(chance.randrange(5))]
    return {
        chance.choice(WORDS) + str(chance.randrange(3)): tree(chance, depth - 1) for _ in range(chance.randrange(5))
    }


def document(chance: random.Random) -> str:
    value = {"a": tree(chance, 4), "b": tree(chance, 2)}
    style = chance.choice((False, False, None))
    text = yaml.dump(value, Dumper=yaml.CSafeDumper, default_flow_style=style, indent=chance.choice((2, 4)), width=60)
    for _ in range(chance.choice((0, 0, 1, 3))):
        place = chance.randrange(len(text))
        place = text.find("\n", place) + 1 if chance.random() < 0.5 else place
        text = text[:place] + chance.choice(SIGNS) + text[place + chance.choice((0, 0, 1, 9)) :]
    return text


@pytest.mark.parametrize("seed", range(8))
def test_random_documents_are_what_their_events_say(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(150):
        same(document(chance).encode())


def test_a_long_document_of_no_form() -> None:
    chance = random.Random(1)
    items = "".join(
        f"- {key}: value-{chance.randrange(20)}\n" for key in (f"key-{chance.randrange(9)}" for _ in range(6000))
    )
    text = f"a:\n{items}b: 1\nb: 2\n"
    same(text.encode())
    repeated = loads_noting(text.encode())[1]
    assert repeated == ['line 6003: key "b" already set in map']
    with pytest.raises(YAMLError) as refused:
        loads_noting(text.replace("b: 2", "b: 2: 3").encode())
    assert str(refused.value) == "yaml: line 6003: mapping values are not allowed in this context"
