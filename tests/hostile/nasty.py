"""Bodies that hold as much as so many bytes can: each of them made a server stand still once, some of them this one."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from support.api import Api
from support.server import Server

SIZE: Final = int(os.environ.get("NASTY_SIZE", "262144"))  # bytes of each; what docs/performance.md tells is of 1 MiB
JSON: Final = "application/json"
YAML: Final = "application/yaml"
PROTOBUF: Final = "application/vnd.kubernetes.protobuf"
JSON_PATCH: Final = "application/json-patch+json"
MERGE_PATCH: Final = "application/merge-patch+json"
STRATEGIC_PATCH: Final = "application/strategic-merge-patch+json"
APPLY: Final = "application/apply-patch+yaml"
Body = tuple[str, str, Callable[[], bytes]]  # name, resource, the body

NAMESPACE: Final = "/api/v1/namespaces/default"


def varint(number: int) -> bytes:
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def field(number: int, payload: bytes) -> bytes:
    """A field of protobuf that has a length."""
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def enveloped(kind: str, message: bytes) -> bytes:
    return b"k8s\0" + field(1, field(1, b"v1") + field(2, kind.encode())) + field(2, message)


def as_json(value: object) -> bytes:
    return json.dumps(value).encode()


def pod(spec: bytes) -> bytes:
    return enveloped("Pod", field(2, spec))


def fill(unit: bytes, size: int = SIZE) -> bytes:
    return unit * (size // len(unit))


def wide_map(size: int = SIZE) -> bytes:
    """Entries of a ConfigMap's data, in no order."""
    return b"".join(b"\x12\x0a\x0a\x06%06x\x12\x00" % (n * 7919 % 0xFFFFFF) for n in range(size // 12))


def at_random(*units: bytes) -> bytes:
    return b"".join(random.Random(1).choices(units, k=SIZE * len(units) // sum(map(len, units))))


def entries_at_random() -> bytes:
    """Of a ConfigMap's data. No two that follow one another are likely to look alike."""
    rng = random.Random(2)
    return b"".join(field(2, field(1, b"%0*x" % (rng.randint(4, 8), n)) + field(2, b"v" * rng.randint(0, 3)))
                    for n in range(SIZE // 14))  # fmt: skip


def shuffled(parts: Iterator[bytes]) -> bytes:
    found = [*parts]
    random.Random(3).shuffle(found)
    return b"".join(found)


PROTOBUFS: Final[tuple[Body, ...]] = (
    ("empty containers", "pods", lambda: pod(fill(b"\x12\x00"))),
    ("empty containers in disorder", "pods", lambda: pod(fill(b"\x12\x00") + b"\x0a\x00")),
    ("small containers in disorder", "pods", lambda: pod(fill(b"\x12\x02\x3a\x00") + b"\x0a\x00")),
    ("environment in disorder", "pods", lambda: pod(field(2, fill(b"\x3a\x00") + b"\x0a\x00"))),
    ("empty owners", "configmaps", lambda: enveloped("ConfigMap", field(1, fill(b"\x6a\x00")))),
    ("empty managed fields", "configmaps", lambda: enveloped("ConfigMap", field(1, fill(b"\x8a\x01\x00")))),
    ("empty finalizers", "configmaps", lambda: enveloped("ConfigMap", field(1, fill(b"\x72\x00")))),
    ("entries in disorder", "configmaps", lambda: enveloped("ConfigMap", wide_map())),
    ("one entry again and again", "configmaps", lambda: enveloped("ConfigMap", fill(b"\x12\x04\x0a\x00\x12\x00"))),
    ("packed numbers", "pods", lambda: pod(field(14, field(4, b"\x01" * SIZE)))),
    ("unknown fields", "pods", lambda: pod(fill(b"\x98\x7f\x01"))),
    ("groups in groups", "pods", lambda: pod(fill(b"\x9b\x7f", SIZE // 2) + fill(b"\x9c\x7f", SIZE // 2))),
    ("metadata again and again", "pods", lambda: enveloped("Pod", fill(b"\x0a\x02\x0a\x00"))),
    ("small containers, few enough", "pods", lambda: pod(fill(b"\x12\x03\x0a\x01a", SIZE // 4))),
    ("containers with one port", "pods",
     lambda: pod(fill(b"\x12\x11\x0a\x01a\x12\x01b\x32\x09\x18\x50\x22\x03TCP\x2a\x00"))),
    ("volumes and containers by turns", "pods", lambda: pod(fill(b"\x0a\x00\x12\x00"))),
    ("metadata and spec by turns", "pods", lambda: enveloped("Pod", fill(b"\x0a\x02\x0a\x00\x12\x02\x1a\x00"))),
    ("names by turns", "configmaps", lambda: enveloped("ConfigMap", field(1, fill(b"\x0a\x00\x12\x00")))),
    ("short finalizers", "configmaps", lambda: enveloped("ConfigMap", field(1, fill(b"\x72\x01a\x72\x01b")))),
    ("entries without a value", "configmaps",
     lambda: enveloped("ConfigMap", b"".join(b"\x12\x08\x0a\x06%06x" % n for n in range(SIZE // 10, 0, -1)))),
    ("an error behind entries", "configmaps", lambda: enveloped("ConfigMap", wide_map() + b"\x12\x02\x0a\x05")),
    ("entries, and one turned around", "configmaps",
     lambda: enveloped("ConfigMap", wide_map() + b"\x12\x06\x12\x01b\x0a\x01a")),
    ("long packed numbers", "pods", lambda: pod(field(14, field(4, fill(b"\x81\x01"))))),
    ("numbers packed by turns", "pods", lambda: pod(field(14, fill(b"\x22\x01\x01\x20\x01")))),
    ("unknown fields by turns", "pods", lambda: pod(fill(b"\x98\x7f\x01\xa2\x7f\x01a"))),
    ("fields at random", "configmaps",
     lambda: enveloped("ConfigMap", field(1, at_random(b"\x0a\x00", b"\x12\x00", b"\x1a\x00", b"\x38\x01")))),
    ("unknown fields, all different", "pods",
     lambda: pod(b"".join(b"\xa0\x7f" + varint(n * 31) for n in range(SIZE // 5)))),
    ("packed numbers, all different", "pods",
     lambda: pod(field(14, field(4, b"".join(varint(n * 7919 % 0xFFFFFF) for n in range(SIZE // 4)))))),
    ("packed numbers, few of them long", "pods",
     lambda: pod(field(14, field(4, b"".join(varint(n * 7919 % 140) for n in range(SIZE)))))),
    ("plain fields of any length at random", "configmaps",
     lambda: enveloped("ConfigMap", field(1, at_random(b"\x0a\x00", b"\x12\x01a", b"\x1a\x02ab", b"\x38\x81\x01")))),
    ("entries of any length at random", "configmaps", lambda: enveloped("ConfigMap", entries_at_random())),
    ("entries between two parts of the metadata", "configmaps",
     lambda: enveloped("ConfigMap", field(1, field(1, b"a")) + wide_map() + field(1, field(2, b"default")))),
    ("containers with a port, all different", "pods",
     lambda: pod(b"".join(field(2, field(1, b"c%d" % n) + b"\x32\x02\x18\x50") for n in range(SIZE // 13)))),
    ("amounts", "resourcequotas",
     lambda: enveloped("ResourceQuota", field(2, b"".join(
         field(1, field(1, b"k%d" % n) + field(2, field(1, b"%dm" % n))) for n in range(SIZE // 20))))),
    ("entries shuffled", "configmaps", lambda: enveloped("ConfigMap", shuffled(
        field(2, field(1, b"k%d" % n) + field(2, b"v")) for n in range(SIZE // 13)))),
    ("amounts of any length, shuffled", "pods", lambda: pod(field(2, field(8, shuffled(
        field(1, field(1, b"%x" % (n * n)) + field(2, field(1, b"%dm" % n))) for n in range(SIZE // 20)))))),
    ("numbers that are not packed, all different", "pods",
     lambda: pod(field(14, b"".join(b"\x20" + varint(n * 7919) for n in range(SIZE // 5))))),
    ("texts, the last one cut off", "pods",
     lambda: pod(field(2, b"".join(field(4, b"a%d" % n) for n in range(SIZE // 8)) + b"\x22\x7f"))),
    ("raw JSON of a million numbers", "configmaps",
     lambda: enveloped("ConfigMap", field(1, field(17, field(7, field(1, b"[" + fill(b"1,") + b"1]")))))),
)  # fmt: skip

JSONS: Final[tuple[Body, ...]] = (
    ("empty objects", "pods", lambda: b'{"spec":{"containers":[' + fill(b"{},") + b"{}]}}"),
    ("empty lists, unknown", "pods", lambda: b'{"x":[' + fill(b"[],") + b"[]]}"),
    ("numbers, unknown", "pods", lambda: b'{"x":[' + fill(b"1,") + b"1]}"),
    ("lists in lists, unknown", "pods", lambda: b'{"x":[' + fill(b"[" * 90 + b"]" * 90 + b",") + b"1]}"),
    ("chains of lists, unknown", "pods",
     lambda: b'{"x":[' + fill(b"[" * 5_000 + b"]" * 5_000 + b",") + b"1]}"),
    ("members twice in unknown objects", "pods", lambda: b'{"x":[' + fill(b'{"a":1,"a":2},') + b"{}]}"),
    ("a member twice beside chains of lists", "pods",
     lambda: b'{"y":1,"x":[' + fill(b"[" * 5_000 + b"]" * 5_000 + b",") + b'1],"y":1}'),
    ("a number that is too great behind lists, unknown", "pods", lambda: b'{"x":[' + fill(b"[],") + b"1e999]}"),
    ("halves of pairs, unknown", "pods", lambda: b'{"x":[' + fill(b'"\\ud800",') + b"1]}"),
    ("amounts, and one that is none", "resourcequotas",
     lambda: b'{"spec":{"hard":{' + b",".join(b'"k%d":"1.5%d"' % (n, n) for n in range(SIZE // 18)) + b',"z":"x"}}}'),
    ("small objects", "pods", lambda: b'{"spec":{"containers":[' + fill(b'{"name":"a"},') + b"{}]}}"),
    ("spaced small objects", "pods", lambda: b'{"spec": {"containers": [' + fill(b'{"name": "a"}, ') + b"{}]}}"),
    ("members", "configmaps",
     lambda: b'{"data":{' + b",".join(b'"%d":""' % n for n in range(SIZE // 12)) + b"}}"),
    ("spaced members", "configmaps",
     lambda: b'{"data": {' + b", ".join(b'"%d": ""' % n for n in range(SIZE // 14)) + b"}}"),
    ("one member again and again", "configmaps", lambda: b'{"data":{' + fill(b'"a":"",') + b'"a":""}}'),
    ("one scope again and again", "resourcequotas", lambda: b'{"spec":{"scopes":[' + fill(b'"a",') + b'"a"]}}'),
    ("spread constraints", "pods",
     lambda: b'{"spec":{"topologySpreadConstraints":['
     + b",".join(b'{"topologyKey":"%d"}' % n for n in range(SIZE // 22)) + b"]}}"),
    ("claims of a container", "pods",
     lambda: b'{"spec":{"containers":[{"resources":{"claims":['
     + b",".join(b'{"name":"a%d"}' % n for n in range(SIZE // 16)) + b"]}}]}}"),
    ("cluster addresses", "services", lambda: b'{"spec":{"clusterIPs":[' + fill(b'"a",') + b'"a"]}}'),
    ("amounts", "resourcequotas",
     lambda: b'{"spec":{"hard":{' + b",".join(b'"k%d":"%dm"' % (n, n) for n in range(SIZE // 18)) + b"}}}"),
    ("labels that select", "services",
     lambda: b'{"spec":{"selector":{' + b",".join(b'"k%d":"a%d"' % (n, n) for n in range(SIZE // 18)) + b"}}}"),
    ("modes of a claim", "persistentvolumeclaims",
     lambda: b'{"spec":{"accessModes":[' + fill(b'"a",') + b'"a"]}}'),
    ("keys in a volume", "pods",
     lambda: b'{"spec":{"volumes":[{"projected":{"sources":[{"secret":{"items":['
     + b",".join(b'{"key":"a%d"}' % n for n in range(SIZE // 15)) + b"]}}]}}]}}"),
    ("headers of a probe", "pods",
     lambda: b'{"spec":{"containers":[{"livenessProbe":{"httpGet":{"httpHeaders":['
     + b",".join(b'{"name":"a%d"}' % n for n in range(SIZE // 15)) + b"]}}}]}}"),
    ("least and most", "limitranges",
     lambda: b'{"spec":{"limits":[{"max":{'
     + b",".join(b'"k%d":"%dm"' % (n, n) for n in range(SIZE // 18)) + b"}}]}}"),
    ("ports without a number", "services", lambda: b'{"spec":{"ports":[' + fill(b"{},") + b"{}]}}"),
    ("escapes", "configmaps", lambda: b'{"data":{"a":"' + fill(b"\\u0061") + b'"}}'),
    ("quotes", "configmaps", lambda: b'{"data":{"a":"' + fill(b'\\"') + b'"}}'),
    ("bad text", "configmaps", lambda: b'{"data":{"a":"' + fill(b"\xff") + b'"}}'),
    ("managed fields", "configmaps",
     lambda: b'{"metadata":{"managedFields":[{"fieldsV1":{' + b",".join(b'"f:%d":{}' % n for n in range(SIZE // 12))
     + b"}}]}}"),
    ("sources with nothing in them", "pods",
     lambda: b'{"spec":{"volumes":[{"projected":{"sources":[' + fill(b"{},") + b"{}]}}]}}"),
    ("sources of a volume", "pods",
     lambda: b'{"spec":{"volumes":[{"projected":{"sources":['
     + b",".join(b'{"secret":{"name":"a%d"}}' % n for n in range(SIZE // 30)) + b"]}}]}}"),
    ("host names", "pods",
     lambda: b'{"spec":{"hostAliases":[{"hostnames":[' + b",".join(b'"a%d"' % n for n in range(SIZE // 9)) + b"]}]}}"),
    ("tolerations, the last one of the wrong type", "pods",
     lambda: b'{"spec":{"tolerations":[' + b",".join(b'{"key":"a%d"}' % n for n in range(SIZE // 16)) + b",true]}}"),
    ("ports, and a member twice in the last one", "services",
     lambda: b'{"spec":{"ports":[' + b",".join(b'{"name":"p%d","port":80}' % n for n in range(SIZE // 27))
     + b',{"name":"a","name":"a"}]}}'),
    ("bytes with padding among them", "configmaps", lambda: b'{"binaryData":{"a":"YWI=' + fill(b"YWJj") + b'"}}'),
    ("ports, and a number that is too great for one", "services",
     lambda: b'{"spec":{"ports":[' + b",".join(b'{"name":"p%d","port":80}' % n for n in range(SIZE // 27))
     + b',{"port":1e300}]}}'),
    ("unknown members, and an amount that is none", "resourcequotas",
     lambda: b'{"spec":{' + b",".join(b'"k%d":1' % n for n in range(SIZE // 10)) + b',"hard":{"cpu":"x"}}}'),
    ("scopes that are selected", "resourcequotas",
     lambda: b'{"spec":{"scopeSelector":{"matchExpressions":['
     + b",".join(b'{"scopeName":"a%d"}' % n for n in range(SIZE // 22)) + b"]}}}"),
)  # fmt: skip


def _listed(one: bytes, size: int) -> bytes:
    """A list or an object of so many as fit, two numbers in each."""
    return b"x:\n" + b"".join(one % (number, number) for number in range(SIZE // size))


def _of_many_forms(number: int) -> bytes:
    members = (b"  b: %d\n" % number, b"  c: x\n", b"  d:\n  - y\n", b"  e: 1.5\n")
    return b"- a: v%d\n" % number + b"".join(one for bit, one in enumerate(members) if number * 2654435761 >> bit & 1)


YAMLS: Final[tuple[Body, ...]] = (
    ("words in a flow", "configmaps", lambda: b"x: [" + fill(b"a,") + b"]"),
    ("numbers in a flow", "configmaps", lambda: b"x: [" + fill(b"1,") + b"]"),
    ("empty lists in a flow", "configmaps", lambda: b"x: [" + fill(b"[],") + b"]"),
    ("a list", "configmaps", lambda: b"x:\n" + fill(b"- a\n")),
    ("members", "configmaps", lambda: b"data:\n" + b"".join(b" k%d: x\n" % n for n in range(SIZE // 10))),
    ("one member again and again", "configmaps", lambda: b"data:\n" + fill(b" a: x\n")),
    ("anchors", "configmaps", lambda: b"x:\n" + b"".join(b"- &a%d x\n" % n for n in range(SIZE // 11))),
    ("aliases", "configmaps", lambda: b"x:\n- &a x\n" + fill(b"- *a\n")),
    ("merges", "configmaps", lambda: b"x: &x {a: b}\ny:\n" + fill(b"  <<: *x\n")),
    ("JSON with a member twice", "configmaps", lambda: b'{"x":[' + fill(b"{},") + b'{}],"y":1,"y":1}'),
    ("tags", "configmaps", lambda: b"x: [" + fill(b"!!str a,") + b"]"),
    ("a long number", "configmaps", lambda: b"a: " + b"1" * SIZE),
    ("comments", "configmaps", lambda: fill(b"#\n")),
    ("questions", "configmaps", lambda: fill(b"?\n")),
    ("objects that differ in their texts", "configmaps", lambda: _listed(b"- name: a%d\n  value: x\n  b: c%d\n", 32)),
    ("objects by name", "configmaps", lambda: _listed(b" k%d:\n  a: b%d\n", 20)),
    ("flow style, a line each", "configmaps", lambda: _listed(b"- {name: a%d, value: [%d]}\n", 30)),
    ("JSON, a line each", "configmaps", lambda: _listed(b'- {"name": "a%d", "value": [%d]}\n', 36)),
    ("flow style with comments", "configmaps", lambda: _listed(b"- {name: a%d, value: [%d]} # c\n", 34)),
    (
        "flow style, its values in several lines",
        "configmaps",
        lambda: _listed(b'- {a: "b\n  c", v:\n  a%d, w: %d}\n', 34),
    ),
    ("JSON with a word without quotes", "configmaps", lambda: b'{"x": [a' + fill(b', {"b": ["c"]}') + b"]}"),
    ("few lines in turns", "configmaps", lambda: b"x:\n" + fill(b"- a\n- b: c\n- [d]\n- 'e'\n- 1\n")),
    ("lists in a flow", "configmaps", lambda: b"x: [" + fill(b"[a,[b]],") + b"]"),
    ("names that are numbers", "configmaps", lambda: _listed(b" 1%d: a%d\n", 18)),
    ("texts in quotes", "configmaps", lambda: _listed(b'- "a %d: %d"\n', 19)),
    ("objects of many forms", "configmaps", lambda: b"x:\n" + b"".join(map(_of_many_forms, range(SIZE // 22)))),
    ("comments behind values", "configmaps", lambda: _listed(b" k%d: v # %d\n", 20)),
    ("JSON with an anchor", "configmaps", lambda: b'{"x":[\n' + fill(b'{"a":"b"},\n') + b'&a "c"]}'),
    (
        "JSON with a member twice in many lines",
        "configmaps",
        lambda: b'{"y":1,"x":[\n' + fill(b'{"a":"b"},\n') + b'{}],"y":1}',
    ),
    ("JSON that does not end", "configmaps", lambda: b'{"x":[\n' + fill(b'{"a":["b"]},\n') + b"{}}"),
    (
        "members twice in a flow of several lines",
        "configmaps",
        lambda: b"x: {" + b"".join(b"k%d: v,\n  " % (n % 1000) for n in range(SIZE // 11)) + b"a: b}",
    ),
    (
        "an odd item in a long flow",
        "configmaps",
        lambda: b"x: [" + b"".join(b"{a: b%d},\n  " % n for n in range(SIZE // 16)) + b"&c {d: e}]",
    ),
)

_ADD: Final = {"op": "add", "path": "/data/a", "value": "b"}
_VOLUMES: Final = [{"name": f"v{number}", "emptyDir": {}} for number in range(SIZE // 42)]
_VARIABLES: Final = [{"name": f"E{number}"} for number in range(SIZE // 36)]


def _in_template(container: dict[str, object]) -> dict[str, object]:
    return {"template": {"spec": {"containers": [{"name": "c", "image": "i", **container}]}}}


def _configured(container: dict[str, object]) -> dict[str, object]:
    return {"apiVersion": "v1", "kind": "PodTemplate", "metadata": {"name": "there"}, **_in_template(container)}


_THERE: Final = {"apiVersion": "v1", "kind": "ConfigMap"}


def _owner(number: int) -> dict[str, object]:
    entry = {"manager": f"m{number}", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1"}
    return {**entry, "time": "2020-01-01T00:00:00Z", "fieldsV1": {"f:data": {f"f:{number}": {}}}}


def _deep(levels: int, wide: int) -> dict[str, object]:
    """Maps in each other, each with so many numbers beside."""
    value: dict[str, object] = {}
    for _ in range(levels):
        value = {**{f"m{number}": number for number in range(wide)}, "a": value}
    return value


PATCHES: Final[tuple[tuple[str, str, str, Callable[[], bytes]], ...]] = (
    ("ten thousand operations", "configmaps", JSON_PATCH, lambda: as_json([_ADD] * 10_000)),
    ("ten thousand tests", "configmaps", JSON_PATCH,
     lambda: as_json([{"op": "test", "path": "/data", "value": {"a": "b"}}] * 10_000)),
    ("ten thousand moves", "configmaps", JSON_PATCH,
     lambda: as_json([{"op": "move", "from": "/data", "path": "/data"}] * 10_000)),
    ("a wide merge", "configmaps", MERGE_PATCH,
     lambda: as_json({"data": {str(number): None for number in range(SIZE // 15)}})),
    ("empty objects to merge", "pods", MERGE_PATCH, lambda: b'{"spec":{"containers":[' + fill(b"{},") + b"{}]}}"),
    ("volumes to merge", "pods", STRATEGIC_PATCH, lambda: as_json({"spec": {"volumes": _VOLUMES}})),
    ("one volume again and again", "pods", STRATEGIC_PATCH,
     lambda: as_json({"spec": {"volumes": [{"name": "a"}] * (SIZE // 17)}})),
    ("volumes to delete", "pods", STRATEGIC_PATCH,
     lambda: as_json({"spec": {"volumes": [{"name": f"v{n}", "$patch": "delete"} for n in range(SIZE // 52)]}})),
    ("an order of volumes", "pods", STRATEGIC_PATCH,
     lambda: as_json({"spec": {"$setElementOrder/volumes": [{"name": f"v{n}"} for n in range(SIZE // 21)]}})),
    ("changes at the front of a long list", "pods", JSON_PATCH,
     lambda: as_json([{"op": "add", "path": "/metadata/finalizers", "value": [1] * (SIZE // 6)},
                      *[{"op": "remove", "path": "/metadata/finalizers/0"}] * (SIZE // 120)])),
    ("ports of a container", "podtemplates", STRATEGIC_PATCH,
     lambda: as_json(_in_template({"ports": [{"containerPort": n % 65535 + 1} for n in range(SIZE // 24)]}))),
    ("variables to delete", "podtemplates", STRATEGIC_PATCH,
     lambda: as_json(_in_template({"env": [{**one, "$patch": "delete"} for one in _VARIABLES]}))),
    ("finalizers to delete", "pods", STRATEGIC_PATCH,
     lambda: as_json({"metadata": {"$deleteFromPrimitiveList/finalizers": [f"v{n}" for n in range(SIZE // 12)]}})),
    ("a configuration of volumes", "pods", APPLY,
     lambda: json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "there"},
                         "spec": {"volumes": _VOLUMES}}).encode()),
    ("a configuration of members", "configmaps", APPLY,
     lambda: b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: there}\ndata:\n"
     + b"".join(b" k%d: x\n" % n for n in range(SIZE // 10))),
    ("a configuration of lists", "configmaps", APPLY,
     lambda: b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: there}\nx: [" + fill(b"[],") + b"]"),
    ("a configuration of finalizers that are numbers", "configmaps", APPLY,
     lambda: as_json({**_THERE, "metadata": {"name": "there", "finalizers": list(range(SIZE // 7))}})),
    ("a configuration of equal finalizers", "configmaps", APPLY,
     lambda: as_json({**_THERE, "metadata": {"name": "there", "finalizers": ["a.b/c"] * (SIZE // 9)}})),
    ("a configuration of empty owners", "configmaps", APPLY,
     lambda: as_json({**_THERE, "metadata": {"name": "there", "ownerReferences": [{}] * (SIZE // 3)}})),
    ("a configuration of ports without a number", "podtemplates", APPLY,
     lambda: as_json(_configured({"ports": [{"name": "a"}] * (SIZE // 13)}))),
    ("a configuration with a list for a name", "configmaps", APPLY,
     lambda: as_json({**_THERE, "metadata": {"name": [0] * (SIZE // 2)}})),
    ("a configuration of finalizers, one of them twice", "configmaps", APPLY,
     lambda: as_json({**_THERE, "metadata": {"name": "there", "finalizers": [
         *(f"a/{n}" for n in range(SIZE // 11)), "a/7"]}})),
    ("a configuration of variables with names of many types", "podtemplates", APPLY,
     lambda: as_json(_configured({"env": [{"name": (f"E{n}", n, n + 0.5, True)[n % 4]} for n in range(SIZE // 17)]}))),
    ("a configuration of variables, the last unlike all others", "podtemplates", APPLY,
     lambda: as_json(_configured({"env": [*({"name": f"E{n}"} for n in range(SIZE // 17)), {"name": "a", "x": 1}]}))),
    ("owners of values", "configmaps", MERGE_PATCH,
     lambda: as_json({"metadata": {"managedFields": [
         {**_owner(1), "fieldsV1": {"f:x": {f'v:"{n}"': {} for n in range(SIZE // 15)}}}]}})),
    ("owners of fields", "configmaps", MERGE_PATCH,
     lambda: as_json({"metadata": {"managedFields": [_owner(n) for n in range(SIZE // 170)]}})),
    ("a deep merge", "configmaps", MERGE_PATCH, lambda: as_json({"data": _deep(900, SIZE // 14_000)})),
    ("a deeper merge", "configmaps", MERGE_PATCH, lambda: b'{"data":' + b'{"a":' * 9000 + b"1" + b"}" * 9001),
    ("a deep list for a map, and a new one", "configmaps", MERGE_PATCH,
     lambda: b'{"data":' + b"[" * 900 + b"]" * 900 + b',"new":{' + fill(b'"a":1,') + b'"b":1}}'),
    ("maps nobody knows among many numbers", "configmaps", MERGE_PATCH,
     lambda: as_json({**{f"k{n}": n for n in range(SIZE // 17)}, "z": {"b": [{"d": 1, "c": 2}]}})),
    ("escapes in refused texts", "configmaps", STRATEGIC_PATCH,
     lambda: as_json({"data": {f"k{n}": {"a\n,{}": [1.0, None, '"']} for n in range(SIZE // 40)}})),
    ("a long document that is refused", "configmaps", JSON_PATCH,
     lambda: as_json([{"op": "add", "path": "/metadata/finalizers", "value": [{}] * (SIZE // 4)}])),
    ("deep paths", "configmaps", JSON_PATCH,
     lambda: as_json([{"op": "add", "path": "/x", "value": _deep(500, 0)},
                      *[{"op": "replace", "path": "/x" + "/a" * 500, "value": 1}] * (SIZE // 1050)])),
    ("variables with maps for names", "podtemplates", STRATEGIC_PATCH,
     lambda: as_json(_in_template({"env": [{"name": {"a": n}} for n in range(SIZE // 24)]}))),
    ("one container again and again", "pods", STRATEGIC_PATCH,
     lambda: as_json({"spec": {"containers": [
         {"name": "c", "image": "i", "ports": [{"containerPort": 80}], "env": [{"name": "A", "value": "b"}]}
     ] * (SIZE // 101)}})),
    ("empty tolerations, and one of the wrong type", "pods", STRATEGIC_PATCH,
     lambda: as_json({"spec": {"tolerations": [*[{}] * (SIZE // 4), {"key": 1}]}})),
    ("a whole float behind many tolerations of the wrong type", "pods", STRATEGIC_PATCH,
     lambda: as_json({"spec": {"tolerations": [
         *[{"key": n} for n in range(SIZE // 15)], {"tolerationSeconds": 1.0}
     ]}})),
    ("a member twice beside many lists", "configmaps", MERGE_PATCH,
     lambda: b'{"y":1,"x":{' + b",".join(b'"k%d":["a"]' % n for n in range(SIZE // 15)) + b'},"y":1}'),
    ("half a sign behind many members", "configmaps", MERGE_PATCH,
     lambda: b'{"data":{' + b",".join(b'"k%d":1' % n for n in range(SIZE // 12)) + b',"z":"\\ud800"}}'),
    ("bytes that are no UTF-8 in many names", "configmaps", MERGE_PATCH,
     lambda: b'{"x":[' + b",".join(b'{"\x80%d":[{}]}' % n for n in range(SIZE // 16)) + b"]}"),
    ("brackets in texts", "configmaps", MERGE_PATCH,
     lambda: b'{"x":[' + fill(b'"{[]",') + b'"["]}'),
    ("variables to retain", "podtemplates", STRATEGIC_PATCH,
     lambda: as_json(_in_template({"env": [{**one, "value": "", "$retainKeys": ["name"]} for one in _VARIABLES]}))),
)  # fmt: skip


def requests() -> Iterator[tuple[str, str, str, str, Callable[[], bytes]]]:
    """(name, method, path, media type, body) of all. Nothing of it is stored."""
    for media_type, bodies in ((PROTOBUF, PROTOBUFS), (JSON, JSONS), (YAML, YAMLS)):
        for name, resource, body in bodies:
            yield f"{media_type}: {name}", "POST", f"{NAMESPACE}/{resource}?dryRun=All", media_type, body
    for name, resource, media_type, body in PATCHES:
        path = f"{NAMESPACE}/{resource}/there?dryRun=All&fieldManager=nasty"
        yield f"{media_type}: {name}", "PATCH", path, media_type, body


@contextmanager
def victims(target: Server) -> Iterator[Api]:
    """A client, and what the patches are for."""
    with target.api(timeout=60.0) as api:
        there = {"metadata": {"name": "there"}, "data": {"a": "b"}}
        assert api.post(f"{NAMESPACE}/configmaps", there).status == 201
        pod = {"metadata": {"name": "there"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
        assert api.post(f"{NAMESPACE}/pods", pod).status == 201
        template = {"metadata": {"name": "there"}, **_in_template({"env": _VARIABLES})}
        assert api.post(f"{NAMESPACE}/podtemplates", template).status == 201
        yield api
