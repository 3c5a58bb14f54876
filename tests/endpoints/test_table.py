"""Tables and metadata-only forms, byte for byte as the original sends them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pilothouse.endpoints.table import (
    METADATA,
    NONE,
    OBJECT,
    Age,
    Columns,
    include_of,
    list_meta,
    make_row,
    metadata_json,
    object_table,
    partial_list,
    partial_object,
    row_bytes,
    table,
    table_head,
)
from pilothouse.machinery.errors import APIError

NOW = 1704844800.0  # 2024-01-10T00:00:00Z
FIVE_MINUTES = NOW - 300
DEFINITIONS: tuple[dict[str, Any], ...] = (
    {"name": "Name", "type": "string", "format": "name", "description": "The <name>", "priority": 0},
    {"name": "Age", "type": "string", "format": "", "description": "", "priority": 0},
)
OBJ = {
    "kind": "Thing",
    "apiVersion": "v1",
    "metadata": {"name": "a", "uid": "u-1", "labels": {"x": "<y>"}, "resourceVersion": "7"},
    "data": {"k": "v"},
}
OBJ_BYTES = json.dumps(OBJ, separators=(",", ":")).encode()
META = b'{"name":"a","uid":"u-1","resourceVersion":"7","labels":{"x":"\\u003cy\\u003e"}}'


def columns(*cells: Any, conditions: Any = None) -> Columns:
    return Columns(DEFINITIONS, lambda obj: list(cells), lambda obj: conditions)


AGED = columns("a", Age(FIVE_MINUTES))


def test_a_row_carries_metadata_unless_asked_otherwise() -> None:
    row = make_row(AGED, OBJ)
    partial = b'{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":' + META + b"}"
    assert row.json(NOW) == b'{"cells":["a","5m"],"object":' + partial + b"}"
    assert row.json(NOW, METADATA, version="v1beta1") == row.json(NOW).replace(b"/v1", b"/v1beta1")
    assert row.json(NOW, NONE) == b'{"cells":["a","5m"],"object":null}'
    assert row.json(NOW, OBJECT, OBJ_BYTES) == b'{"cells":["a","5m"],"object":' + OBJ_BYTES + b"}"
    assert row_bytes(AGED, OBJ, OBJ_BYTES, NOW, OBJECT) == row.json(NOW, OBJECT, OBJ_BYTES)


def test_a_kept_row_grows_older() -> None:
    row = make_row(columns(Age(FIVE_MINUTES), 3, Age(FIVE_MINUTES, "2 (", " ago)")), OBJ)
    assert row.json(NOW, NONE) == b'{"cells":["5m",3,"2 (5m ago)"],"object":null}'
    assert row.json(NOW + 86400, NONE) == b'{"cells":["24h",3,"2 (24h ago)"],"object":null}'
    assert row.json(NOW - 900, NONE).startswith(b'{"cells":["\\u003cinvalid\\u003e",3,"2 (\\u003cinvalid\\u003e ago)"]')


def test_a_row_without_ages_is_all_bytes() -> None:
    row = make_row(columns("<none>", None, True, 1), OBJ)
    assert row.json(NOW, NONE) == b'{"cells":["\\u003cnone\\u003e",null,true,1],"object":null}'


@pytest.mark.parametrize("odd", ["\0", "\\u0000", '"\0"', "a\0b"])
def test_texts_that_look_like_a_cut_are_kept(odd: str) -> None:
    row = make_row(columns(odd, Age(FIVE_MINUTES, odd, odd), odd), OBJ)
    assert json.loads(row.json(NOW))["cells"] == [odd, f"{odd}5m{odd}", odd]


def test_conditions_stand_between_cells_and_object() -> None:
    shown = [{"type": "Completed", "status": "True", "reason": "Failed", "message": "The pod failed."}]
    row = make_row(columns("a", Age(FIVE_MINUTES), conditions=shown), OBJ)
    assert list(json.loads(row.json(NOW))) == ["cells", "conditions", "object"]
    assert json.loads(row.json(NOW))["conditions"] == shown


def test_metadata_keeps_the_order_of_the_type() -> None:
    assert metadata_json(OBJ) == META
    assert metadata_json({"metadata": {"name": "a", "resourceVersion": "7"}}) == b'{"name":"a","resourceVersion":"7"}'
    assert metadata_json({}) == b"{}"


def test_a_table_is_columns_and_rows() -> None:
    rows = [make_row(AGED, OBJ).json(NOW, NONE)] * 2
    whole = table(AGED, rows, list_meta("9", "more", 3))
    assert whole == (
        b'{"kind":"Table","apiVersion":"meta.k8s.io/v1",'
        b'"metadata":{"resourceVersion":"9","continue":"more","remainingItemCount":3},"columnDefinitions":['
        b'{"name":"Name","type":"string","format":"name","description":"The \\u003cname\\u003e","priority":0},'
        b'{"name":"Age","type":"string","format":"","description":"","priority":0}],'
        b'"rows":[{"cells":["a","5m"],"object":null},{"cells":["a","5m"],"object":null}]}'
    )


def test_an_empty_table_still_describes_its_columns() -> None:
    empty = json.loads(table(AGED, [], list_meta("9")))
    assert (empty["rows"], len(empty["columnDefinitions"])) == ([], 2)


def test_later_events_of_a_watch_have_no_headers() -> None:
    row = make_row(AGED, OBJ).json(NOW, NONE)
    assert object_table(None, OBJ, row) == (
        b'{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"7"},'
        b'"columnDefinitions":null,"rows":[{"cells":["a","5m"],"object":null}]}'
    )
    assert table_head(None, b"{}", "v1beta1").startswith(b'{"kind":"Table","apiVersion":"meta.k8s.io/v1beta1"')


def test_a_dry_run_has_no_revision() -> None:
    made = json.loads(object_table(AGED, {"metadata": {"name": "b"}}, b"null"))
    assert made["metadata"] == {}


def test_metadata_alone() -> None:
    one = partial_object(metadata_json(OBJ))
    assert json.loads(one) == {
        "kind": "PartialObjectMetadata",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": OBJ["metadata"],
    }
    shown = json.loads(partial_list([one, one], list_meta("9"), "v1beta1"))
    assert (shown["kind"], shown["apiVersion"]) == ("PartialObjectMetadataList", "meta.k8s.io/v1beta1")
    assert [item["kind"] for item in shown["items"]] == ["PartialObjectMetadata"] * 2
    assert json.loads(partial_list([], list_meta("9")))["items"] is None


@pytest.mark.parametrize(
    ("asked", "given"), [(None, METADATA), ("", METADATA), ("None", NONE), ("Metadata", METADATA), ("Object", OBJECT)]
)
def test_what_a_row_can_carry(asked: str | None, given: str) -> None:
    assert include_of(asked) == given


@pytest.mark.parametrize("asked", ["All", "none"])
def test_other_words_are_refused(asked: str) -> None:
    with pytest.raises(APIError) as refused:
        include_of(asked)
    assert (refused.value.code, refused.value.reason) == (400, "BadRequest")
    assert refused.value.message == (
        f'Unable to convert to Table as requested: includeObject: Invalid value: "{asked}": '
        "must be 'Metadata', 'Object', 'None', or empty"
    )
