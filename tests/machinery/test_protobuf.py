"""The protobuf codec beside Google's runtime, and its rules one by one."""

from __future__ import annotations

import random
from typing import Any

import pytest
from google_oracle import Oracle, remember_props
from hypothesis import given, settings
from hypothesis import strategies as st

from pilothouse.builtin.types import CORE, META, builtin_types
from pilothouse.kit.protowire import varint as written
from pilothouse.machinery import protobuf
from pilothouse.machinery import schema as s
from pilothouse.machinery.protobuf import plan
from pilothouse.machinery.schema import Field, Schema
from support.chance import random_object

EXTENSIONS = "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
KINDS = (
    (CORE, "Pod"), (CORE, "Service"), (CORE, "Node"), (CORE, "ConfigMap"), (CORE, "Secret"), (CORE, "Event"),
    (CORE, "PersistentVolume"), ("k8s.io/api/apps/v1", "Deployment"), ("k8s.io/api/batch/v1", "CronJob"),
    ("k8s.io/api/coordination/v1", "Lease"), ("k8s.io/api/discovery/v1", "EndpointSlice"),
    ("k8s.io/api/networking/v1", "Ingress"), ("k8s.io/api/rbac/v1", "ClusterRole"), (META, "Status"),
    (META, "APIResourceList"), (META, "PartialObjectMetadataList"), ("k8s.io/api/policy/v1", "PodDisruptionBudget"),
    ("k8s.io/api/authentication/v1", "TokenReview"), ("k8s.io/api/certificates/v1", "CertificateSigningRequest"),
    ("k8s.io/api/autoscaling/v2", "HorizontalPodAutoscaler"), ("k8s.io/api/resource/v1", "ResourceSlice"),
    ("k8s.io/api/flowcontrol/v1", "FlowSchema"), (EXTENSIONS, "CustomResourceDefinition"),
)  # fmt: skip
ORACLE = Oracle()


def schema(package: str, name: str) -> Schema:
    return builtin_types().get(package, name)


def encode(name: str, obj: dict[str, Any], package: str = CORE) -> bytes:
    return protobuf.encode_message(schema(package, name), obj)


def decode(name: str, data: bytes, package: str = CORE) -> dict[str, Any]:
    return protobuf.decode_message(schema(package, name), data)


@given(st.sampled_from(KINDS), st.integers(0, 2**32))
@settings(max_examples=150, deadline=None)
def test_messages_are_those_of_googles_runtime(kind: tuple[str, str], seed: int) -> None:
    remember_props(schema(EXTENSIONS, "JSONSchemaProps"))
    obj = random_object(schema(*kind), random.Random(seed))
    ours = protobuf.encode_message(schema(*kind), obj)
    assert ours == ORACLE.encode(schema(*kind), obj)
    read = protobuf.decode_message(schema(*kind), ours)
    again = protobuf.encode_message(schema(*kind), read)  # empty bytes may be left out of the JSON form
    assert protobuf.decode_message(schema(*kind), again) == read


@given(st.sampled_from(KINDS), st.integers(0, 2**32))
@settings(max_examples=100, deadline=None)
def test_fields_in_any_order_and_number_are_read_as_googles_runtime_reads_them(
    kind: tuple[str, str], seed: int
) -> None:
    rng = random.Random(seed)
    first, second = (protobuf.encode_message(schema(*kind), random_object(schema(*kind), rng)) for _ in range(2))
    pieces = fields(first) + fields(second) + [b"\xfa\x7f\x03abc", b"\xf8\x7f\x05"]
    rng.shuffle(pieces)
    mixed = b"".join(pieces)
    ours = protobuf.decode_message(schema(*kind), mixed)
    plain = protobuf.decode_message(schema(*kind), ORACLE.normal(schema(*kind), mixed))
    assert ours == plain


def fields(data: bytes) -> list[bytes]:
    """The fields of a message, each with its tag."""
    found = []
    at = 0
    while at < len(data):
        start = at
        tag, at = varint(data, at)
        if tag & 7 == 0:
            _, at = varint(data, at)
        elif tag & 7 == 1:
            at += 8
        else:
            size, at = varint(data, at)
            at += size
        found.append(data[start:at])
    return found


def varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        at += 1
        if data[at - 1] < 128:
            return value, at
        shift += 7


