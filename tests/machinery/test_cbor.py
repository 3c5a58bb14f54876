"""CBOR: against the recorded answers, beside another library, and under damage."""

from __future__ import annotations

import base64
import contextlib
import json
import random
import time
from pathlib import Path
from typing import Any

import cbor2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pilothouse.builtin.types import CORE, builtin_types
from pilothouse.machinery import cbor
from pilothouse.machinery.decode import decode_once
from pilothouse.machinery.schema import Schema

FACTS = Path(__file__).resolve().parents[3] / "shared" / "facts" / "wire" / "cbor.json"
TAG = cbor.SELF_DESCRIBED
MIB = 1 << 20
REFUSED = "cbor: data item of cbor type {} is not accepted by protocol: {}"

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=40),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
)  # fmt: skip


def config_map() -> Schema:
    return builtin_types().get(CORE, "ConfigMap")


def recorded() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(FACTS.read_text())
    return found


def cases() -> list[dict[str, Any]]:
    return [case for case in recorded()["cases"] if "request" in case]


def unbytes(value: Any) -> Any:
    """What another library reads, with byte strings as texts."""
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, list):
        return [unbytes(item) for item in value]
    if isinstance(value, dict):
        return {unbytes(key): unbytes(item) for key, item in value.items()}
    return value


@pytest.mark.shared
@pytest.mark.skipif(not FACTS.exists(), reason="needs the shared facts")
def test_recorded_objects_are_read_and_written() -> None:
    for one in recorded()["objects"]:
        data = base64.b64decode(one["cbor_b64"])
        obj = json.loads(one["json_text"])
        schema = config_map() if "/configmaps/" in one["path"] else None
        read = cbor.loads(data, schema)
        if "/samples/" in one["path"]:  # has numbers that JSON shows differently
            assert read["a"].pop("big") == pytest.approx(obj["a"].pop("big"))
        assert read == obj
        assert cbor.loads(cbor.dumps(obj, schema)) == obj
        if "/samples/" not in one["path"]:  # the original mixes the members; there are the same bytes
            assert sorted(cbor.dumps(obj, schema)) == sorted(data)


@pytest.mark.shared
@pytest.mark.skipif(not FACTS.exists(), reason="needs the shared facts")
def test_recorded_refusals_have_the_original_words() -> None:
    seen = set()
    for case in cases():
        if not case["name"].startswith("create-") or case["response"]["status"] != 400:
            continue
        body = base64.b64decode(case["request"]["body_b64"])
        said = cbor.loads(base64.b64decode(case["response"]["body_b64"]))["message"]
        try:
            words = cbor.unknown_field(config_map(), cbor.loads(body, config_map()))
        except cbor.CBORError as error:
            words = str(error)
        assert words
        assert words in said, case["name"]
        seen.add(case["name"])
    assert len(seen) == 6


@pytest.mark.shared
@pytest.mark.skipif(not FACTS.exists(), reason="needs the shared facts")
def test_recorded_bodies_that_were_taken_are_read() -> None:
    seen = 0
    for case in cases():
        if case["request"]["headers"].get("Content-Type") == "application/cbor" and case["response"]["status"] < 300:
            obj = cbor.loads(base64.b64decode(case["request"]["body_b64"]))
            assert obj["kind"] in ("ConfigMap", "Sample", "DeleteOptions")
            seen += 1
    assert seen > 5


@pytest.mark.shared
@pytest.mark.skipif(not FACTS.exists(), reason="needs the shared facts")
def test_recorded_watches_are_events_around_tagged_objects() -> None:
    seen = 0
    for case in cases():
        if case["response"].get("content_type") != cbor.SEQUENCE_TYPE:
            continue
        data = b"".join(base64.b64decode(chunk) for chunk in case["response"]["chunks_b64"])
        for event in cbor.loads_sequence(data):
            obj = cbor.dumps(event["object"], config_map())
            again = cbor.watch_event(event["type"], obj)
            assert again.startswith(TAG + b"\xa2Dtype")
            assert len(again) == len(data)
            assert cbor.loads(again) == event
            seen += 1
    assert seen == 2


