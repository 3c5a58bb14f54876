"""Many lines that are alike, or nearly: each way of reading YAML tells the same of them."""

from __future__ import annotations

import random

import pytest
from yamlways import same

from pilothouse.machinery.yamlcodec import read

_TIMES = 200


def _lines(make: str) -> str:
    return "".join(make.replace("#", str(place)) for place in range(_TIMES))


RUNS = {
    "items": "x:\n" + _lines("- a#\n"),
    "items of several kinds": "x:\n" + _lines("- a#\n- 7\n- true\n- 0x1F\n- nginx:1.#\n- ~x\n")[: _TIMES * 8],
    "the same item": "x:\n" + _lines("  - {a: [b]}\n"),
    "numbers": _lines("- #\n"),
    "items in quotes": _lines('- "a#: #"\n'),
    "anchored items": _lines("- &a# b#\n"),
    "members": "data:\n" + _lines(" k#: v #\n") + "kind: X\n",
    "members in quotes": _lines('k#: "v: #, "\n'),
    "members with links": _lines("k#: http://a.b/#\n"),
    "a member again and again": _lines("a: b\n") + "c: d\n",
    "members twice": _lines("a#: 1\n") * 2,
    "a member that is there before": "a7: x\n" + _lines("a#: 1\n") + "a9: x\n",
    "items in a flow": "x: [" + _lines("a#,") + "]",
    "items in a flow with spaces": "x: [" + _lines("#, ") + "b]",
    "the same item in a flow": "x: [" + _lines("{},") + "]",
    "members in a flow": "x: {" + _lines("a#: b,") + "}",
    "aliases": "- &a [x, y]\n" + _lines("- *a\n"),
    "merges": "x: &x {a: b}\ny:\n" + _lines("  <<: *x\n"),
    "tags": "x: [" + _lines("!!str 1,") + "]",
    "objects": "x:\n" + _lines("- name: a#\n  image: b:#\n  n: #\n"),
    "objects with lists in them": _lines("  - b: '#'\n    a:\n    - x: y#\n    - x: z\n    c: {}\n"),
    "objects with flow style in them": (
        "x:\n" + _lines('- name: a#\n  ports:\n  - {port: #, name: b}\n  args: [a, "#"]\n  b: [c, d]\n')
    ),
    "objects with flow style that is none": _lines("- a: [#]\n  b: c\n").replace("[160]", "[a: b]"),
    "objects of one member": _lines("- a: b#\n"),
    "few lines in any order": "x:\n" + "- a\n- b: c\n- 1\n- [d]\n- a\n" * _TIMES,
    "few lines, one open": "x:\n" + '- a\n- "b\n- c"\n- 1\n- a\n' * _TIMES,
    "few items in any order": "x: [" + "a,1,[],'b'," * _TIMES + "]",
    "names that are numbers": _lines("1#: v\n"),
    "names that are numbers, twice": _lines("1#: v\n") * 2,
    "names in quotes": _lines('"k #": v\n'),
    "names and values in quotes": _lines('"k #": "v: #"\n'),
    "flow style, a line each": _lines("- {name: a#, value: #, b: [yes, {}]}\n"),
    "flow style, a line each, one of two": _lines("- [a#, b]\n") + "- [a],[b\n- c]\n" + _lines("- [a, #]\n"),
    "flow style, a line each, torn": (_lines("- [a#, b]\n") + "- [a],between,[b\n- [c]]\n" + _lines("- [a, #]\n")),
    "JSON, a line each": _lines('- {"name": "a: #", "b": [#]}\n'),
    "JSON with a member twice, a line each": _lines('- {"a": "#", "a": 1}\n'),
    "flow style in one line": "x: [" + _lines("{a: b#, c: [#, no]},") + "]\ny: z\n",
    "flow style with a name that is none": "x: [" + _lines("{no: b#},") + "]",
    "objects by name": "x:\n" + _lines("  k#:\n    a: b#\n    c: [d]\n"),
    "lists by name": _lines("k#:\n- b#\n- 1\n") + "kind: X\n",
    "nulls by name": _lines("k#:\n"),
    "objects by names that are none": _lines("no:\n  a: b#\n"),
    "equal objects": _lines("- a: b\n  c: 100%\n"),
    "objects, one of them another": _lines("- a: #\n  b: c\n").replace("a: 99\n", "a: 99 # x\n"),
    "objects with a member twice": _lines("- a: #\n  a: c\n"),
    "objects with numbers that are kept": _lines("- a: #\n  b: 1.0e3\n"),
    "objects with numbers of all sorts": _lines("- a: 0#\n  b: ~\n  c: yes\n  d: 1.#\n"),
    "texts of other scripts": _lines("- \u00fc\u4e2d#\n"),
    "digits of other scripts": _lines("- 1\u0662#\n- 1\u00b2\n") + "- 1\n",
    "digits of other scripts, members": _lines("k#: 1\u0662\n"),
    "raised digits, members": _lines("k#: 1\u00b2\n"),
    "breaks that are none of ASCII": _lines("- a\u2028#\n"),
    "members with comments": "x:\n" + _lines("  k#: v-#  @ no. #\n").replace("@", "#"),
    "items with comments": _lines("- a# @ a\n- x  @b\n").replace("@", "#"),
    "members with spaces": "x:\n" + _lines("  k#:   v #  \n  l#: # \n"),
    "items with spaces": _lines("- a#  \n- b  c \n"),
    "numbers with a point": _lines("- #.5\n- 7\n- 0.#\n- 1#.0\n") * 30,
    "numbers with a point, not all": _lines("- #.5\n- #.0.1\n") * 30 + "- 1\n",
    "comments that may hold members": _lines("k#: v @ a: b\n").replace("@", "#"),
    "objects of several forms": _lines("- a: b#\n- a: #\n  b: '#'\n- b: c\n  c:\n  - #\n  - x\n"),
    "objects of several forms, one of them another": (
        _lines("- a: b#\n- a: #\n  b: c\n").replace("a: 99\n", "a: |\n    99\n")
    ),
    "objects of several forms, one of them torn": (
        _lines("- a: b#\n- a: #\n  b: c\n").replace("a: 99\n", "a: 99\n  y\n")
    ),
    "names that are none": _lines("true: #\n"),
    "numbers that are none of JSON": _lines("- 1.#\n"),
}