def test_every_type_of_the_table_can_be_read_and_written_when_empty() -> None:
    table = builtin_types()
    for package, name in table._rows:
        made = table.get(package, name)
        if protobuf.has_protobuf(made):
            empty = protobuf.encode_message(made, {})
            assert protobuf.decode_message(made, empty) == protobuf.decode_message(made, b"")


def test_no_type_holds_itself_without_its_depth_being_counted() -> None:
    table = builtin_types()
    open_types: list[Schema] = []
    done: set[int] = set()

    def visit(made: Schema) -> None:
        assert made not in open_types, made
        if id(made) in done or plan.nests_itself(made):
            return
        open_types.append(made)
        for slot in plan.slots(made):
            message = plan.message_of(slot)
            if message is not None:
                visit(message)
        open_types.remove(made)
        done.add(id(made))

    for package, name in table._rows:
        if protobuf.has_protobuf(table.get(package, name)):
            visit(table.get(package, name))


def test_a_codec_can_be_compiled_ahead() -> None:
    done = [made.name for made in protobuf.prepare(schema(CORE, "Secret"))]
    assert done[0] == "Secret"
    assert {"ObjectMeta", "OwnerReference", "ManagedFieldsEntry", "Timestamp"} <= set(done)


def test_a_table_has_no_protobuf_form() -> None:
    assert not protobuf.has_protobuf(schema(META, "Table"))
    assert protobuf.has_protobuf(schema(META, "Status"))
    assert protobuf.has_protobuf(Schema(s.STRUCT, name="Empty"))


def test_plain_fields_are_written_though_they_are_zero_and_pointers_only_when_set() -> None:
    assert encode("ObjectMeta", {"name": "a"}, META).hex(" ") == "0a 01 61 12 00 1a 00 22 00 2a 00 32 00 38 00 42 00"
    assert encode("ContainerPort", {}) == bytes.fromhex("0a 00 10 00 18 00 22 00 2a 00")
    assert encode("Toleration", {"tolerationSeconds": 0}).endswith(b"\x28\x00")


def test_negative_numbers_take_ten_bytes() -> None:
    data = encode("Toleration", {"tolerationSeconds": -1})
    assert data.endswith(b"\x28" + b"\xff" * 9 + b"\x01")
    assert decode("Toleration", data) == {"tolerationSeconds": -1}


def test_maps_are_written_by_key_and_read_sorted() -> None:
    one, two = encode("ConfigMap", {"data": {"b": "2", "a": "1"}}), encode("ConfigMap", {"data": {"a": "1", "b": "2"}})
    assert one == two
    unsorted = b"\x12\x06\x0a\x01b\x12\x012\x12\x06\x0a\x01a\x12\x011\x12\x06\x0a\x01b\x12\x013"
    assert list(decode("ConfigMap", unsorted)["data"].items()) == [("a", "1"), ("b", "3")]


def test_what_go_would_leave_out_is_left_out_and_what_it_shows_is_shown() -> None:
    pod = decode("Pod", b"")
    assert pod == {"metadata": {}, "spec": {"containers": None}, "status": {}}
    container = decode("Container", b"")
    assert container == {"name": "", "resources": {}}
    condition = decode("PodCondition", encode("PodCondition", {"type": "Ready", "status": "True"}))
    assert condition == {"type": "Ready", "status": "True", "lastProbeTime": None, "lastTransitionTime": None}
    assert decode("ServicePort", b"") == {"port": 0, "targetPort": 0}
    assert decode("DeploymentSpec", b"", "k8s.io/api/apps/v1")["selector"] is None
    assert decode("ObjectFieldSelector", b"") == {"fieldPath": ""}
    assert decode("ResourceFieldSelector", b"") == {"resource": "", "divisor": "0"}


def test_members_come_in_the_order_of_the_go_type_and_kind_first() -> None:
    table = schema(META, "PartialObjectMetadata")
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u", "controller": True}
    obj = {"metadata": {"name": "a", "ownerReferences": [owner]}}
    read = protobuf.decode_message(
        table, protobuf.encode_message(table, obj), "meta.k8s.io/v1", "PartialObjectMetadata"
    )
    assert list(read) == ["kind", "apiVersion", "metadata"]
    assert list(read["metadata"]["ownerReferences"][0]) == list(owner)


