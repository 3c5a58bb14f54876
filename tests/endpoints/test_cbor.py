"""CBOR where its feature is on, beyond what was recorded: as JSON in another dress."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from endpoints.served import DEADLINE, JSON, PROTOBUF, YAML, Collected, Seen, Served, config_map
from pilothouse.machinery import cbor, yamlcodec
from pilothouse.serving.http import Stream
from support.inprocess import asked

CBOR = cbor.CONTENT_TYPE
APPLY = "application/apply-patch+cbor"
ASK = {"Accept": CBOR}
PARTIAL = {"Accept": f"{CBOR};as=PartialObjectMetadata;g=meta.k8s.io;v=v1"}
PARTIALS = {"Accept": f"{CBOR};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"}
LIMIT = 3 * 1024 * 1024


@pytest.fixture
def room(speaking: Served, numbers: Any) -> str:
    """The path of a new namespace."""
    name = f"room-{next(numbers)}"
    speaking.make("/api/v1/namespaces", {"metadata": {"name": name}})
    return f"/api/v1/namespaces/{name}"


def said(seen: Seen) -> Any:
    assert seen.kind == CBOR, seen
    assert seen.body.startswith(cbor.SELF_DESCRIBED)
    return cbor.loads(seen.body)


def send(served: Served, what: str, obj: Any, headers: Mapping[str, str] = ASK, kind: str = CBOR) -> Seen:
    return served.ask(what, cbor.dumps(obj), kind, headers)


async def watched(served: Served, path: str, headers: Mapping[str, str], number: int) -> list[Any]:
    """The first events of a watch."""
    stream = await served.application.handler(asked(f"GET {path}", token="admin", headers=headers))
    assert isinstance(stream, Stream), stream
    assert dict(stream.headers)[b"Content-Type"] == cbor.SEQUENCE_TYPE.encode()
    writer = Collected()
    task = asyncio.ensure_future(stream.run(writer))
    data = await writer.until(lambda data: len(cbor.loads_sequence(data)) >= number)
    writer.leave()
    await asyncio.wait_for(task, DEADLINE)
    return cbor.loads_sequence(data)


def test_bytes_come_as_bytes_and_go_as_base64(speaking: Served, room: str) -> None:
    sent = cbor.dumps({"metadata": {"name": "s"}, "data": {"a": "QQ=="}})  # base64 text is taken too
    made = speaking.ask(f"POST {room}/secrets", sent, CBOR, ASK)
    assert b"\xd6\x41A" in made.body
    assert speaking.ask(f"GET {room}/secrets/s").json()["data"] == {"a": "QQ=="}
    again = speaking.ask(f"PUT {room}/secrets/s", made.body, CBOR, ASK)
    assert said(again) == said(made)


def test_a_list_of_nothing_and_of_metadata(speaking: Served, room: str) -> None:
    assert said(speaking.ask(f"GET {room}/configmaps", headers=PARTIALS))["items"] is None
    for name in ("a", "b"):
        speaking.make(f"{room}/configmaps", config_map(name))
    found = said(speaking.ask(f"GET {room}/configmaps", headers=PARTIALS))
    json = speaking.ask(f"GET {room}/configmaps", headers={"Accept": PARTIALS["Accept"].replace(CBOR, JSON)}).json()
    assert found == json
    assert said(speaking.ask(f"GET {room}/configmaps", headers=ASK)) == speaking.ask(f"GET {room}/configmaps").json()


def test_a_long_list_comes_in_pieces(speaking: Served, room: str) -> None:
    for number in range(5):
        speaking.make(f"{room}/configmaps", config_map(f"c{number}", a="x" * 100_000))
    answer = speaking.run(speaking.answer(f"GET {room}/configmaps", headers=ASK))
    assert isinstance(answer, Stream)
    whole = speaking.ask(f"GET {room}/configmaps", headers=ASK)
    assert said(whole) == speaking.ask(f"GET {room}/configmaps").json()


def test_other_versions_and_computed_kinds(speaking: Served, room: str) -> None:
    spec = {"scaleTargetRef": {"kind": "Deployment", "name": "x", "apiVersion": "apps/v1"}, "maxReplicas": 3}
    path = room.replace("/api/v1/", "/apis/autoscaling/v2/") + "/horizontalpodautoscalers"
    assert send(speaking, f"POST {path}", {"metadata": {"name": "h"}, "spec": spec}).status == 201
    for version in ("v1", "v2"):
        shown = path.replace("/v2/", f"/{version}/") + "/h"
        assert said(speaking.ask(f"GET {shown}", headers=ASK)) == speaking.ask(f"GET {shown}").json()
    review = {"spec": {"user": "u", "nonResourceAttributes": {"path": "/x", "verb": "get"}}}
    asked_for = send(speaking, "POST /apis/authorization.k8s.io/v1/subjectaccessreviews", review)
    assert said(asked_for)["status"]["allowed"] is True


def test_a_scale_is_read_changed_and_applied(speaking: Served, room: str) -> None:
    labels = {"a": "b"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    path = room.replace("/api/v1/", "/apis/apps/v1/") + "/deployments"
    speaking.make(
        path, {"metadata": {"name": "d"}, "spec": {"selector": {"matchLabels": labels}, "template": template}}
    )
    scale = said(speaking.ask(f"GET {path}/d/scale", headers=ASK))
    scale["spec"]["replicas"] = 4
    assert said(send(speaking, f"PUT {path}/d/scale", scale))["spec"] == {"replicas": 4}
    applied = {"kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": {"name": "d"}, "spec": {"replicas": 5}}
    answer = send(speaking, f"PATCH {path}/d/scale?fieldManager=m&force=true", applied, ASK, APPLY)
    assert said(answer)["spec"] == {"replicas": 5}


def test_a_watch_tells_the_present_bookmarks_and_changes(speaking: Served, room: str) -> None:
    speaking.make(f"{room}/configmaps", config_map("a", k="v"))
    initial = "watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan"
    for headers in (ASK, PARTIAL):
        events = speaking.run(watched(speaking, f"{room}/configmaps?{initial}", headers, 2))
        assert [event["type"] for event in events] == ["ADDED", "BOOKMARK"]
        mark = events[1]["object"]
        assert mark["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}
        assert (
            events[0]["object"]["kind"] == mark["kind"] == ("ConfigMap" if headers is ASK else "PartialObjectMetadata")
        )
    shown = speaking.ask(f"GET {room}/configmaps/a").json()
    assert speaking.run(watched(speaking, f"{room}/configmaps?watch=1", ASK, 1))[0]["object"] == shown


def test_a_watch_that_fails_says_so(speaking: Served, room: str) -> None:
    events = speaking.run(watched(speaking, f"{room}/configmaps?watch=1&timeoutSeconds=-1", ASK, 1))
    assert events[0]["type"] == "ERROR"
    assert events[0]["object"]["kind"] == "Status"


def test_what_watches_are_offered_in(speaking: Served, room: str) -> None:
    refused = speaking.ask(f"GET {room}/configmaps?watch=1", headers={"Accept": YAML})
    assert refused.status == 406
    streams = f"{JSON};stream=watch, {PROTOBUF};stream=watch, {cbor.SEQUENCE_TYPE}"
    assert yamlcodec.loads(refused.body)["message"].endswith(streams)


@pytest.mark.parametrize("validation", ["Ignore", "Warn", "Strict"])
def test_unknown_fields(speaking: Served, room: str, validation: str) -> None:
    sent = {"metadata": {"name": "x"}, "nope": 1, "data": {"a": "b"}}
    answer = send(speaking, f"POST {room}/configmaps?fieldValidation={validation}", sent)
    assert answer.status == (400 if validation == "Strict" else 201)
    place = "cbor: found unknown field at map element index 1"
    assert answer.headers.get("Warning", "") == (f'299 - "{place}"' if validation == "Warn" else "")
    if validation == "Strict":
        assert said(answer)["message"].endswith(f"strict decoding error: {place}")


UNKNOWN = "the object provided is unrecognized (must be of type {}): "
NO_TYPE = UNKNOWN.format("ConfigMap") + "unable to determine group/version/kind: cbor: "
WRONG = 'ConfigMap in version "v1" cannot be handled as a ConfigMap: '
REFUSED: list[tuple[bytes, str]] = [
    (cbor.dumps([]), NO_TYPE + "cannot unmarshal array into Go value of type v1.TypeMeta"),
    (cbor.dumps({"kind": 1}), NO_TYPE + "cannot unmarshal positive integer into Go struct field v1.TypeMeta.kind"),
    (b"\xa1\x44data\xa2\x41a\x41b\x41a\x41b", WRONG + 'cbor: found duplicate map key "a" at map element index 1'),
    (b"\xbf\x41x\x01\x41x\x01\xff", NO_TYPE + 'found duplicate map key "x" at map element index 1'),
    (cbor.dumps({"data": {"a": 1}}), WRONG + "json: cannot unmarshal number into Go struct field"),
    (cbor.dumps({"kind": "Pod", "apiVersion": "v1"}), 'Pod in version "v1" cannot be handled as a ConfigMap'),
]


@pytest.mark.parametrize(("sent", "why"), REFUSED)
def test_what_is_no_such_object_is_refused(speaking: Served, room: str, sent: bytes, why: str) -> None:
    answer = speaking.ask(f"POST {room}/configmaps", sent, CBOR, ASK)
    assert answer.status == 400
    assert said(answer)["message"].startswith(why)


def test_a_body_that_would_be_too_long_in_json(speaking: Served, room: str) -> None:
    many = b"\xa1\x44spec\xa1\x4acontainers\x9f" + b"\xa0" * (LIMIT // 2) + b"\xff"
    answer = speaking.ask(f"POST {room}/pods?dryRun=All", many, CBOR, ASK)
    assert answer.status == 413
    assert said(answer)["message"] == f"Request entity too large: limit is {LIMIT}"


@pytest.mark.parametrize("config", [[], 1, {"kind": "Pod"}, {"x": 1}])
def test_what_is_no_configuration_is_refused(speaking: Served, room: str, config: Any) -> None:
    answer = send(speaking, f"PATCH {room}/configmaps/x?fieldManager=m", config, ASK, APPLY)
    assert answer.status == 400, said(answer)


def test_a_broken_configuration_is_refused(speaking: Served, room: str) -> None:
    answer = speaking.ask(f"PATCH {room}/configmaps/x?fieldManager=m", b"\xa1", APPLY, ASK)
    assert (answer.status, said(answer)["message"]) == (400, "error decoding patch: unexpected EOF")


def test_broken_options_of_a_delete(speaking: Served, room: str) -> None:
    speaking.make(f"{room}/configmaps", config_map("x"))
    assert speaking.ask(f"DELETE {room}/configmaps/x", b"\xa1", CBOR).status == 400
    wrong = send(speaking, f"DELETE {room}/configmaps/x", {"preconditions": {"uid": "other"}})
    assert wrong.status == 409
    assert send(speaking, f"DELETE {room}/configmaps/x", {"kind": "DeleteOptions"}).status == 200


BOATS = "/apis/boats.example.com/v1"
SCHEMA = {
    "type": "object",
    "properties": {
        "spec": {"type": "object", "properties": {"size": {"type": "integer"}, "replicas": {"type": "integer"}}},
        "status": {"type": "object", "properties": {"replicas": {"type": "integer"}}},
    },
}
DEFINITION = {
    "metadata": {"name": "boats.boats.example.com"},
    "spec": {
        "group": "boats.example.com",
        "names": {"plural": "boats", "singular": "boat", "kind": "Boat", "listKind": "BoatList"},
        "scope": "Namespaced",
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": SCHEMA},
                "subresources": {
                    "scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}
                },
            }
        ],
    },
}


@pytest.fixture(scope="module")
def harbour(speaking: Served) -> str:
    """The path of a custom resource in one namespace."""
    speaking.make("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", DEFINITION)
    path = f"{BOATS}/namespaces/default/boats"

    async def served() -> None:
        async with asyncio.timeout(DEADLINE):
            while (await speaking.send(f"GET {path}")).status != 200:
                await asyncio.sleep(0.01)

    speaking.run(served())
    return path


def boat(name: str, **spec: Any) -> dict[str, Any]:
    return {"apiVersion": "boats.example.com/v1", "kind": "Boat", "metadata": {"name": name}, "spec": spec}


def test_a_custom_resource_is_made_changed_applied_and_deleted(speaking: Served, harbour: str) -> None:
    made = said(send(speaking, f"POST {harbour}", boat("a", size=3.0, other=1)))
    assert made["spec"] == {"size": 3}
    made["spec"]["size"] = 4
    assert said(send(speaking, f"PUT {harbour}/a", made))["spec"] == {"size": 4}
    applied = send(speaking, f"PATCH {harbour}/a?fieldManager=m&force=true", boat("a", size=5, replicas=2), ASK, APPLY)
    assert said(applied)["spec"] == {"size": 5, "replicas": 2}
    assert said(speaking.ask(f"GET {harbour}/a/scale", headers=ASK))["spec"] == {"replicas": 2}
    assert said(speaking.ask(f"GET {harbour}/a", headers=PARTIAL))["kind"] == "PartialObjectMetadata"
    listed = said(speaking.ask(f"GET {harbour}", headers=ASK))
    assert listed == speaking.ask(f"GET {harbour}").json()
    event = speaking.run(watched(speaking, f"{harbour}?watch=1", ASK, 1))[0]
    assert event == {"type": "ADDED", "object": listed["items"][0]}
    assert said(send(speaking, f"DELETE {harbour}/a", {"kind": "DeleteOptions"}))["status"] == "Success"


def test_what_is_wrong_with_a_custom_resource(speaking: Served, harbour: str) -> None:
    strict = send(speaking, f"POST {harbour}?fieldValidation=Strict", boat("b", size=3, other=1))
    assert said(strict)["message"].endswith('strict decoding error: unknown field "spec.other"')
    invalid = send(speaking, f"POST {harbour}", boat("b", size="x"))
    assert (invalid.status, said(invalid)["details"]["causes"][0]["field"]) == (422, "spec.size")
    nothing = send(speaking, f"POST {harbour}", {"metadata": {"name": "b"}})
    assert said(nothing)["message"].startswith(UNKNOWN.format("Boat") + "Object 'Kind' is missing in ")


def test_what_is_taken_and_offered_of_a_custom_resource(speaking: Served, harbour: str) -> None:
    patch = send(speaking, f"PATCH {harbour}/x", {}, {}, "application/merge-patch+cbor")
    assert patch.status == 415
    assert patch.message.endswith(f"application/apply-patch+yaml, {APPLY}")
    assert speaking.ask(f"POST {harbour}", b"x", "text/plain").message.endswith(CBOR)
    refused = speaking.ask(f"GET {harbour}", headers={"Accept": f"{CBOR};as=Table;g=meta.k8s.io;v=v1"})
    assert (refused.status, refused.message) == (
        406, f"only the following media types are accepted: {JSON}, {YAML}, {PROTOBUF}, {CBOR}",
    )  # fmt: skip
    document = speaking.ask(f"GET /openapi/v3{BOATS}").json()
    operations = document["paths"]["/apis/boats.example.com/v1/namespaces/{namespace}/boats"]
    assert sorted(operations["post"]["requestBody"]["content"]) == [CBOR, JSON, YAML]


NAMES = st.sampled_from(
    ["apiVersion", "kind", "metadata", "name", "labels", "data", "spec", "containers", "image", "finalizers", "a", ""]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["v1", "ConfigMap", "Pod", "a", "", "\u00e9", "a b"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=5),
    max_leaves=12,
)  # fmt: skip


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(value=st.dictionaries(NAMES, VALUES, max_size=5) | VALUES, kind=st.sampled_from(["configmaps", "pods"]))
def test_whatever_json_says_cbor_says_too(speaking: Served, value: Any, kind: str) -> None:
    path = f"/api/v1/namespaces/default/{kind}"
    asked_for = [("POST", f"{path}?dryRun=All", JSON, CBOR)]
    asked_for.append(("PATCH", f"{path}/x?dryRun=All&fieldManager=m", "application/apply-patch+yaml", APPLY))
    for method, where, text_kind, kind_of_cbor in asked_for:
        said_in_json = speaking.ask(f"{method} {where}&fieldValidation=Ignore", orjson.dumps(value), text_kind)
        said_in_cbor = send(speaking, f"{method} {where}&fieldValidation=Ignore", value, {}, kind_of_cbor)
        assert said_in_json.status == said_in_cbor.status, (said_in_json, said_in_cbor)
        if said_in_json.status == 422:
            assert said_in_json.json() == said_in_cbor.json()


@pytest.mark.parametrize("path", ["/api", "/apis", "/api/v1", "/apis/apps", "/apis/apps/v1"])
def test_discovery(speaking: Served, path: str) -> None:
    assert said(speaking.ask(f"GET {path}", headers=ASK)) == speaking.ask(f"GET {path}").json()


def test_openapi_tells(speaking: Served, served: Served) -> None:
    for one, told in ((speaking, True), (served, False)):
        document = one.ask("GET /openapi/v3/api/v1").json()
        listing = document["paths"]["/api/v1/pods"]["get"]["responses"]["200"]["content"]
        assert (CBOR in listing, cbor.SEQUENCE_TYPE in listing) == (told, told)


@pytest.mark.parametrize("kind", [APPLY, "application/merge-patch+cbor"])
def test_patches_are_not_taken_where_it_is_off(served: Served, place: str, kind: str) -> None:
    answer = served.ask(f"PATCH {place}/configmaps/x?fieldManager=m", cbor.dumps(config_map("x")), kind)
    assert (answer.status, answer.message) == (415, "415: Unsupported Media Type")