@given(JSON)
@settings(max_examples=200, deadline=None)
def test_what_is_written_is_what_another_library_reads(value: Any) -> None:
    data = cbor.dumps(value)
    assert data.startswith(TAG)
    assert unbytes(cbor2.loads(data[len(TAG) :])) == value
    assert cbor.loads(data) == value


@given(JSON)
@settings(max_examples=200, deadline=None)
def test_what_another_library_writes_is_read(value: Any) -> None:
    assert cbor.loads(cbor2.dumps(value)) == value
    assert cbor.loads(cbor2.dumps(value, canonical=True)) == value
    assert cbor.loads(cbor2.dumps(value, indefinite_containers=True)) == value


def test_numbers_take_the_least_room() -> None:
    for value, wire in {
        0: "00", 23: "17", 24: "1818", 255: "18ff", 256: "190100", 65536: "1a00010000", 2**32: "1b0000000100000000",
        -1: "20", -25: "3818", 2**64: "fa5f800000", 1.5: "f93e00", 2.0: "f94000", 100000.0: "fa47c35000",
        0.1: "fb3fb999999999999a",
    }.items():  # fmt: skip
        assert cbor.dumps(value, described=False).hex() == wire
    assert cbor.dumps([None, True, False], described=False).hex() == "83f6f5f4"


def test_bytes_of_built_in_kinds_are_under_tag_22() -> None:
    obj = {"data": {"a": "AAEC/w=="}, "binaryData": {"a": "AAEC/w=="}}
    data = cbor.dumps(obj, config_map())
    assert b"\xd6D\x00\x01\x02\xff" in data
    assert b"HAAEC/w==" in data
    assert cbor.loads(data, config_map()) == obj
    webhooks = builtin_types().get("k8s.io/api/admissionregistration/v1", "ValidatingWebhookConfiguration")
    deep = {"webhooks": [{"clientConfig": {"caBundle": "AAEC/w=="}}]}
    assert b"\xd6D\x00\x01\x02\xff" in cbor.dumps(deep, webhooks)
    with pytest.raises(cbor.CBORError):
        cbor.dumps({"binaryData": {"a": "A"}}, config_map())


def test_later_encodings_and_times_become_texts() -> None:
    raw = b"\xfb\xff\x00"
    assert cbor.loads(b"\xd5\x43" + raw) == "-_8A"
    assert cbor.loads(b"\xd6\x43" + raw) == "+/8A"
    assert cbor.loads(b"\xd7\x43" + raw) == "fbff00"
    assert cbor.loads(b"\xc0\x61x") == "x"
    assert cbor.loads(b"\xc1\x1a\x69\x57\x1d\x85") == "2026-01-02T01:21:09Z"
    assert cbor.loads(b"\xc1\xf9\x3e\x00") == "1970-01-01T00:00:01.5Z"
    assert cbor.loads(b"\xd9\x12\x34\x01") == 1


def test_strings_in_pieces_are_read() -> None:
    assert cbor.loads(b"\x5f\x41a\x42bc\xff") == "abc"
    assert cbor.loads(b"\x7f\x61a\x60\xff") == "a"
    assert cbor.loads(b"\xbf\x5f\x41k\xff\x9f\x01\x02\xff\xff") == {"k": [1, 2]}