@pytest.mark.parametrize(
    ("given_time", "shown"),
    [
        ("2026-11-29T21:57:11.9+01:00", "2026-11-29T20:57:11Z"),
        ("1969-12-31T23:59:59Z", "1969-12-31T23:59:59Z"),
        ("0000-02-29T00:00:00Z", "0000-02-29T00:00:00Z"),
        ("9999-12-31T23:59:59Z", "9999-12-31T23:59:59Z"),
        ("0001-01-01T00:00:00Z", None),
        ("1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z"),
    ],
)
def test_times_are_whole_seconds_in_utc(given_time: str, shown: str | None) -> None:
    data = encode("ObjectMeta", {"creationTimestamp": given_time, "deletionTimestamp": given_time}, META)
    read = decode("ObjectMeta", data, META)
    assert read["deletionTimestamp"] == shown
    assert read.get("creationTimestamp") == shown


def test_micro_times_are_cut_to_microseconds() -> None:
    lease = "k8s.io/api/coordination/v1"
    data = encode("LeaseSpec", {"renewTime": "2026-01-02T03:04:05.1234569Z"}, lease)
    assert decode("LeaseSpec", data, lease) == {"renewTime": "2026-01-02T03:04:05.123456Z"}
    assert decode("LeaseSpec", b"\x22\x00", lease) == {"renewTime": None}


def test_durations_are_written_as_go_writes_them() -> None:
    made = Schema(s.STRUCT, name="D", fields=lambda: [Field("d", lambda: Schema(s.DURATION), number=1)])
    for text, shown in {
        "90s": "1m30s", "1h": "1h0m0s", "1.5ms": "1.5ms", "-2m3.25s": "-2m3.25s", "0": "0s", "7us": "7µs",
        "12ns": "12ns",
    }.items():  # fmt: skip
        assert protobuf.decode_message(made, protobuf.encode_message(made, {"d": text})) == {"d": shown}
    with pytest.raises(protobuf.ProtobufError):
        protobuf.encode_message(made, {"d": "5 minutes"})


def test_unions_of_json_schemas() -> None:
    props = {
        "default": {"a": [1]},
        "maximum": 3,
        "minimum": -0.5,
        "enum": [None, "x", 1],
        "items": {"type": "string"},
        "additionalProperties": False,
        "additionalItems": {"type": "integer"},
        "dependencies": {"a": ["b"], "b": {"type": "object"}},
    }
    read = decode("JSONSchemaProps", encode("JSONSchemaProps", props, EXTENSIONS), EXTENSIONS)
    assert read == props
    several = {"items": [{"type": "string"}, {"type": "integer"}]}
    assert decode("JSONSchemaProps", encode("JSONSchemaProps", several, EXTENSIONS), EXTENSIONS) == several


def test_texts_that_are_no_utf8_are_shown_with_replacement_characters() -> None:
    assert decode("ConfigMap", b"\x12\x09\x0a\x01k\x12\x04a\xff\xc3b")["data"] == {"k": "a\ufffd\ufffdb"}
    assert encode("ConfigMap", {"data": {"k": "\ud83d"}}) == encode("ConfigMap", {"data": {"k": "\ufffd"}})


def test_a_time_whose_parts_come_more_than_once_is_the_last_of_each() -> None:
    data = b"\x4a\xc8\x01" + b"\x08\x05\x10\x00" * 50
    assert decode("ObjectMeta", data, META) == {"deletionTimestamp": "1970-01-01T00:00:05Z"}


def test_packed_numbers_are_read() -> None:
    security = decode("PodSecurityContext", b"\x22\x03\x05\xac\x02")
    assert security == {"supplementalGroups": [5, 300]}


def test_bytes_that_are_empty_and_bytes_that_are_not_there_differ() -> None:
    assert encode("Secret", {"data": {"a": ""}}) != encode("Secret", {"data": {"a": None}})
    assert decode("Secret", encode("Secret", {"data": {"a": "AAEC/w=="}}))["data"] == {"a": "AAEC/w=="}


