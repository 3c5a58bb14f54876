"""Random and damaged bodies: whatever comes, there is an answer that says what is wrong, and never a failure."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import cbor2
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hostile.known import NAMESPACE, PLACES
from support.api import Answer, Api
from support.server import Server

MANY = settings(
    max_examples=120, deadline=None, database=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
KINDS = st.sampled_from(sorted(PLACES))

nasty = st.sampled_from(
    ["", " ", "\0", "\x7f", "a" * 5000, "../..", "%00", "é", "\U0001f600", "\u202e", "null", "true", "0", "-1", "1e99"]
)
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.text(max_size=20),
    nasty,
    st.binary(max_size=9),
)
values: st.SearchStrategy[Any] = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=8) | nasty, inner, max_size=4)
    ),
    max_leaves=12,
)


@pytest.fixture(scope="module")
def caller(target: Server) -> Iterator[Api]:
    with target.api() as api:
        for path, body in PLACES.values():
            assert api.post(path, {**body, "metadata": {"name": "there"}}).status == 201
        yield api


def well_answered(answer: Answer) -> None:
    """Some answer below 500, and a Status where it is an error. The original's own 500s have no details."""
    if answer.status < 400:
        assert answer.json()["kind"]
        return
    status = answer.json()
    assert status["kind"] == "Status"
    assert status["code"] == answer.status
    assert answer.status < 500 or "panic" not in status["message"], status
    assert len(answer.body) < 4 << 20


def plain(value: Any) -> Any:
    """What JSON can say."""
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if isinstance(value, float) and value - value != 0:
        return str(value)
    if isinstance(value, dict):
        return {str(key): plain(inner) for key, inner in value.items()}
    return [plain(inner) for inner in value] if isinstance(value, list) else value


def damaged(value: Any, chance: random.Random, junk: Any) -> Any:
    """A copy with one thing in it replaced, dropped or added."""
    if not isinstance(value, dict | list) or not value or chance.random() < 0.15:
        return junk
    if isinstance(value, dict):
        key = chance.choice(sorted(value))
        copy = dict(value)
        if chance.random() < 0.15:
            copy[chance.choice(["", "x", "$patch", "name", "kind", "metadata"])] = junk
        elif chance.random() < 0.1:
            del copy[key]
        else:
            copy[key] = damaged(value[key], chance, junk)
        return copy
    place = chance.randrange(len(value))
    return [*value[:place], damaged(value[place], chance, junk), *value[place + 1 :]]


def cut(data: bytes, chance: random.Random) -> bytes:
    """Bytes with some of them changed, dropped, doubled or moved."""
    made = bytearray(data)
    for _ in range(chance.randint(1, 4)):
        place = chance.randrange(len(made) + 1)
        match chance.randrange(5):
            case 0:
                made[place : place + 1] = bytes([chance.randrange(256)])
            case 1:
                del made[place : place + chance.randint(1, 8)]
            case 2:
                made[place:place] = made[: chance.randrange(20)]
            case 3:
                made[place:place] = bytes([chance.choice(b'\0\xff\x80{}[]":,&*!|>%@`\n\t-')])
            case _:
                made = made[:place] or bytearray(b"x")
    return bytes(made)


@MANY
@given(kind=KINDS, chance=st.randoms(use_true_random=False), junk=values)
def test_damaged_objects(caller: Api, kind: str, chance: random.Random, junk: Any) -> None:
    path, body = PLACES[kind]
    well_answered(caller.post(f"{path}?dryRun=All", plain(damaged(body, chance, plain(junk)))))


@MANY
@given(
    kind=KINDS, chance=st.randoms(use_true_random=False), junk=values, validation=st.sampled_from(["Strict", "Ignore"])
)
def test_damaged_updates(caller: Api, kind: str, chance: random.Random, junk: Any, validation: str) -> None:
    path, body = PLACES[kind]
    sent = plain(damaged({**body, "metadata": {"name": "there"}}, chance, plain(junk)))
    well_answered(caller.put(f"{path}/there?dryRun=All&fieldValidation={validation}", sent))


