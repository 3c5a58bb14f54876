"""A client that speaks protobuf by itself: what Go clients put on the wire, made here by hand.

Field numbers are those of the published .proto files.
"""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator

from support import protobuf
from support.api import Api
from support.protobuf import field

PROTOBUF = "application/vnd.kubernetes.protobuf"
MAGIC = b"k8s\x00"
Fields = dict[int, list[bytes]]


def fields(data: bytes) -> Fields:
    """The fields of a message that have a length, by their numbers."""
    found: Fields = {}
    for number, value in protobuf.fields(data):
        if isinstance(value, bytes):
            found.setdefault(number, []).append(value)
    return found


def envelope(kind: str, raw: bytes, version: str = "v1") -> bytes:
    """`k8s\\0` and an Unknown {1 typeMeta {1 apiVersion, 2 kind}, 2 raw}."""
    return MAGIC + field(1, field(1, version) + field(2, kind)) + field(2, raw)


def opened(data: bytes) -> tuple[str, Fields]:
    """The kind of an envelope and the fields of its message."""
    assert data.startswith(MAGIC)
    unknown = fields(data[len(MAGIC) :])
    meta = fields(unknown[1][0])
    assert meta[1] == [b"v1"]
    return meta[2][0].decode(), fields(unknown[2][0])


def config_map(name: str, **data: str) -> bytes:
    """ConfigMap {1 metadata {1 name}, 2 data {1 key, 2 value}}."""
    pairs = b"".join(field(2, field(1, key) + field(2, value)) for key, value in data.items())
    return envelope("ConfigMap", field(1, field(1, name)) + pairs)


def name_of(message: Fields) -> str:
    return fields(message[1][0])[1][0].decode()


def data_of(message: Fields) -> dict[str, str]:
    pairs = [fields(pair) for pair in message.get(2, ())]
    return {pair[1][0].decode(): pair[2][0].decode() for pair in pairs}


def frames(answer: http.client.HTTPResponse) -> Iterator[bytes]:
    """The frames of a watch: four bytes of length, then the frame."""
    while head := answer.read(4):
        yield answer.read(int.from_bytes(head, "big"))


def test_an_object_is_written_and_read_in_protobuf(api: Api, namespace: str) -> None:
    where = f"/api/v1/namespaces/{namespace}/configmaps"
    made = api.request("POST", where, config_map("sea", depth="10", salt="ä"), {"Accept": PROTOBUF}, kind=PROTOBUF)
    assert (made.status, made.headers["Content-Type"]) == (201, PROTOBUF)
    kind, message = opened(made.body)
    assert (kind, name_of(message), data_of(message)) == ("ConfigMap", "sea", {"depth": "10", "salt": "ä"})
    meta = fields(message[1][0])
    assert meta[3] == [namespace.encode()]
    read = api.get(f"{where}/sea", Accept=PROTOBUF)
    assert read.body == made.body, "what is answered to a write is what is read"
    as_json = api.get(f"{where}/sea").json()
    assert as_json["data"] == {"depth": "10", "salt": "ä"}
    assert (as_json["metadata"]["uid"].encode(), as_json["metadata"]["resourceVersion"].encode()) == (
        meta[5][0],
        meta[6][0],
    )


def test_what_was_written_in_json_is_changed_in_protobuf(api: Api, namespace: str) -> None:
    where = f"/api/v1/namespaces/{namespace}/configmaps"
    api.post(where, {"metadata": {"name": "a"}, "data": {"x": "1"}})
    answer = api.request("PUT", f"{where}/a", config_map("a", x="2"), kind=PROTOBUF)
    assert (answer.status, answer.headers["Content-Type"]) == (200, "application/json")
    assert answer.json()["data"] == {"x": "2"}


def test_a_list_holds_messages_without_envelopes(api: Api, namespace: str) -> None:
    where = f"/api/v1/namespaces/{namespace}/configmaps"
    for name in "abc":
        api.request("POST", where, config_map(name, of=name), kind=PROTOBUF)
    answer = api.get(where, Accept=PROTOBUF)
    kind, message = opened(answer.body)
    items = [fields(item) for item in message[2]]
    assert kind == "ConfigMapList"
    assert [(name_of(item), data_of(item)) for item in items] == [(name, {"of": name}) for name in "abc"]
    revision = fields(message[1][0])[2][0].decode()
    assert int(revision) >= int(fields(items[-1][1][0])[6][0])
    page = opened(api.get(f"{where}?limit=2", Accept=PROTOBUF).body)[1]
    assert len(page[2]) == 2
    assert fields(page[1][0])[3][0], "a token to go on with"


def test_a_watch_comes_in_frames(api: Api, namespace: str) -> None:
    where = f"/api/v1/namespaces/{namespace}/configmaps"
    start = fields(opened(api.get(where, Accept=PROTOBUF).body)[1][1][0])[2][0].decode()
    connection = api.connect()
    headers = {"Authorization": f"Bearer {api.token}", "Accept": f"{PROTOBUF};stream=watch"}
    connection.request("GET", f"{where}?watch=1&resourceVersion={start}", headers=headers)
    answer = connection.getresponse()
    assert (answer.status, answer.getheader("Content-Type")) == (200, f"{PROTOBUF};stream=watch")
    api.request("POST", where, config_map("a", x="1"), kind=PROTOBUF)
    api.request("PUT", f"{where}/a", config_map("a", x="2"), kind=PROTOBUF)
    api.delete(f"{where}/a")
    seen = []
    for frame in frames(answer):
        event = fields(frame)
        kind, message = opened(fields(event[2][0])[1][0])
        assert kind == "ConfigMap"
        seen.append((event[1][0].decode(), name_of(message), data_of(message)))
        if len(seen) == 3:
            break
    connection.close()
    assert seen == [("ADDED", "a", {"x": "1"}), ("MODIFIED", "a", {"x": "2"}), ("DELETED", "a", {"x": "2"})]


def test_failures_are_protobuf_too(api: Api, namespace: str) -> None:
    answer = api.get(f"/api/v1/namespaces/{namespace}/configmaps/none", Accept=PROTOBUF)
    kind, message = opened(answer.body)
    assert (answer.status, kind) == (404, "Status")
    assert message[4] == [b"NotFound"]
    broken = api.request("POST", f"/api/v1/namespaces/{namespace}/configmaps", MAGIC + b"\x0a\xff", kind=PROTOBUF)
    assert broken.status == 400
    assert json.loads(broken.body)["kind"] == "Status"