def test_an_object_that_is_not_what_its_type_says_is_refused_by_path() -> None:
    for obj, where in (
        ({"spec": {"containers": [{"name": 5}]}}, "spec.containers[0].name: expected string, got int"),
        ({"metadata": {"labels": {"a": None}}}, "metadata.labels[a]: expected string, got null"),
        ({"metadata": {"labels": ["a"]}}, "metadata.labels: expected an object, got list"),
        ({"spec": 5}, "spec: expected an object, got int"),
        ({"spec": {"priority": "high"}}, "spec.priority: expected int32, got str"),
    ):
        with pytest.raises(protobuf.ProtobufError) as caught:
            encode("Pod", obj)
        assert str(caught.value) == where
    with pytest.raises(protobuf.ProtobufError):
        encode("ObjectMeta", {"creationTimestamp": "yesterday"}, META)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"\x0a", "unexpected EOF"),
        (b"\x0a\x05ab", "unexpected EOF"),
        (b"\xff\xff\xff", "unexpected EOF"),
        (b"\x0f", "proto: wrong wireType = 7 for field ObjectMeta"),
        (b"\x7f\x01", "proto: illegal wireType 7"),
        (b"\x08\x01", "proto: wrong wireType = 0 for field ObjectMeta"),
        (b"\x02\x00", "proto: Pod: illegal tag 0 (wire type 2)"),
        (b"\x0c", "proto: Pod: wiretype end group for non-group"),
        (b"\x0a" + b"\xff" * 10, "proto: integer overflow"),
        (b"\x0a" + b"\xff" * 9 + b"\x01", "proto: negative length found during unmarshaling"),
        (b"\x7a\xff\x01", "unexpected EOF"),
        (b"\x7b\x0a\x01a", "unexpected EOF"),
    ],
)
def test_damage_is_named_in_the_original_words(data: bytes, words: str) -> None:
    with pytest.raises(protobuf.ProtobufError) as caught:
        decode("Pod", data)
    assert str(caught.value) == words


def test_unknown_fields_and_groups_are_skipped() -> None:
    data = (
        b"\x7b\x08\x01\x83\x01\x84\x01\x7c"
        + encode("ConfigMap", {"data": {"a": "b"}})
        + b"\xfd\x7f1234\xf9\x7f12345678"
    )
    assert decode("ConfigMap", data)["data"] == {"a": "b"}


def test_envelopes_are_written_and_read_with_their_fields_in_any_order() -> None:
    body = protobuf.wrap("apps/v1", "Deployment", b"raw")
    assert body == b"k8s\x00\x0a\x15\x0a\x07apps/v1\x12\x0aDeployment\x12\x03raw\x1a\x00\x22\x00"
    assert protobuf.unwrap(body) == ("apps/v1", "Deployment", b"raw")
    assert protobuf.unwrap(memoryview(body)) == ("apps/v1", "Deployment", b"raw")
    assert protobuf.unwrap(b"k8s\x00\x12\x03raw\x0a\x04\x0a\x02v1\x7a\x01x") == ("v1", "", b"raw")
    with pytest.raises(protobuf.ProtobufError, match="empty body"):
        protobuf.unwrap(b"k8s\x00")
    assert b"".join(protobuf.wrap_pieces("apps/v1", "Deployment", [b"r", b"aw"])) == body


def test_a_list_of_the_older_metadata_list_has_its_own_numbers() -> None:
    old = builtin_types().get("k8s.io/apimachinery/pkg/apis/meta/v1beta1", "PartialObjectMetadataList")
    item = protobuf.encode_message(schema(META, "PartialObjectMetadata"), {"metadata": {"name": "a"}})
    metadata = {"resourceVersion": "5"}
    joined = protobuf.encode_list(old, metadata, [item, item])
    both = {"metadata": metadata, "items": [{"metadata": {"name": "a"}}] * 2}
    assert joined == protobuf.encode_message(old, both)


def test_watch_frames_have_their_length_in_front() -> None:
    envelope = protobuf.wrap("v1", "ConfigMap", encode("ConfigMap", {}))
    frame = protobuf.watch_frame("ADDED", envelope)
    assert int.from_bytes(frame[:4], "big") == len(frame) - 4
    assert frame[4:] == protobuf.watch_event("ADDED", envelope)
    assert protobuf.read_watch_event(frame[4:]) == ("ADDED", envelope)


def test_small_numbers_in_packed_form_are_read_at_once_and_others_too() -> None:
    for numbers in ([1] * 300, [1, 127], [1, 128, 70_000]):
        packed = b"".join(written(number) for number in numbers)
        message = b"\x22" + written(len(packed)) + packed
        assert decode("PodSecurityContext", message)["supplementalGroups"] == numbers
    assert "supplementalGroups" not in decode("PodSecurityContext", b"\x22\x00")
    assert decode("PodSecurityContext", b"\x22\x01\x01\x20\x02")["supplementalGroups"] == [1, 2]
