"""JSON with odd places in it is read as YAML: as reading it event by event would have it, but for the time it takes."""

from __future__ import annotations

import json
import random
from typing import Any, Final

import pytest
from yamlways import by_events, same

_VALUE: Final[dict[str, Any]] = {
    "kind": "A",
    "spec": {
        "containers": [
            {
                "name": f"c{number}",
                "env": [{"name": f"e{one}", "value": f"a {one}, b"} for one in range(20)],
                "x": [1.5],
            }
            for number in range(70)
        ],
        "labels": {f"k{number}": "v" for number in range(1000)},
    },
    "status": {"é": None},
}
_FORMS: Final = {
    "compact": json.dumps(_VALUE, separators=(",", ":"), ensure_ascii=False),
    "spaced": json.dumps(_VALUE),
    "pretty": json.dumps(_VALUE, indent=2, ensure_ascii=False),
}
_ODD: Final = (
    ('"a 7, b"', 'a"'), ('"a 7, b"', "'it''s'"), ('"a 7, b"', "&x b"), ('"a 7, b"', "!!str 1"), ('"a 7, b"', "*x"),
    ('"a 7, b"', '"\\q"'), ('"a 7, b"', '"a'), ('"a 7, b"', '"a": b'), ('"a 7, b"', "[18446744073709551615, a]"),
    ('"a 7, b"', '"\\ud800"'), ('"a 7, b"', '"a", "name":1'), ('"a 7, b"', '{"a": 1, "b": 2, "a": 3}'),
    ('"a 7, b"', "# c, d\n1"), ('"a 7, b"', "[a, b: c"), ('"v"', 'v, "k7": w'), ('"v"', "'"), ("}", ",}"), ("}", "]"),
    ("}", ""), ("[", ""), ("[", "[[]: a, "), (",", ""), (",", ",,"), (",", " # c\n,"), (",", ", ? a,"),
    ('"name"', "name"), ('"name"', "? a\n: b, c"), ('"name"', "<<"), ('"env"', "1: 2, {a: b}"), (":", ""), (":", "\n:"),
)  # fmt: skip


def _odd(text: str, place: int, sign: str, instead: str) -> str:
    at = text.find(sign, place)
    return text if at < 0 else text[:at] + instead + text[at + len(sign) :]


@pytest.mark.parametrize("form", _FORMS)
@pytest.mark.parametrize(("sign", "instead"), _ODD)
def test_one_odd_place(form: str, sign: str, instead: str) -> None:
    text = _FORMS[form]
    for place in (1, len(text) * 6 // 10):
        data = _odd(text, place, sign, instead).encode()
        same(data)


@pytest.mark.parametrize("form", _FORMS)
@pytest.mark.parametrize("behind", [" x", "\nx: y", '"a": 1}', "}", "'", " # c", "\n---\n{}"])
def test_more_stands_behind_it(form: str, behind: str) -> None:
    data = (_FORMS[form] + behind).encode()
    same(data)


@pytest.mark.parametrize("seed", range(4))
def test_several_odd_places(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(10):
        text = chance.choice([*_FORMS.values()])
        for _ in range(chance.choice((2, 3, 8))):
            text = _odd(text, chance.randrange(len(text)), *chance.choice(_ODD))
        data = text.encode()
        same(data)


@pytest.mark.parametrize("form", _FORMS)
@pytest.mark.parametrize("instead", ["a", "'b'", "&x c", '1, "name": 2'])
def test_two_odd_places(form: str, instead: str) -> None:
    text = _FORMS[form]
    data = _odd(_odd(text, 20_000, '"a 7, b"', instead), 30_000, '"a 7, b"', instead).encode()
    same(data)


@pytest.mark.parametrize(
    "text", ['{"a": "\\ud83d\\ude00"}', '{"a"\n: 1}', f'{{"{"a" * 1100}": 1}}', '{"a": "\x85"}', "[1,\r2]"]
)
def test_what_may_not_be_the_same_in_yaml(text: str) -> None:
    by_events(text.encode())


@pytest.mark.parametrize(
    "text", ["[" * 50_000, '{"a":' * 20_000, "[" * 90 + '{"a":1},' * 5_000 + "x" + "]" * 90, "[1" + "," * 50_000]
)
def test_what_is_very_deep_or_odd_everywhere(text: str) -> None:
    same(text.encode())
