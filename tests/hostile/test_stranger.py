"""What a stranger finds by trying: objects grown and damaged in every form, and what hypothesis makes of the formats.

No failure but the original's own, no connection that breaks, and nobody else waits. `search.py` is a longer search of
that sort, with longer bodies.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator

import cbor2
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from hostile import strong
from hostile.assault import MORE_FAILURES, Attack, ended_well, survived
from hostile.known import NAMESPACE, known, known_seeds, prepare
from hostile.nasty import APPLY, JSON, PROTOBUF, SIZE, YAML, field, varint
from hostile.simple import APPLY_CBOR, CBOR
from hostile.stranger import EVERYTHING, FORMS, Seed, requests, seeds
from hostile.test_fuzz import MANY, damaged, plain, values, well_answered
from support.api import Api
from support.server import CONFORMANCE_FLAGS, Server

SOME = settings(MANY, max_examples=40)
PLAIN = (JSON, YAML, CBOR, PROTOBUF)


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with all versions of all kinds, and a custom one. It must be alive and well at the end."""
    server = Server(tmp_path_factory.mktemp("everything"), *CONFORMANCE_FLAGS, *EVERYTHING)
    yield server
    ended_well(server)


@pytest.fixture(scope="module")
def caller(target: Server) -> Iterator[Api]:
    with target.api(timeout=60.0) as api:
        prepare(api)
        yield api


@pytest.fixture(scope="module")
def served(caller: Api) -> list[Seed]:
    return [one for one in seeds(caller) if one.message]


@pytest.mark.parametrize("media_type", FORMS)
def test_grown_and_damaged_objects(target: Server, caller: Api, served: list[Seed], media_type: str) -> None:
    chance = random.Random(media_type)
    others = chance.sample(served, 8 if media_type == PROTOBUF else 4 if media_type in PLAIN else 2)
    attacks: list[Attack] = []
    for seed in (*others, *known_seeds()):
        if media_type == PROTOBUF and not seed.message:
            continue
        for one in requests(chance, seed, media_type, SIZE, 2):
            attacks.append((one.about, one.method, one.path, one.media_type, lambda body=one.body: body))
    survived(target, caller, attacks, MORE_FAILURES)


NUMBERS = st.integers(1, 40)
FIELDS: st.SearchStrategy[bytes] = st.recursive(
    st.one_of(
        st.builds(lambda number, value: varint(number << 3) + varint(value), NUMBERS, st.integers(0, 2**64)),
        st.builds(lambda number, value: varint(number << 3 | 1) + struct.pack("<d", value), NUMBERS, st.floats()),
        st.builds(field, NUMBERS, st.binary(max_size=12)),
        st.builds(varint, st.integers(0, 2**33)),
    ),
    lambda inner: st.builds(lambda number, parts: field(number, b"".join(parts)), NUMBERS, st.lists(inner, max_size=5)),
    max_leaves=20,
)


@SOME
@given(message=FIELDS, kind=st.sampled_from([*known()]), whole=st.booleans())
def test_random_fields_of_protobuf(caller: Api, message: bytes, kind: str, whole: bool) -> None:
    path, body = known()[kind]
    type_meta = field(1, str(body["apiVersion"]).encode()) + field(2, kind.encode())
    sent = b"k8s\0" + (field(1, type_meta) + field(2, message) if whole else message)
    well_answered(caller.post(f"{path}?dryRun=All", sent, kind=PROTOBUF))


@SOME
@given(kind=st.sampled_from([*known()]), chance=st.randoms(use_true_random=False), junk=values, cut=st.booleans())
def test_damaged_objects_in_cbor(caller: Api, kind: str, chance: random.Random, junk: object, cut: bool) -> None:
    path, body = known()[kind]
    sent = cbor2.dumps(damaged({**body, "metadata": {"name": "there"}}, chance, junk))
    if cut:
        at = chance.randrange(len(sent))
        sent = sent[:at] + chance.randbytes(chance.randrange(3)) + sent[at + chance.randrange(3) :]
    query = f"?dryRun=All&fieldValidation={chance.choice(['Strict', 'Ignore'])}"
    well_answered(caller.post(path + query, sent, kind=CBOR))
    well_answered(caller.put(f"{path}/there{query}", sent, kind=CBOR))
    well_answered(caller.patch(f"{path}/there{query}&fieldManager=a&force=true", sent, APPLY_CBOR))


@SOME
@given(value=values, tags=st.lists(st.sampled_from([0, 1, 2, 3, 21, 22, 23, 24, 259, 55799, 2**40]), max_size=3))
def test_random_cbor(caller: Api, value: object, tags: list[int]) -> None:
    for tag in tags:
        value = cbor2.CBORTag(tag, value)
    sent = cbor2.dumps(value)
    for path in (f"{NAMESPACE}/configmaps?dryRun=All", f"{strong.PATH}?dryRun=All"):
        well_answered(caller.post(path, sent, kind=CBOR))
        named = b"\xa3" + cbor2.dumps("kind") + cbor2.dumps("Strong") + cbor2.dumps("spec") + sent
        well_answered(caller.post(path, named + cbor2.dumps("metadata") + sent, kind=CBOR))


@SOME
@given(kind=st.sampled_from([*known()]), chance=st.randoms(use_true_random=False), junk=values, flow=st.booleans())
def test_damaged_objects_in_yaml(caller: Api, kind: str, chance: random.Random, junk: object, flow: bool) -> None:
    path, body = known()[kind]
    value = plain(damaged({**body, "metadata": {"name": "there"}}, chance, plain(junk)))
    sent = yaml.safe_dump(value, default_flow_style=flow, allow_unicode=chance.random() < 0.5).encode()
    well_answered(caller.put(f"{path}/there?dryRun=All", sent, kind=YAML))
    well_answered(caller.patch(f"{path}/there?dryRun=All&fieldManager=a&force=true", sent, APPLY))
