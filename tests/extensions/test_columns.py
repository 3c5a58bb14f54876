"""JSON paths, and the columns made of them."""

from __future__ import annotations

from typing import Any

import pytest

from pilothouse.endpoints.table import Age
from pilothouse.extensions.columns import columns_of
from pilothouse.extensions.jsonpath import PathError, compiled

OBJ = {
    "metadata": {"name": "a", "labels": {"x.y/z": "7"}},
    "spec": {"list": [{"type": "A", "n": 1}, {"type": "B", "n": 2}], "map": {"k": "v"}},
}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        (".spec.map.k", ["v"]),
        (".spec.list[0].n", [1]),
        (".spec.list[-1].n", [2]),
        (".spec.list[*].type", ["A", "B"]),
        (".spec.list[0:1].type", ["A"]),
        (".spec.list[0,1].n", [1, 2]),
        ('.spec.list[?(@.type=="B")].n', [2]),
        (".spec.list[?(@.n>1)].type", ["B"]),
        (".spec.list[?(@.gone)].type", []),
        (".metadata.labels.x\\.y/z", ["7"]),
        (".metadata.labels['x.y/z']", ["7"]),
        ("..n", [1, 2]),
        (".spec.nothing.here", []),
    ],
)
def test_paths_lead_to_values(path: str, found: list[Any]) -> None:
    assert compiled(path)(OBJ) == found


@pytest.mark.parametrize("path", [".spec[", ".spec[?(@.a==b)]", ".a{b}", ".spec.[x y]"])
def test_what_is_no_path_is_refused(path: str) -> None:
    with pytest.raises(PathError):
        compiled(path)


def column(kind: str, path: str) -> dict[str, Any]:
    return {"name": "C", "type": kind, "jsonPath": path}


@pytest.mark.parametrize(
    ("kind", "value", "cell"),
    [
        ("string", "x", "x"),
        ("string", ["a"], '["a"]'),
        ("string", None, "<no value>"),
        ("integer", 2.75, 2),
        ("integer", "2", None),
        ("number", 1.5, 1.5),
        ("boolean", "true", None),
        ("date", "yesterday", "<invalid>"),
    ],
)
def test_cells_fit_their_column(kind: str, value: Any, cell: Any) -> None:
    made = columns_of([column(kind, ".v")])
    assert made.template({"metadata": {"name": "a"}, "v": value}) == ["a", cell]


def test_without_columns_the_age_is_shown() -> None:
    made = columns_of(())
    cells = made.template({"metadata": {"name": "a", "creationTimestamp": "2030-01-02T00:00:00Z"}})
    assert isinstance(cells[1], Age)


def test_one_bad_path_takes_all_columns_along() -> None:
    made = columns_of([column("string", ".a"), column("string", ".b[")])
    assert [one["name"] for one in made.definitions] == ["Name"]