def test_bytes_that_are_no_utf8_are_shown_with_replacement_characters_or_refused() -> None:
    assert cbor.loads(b"\xa1\x41k\x43a\xffb") == {"k": "a\ufffdb"}
    with pytest.raises(cbor.CBORError, match="invalid UTF-8"):
        cbor.loads(b"\x62\xff\xff")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "EOF"),
        (b"\xa1\x61a", "unexpected EOF"),
        (b"\x9f\x01", "unexpected EOF"),
        (b"\x1b\x00", "unexpected EOF"),
        (b"\x1c", "cbor: invalid additional information 28 for type positive integer"),
        (b"\xff", 'cbor: unexpected "break" code'),
        (b"\x81\xff", 'cbor: unexpected "break" code'),
        (b"\xbf\x61a\xff", 'cbor: unexpected "break" code'),
        (b"\x5f\x61a\xff", "cbor: wrong element type UTF-8 text string for indefinite-length byte string"),
        (b"\xf8\x10", "cbor: invalid simple value 16 for type primitives"),
        (b"\xf7", REFUSED.format("primitives", "simple value 23 is not recognized")),
        (b"\xf9\x7e\x00", REFUSED.format("primitives", "floating-point NaN")),
        (b"\xf9\x7c\x00", REFUSED.format("primitives", "floating-point infinity")),
        (b"\xc2\x41\x01", REFUSED.format("tag", "bignum")),
        (b"\xa1\x01\x02", "cbor: cannot unmarshal positive integer into Go value of type string"),
        (b"\xa2\x61a\x01\x41a\x02", 'cbor: found duplicate map key "a" at map element index 1'),
        (b"\x1b" + b"\xff" * 8, "cbor: cannot unmarshal positive integer into Go value of type int64 "
                                "(18446744073709551615 overflows Go's int64)"),
        (b"\x00\x00", "cbor: 1 bytes of extraneous data starting at index 1"),
        (b"\x81" * 65 + b"\x00", "cbor: exceeded max nested level 64"),
        # The end comes before what is wrong with the part that is there.
        (b"\xa3\x61a\x01\x61a\x02", "unexpected EOF"),
    ],
)  # fmt: skip
def test_what_is_refused_is_refused_in_the_original_words(data: bytes, words: str) -> None:
    with pytest.raises(cbor.CBORError) as caught:
        cbor.loads(data)
    assert str(caught.value) == words


def test_values_without_a_cbor_form_are_refused() -> None:
    for value in (object(), {1, 2}, 10**400, "\ud800"):
        with pytest.raises(cbor.CBORError):
            cbor.dumps(value)
    deep: list[Any] = []
    for _ in range(3000):
        deep = [deep]
    with pytest.raises(cbor.CBORError, match="too deep"):
        cbor.dumps(deep)


@given(st.binary(max_size=60), st.booleans())
@settings(max_examples=400, deadline=None)
def test_random_bytes_raise_nothing_else(data: bytes, tagged: bool) -> None:
    for schema in (None, config_map()):
        try:
            cbor.loads(TAG + data if tagged else data, schema)
        except cbor.CBORError:
            continue


@given(JSON, st.integers(0, 2**32))
@settings(max_examples=200, deadline=None)
def test_mutated_items_raise_nothing_else_and_what_is_read_can_be_written(value: Any, seed: int) -> None:
    rng = random.Random(seed)
    data = bytearray(cbor.dumps(value, described=False))
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(data)) if data else 0
        if rng.random() < 0.5:
            data[at : at + 1] = rng.randbytes(rng.randint(1, 3))
        else:
            del data[at : at + rng.randint(1, 4)]
    try:
        read = cbor.loads(bytes(data))
    except cbor.CBORError:
        return
    assert cbor.loads(cbor.dumps(read)) == read


