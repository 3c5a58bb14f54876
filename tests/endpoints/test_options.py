"""Query parameters and DeleteOptions: what they mean, and how nonsense is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pilothouse.endpoints.options import delete_options, delete_options_of_query, flag, list_options, write_options
from pilothouse.endpoints.requestinfo import parse_query
from pilothouse.machinery.errors import APIError
from pilothouse.registry.request import DeleteOptions, ListOptions


def refused(reading: Callable[[], object]) -> tuple[int, str]:
    with pytest.raises(APIError) as found:
        reading()
    return found.value.code, found.value.message


def listing(query: str) -> ListOptions:
    return list_options(parse_query(query))


def watching(query: str) -> ListOptions:
    return list_options(parse_query(query), watch=True)


def test_a_list_asks_for() -> None:
    found = listing(
        "labelSelector=a%3Db&fieldSelector=metadata.name%3Dx&limit=5&resourceVersion=7&resourceVersionMatch=Exact"
    )
    assert (found.label_selector, found.field_selector, found.limit) == ("a=b", "metadata.name=x", 5)
    assert (found.resource_version, found.match) == (7, "Exact")


def test_nothing_asked_is_nothing() -> None:
    found = listing("")
    assert (found.limit, found.resource_version, found.match, found.continue_token) == (0, None, "", "")


INTEGER, UNSIGNED = "strconv.ParseInt: parsing", "strconv.ParseUint: parsing"
VERSION = "invalid resource version: resourceVersion: Invalid value:"
NUMBERS = [
    ("limit=x", f'{INTEGER} "x": invalid syntax'),
    ("limit=", f'{INTEGER} "": invalid syntax'),
    ("limit=1.5", f'{INTEGER} "1.5": invalid syntax'),
    ("limit=9223372036854775808", f'{INTEGER} "9223372036854775808": value out of range'),
    ("limit=%22%00", f'{INTEGER} "\\"\\x00": invalid syntax'),
    ("timeoutSeconds=soon", f'{INTEGER} "soon": invalid syntax'),
    ("resourceVersion=x", f'{VERSION} "x": {UNSIGNED} "x": invalid syntax'),
    ("resourceVersion=-1", f'{VERSION} "-1": {UNSIGNED} "-1": invalid syntax'),
]


@pytest.mark.parametrize(("query", "message"), NUMBERS)
def test_what_is_no_number_is_refused(query: str, message: str) -> None:
    assert refused(lambda: listing(query)) == (400, message)


def test_a_watch_refuses_a_broken_version_in_its_own_way() -> None:
    code, message = refused(lambda: watching("resourceVersion=x"))
    assert (code, message.partition(":")[0]) == (500, "resourceVersion")


MATCH, INITIAL = "resourceVersionMatch", "sendInitialEvents"
EXACT = f"{MATCH}=Exact"
COMBINATIONS = [
    (listing, EXACT, f"{MATCH} is forbidden unless resourceVersion is provided"),
    (listing, f"{EXACT}&resourceVersion=0", f'{MATCH} "exact" is forbidden for resourceVersion "0"'),
    (listing, f"{MATCH}=exact&resourceVersion=1", '"exact": supported values: "Exact", "NotOlderThan", ""'),
    (listing, f"{EXACT}&resourceVersion=1&continue=a", f"{MATCH} is forbidden when continue is provided"),
    (listing, f"{INITIAL}=true", f"{INITIAL} is forbidden for list"),
    (watching, f"{MATCH}=NotOlderThan", f"{MATCH} is forbidden for watch unless {INITIAL} is provided"),
    (watching, f"{INITIAL}=true", f"{INITIAL} requires setting {MATCH} to NotOlderThan"),
    (watching, f"{INITIAL}=true&{EXACT}", 'Unsupported value: "Exact": supported values: "NotOlderThan"'),
]


@pytest.mark.parametrize(("reading", "query", "message"), COMBINATIONS)
def test_combinations_that_mean_nothing_are_refused(
    reading: Callable[[str], ListOptions], query: str, message: str
) -> None:
    code, text = refused(lambda: reading(query))
    assert code == 422
    assert message in text


SELECTORS = [("labelSelector=a,,", "identifier after ','"), ("fieldSelector=a", "can't understand 'a'")]


@pytest.mark.parametrize(("selector", "message"), SELECTORS)
@pytest.mark.parametrize("nonsense", [EXACT, f"{INITIAL}=true", "resourceVersion=x"])
@pytest.mark.parametrize("reading", [listing, watching])
def test_what_cannot_be_read_is_told_before_what_makes_no_sense(
    reading: Callable[[str], ListOptions], nonsense: str, selector: str, message: str
) -> None:
    code, text = refused(lambda: reading(f"{nonsense}&{selector}"))
    assert (code, message in text) == (400, True)


@pytest.mark.parametrize(
    ("query", "value"),
    [
        ("", None),
        ("a=true", True),
        ("a=1", True),
        ("a=", True),
        ("a=yes", True),
        ("a=false", False),
        ("a=0", False),
        ("a=False", False),
        ("a=FALSE", False),
        ("a=f", True),
        ("a=no", True),
    ],
)
def test_booleans_are_true_unless_they_say_false(query: str, value: bool | None) -> None:
    assert flag(parse_query(query), "a") is value


def writing(query: str) -> tuple[bool, str, str]:
    return write_options(parse_query(query), "CreateOptions")


def test_a_write_asks_for() -> None:
    assert writing("") == (False, "", "Warn")
    assert writing("dryRun=All&fieldManager=me&fieldValidation=Strict") == (True, "me", "Strict")


WRITES = [
    ("dryRun=yes", 'dryRun: Unsupported value: ["yes"]: supported values: "All"'),
    ("dryRun=", 'dryRun: Unsupported value: [""]: supported values: "All"'),
    ("dryRun=All&dryRun=None", 'dryRun: Unsupported value: ["All","None"]: supported values: "All"'),
    (f"fieldManager={'x' * 129}", "fieldManager: Too long: may not be more than 128 bytes"),
    ("fieldManager=a%0Ab", r'fieldManager: Invalid value: "a\nb": invalid character U+000A (at position 1)'),
    (
        "fieldValidation=strict",
        'fieldValidation: Unsupported value: "strict": supported values: "", "Ignore", "Strict", "Warn"',
    ),
]


@pytest.mark.parametrize(("query", "message"), WRITES)
def test_options_of_writes_are_checked(query: str, message: str) -> None:
    code, text = refused(lambda: writing(query))
    assert (code, text) == (422, f'CreateOptions.meta.k8s.io "" is invalid: {message}')


def test_all_that_is_wrong_is_told_at_once() -> None:
    _, text = refused(lambda: writing("dryRun=x&fieldValidation=y"))
    assert text.endswith("]") and "dryRun" in text and "fieldValidation" in text


def test_a_delete_is_asked_for_in_the_query_or_in_the_body() -> None:
    by_query = delete_options_of_query(
        parse_query("gracePeriodSeconds=5&propagationPolicy=Foreground&dryRun=All&uid=u&resourceVersion=7")
    )
    by_body = delete_options(
        {
            "gracePeriodSeconds": 5, "propagationPolicy": "Foreground", "dryRun": ["All"],
            "preconditions": {"uid": "u", "resourceVersion": "7"},
        }
    )  # fmt: skip
    assert by_query == by_body
    assert (by_query.grace_seconds, by_query.policy, by_query.uid, by_query.dry_run) == (5, "Foreground", "u", True)


def test_a_negative_grace_is_a_second() -> None:
    assert delete_options({"gracePeriodSeconds": -30}).grace_seconds == 1
    assert delete_options({}) == DeleteOptions()


UNSAFE = "ignoreStoreReadErrorWithClusterBreakingPotential"
DELETES: list[tuple[dict[str, Any], str]] = [
    ({"propagationPolicy": "Gently"}, '"Gently": supported values: "Foreground", "Background", "Orphan", "nil"'),
    (
        {"propagationPolicy": "Orphan", "orphanDependents": True},
        "orphanDependents and deletionPropagation cannot be both set",
    ),
    ({"dryRun": ["Some"]}, 'Unsupported value: ["Some"]: supported values: "All"'),
    ({UNSAFE: True, "gracePeriodSeconds": 0}, "cannot be set together with .gracePeriodSeconds"),
]


@pytest.mark.parametrize(("body", "message"), DELETES)
def test_delete_options_are_checked(body: dict[str, Any], message: str) -> None:
    code, text = refused(lambda: delete_options(body))
    assert code == 422
    assert text.startswith('DeleteOptions.meta.k8s.io "" is invalid: ')
    assert message in text


def test_what_is_wrong_with_options_comes_in_the_original_order() -> None:
    query = parse_query("dryRun=x&fieldManager=%0A&fieldValidation=y&force=true")
    paths = ["fieldManager: Invalid", "dryRun: Unsupported", "fieldValidation: Unsupported"]
    for kind, applies, first in (
        ("CreateOptions", False, []),
        ("PatchOptions", True, []),
        ("PatchOptions", False, ["force: Forbidden"]),
    ):
        _, message = refused(lambda kind=kind, applies=applies: write_options(query, kind, applies=applies))  # type: ignore[misc]
        assert message.startswith(f'{kind}.meta.k8s.io "" is invalid: [')
        places = [message.index(path) for path in (*first, *paths)]
        assert places == sorted(places)
        assert ("force" in message) == bool(first)
    _, message = refused(lambda: delete_options({"propagationPolicy": "x", "orphanDependents": True}))
    assert message.index("cannot be both set") < message.index("Unsupported value")
