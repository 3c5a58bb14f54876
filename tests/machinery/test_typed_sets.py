"""Sets of fields: laws of the set operations against sets of paths, order, and reading what others wrote."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pilothouse.builtin.types import CORE, META, builtin_types
from pilothouse.machinery.typed import fieldsv1
from pilothouse.machinery.typed.fieldset import (
    contains,
    intersect,
    is_member,
    members,
    of_paths,
    order,
    ordered,
    subtract,
    union,
    union_of,
)
from pilothouse.machinery.typed.own import added
from pilothouse.machinery.typed.paths import element_text, member_texts, path_text, value_text

Path = tuple[str, ...]
ELEMENTS = [
    "f:a",
    "f:b",
    "f:a-b",
    'k:{"name":"x"}',
    'k:{"name":"y","port":80}',
    'k:{"port":443}',
    'v:"s"',
    "v:1",
    "i:0",
]
PATHS = st.lists(st.sampled_from(ELEMENTS), min_size=1, max_size=4).map(tuple)
SETS = st.frozensets(PATHS, max_size=12)


@given(SETS, SETS)
@settings(deadline=None)
def test_operations_are_those_of_sets_of_paths(a: frozenset[Path], b: frozenset[Path]) -> None:
    left, right = of_paths(*a), of_paths(*b)
    before = json.dumps([left, right])
    assert set(members(left)) == a
    assert set(members(union(left, right))) == a | b
    assert set(members(intersect(left, right))) == a & b
    assert set(members(subtract(left, right))) == a - b
    assert json.dumps([left, right]) == before


@given(st.integers(0, 2**32))
@settings(deadline=None, max_examples=20)
def test_operations_on_wide_sets_are_those_of_sets_of_paths(seed: int) -> None:
    rng = random.Random(seed)
    kinds = ("f:{}", "v:{}", 'k:{{"name":"{}"}}')
    form = rng.choice(kinds)
    wide = [frozenset((("f:a",), ("f:a", form.format(rng.randrange(200)))) for _ in range(150)) for _ in range(2)]
    a, b = (frozenset(path for paths in one for path in paths) for one in wide)
    b |= frozenset([("f:a", "f:b", "f:c")] if rng.random() < 0.3 else [])
    left, right = of_paths(*a), of_paths(*b)
    assert json.dumps(union(left, right)) == json.dumps(of_paths(*(a | b)))
    assert json.dumps(intersect(left, right)) == json.dumps(of_paths(*(a & b)))
    assert json.dumps(subtract(left, right)) == json.dumps(of_paths(*(a - b)))


@given(SETS, SETS)
@settings(deadline=None)
def test_one_set_has_one_form(a: frozenset[Path], b: frozenset[Path]) -> None:
    assert json.dumps(union(of_paths(*a), of_paths(*b))) == json.dumps(of_paths(*(a | b)))
    assert json.dumps(subtract(of_paths(*(a | b)), of_paths(*b))) == json.dumps(of_paths(*(a - b)))


@given(st.lists(SETS, min_size=1, max_size=5))
@settings(deadline=None)
def test_a_union_of_many_is_that_of_one_after_the_other(sets: list[frozenset[Path]]) -> None:
    assert json.dumps(union_of([of_paths(*one) for one in sets])) == json.dumps(of_paths(*frozenset().union(*sets)))


@given(SETS)
def test_reading_what_was_written_gives_the_same(a: frozenset[Path]) -> None:
    node = of_paths(*a)
    assert json.dumps(fieldsv1.read(json.loads(json.dumps(node)))) == json.dumps(node)
    assert all(contains(node, path) for path in a)


@given(st.sampled_from(["f:{}", "v:{}", "x"]), st.integers(0, 2**32))
@settings(deadline=None, max_examples=20)
def test_reading_a_wide_set_is_reading_each_of_its_elements(form: str, seed: int) -> None:
    rng = random.Random(seed)
    words = ["".join(rng.choices('ab "!\\\n<é', k=rng.randrange(5))) for _ in range(200)]
    shown = [json.dumps(word, ensure_ascii=rng.random() < 0.02) if form != "f:{}" else word for word in words]
    elements = [(form if form != "x" else rng.choice(['k:{{"b":{}}}', "v:{}"])).format(word) for word in shown]
    sent = {"f:a": {element: {} for element in [*elements, "."]}}
    read = [next(iter(fieldsv1.read({"f:a": {element: {}}})["f:a"])) for element in elements]
    expected = of_paths(("f:a",), *(("f:a", element) for element in read))
    assert json.dumps(fieldsv1.read(sent)) == json.dumps(expected)


@given(SETS)
def test_nothing_changes_nothing(a: frozenset[Path]) -> None:
    node = of_paths(*a)
    assert union(node, node) is node
    assert union(node, {}) is node
    assert subtract(node, {}) is node
    assert subtract(node, node) == {}


def test_fields_come_before_keys_and_numbers_in_order_of_size() -> None:
    node = of_paths(
        ('k:{"port":443}',),
        ('k:{"port":80}',),
        ("f:z",),
        ("f:B",),
        ('v:"x"',),
        ("v:9",),
        ("v:10",),
        ("i:10",),
        ("i:9",),
    )
    assert list(node) == [
        "f:B", "f:z", 'k:{"port":80}', 'k:{"port":443}', "v:9", "v:10", 'v:"x"', "i:9", "i:10",
    ]  # fmt: skip


def test_members_come_before_what_is_below_others() -> None:
    node = of_paths(("f:spec", "f:ports", 'k:{"port":80}'), ("f:spec", "f:selector"), ("f:data",))
    assert [path_text(path) for path in members(node)] == [".data", ".spec.selector", ".spec.ports[port=80]"]


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ({'k:{"b": 1,"a":"x"}': {}}, {'k:{"a":"x","b":1}': {}}),
        ({'v: "x"': {}}, {'v:"x"': {}}),
        ({'k:{"a":"\\u003c"}': {}}, {'k:{"a":"<"}': {}}),
        ({"f:a": {".": {}}}, {"f:a": {}}),
        ({"x:a": {}, "f:b": {"y:c": {}}, "f:d": {}}, {"f:d": {}}),
        ({".": {}, "f:a": None}, {"f:a": {}}),
        ({}, {}),
        (None, {}),
    ],
)
def test_what_others_write_is_read_in_our_form(written: Any, read: Any) -> None:
    assert fieldsv1.read(written) == read


@pytest.mark.parametrize(
    "wrong", [{"data": {}}, {"f": {}}, {"k:x": {}}, {"v:": {}}, {"i:x": {}}, {"f:a": 1}, {"f:a": []}, [], "f:a"]
)
def test_nonsense_is_refused(wrong: Any) -> None:
    with pytest.raises(ValueError):
        fieldsv1.read(wrong)


def test_a_member_is_a_leaf_or_says_so() -> None:
    assert is_member({})
    assert is_member({".": {}, "f:a": {}})
    assert not is_member({"f:a": {}})


def test_paths_as_messages_show_them() -> None:
    path = ("f:spec", 'k:{"containerPort":80,"protocol":"TCP"}', 'v:"x"', "i:3", "f:a.b/c", 'k:{"n":null,"t":true}')
    assert path_text(path) == '.spec[containerPort=80,protocol="TCP"][="x"][3].a.b/c[n=null,t=true]'


@pytest.mark.parametrize("count", [3, 40])
@pytest.mark.parametrize(
    ("struct", "name", "item"),
    [
        ("Container", "ports", lambda n: {"containerPort": n * 7 % 41, "protocol": "UDP" if n % 2 else "TCP"}),
        ("Container", "ports", lambda n: {"containerPort": n * 7 % 41}),
        ("PodSpec", "topologySpreadConstraints", lambda n: {"topologyKey": ' !"\\k'[n % 5] * (n % 7), "maxSkew": n}),
        ("PodSpec", "topologySpreadConstraints", lambda n: {"topologyKey": f"k{n}", "whenUnsatisfiable": "\u2028" * n}),
        ("PodSpec", "topologySpreadConstraints", lambda n: {"topologyKey": n if n == 2 else f"k{n}"}),
        ("Container", "env", lambda n: {"name": f"{chr(32 + n)}x", "value": ""}),
        ("ObjectMeta", "finalizers", lambda n: f"{chr(32 + n * 5 % 90)}/x"),
    ],
)
def test_items_stand_in_their_order_however_many_there_are(
    count: int, struct: str, name: str, item: Callable[[int], Any]
) -> None:
    home = META if struct == "ObjectMeta" else CORE
    own = added(builtin_types().get(home, struct).properties[name].schema)
    items = [item(number) for number in range(count)]
    found = own(items)
    assert list(found) == sorted(found, key=order)
    assert list(own(items[::-1]).items()) == list(found.items())


SCALARS = st.text(max_size=3) | st.integers(-99, 99) | st.sampled_from([0.5, 1e300, "a b", '"', True, None])


@pytest.mark.parametrize("kind", ["v", "one", "two", "mixed"])
@pytest.mark.parametrize("of", ["texts", "numbers", "all"])
def test_many_elements_are_ordered_as_few_are(kind: str, of: str) -> None:
    chance = random.Random(f"{kind} {of}")
    texts: list[Any] = [f"{chance.choice(['', 'a!', 'a b', chr(92), chr(34), 'é'])}{at}" for at in range(60)]
    numbers: list[Any] = [chance.randrange(-99, 99) + chance.choice([0, 0.5]) for _ in range(60)]
    values = {"texts": texts, "numbers": numbers, "all": [*texts, *numbers, True, False, None]}[of] * 2
    chance.shuffle(values)
    named = {"v": values, "one": [{"a": value} for value in values], "two": [{"a": 1, "b": value} for value in values]}
    named["mixed"] = [{"a": value} if at % 2 else {"b": value} for at, value in enumerate(values)]
    elements = [fieldsv1.canonical(f"{'v' if kind == 'v' else 'k'}:{json.dumps(value)}") for value in named[kind]]
    for chosen in (elements, [*elements, "."], [".", *elements]):
        node: dict[str, Any] = {element: {} for element in chosen if element is not None}
        assert list(ordered(node)) == sorted(node, key=order)


@given(SETS)
def test_the_texts_of_members_are_those_of_their_paths(a: frozenset[Path]) -> None:
    assert member_texts(of_paths(*a)) == [path_text(path) for path in members(of_paths(*a))]


@given(st.dictionaries(st.text("abcXYZ-.", min_size=1, max_size=3), SCALARS, min_size=1, max_size=3))
def test_keys_are_shown_with_their_values(keys: dict[str, Any]) -> None:
    element = fieldsv1.canonical(f"k:{json.dumps(keys)}") or ""
    shown = [f"{name}={value_text(value)}" for name, value in sorted(keys.items())]
    assert element_text(element) == f"[{','.join(shown)}]"