HOSTILE = {
    "noise": lambda size: random.Random(1).randbytes(size),
    "arrays in arrays": lambda size: b"\x81" * size,
    "endless arrays": lambda size: b"\x9f" * size,
    "empty maps": lambda size: b"\x9f" + b"\xa0" * (size - 2) + b"\xff",
    "more than there is": lambda size: b"\x9b" + b"\xff" * 8 + b"\x00" * size,
    "a string in crumbs": lambda size: b"\x5f" + b"\x40" * size,
    "text in crumbs": lambda size: b"\x7f" + b"\x62\xc3\xa9" * (size // 3) + b"\xff",
    "bad text in crumbs": lambda size: b"\x7f" + b"\x61\xff" * (size // 2) + b"\xff",
    "members again and again": lambda size: b"\xbf" + (b"\x41a\x01" * 99 + b"\x41a\x81\x01") * (size // 301) + b"\xff",
    "bad bytes": lambda size: b"\x9f" + b"\x41\xff" * (size // 2) + b"\xff",
}


HOSTILE |= {
    f"{name}, unknown": lambda size, item=item: b"\xa1\x41x\x9f" + item * (size // len(item)) + b"\xff"
    for name, item in {
        "chains": b"\x81" * 60 + b"\x01",
        "chains too long": b"\x81" * 70 + b"\x01",
        "broken chains": b"\x82\x01\xa1\x41a" * 20 + b"\xbf",
        "tags": b"\xd9\xd9\xf7" * 60 + b"\x82",
        "a pair among many": b"\x01" * 250 + b"\x82\x41a\x41b",
    }.items()
}
HOSTILE |= {
    f"members, {name}": lambda size, value=value: (
        b"\xbf" + b"".join(b"\x46%06d" % number + value for number in range(size // (7 + len(value)))) + b"\xff"
    )
    for name, value in {
        "empty": b"\x40",
        "with a zero": b"\x42a\0",
        "with bad bytes": b"\x42a\xff",
        "with bad text": b"\x62a\xff",
        "with a refusal": b"\xf7",
        "with lists": b"\x81\x01",
    }.items()
}


@pytest.mark.parametrize("name", HOSTILE)
def test_the_time_for_hostile_items_grows_with_their_length_only(name: str) -> None:
    def seconds(size: int) -> float:
        data = HOSTILE[name](size)
        best = 1e9
        for _ in range(2):
            started = time.process_time()
            with contextlib.suppress(cbor.CBORError):
                cbor.loads_body(data, config_map())
            best = min(best, time.process_time() - started)
        return best

    assert seconds(MIB // 4) < 25 * seconds(MIB // 32) + 0.05


def test_a_mebibyte_in_one_value_is_read_at_once() -> None:
    obj = {"data": {"key": "x" * MIB}, "binaryData": {"key": "A" * MIB}}
    data = cbor.dumps(obj, config_map())
    started = time.process_time()
    assert cbor.loads(data, config_map()) == obj
    assert time.process_time() - started < 0.2


def test_what_is_longer_as_json_than_wanted_is_given_up_early() -> None:
    assert cbor.loads_body(b"\x9f" + b"\x80" * 1000 + b"\xff", room=3001) == [[]] * 1000
    for items in (b"\x80" * 1000, b"\x81\x9f\xff" * 2000):
        with pytest.raises(cbor.CBORTooLong):
            cbor.loads_body(b"\x9f" + items + b"\xff", room=3000)


UNKNOWN = {
    "numbers": b"\x01",
    "lists in lists": b"\x81" * 50 + b"\x01",
    "pairs in pairs": b"\x82\x01" * 50 + b"\x01",
    "objects in objects": b"\xa1\x41a" * 50 + b"\x01",
    "tags": b"\xd9\xd9\xf7" * 50 + b"\x01",
    "all of them": b"\x81\xd5\x83\x01\x01\xa1\x41a\x82\xf6\x9f\x01\x02\xff",
    "long strings": b"\x58\x20" + b"a" * 32,
    "objects of two": b"\xa2\x41a\x01\x41b\x9f\xff",
}


@pytest.mark.parametrize("name", UNKNOWN)
@pytest.mark.parametrize("behind", [b"", b"\x01", b"\x81" * 60 + b"\x01", b"\xf7"])
def test_items_that_no_type_knows_change_nothing(name: str, behind: bytes) -> None:
    """They are not all made, but what is kept, told and refused is the same."""
    pod = builtin_types().get(CORE, "Pod")
    for items in (UNKNOWN[name] * 600 + behind, behind + UNKNOWN[name] * 300):
        for data in (
            b"\xa2\x41x\x9f" + items + b"\xff\x44kind\x41P",
            b"\xa1\x44spec\xa2\x48hostname\x41a\x41x\x9f" + items + b"\xff",
        ):
            try:
                value = cbor.loads(data)
            except cbor.CBORError as error:
                with pytest.raises(cbor.CBORError) as caught:
                    cbor.loads_body(data, pod)
                assert (str(caught.value), caught.value.readable) == (str(error), error.readable)
                continue
            read = cbor.loads_body(data, pod)
            assert cbor.unknown_field(pod, read) == cbor.unknown_field(pod, value) != ""
            assert decode_once(pod, read) == decode_once(pod, value)


def test_lists_that_their_items_would_make_too_long_are_given_up_early() -> None:
    pod = builtin_types().get(CORE, "Pod")
    for item in (b"\xa0", b"\xa1\x44name\x41a", b"\xa2\x44name\x41a\x45image\x41a"):
        for data in (b"\x9f" + item * 100_000 + b"\xff", b"\x9a" + (100_000).to_bytes(4, "big") + item * 100_000):
            with pytest.raises(cbor.CBORTooLong):
                cbor.loads_body(b"\xa1\x44spec\xa1\x4acontainers" + data, pod)
    spec = b"\xa1\x44spec\xa1\x4acontainers\x9f" + b"\xa1\x44name\x41a" * 5000 + b"\xff"
    assert len(cbor.loads_body(spec, pod)["spec"]["containers"]) == 5000


@pytest.mark.parametrize(
    ("data", "words", "readable"),
    [
        (b"\xa2\x41a\xf7\x41b\xf9\x7e\x00", REFUSED.format("primitives", "simple value 23 is not recognized"), True),
        (b"\xa2\x41a\xf7\x41b\x1c", "cbor: invalid additional information 28 for type positive integer", False),
        (b"\xa2\x41a\xf7\x41a\x01", REFUSED.format("primitives", "simple value 23 is not recognized"), False),
        (b"\xa1\x41a\xa2\x41b\x01\x41b\x02", 'cbor: found duplicate map key "b" at map element index 1', True),
        (b"\xa1\x01\x02", "cbor: cannot unmarshal positive integer into Go value of type string", False),
        (b"\xa1\x41a\xa1\x01\x02", "cbor: cannot unmarshal positive integer into Go value of type string", True),
        (b"\xd9\xd9\xf7\xa1\x61\xff\x02", "cbor: invalid UTF-8 string", False),
        (b"\xa1\x41a\xf7\x00", REFUSED.format("primitives", "simple value 23 is not recognized"), False),
        (b"\x81\xf7", REFUSED.format("primitives", "simple value 23 is not recognized"), False),
        (b"\xdf\x0f", "cbor: invalid additional information 31 for type tag", False),
    ],
)
def test_the_first_refusal_is_told_once_all_is_known_to_be_well_formed(data: bytes, words: str, readable: bool) -> None:
    with pytest.raises(cbor.CBORError) as caught:
        cbor.loads(data)
    assert (str(caught.value), caught.value.readable) == (words, readable)


def test_only_byte_strings_that_are_no_utf8_are_refused_where_base64_belongs() -> None:
    good = b"\x4abinaryData\xa1\x41a\x48AAEC/w=="
    assert cbor.loads(b"\xa2" + good + b"\x44data\xa1\x41a\x41\xff", config_map())["data"] == {"a": "\ufffd"}
    with pytest.raises(cbor.CBORError, match="illegal base64 data at input byte 2"):
        cbor.loads(b"\xa1\x4abinaryData\xa1\x41a\x43AA\xff", config_map())


def test_byte_strings_in_many_pieces_of_one_size_are_joined() -> None:
    assert cbor.loads(b"\x5f" + b"\x41a\x41b" * 10_000 + b"\x40\x40\x42cd\xff") == "ab" * 10_000 + "cd"
    assert cbor.loads(b"\x5f" + b"\x40" * 10_000 + b"\xff") == ""
    assert cbor.loads(b"\x7f" + b"\x62\xc3\xa9" * 10_000 + b"\x61a\xff") == "\xe9" * 10_000 + "a"
    with pytest.raises(cbor.CBORError, match="invalid UTF-8"):
        cbor.loads(b"\x7f" + b"\x62\xc3\xa9" * 5000 + b"\x62a\xc3\x62\xa9a\xff")
