"""Block style, regular, odd and wrong: each way of reading YAML tells the same of it."""

from __future__ import annotations

import random

import pytest
from yamlways import same

REGULAR = {
    "members of several forms": "a: 1\nb:\n  c: x\n  d: [1, {e: f}]\ng:\n- h\n- i: 'it''s'\n  j: \"q: \\\\ \\u00e9\"\n",
    "items in items": "- - a\n  - - b\n    -\n- c: {}\n-\n  - d\n-\n  e: f\n",
    "lists as deep as their names": "x:\n- a\nv:\n  - b\nz:\n-\nw:\n",
    "nothing": "a:\nb:\n  c:\n  -\nd: ~\n",
    "words that are no texts": "- yes\n- 012\n- 1.50\n- 0x1F\n- -7\n- 1e3\n- null\n- '1'\n- 2001-01-01\n- --x\n",
    "signs in texts": "a: b, [c] {d}\nb: http://e:80/f\nc: g - h\nd: x#y\ne: (1) 100%\nf: a  b\ng: é\n",
    "comments": "# x\na: b # c\n  # d\nb:  # e\n- c # 'f\n# g\n- 'h # i'\n",
    "empty lines": "a:\n\n- b\n   \n- c\n\n\nd: e\n\n",
    "spaces": "a:   b\nc:  \n  - d  \n  -   e: f\n      g: h\n",
    "flow style in several lines": "- {a: b,\n  c: [d,\n   e]}\n- f\n- [\n  g]\n",
    "members twice": (
        "a: 1\nb:\n  c: 1\n  c: [2,\n   3]\na: 3\n\nb:\n- d:\n  e: 1\n  d:\n- f\n'a': 4\nb:\n  g: h\n# i\n\n"
    ),
    "members in disorder, twice": "- b: 1\n  a: 2\n  'b': 3\n  1: 4\n  1: 5\n  a:\n  a:\n    a: 1\n    a: 2\n- b: 3\n",
    "names of several words": "a b: c\n'd': e\n\"f g\": h\n1: i\n",
}
ODD = {
    "anchors": "a: &x b\nc:\n- d\n- *x\n- e\nf: g\n",
    "tags": "a:\n- b: 1\n- !!str 1\n- c: 2\nd: e\n",
    "texts of several lines": "a:\n- b: |\n    c: d\n    # e\n- f: g\n  h: >-\n    i\n\n    j\n  k: l\n",
    "plain texts of several lines": "a: b\n  c\nd:\n- e\n  f\n- g\n",
    "quotes over several lines": "a: 'b\n  c: d'\ne: f\ng: \"h\n\n  i\"\nj: k\n",
    "keys of their own": "a:\n  ? b\n  : c\n  d: e\n  f: g\n",
    "a header": "---\na: b\nc:\n- d\n",
    "words for names": "yes: a\nb: c\n",
    "members twice in flow style": "a: 1\nb: {c: 1, d: 2, c: 3}\na: 3\n",
    "merges": "a: &x {b: c}\nd:\n  <<: *x\n  e: f\n",
    "a list that takes what is in its column": "a:\n-\n|\n  b\n- c\nd: e\n",
}
WRONG = {
    "a list that takes what is in its column, twice": "a:\n-\nb\n-\nc\n",
    "a pair before what is wrong": "a:\n- b\nc: [\n d: &x [1]\ne: 'f",
    "a sign that begins nothing": "a:\n- b: c\n- d: @e\n- f: g\n",
    "too deep": "a:\n- b: c\n   d: e\n- f: g\n",
    "not deep enough": "a:\n  - b: c\n - d: e\n  - f: g\n",
    "an open quote": "a:\n- b: c\n- d: 'e\n- f: g\nh: i\n",
    "an open list": "a:\n- b: [c\n- d: e\nf: g\n",
    "an open object before members": "a:\n  b: {\nc:\n  d: e\nf:\n  g: h\n",
    "an open quote in a list": 'a:\n- b: ["]\n- c: d\n- "e"\nf: g\n',
    "no colon": "a:\n  b: c\n  d\n  e: f\n",
    "two colons": "a:\n  b: c: d\n  e: f\n",
    "an item in an object": "a:\n  b: c\n  - d\n  e: f\n",
    "a tab": "a:\n  b: c\n\td: e\n  f: g\n",
    "an unknown alias": "a:\n- b\n- *x\n- c\n",
}


@pytest.mark.parametrize("name", [*REGULAR, *ODD, *WRONG])
def test_a_document_is_what_its_events_say(name: str) -> None:
    some = "".join(f"m{number}:\n- r: {number}\n  o: p\n" for number in range(9))
    for around in ("", some):
        same((around + {**REGULAR, **ODD, **WRONG}[name] + around.replace("m", "q")).encode())


_PIECES = (
    "a: b\n", "- c\n", "- d: 1\n", "  e: f\n", "  - g\n", "- h:\n",
    "    i: [j]\n", "    k: 'l'\n", "  m:\n", "r:\n", "-\n",
    "  - - o\n", "  p: |\n", "  q: &r s\n", "  t: *r\n", "  u: {v: w\n", "\n", "# x\n", "y: 'z\n", "  a b\n", "  ? a\n",
)  # fmt: skip


@pytest.mark.parametrize("seed", range(20))
def test_random_lines_mean_what_their_events_say(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(60):
        usual = chance.sample(_PIECES[:12], 4)
        lines = [chance.choice(usual if chance.random() < 0.9 else _PIECES) for _ in range(chance.randrange(3, 30))]
        data = "".join(
            line.replace(line.strip()[:1], f"{line.strip()[:1]}{number}", 1) if line.strip()[:1].isalpha() else line
            for number, line in enumerate(lines)
        ).encode()
        same(data)


def test_a_text_in_quotes_may_go_on_behind_a_comma() -> None:
    data = b'q: "{a,\n  b}"\n' + b"".join(
        b"k%d:\n  a: b\n" % place + b"  c: d\n" * (place % 3 > 0) for place in range(3000)
    )
    same(data)


@pytest.mark.parametrize("levels", [400, 900, 1100, 200_000])
@pytest.mark.parametrize("form", ["[@]", "- @", "{a: @}", "? @"])
def test_deep_values_and_their_aliases(form: str, levels: int) -> None:
    before, behind = form.split("@")
    text = before * levels + "a" + behind * levels
    same(text.encode())
    if form == "[@]":
        same(f"x: &x {text}\ny: *x\n".encode())