@pytest.mark.parametrize("name", RUNS)
def test_alike_lines_mean_what_their_events_say(name: str) -> None:
    same(RUNS[name].encode())


@pytest.mark.parametrize("around", ["x: |\n@", 'x: "\n@"', "x:\n  y\n@", "x: >-\n@\n", "'@'", "- [\n@]", "# x\n@"])
@pytest.mark.parametrize("run", ["  - a\n", "  a: b\n", "  - a#\n", "  a#: b\n", "  <<: *a\n", "  ?\n", " a,", " #,"])
def test_what_only_looks_like_lines_of_its_own(around: str, run: str) -> None:
    same(around.replace("@", _lines(run)).encode())


@pytest.mark.parametrize(
    "text",
    [
        "a: b\n" + _lines("k#: v\n") + "\tx",
        _lines("k#: v\n") + "a: b: c\n",
        "x: [" + _lines("a,") + "\n\n}",
        _lines("- a#\n") + "x: y\n",
        _lines("k#: v\n") + "x: *none\n",
        "x: !!int a\n" + _lines("k#: v\n") + "a: [\n",
        _lines("?\n"),
        "~: 1\n" + _lines("- a\n"),
    ],
)
def test_errors_name_the_lines_of_the_whole_document(text: str) -> None:
    assert same(text.encode()).startswith(("yaml: ", "unsupported map key"))


def test_a_member_of_many_is_told_with_its_line() -> None:
    data = ("a: b\n" + _lines("k#: v\n") + _lines("m#: v\n") + "k150: v\n").encode()
    assert same(data).endswith(f"""['line {2 * _TIMES + 2}: key "k150" already set in map'])""")


def test_aliases_that_make_too_much_are_refused() -> None:
    data = ("- &a [" + "x," * 300 + "]\n" + _lines("- *a\n")).encode()
    assert same(data) == "yaml: document contains excessive aliasing"


_PIECES = (
    "k#:\n  b: #",
    " k#:",
    "k#:\n- x#\n- y",
    "- a#",
    "a#: b",
    "- 1",
    "- {a: b}",
    "k: v",
    '- "#"',
    '  q#: ": "',
    "  - *x",
    "<<: *x",
    "a: &x [1]",
    "- a: b",
    "?",
)
_BETWEEN = (
    "",
    "x:\n",
    "y: |\n",
    "z: [\n",
    "  - b:\n",
    "w: 'a\n",
    "]\n",
    "'\n",
    "# c\n",
    "x: &x {a: 1}\n",
    "\t\n",
    "a: b: c\n",
)


@pytest.mark.parametrize("seed", range(8))
def test_random_documents_mean_what_their_events_say(seed: int) -> None:
    dice = random.Random(seed)
    for _ in range(60):
        text = "".join(
            dice.choice(_BETWEEN) + "".join(
                f"{dice.choice(('', ' '))}{piece}\n".replace("#", str(place)) for place in range(dice.choice((3, 90)))
            )
            if dice.random() < 0.2
            else dice.choice(_BETWEEN) + "".join(f"{piece}\n".replace("#", str(place)) for place in range(90))
            for piece in dice.choices(_PIECES, k=dice.randrange(1, 5))
        )  # fmt: skip
        same(text.encode())


def test_lines_may_end_as_on_windows() -> None:
    text = "a: |\n  x\n  y\n" + _lines("k#: v\n") * 20
    assert read.loads_noting(text.replace("\n", "\r\n").encode()) == read.loads_noting(text.encode())


def test_long_json_tells_its_members_twice() -> None:
    data = ('{"x":[' + "{}," * 20_000 + '{}],"y":1,"y":2}').encode()
    assert read.loads_noting(data) == ({"x": [{}] * 20_001, "y": 2}, ['line 1: key "y" already set in map'])
