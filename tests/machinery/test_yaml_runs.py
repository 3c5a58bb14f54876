"""Long runs of alike lines are read as a whole: what they mean, and what is told of them, is what line by line gave."""

from __future__ import annotations

import random
from typing import Any

import pytest

from pilothouse.machinery.yamlcodec import YAMLError, read
from pilothouse.machinery.yamlcodec.cuts import Aliases, Items, Members, Whole
from pilothouse.machinery.yamlcodec.runs import shortened

_TIMES = 200


def _outcome(read_it: Any, data: bytes) -> Any:
    try:
        return read_it(data, b"*" in data)
    except YAMLError as wrong:
        return str(wrong)


def _whole(data: bytes) -> Any:
    return _outcome(read._built, data)


def _read(data: bytes) -> Any:
    return read._built(data, aliases=False)


def _lines(make: str) -> str:
    return "".join(make.replace("#", str(place)) for place in range(_TIMES))


RUNS = {
    "items": ("x:\n" + _lines("- a#\n"), Items),
    "items of several kinds": ("x:\n" + _lines("- a#\n- 7\n- true\n- 0x1F\n- nginx:1.#\n- ~x\n")[: _TIMES * 8], None),
    "the same item": ("x:\n" + _lines("  - {a: [b]}\n"), Items),
    "numbers": (_lines("- #\n"), Items),
    "items in quotes": (_lines('- "a#: #"\n'), Items),
    "anchored items": (_lines("- &a# b#\n"), Items),
    "members": ("data:\n" + _lines(" k#: v #\n") + "kind: X\n", Members),
    "members in quotes": (_lines('k#: "v: #, "\n'), Members),
    "members with links": (_lines("k#: http://a.b/#\n"), Members),
    "a member again and again": (_lines("a: b\n") + "c: d\n", Members),
    "members twice": (_lines("a#: 1\n") * 2, Members),
    "a member that is there before": ("a7: x\n" + _lines("a#: 1\n") + "a9: x\n", Members),
    "items in a flow": ("x: [" + _lines("a#,") + "]", Items),
    "items in a flow with spaces": ("x: [" + _lines("#, ") + "b]", Items),
    "the same item in a flow": ("x: [" + _lines("{},") + "]", Items),
    "members in a flow": ("x: {" + _lines("a#: b,") + "}", Members),
    "aliases": ("- &a [x, y]\n" + _lines("- *a\n"), Aliases),
    "merges": ("x: &x {a: b}\ny:\n" + _lines("  <<: *x\n"), Aliases),
    "tags": ("x: [" + _lines("!!str 1,") + "]", Items),
    "objects": ("x:\n" + _lines("- name: a#\n  image: b:#\n  n: #\n"), Items),
    "objects with lists in them": (_lines("  - b: '#'\n    a:\n    - x: y#\n    - x: z\n    c: {}\n"), Items),
    "objects with flow style in them": (
        "x:\n" + _lines('- name: a#\n  ports:\n  - {port: #, name: b}\n  args: [a, "#"]\n  b: [c, d]\n'),
        Items,
    ),
    "objects with flow style that is none": (_lines("- a: [#]\n  b: c\n").replace("[160]", "[a: b]"), Items),
    "objects of one member": (_lines("- a: b#\n"), Items),
    "few lines in any order": ("x:\n" + "- a\n- b: c\n- 1\n- [d]\n- a\n" * _TIMES, Items),
    "few lines, one open": ("x:\n" + '- a\n- "b\n- c"\n- 1\n- a\n' * _TIMES, None),
    "few items in any order": ("x: [" + "a,1,[],'b'," * _TIMES + "]", Whole),
    "names that are numbers": (_lines("1#: v\n"), Members),
    "names that are numbers, twice": (_lines("1#: v\n") * 2, None),
    "names in quotes": (_lines('"k #": v\n'), Members),
    "names and values in quotes": (_lines('"k #": "v: #"\n'), Members),
    "flow style, a line each": (_lines("- {name: a#, value: #, b: [yes, {}]}\n"), Items),
    "flow style, a line each, one of two": (_lines("- [a#, b]\n") + "- [a],[b\n- c]\n" + _lines("- [a, #]\n"), None),
    "flow style, a line each, torn": (
        _lines("- [a#, b]\n") + "- [a],between,[b\n- [c]]\n" + _lines("- [a, #]\n"),
        None,
    ),
    "JSON, a line each": (_lines('- {"name": "a: #", "b": [#]}\n'), Items),
    "JSON with a member twice, a line each": (_lines('- {"a": "#", "a": 1}\n'), None),
    "flow style in one line": ("x: [" + _lines("{a: b#, c: [#, no]},") + "]\ny: z\n", Whole),
    "flow style with a name that is none": ("x: [" + _lines("{no: b#},") + "]", None),
    "objects by name": ("x:\n" + _lines("  k#:\n    a: b#\n    c: [d]\n"), Members),
    "lists by name": (_lines("k#:\n- b#\n- 1\n") + "kind: X\n", Members),
    "nulls by name": (_lines("k#:\n"), Members),
    "objects by names that are none": (_lines("no:\n  a: b#\n"), None),
    "equal objects": (_lines("- a: b\n  c: 100%\n"), Items),
    "objects, one of them another": (_lines("- a: #\n  b: c\n").replace("a: 99\n", "a: 99 # x\n"), None),
    "objects with a member twice": (_lines("- a: #\n  a: c\n"), None),
    "objects with numbers that are kept": (_lines("- a: #\n  b: 1.0e3\n"), None),
    "objects with numbers of all sorts": (_lines("- a: 0#\n  b: ~\n  c: yes\n  d: 1.#\n"), None),
    "texts of other scripts": (_lines("- \u00fc\u4e2d#\n"), Items),
    "digits of other scripts": (_lines("- 1\u0662#\n- 1\u00b2\n") + "- 1\n", None),
    "digits of other scripts, members": (_lines("k#: 1\u0662\n"), Members),
    "raised digits, members": (_lines("k#: 1\u00b2\n"), Members),
    "breaks that are none of ASCII": (_lines("- a\u2028#\n"), None),
    "members with comments": ("x:\n" + _lines("  k#: v-#  @ no. #\n").replace("@", "#"), Members),
    "items with comments": (_lines("- a# @ a\n- x  @b\n").replace("@", "#"), Items),
    "members with spaces": ("x:\n" + _lines("  k#:   v #  \n  l#: # \n"), Members),
    "items with spaces": (_lines("- a#  \n- b  c \n"), Items),
    "numbers with a point": (_lines("- #.5\n- 7\n- 0.#\n- 1#.0\n") * 30, Items),
    "numbers with a point, not all": (_lines("- #.5\n- #.0.1\n") * 30 + "- 1\n", Items),
    "comments that may hold members": (_lines("k#: v @ a: b\n").replace("@", "#"), None),
    "objects of several forms": (_lines("- a: b#\n- a: #\n  b: '#'\n- b: c\n  c:\n  - #\n  - x\n"), Items),
    "objects of several forms, one of them another": (
        _lines("- a: b#\n- a: #\n  b: c\n").replace("a: 99\n", "a: |\n    99\n"),
        None,
    ),
    "objects of several forms, one of them torn": (
        _lines("- a: b#\n- a: #\n  b: c\n").replace("a: 99\n", "a: 99\n  y\n"),
        None,
    ),
    "names that are none": (_lines("true: #\n"), None),
    "numbers that are none of JSON": (_lines("- 1.#\n"), None),
}


