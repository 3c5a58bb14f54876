"""Long lists in pages: each page goes on where the last one ended, in one unchanging picture."""

from __future__ import annotations

import base64
from typing import Any

import orjson
import pytest

from endpoints.served import JSON, Served, config_map

VERSION = "meta.k8s.io/v1"


@pytest.fixture
def five(served: Served, place: str) -> str:
    """The path of a collection of five: a to e; b and d are marked."""
    for name in "abcde":
        body = config_map(name)
        body["metadata"]["labels"] = {"marked": "yes" if name in "bd" else "no"}
        served.make(f"{place}/configmaps", body)
    return f"{place}/configmaps"


def page(served: Served, path: str, query: str) -> tuple[str, dict[str, Any]]:
    """The names on it, and the list's metadata."""
    found = served.ask(f"GET {path}?{query}")
    assert found.status == 200, found.body
    listed = found.json()
    return "".join(item["metadata"]["name"] for item in listed["items"]), listed["metadata"]


def token(**members: Any) -> str:
    return base64.urlsafe_b64encode(orjson.dumps(members)).rstrip(b"=").decode()


def test_pages_follow_each_other(served: Served, five: str) -> None:
    names, first = page(served, five, "limit=2")
    assert (names, first["remainingItemCount"]) == ("ab", 3)
    names, second = page(served, five, f"limit=2&continue={first['continue']}")
    assert (names, second["remainingItemCount"]) == ("cd", 1)
    names, last = page(served, five, f"limit=2&continue={second['continue']}")
    assert names == "e"
    assert "continue" not in last and "remainingItemCount" not in last
    assert first["resourceVersion"] == second["resourceVersion"] == last["resourceVersion"]


def test_pages_are_of_one_moment(served: Served, five: str) -> None:
    _, first = page(served, five, "limit=2")
    served.make(five, config_map("cc"))
    assert served.ask(f"DELETE {five}/d").status == 200
    assert page(served, five, f"continue={first['continue']}")[0] == "cde"
    assert page(served, five, "")[0] == "abccce"


def test_a_limit_that_is_not_reached_leaves_no_token(served: Served, five: str) -> None:
    for query in ("limit=5", "limit=500", "limit=0", "limit=-1"):
        names, metadata = page(served, five, query)
        assert (names, list(metadata)) == ("abcde", ["resourceVersion"])


def test_selected_objects_fill_the_pages(served: Served, five: str) -> None:
    names, first = page(served, five, "limit=1&labelSelector=marked%3Dyes")
    assert names == "b"
    assert "remainingItemCount" not in first  # nobody has counted them
    names, second = page(served, five, f"limit=1&labelSelector=marked%3Dyes&continue={first['continue']}")
    assert names == "d"
    names, last = page(served, five, f"limit=1&labelSelector=marked%3Dyes&continue={second['continue']}")
    assert names == ""  # "e" is behind it, and was not looked at before
    assert "continue" not in last


def test_a_page_of_a_table(served: Served, five: str) -> None:
    accept = {"Accept": f"{JSON};as=Table;g=meta.k8s.io;v=v1"}
    found = served.ask(f"GET {five}?limit=2", headers=accept).json()
    assert [row["cells"][0] for row in found["rows"]] == ["a", "b"]
    assert found["metadata"]["remainingItemCount"] == 3


def test_a_list_at_a_version_shows_what_was(served: Served, five: str) -> None:
    version = page(served, five, "")[1]["resourceVersion"]
    served.ask(f"DELETE {five}/a")
    assert page(served, five, f"resourceVersion={version}&resourceVersionMatch=Exact")[0] == "abcde"
    assert page(served, five, f"resourceVersion={version}&resourceVersionMatch=NotOlderThan")[0] == "bcde"
    assert page(served, five, "resourceVersion=0")[0] == "bcde"


def test_a_version_of_the_future_is_waited_for_and_then_told(served: Served, five: str) -> None:
    found = served.ask(f"GET {five}?resourceVersion=999999999&resourceVersionMatch=Exact")
    assert found.status in (400, 504)
    assert "Too large resource version" in found.message


def unmarshal(found: str, member: str, wanted: str) -> str:
    return f"json: cannot unmarshal {found} into Go struct field continueToken.{member} of type {wanted}"


NO_TOKEN = "json: cannot unmarshal array into Go value of type storage.continueToken"
BAD_TOKENS = [
    ("%20", "illegal base64 data at input byte 0"),
    ("a.b", "illegal base64 data at input byte 1"),
    ("e30%3D", "illegal base64 data at input byte 3"),
    ("abcde", "illegal base64 data at input byte 4"),
    ("bnVsbA", "server does not recognize this encoded version "),
    (token(v="meta.k8s.io/v2", rv=5, start="/a"), "server does not recognize this encoded version meta.k8s.io/v2"),
    (token(v=VERSION, rv=0, start="/a"), f"incorrect encoded start resourceVersion (version {VERSION})"),
    (token(v=VERSION, rv=5, start=""), f"encoded start key empty (version {VERSION})"),
    (token(v=VERSION, rv=5, start="/../../secrets/x"), "/../../secrets/x"),
    (token(v=VERSION, rv=5, start="../x"), "../x"),
    (token(v=VERSION, rv=5, start="//a"), "//a"),
    (token(v=VERSION, rv=5, start="/a/"), "/a/"),
    (token(v=VERSION, rv="5", start="/a"), unmarshal("string", "rv", "int64")),
    (token(v=VERSION, rv=1.5, start="/a"), unmarshal("number 1.5", "rv", "int64")),
    (token(v=VERSION, rv=True, start="/a"), unmarshal("bool", "rv", "int64")),
    (token(v=VERSION, rv=5, start=["/a"]), unmarshal("array", "start", "string")),
    (token(v=1, rv=5, start="/a"), unmarshal("number", "v", "string")),
    (base64.urlsafe_b64encode(b"[1]").decode().rstrip("="), NO_TOKEN),
]


@pytest.mark.parametrize(("text", "why"), BAD_TOKENS)
def test_a_token_that_is_none_is_refused(served: Served, text: str, why: str) -> None:
    found = served.ask(f"GET /api/v1/configmaps?limit=1&continue={text}")
    assert (found.status, found.message) == (400, f"invalid continue token: continue key is not valid: {why}")


def test_a_token_without_a_slash_is_within_the_collection(served: Served, five: str) -> None:
    for start in ("b\0", "/b\0"):
        assert page(served, five, f"continue={token(v=VERSION, rv=-1, start=start)}")[0] == "cde"


@pytest.mark.parametrize("revision", [2**63 - 1, -1])
def test_a_token_of_no_moment_does_no_harm(served: Served, revision: int) -> None:
    found = served.ask(f"GET /api/v1/configmaps?continue={token(v=VERSION, rv=revision, start='/a')}")
    assert found.status in (200, 400, 410, 504)


def test_a_token_goes_with_no_version(served: Served, five: str) -> None:
    _, first = page(served, five, "limit=2")
    found = served.ask(f"GET {five}?continue={first['continue']}&resourceVersion={first['resourceVersion']}")
    assert (found.status, found.message) == (400, "specifying resource version is not allowed when using continue")


def test_a_token_reaches_no_other_collection(served: Served, five: str, place: str) -> None:
    served.make(f"{place}/secrets", {"metadata": {"name": "z"}})
    _, first = page(served, five, "limit=2")
    assert page(served, f"{place}/secrets", f"continue={first['continue']}")[0] == "z"