@MANY
@given(kind=KINDS, chance=st.randoms(use_true_random=False))
def test_cut_json(caller: Api, kind: str, chance: random.Random) -> None:
    path, body = PLACES[kind]
    well_answered(caller.post(f"{path}?dryRun=All", cut(json.dumps(body).encode(), chance)))


@MANY
@given(kind=KINDS, chance=st.randoms(use_true_random=False))
def test_cut_yaml(caller: Api, kind: str, chance: random.Random) -> None:
    path, body = PLACES[kind]
    well_answered(
        caller.post(f"{path}?dryRun=All", cut(yaml.safe_dump(body).encode(), chance), kind="application/yaml")
    )


@MANY
@given(text=st.text(alphabet="{}[]:,&*!|>%@`'\"?-#ab01 \n\t~=<.\0\xe9", max_size=60))
def test_random_yaml(caller: Api, text: str) -> None:
    well_answered(caller.post(f"{NAMESPACE}/configmaps?dryRun=All", text.encode(), kind="application/yaml"))


@MANY
@given(kind=KINDS, chance=st.randoms(use_true_random=False))
def test_cut_protobuf(caller: Api, kind: str, chance: random.Random) -> None:
    path, _ = PLACES[kind]
    protobuf = "application/vnd.kubernetes.protobuf"
    whole = caller.request("GET", f"{path}/there", headers={"Accept": protobuf}).body
    sent = cut(whole, chance)
    well_answered(caller.request("PUT", f"{path}/there?dryRun=All", sent, kind=protobuf))
    well_answered(caller.request("POST", f"{path}?dryRun=All", sent, kind=protobuf))


@MANY
@given(data=st.binary(max_size=80))
def test_random_protobuf(caller: Api, data: bytes) -> None:
    sent = b"k8s\0" + data
    well_answered(caller.post(f"{NAMESPACE}/pods?dryRun=All", sent, kind="application/vnd.kubernetes.protobuf"))


@settings(MANY, max_examples=30)
@given(value=values)
def test_cbor_is_not_spoken(caller: Api, value: Any) -> None:
    sent = cbor2.dumps(value)
    assert caller.post(f"{NAMESPACE}/configmaps", sent, kind="application/cbor").status == 415
    answer = caller.patch(f"{NAMESPACE}/configmaps/x?fieldManager=a", sent, kind="application/apply-patch+cbor")
    assert answer.status == 415


pointers = st.lists(
    st.sampled_from(
        ["metadata", "labels", "spec", "containers", "0", "-", "-1", "ports", "a", "", "~0", "~1", "~", "99999"]
    ),
    max_size=5,
).map(lambda parts: "".join(f"/{part}" for part in parts))
operations = st.fixed_dictionaries(
    {"op": st.sampled_from(["add", "remove", "replace", "move", "copy", "test", "x", ""]), "path": pointers | nasty},
    optional={"from": pointers, "value": values.map(plain)},
)


@MANY
@given(kind=KINDS, patch=st.lists(operations, max_size=6) | values.map(plain))
def test_random_json_patches(caller: Api, kind: str, patch: Any) -> None:
    path, _ = PLACES[kind]
    well_answered(caller.patch(f"{path}/there?dryRun=All", json.dumps(patch).encode(), "application/json-patch+json"))


@MANY
@given(kind=KINDS, chance=st.randoms(use_true_random=False), junk=values, strategic=st.booleans())
def test_random_merge_patches(caller: Api, kind: str, chance: random.Random, junk: Any, strategic: bool) -> None:
    path, body = PLACES[kind]
    media_type = f"application/{'strategic-' if strategic else ''}merge-patch+json"
    patch = plain(damaged({"metadata": body["metadata"], "spec": body["spec"]}, chance, plain(junk)))
    well_answered(caller.patch(f"{path}/there?dryRun=All", json.dumps(patch).encode(), media_type))


DIRECTIVES: st.SearchStrategy[Any] = st.sampled_from(["delete", "replace", "merge", "x", 1, None, {}, []])