@pytest.mark.parametrize("name", RUNS)
def test_a_run_means_what_its_lines_mean(name: str) -> None:
    text, kind = RUNS[name]
    data = text.encode()
    short = shortened(data, b"*" in data, _read)
    if kind is not None:
        assert short is not None and {cut.run.__class__ for cut in short.cuts.values()} == {kind}
        assert len(short.text) < len(data) / 2
        assert read._shortly(data, b"*" in data) is not None
    assert _outcome(lambda data, aliases: read._shortly(data, aliases) or read._built(data, aliases), data) == _whole(
        data
    )


@pytest.mark.parametrize("around", ["x: |\n@", 'x: "\n@"', "x:\n  y\n@", "x: >-\n@\n", "'@'", "- [\n@]", "# x\n@"])
@pytest.mark.parametrize("run", ["  - a\n", "  a: b\n", "  - a#\n", "  a#: b\n", "  <<: *a\n", "  ?\n", " a,", " #,"])
def test_what_only_looks_like_a_run_is_read_as_it_is(around: str, run: str) -> None:
    data = around.replace("@", _lines(run)).encode()
    found = _outcome(read._shortly, data)
    assert found is None or found == _whole(data)


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
    data = text.encode()
    told = _whole(data)
    assert told.__class__ is str
    assert _outcome(read._shortly, data) in (None, told)


def test_a_member_of_a_long_run_is_told_with_its_line() -> None:
    data = ("a: b\n" + _lines("k#: v\n") + _lines("m#: v\n") + "k150: v\n").encode()
    found = read._shortly(data, aliases=False)
    assert found is not None
    assert found[1] == [f'line {2 * _TIMES + 2}: key "k150" already set in map']


def test_aliases_that_make_too_much_are_refused_as_they_are_one_by_one() -> None:
    data = ("- &a [" + "x," * 300 + "]\n" + _lines("- *a\n")).encode()
    assert _outcome(read._shortly, data) == _whole(data) == "yaml: document contains excessive aliasing"


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
def test_random_documents_of_runs_are_read_alike(seed: int) -> None:
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
        data = text.encode()
        found = _outcome(read._shortly, data)
        assert found is None or found == _whole(data)


def test_lines_may_end_as_on_windows() -> None:
    text = "a: |\n  x\n  y\n" + _lines("k#: v\n") * 20
    assert read.loads_noting(text.replace("\n", "\r\n").encode()) == read.loads_noting(text.encode())


def test_json_that_is_a_run_tells_its_members_twice() -> None:
    data = ('{"x":[' + "{}," * 20_000 + '{}],"y":1,"y":2}').encode()
    assert read.loads_noting(data) == ({"x": [{}] * 20_001, "y": 2}, ['line 1: key "y" already set in map'])