@MANY
@given(
    patch=st.fixed_dictionaries(
        {},
        optional={
            "$patch": DIRECTIVES,
            "$retainKeys": st.lists(st.text(max_size=3)) | DIRECTIVES,
            "$setElementOrder/containers": st.lists(st.fixed_dictionaries({"name": nasty})) | DIRECTIVES,
            "$deleteFromPrimitiveList/finalizers": st.lists(nasty) | DIRECTIVES,
            "containers": st.lists(st.dictionaries(st.sampled_from(["name", "$patch", "image"]), nasty | DIRECTIVES)),
            "volumes": st.lists(st.dictionaries(st.sampled_from(["name", "$patch", "emptyDir"]), nasty | DIRECTIVES)),
        },
    )
)
def test_random_strategic_directives(caller: Api, patch: Any) -> None:
    sent = json.dumps({"spec": patch, "metadata": patch}).encode()
    well_answered(caller.patch(f"{NAMESPACE}/pods/there?dryRun=All", sent, "application/strategic-merge-patch+json"))


@MANY
@given(kind=KINDS, chance=st.randoms(use_true_random=False), junk=values)
def test_damaged_configurations(caller: Api, kind: str, chance: random.Random, junk: Any) -> None:
    path, body = PLACES[kind]
    sent = json.dumps(plain(damaged({**body, "metadata": {"name": "there"}}, chance, plain(junk)))).encode()
    query = "?dryRun=All&fieldManager=fuzz&force=true"
    well_answered(caller.patch(f"{path}/there{query}", sent, "application/apply-patch+yaml"))


ENTRY = st.sampled_from(["manager", "operation", "apiVersion", "time", "fieldsType", "fieldsV1", "subresource"])


@MANY
@given(entries=st.lists(st.dictionaries(ENTRY, values.map(plain), max_size=7), max_size=3))
def test_damaged_managed_fields(caller: Api, entries: list[Any]) -> None:
    sent = {"metadata": {"managedFields": entries}}
    well_answered(caller.patch(f"{NAMESPACE}/pods/there?dryRun=All", sent))


@MANY
@given(
    name=st.sampled_from(
        ["labelSelector", "fieldSelector", "limit", "continue", "resourceVersion", "resourceVersionMatch", "pretty",
         "fieldManager", "dryRun", "fieldValidation", "propagationPolicy", "gracePeriodSeconds", "includeObject"]
    ),
    value=nasty | st.text(alphabet="ab,=!()<>in notin~/%&;+\\'\"\0é0123456789", max_size=30),
)  # fmt: skip
def test_random_queries(caller: Api, name: str, value: str) -> None:
    query = f"?{name}={quote(value)}"
    for method, path in (("GET", ""), ("POST", ""), ("PATCH", "/there"), ("DELETE", "/none"), ("GET", "/there")):
        body = {"metadata": {"name": "n"}} if method == "POST" else {} if method == "PATCH" else None
        kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
        more = "&dryRun=All" if name != "dryRun" else ""
        answer = caller.request(method, f"{NAMESPACE}/configmaps{path}{query}{more}", body, kind=kind)
        well_answered(answer)


@MANY
@given(accept=st.text(alphabet='application/json;,=*yaml.protobufqv1gTables \t"é', max_size=60) | nasty)
def test_random_accept_headers(caller: Api, accept: str) -> None:
    sent = accept.encode("latin-1", "replace").decode("latin-1").translate({0: None, 127: None, 10: None, 13: None})
    answer = caller.request("GET", f"{NAMESPACE}/pods/there", headers={"Accept": sent})
    assert answer.status in (200, 406), answer.text


@MANY
@given(path=st.text(alphabet="ab/.%2e2Ff:;@~*+,'é\u202e\0", max_size=40))
def test_random_paths(caller: Api, path: str) -> None:
    for prefix in ("/", "/api/v1/", "/apis/apps/v1/namespaces/", f"{NAMESPACE}/pods/"):
        answer = caller.get(prefix + quote(path, safe="/%.:;@~*+,'"))
        assert answer.status < 500, answer.text
