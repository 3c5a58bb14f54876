"""What anybody would send to see what happens: noise, one sign a million times, a simple object grown very long.

`nasty.py` has what was thought out, `mutated.py` what went wrong on the way; these come first, and cost as much as any.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Final

from hostile.assault import Attack
from hostile.nasty import (
    APPLY,
    JSON,
    JSON_PATCH,
    MERGE_PATCH,
    NAMESPACE,
    PROTOBUF,
    SIZE,
    STRATEGIC_PATCH,
    YAML,
    enveloped,
    field,
    fill,
)  # fmt: skip

CBOR: Final = "application/cbor"
APPLY_CBOR: Final = "application/apply-patch+cbor"
Bodies = tuple[tuple[str, Callable[[], bytes]], ...]

_HALF: Final = SIZE // 2
_CONFIGMAP: Final = b'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},'
_METADATA: Final = b'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a",'
_POD: Final = b'{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{'
_YAML: Final = b"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n"


def noise() -> bytes:
    return random.Random(SIZE).randbytes(SIZE)


def readable_noise() -> bytes:
    return bytes(random.Random(SIZE).choices(range(32, 127), k=SIZE))


def numbered(form: bytes, between: bytes = b",") -> bytes:
    """As many as there is room for, each with its number."""
    return between.join(form % number for number in range(SIZE // (len(form) + 4)))


def _map(name: bytes, form: bytes) -> Callable[[], bytes]:
    return lambda: _CONFIGMAP + b'"%b":{%b}}' % (name, numbered(form))


def _metadata(name: bytes, form: bytes) -> Callable[[], bytes]:
    begin, end = (b"[", b"]") if name == b"finalizers" else (b"{", b"}")
    return lambda: _METADATA + b'"%b":%b%b%b}}' % (name, begin, numbered(form), end)


def _container(name: bytes, form: bytes) -> Callable[[], bytes]:
    return lambda: _POD + b'"containers":[{"name":"c","image":"i","%b":[%b]}]}}' % (name, numbered(form))


def _spec(name: bytes, form: bytes) -> Callable[[], bytes]:
    return lambda: _POD + b'"%b":[%b],"containers":[{"name":"c","image":"i"}]}}' % (name, numbered(form))


def _lines(form: bytes) -> Callable[[], bytes]:
    return lambda: _YAML + numbered(form, b"")


JSONS: Final[Bodies] = (
    ("noise", noise),
    ("readable noise", readable_noise),
    ("brackets", lambda: fill(b"[")),
    ("braces", lambda: fill(b'{"a":')),
    ("lists in lists", lambda: b"[" * _HALF + b"]" * _HALF),
    ("objects in objects", lambda: b'{"a":' * (SIZE // 6) + b"1" + b"}" * (SIZE // 6)),
    ("a text", lambda: b'"' + fill(b"a") + b'"'),
    ("a text without an end", lambda: b'"' + fill(b"a")),
    ("escapes without an end", lambda: b'"' + fill(b"\\u0041")),
    ("a number", lambda: fill(b"1")),
    ("spaces", lambda: fill(b" ")),
    ("a list of numbers", lambda: b"[" + fill(b"1,") + b"1]"),
    ("a list of texts", lambda: b"[" + fill(b'"a",') + b"1]"),
    ("a list of nulls", lambda: b"[" + fill(b"null,") + b"1]"),
    ("members", _map(b"data", b'"k%d":"v"')),
    ("numbers for texts", _map(b"data", b'"k%d":1')),
    ("objects for texts", _map(b"data", b'"k%d":{"a":1}')),
    ("nulls for texts", _map(b"data", b'"k%d":null')),
    ("bad names", _map(b"data", b'"k/%d":"v"')),
    ("bytes", _map(b"binaryData", b'"k%d":"dmFsdWU="')),
    ("bad bytes", _map(b"binaryData", b'"k%d":"*"')),
    ("unknown members", lambda: _CONFIGMAP + numbered(b'"k%d":"v"') + b"}"),
    ("brackets for a text", lambda: _CONFIGMAP + b'"data":{"a":' + fill(b"[") + b"}}"),
    ("no UTF-8", lambda: _CONFIGMAP + b'"data":{"a":"' + fill(b"\xff") + b'"}}'),
    ("labels", _metadata(b"labels", b'"k%d":"v"')),
    ("bad labels", _metadata(b"labels", b'"k %d":"v v"')),
    ("annotations", _metadata(b"annotations", b'"k%d":"v"')),
    ("finalizers", _metadata(b"finalizers", b'"k/%d"')),
)
PODS: Final[Bodies] = (
    ("containers", lambda: _POD + b'"containers":[' + numbered(b'{"name":"c%d","image":"i"}') + b"]}}"),
    ("containers with an unknown field",
     lambda: _POD + b'"containers":[' + numbered(b'{"name":"c%d","imag":"i"}') + b"]}}"),
    ("containers with numbers for names",
     lambda: _POD + b'"containers":[' + numbered(b'{"name":%d,"image":"i"}') + b"]}}"),
    ("variables", _container(b"env", b'{"name":"E%d","value":"v"}')),
    ("bad variables", _container(b"env", b'{"name":"=%d","value":1}')),
    ("arguments", _container(b"args", b'"a%d"')),
    ("mounts", _container(b"volumeMounts", b'{"name":"v","mountPath":"/m%d"}')),
    ("volumes", _spec(b"volumes", b'{"name":"v%d","emptyDir":{}}')),
    ("bad volumes", _spec(b"volumes", b'{"name":"V%d","emptyDir":{}}')),
    ("tolerations", _spec(b"tolerations", b'{"key":"k%d","operator":"Exists"}')),
)  # fmt: skip
YAMLS: Final[Bodies] = (
    ("noise", noise),
    ("readable noise", readable_noise),
    ("dashes", lambda: fill(b"- ")),
    ("a list", lambda: fill(b"- a\n")),
    ("one member again and again", lambda: fill(b"a: b\n")),
    ("brackets", lambda: fill(b"[")),
    ("braces", lambda: fill(b"{a: ")),
    ("lists in lists", lambda: b"[" * _HALF + b"]" * _HALF),
    ("a text without an end", lambda: b'"' + fill(b"a")),
    ("lines", lambda: _YAML + b"  a: |\n" + fill(b"    line\n")),
    ("tabs", lambda: fill(b"\t")),
    ("newlines", lambda: fill(b"\n")),
    ("colons", lambda: fill(b":")),
    ("questions", lambda: fill(b"? ")),
    ("anchors", lambda: fill(b"&a ")),
    ("tags", lambda: fill(b"!!str ")),
    ("documents", lambda: fill(b"---\n")),
    ("lists of aliases",
     lambda: b"a0: &a0 [x,x]\n" + b"".join(b"a%d: &a%d [%b]\n" % (n, n, b",".join([b"*a%d" % (n - 1)] * 9))
                                           for n in range(1, 20))),
    ("members", _lines(b"  k%d: v\n")),
    ("numbers for texts", _lines(b"  k%d: 1\n")),
    ("a tab behind all", lambda: _YAML + numbered(b"  k%d: v\n", b"") + b"\tx"),
    ("JSON", JSONS[14][1]),
)  # fmt: skip
PROTOBUFS: Final[Bodies] = (
    ("noise", noise),
    ("noise behind the magic", lambda: b"k8s\0" + noise()),
    ("noise in the envelope", lambda: enveloped("ConfigMap", noise())),
    ("zeros", lambda: enveloped("ConfigMap", fill(b"\0"))),
    ("ones", lambda: enveloped("ConfigMap", fill(b"\xff"))),
    ("a number without an end", lambda: enveloped("ConfigMap", fill(b"\x80"))),
    ("groups", lambda: enveloped("ConfigMap", fill(b"\x0b"))),
    ("empty metadata", lambda: enveloped("ConfigMap", fill(b"\x0a\x00"))),
    ("empty entries", lambda: enveloped("ConfigMap", fill(b"\x12\x00"))),
    ("cut", lambda: enveloped("ConfigMap", field(2, fill(b"a")))[:_HALF]),
    ("entries", lambda: enveloped("ConfigMap", b"".join(
        field(2, field(1, b"k%d" % n) + field(2, b"v")) for n in range(SIZE // 14)))),
    ("entries with numbers", lambda: enveloped("ConfigMap", b"".join(
        field(2, field(1, b"k%d" % n) + b"\x10\x01") for n in range(SIZE // 13)))),
    ("labels", lambda: enveloped("ConfigMap", field(1, b"".join(
        field(11, field(1, b"k%d" % n) + field(2, b"v")) for n in range(SIZE // 14))))),
    ("texts that are no UTF-8", lambda: enveloped("ConfigMap", field(2, field(1, b"a") + field(2, fill(b"\xff"))))),
)  # fmt: skip
JSON_PATCHES: Final[Bodies] = (
    ("noise", noise),
    ("brackets", lambda: fill(b"[")),
    ("empty operations", lambda: b"[" + fill(b"{},") + b"{}]"),
    ("a long path", lambda: b'[{"op":"add","path":"' + fill(b"/a") + b'","value":1}]'),
    ("a deep value", lambda: b'[{"op":"add","path":"/x","value":' + b"[" * _HALF + b"]" * _HALF + b"}]"),
    ("adds", lambda: b"[" + numbered(b'{"op":"add","path":"/data/k%d","value":"v"}') + b"]"),
    ("copies", lambda: b'[{"op":"add","path":"/data/a","value":"' + fill(b"x", _HALF) + b'"},'
     + numbered(b'{"op":"copy","from":"/data/a","path":"/data/b%d"}')[: SIZE // 16].rpartition(b",")[0] + b"]"),
)  # fmt: skip
MERGES: Final[Bodies] = (
    ("noise", noise),
    ("brackets", lambda: fill(b"[")),
    ("objects in objects", JSONS[5][1]),
    ("members", lambda: b'{"data":{' + numbered(b'"k%d":"v"') + b"}}"),
    ("members to remove", lambda: b'{"data":{' + numbered(b'"k%d":null') + b"}}"),
    ("numbers for texts", lambda: b'{"data":{' + numbered(b'"k%d":1') + b"}}"),
    ("one member again and again", lambda: b'{"data":{' + fill(b'"k":"v",') + b'"k":"v"}}'),
    ("labels", lambda: b'{"metadata":{"labels":{' + numbered(b'"k%d":"v"') + b"}}}"),
    ("directives", lambda: b'{"metadata":{"finalizers":[' + fill(b'{"$patch":"delete"},') + b"1]}}"),
)
CBORS: Final[Bodies] = (
    ("noise", noise),
    ("zeros", lambda: fill(b"\0")),
    ("lists in lists", lambda: fill(b"\x81")),
    ("objects in objects", lambda: fill(b"\xa1\x41a")),
    ("a list of zeros", lambda: b"\x9a" + SIZE.to_bytes(4, "big") + fill(b"\0")),
    ("a list of nulls", lambda: b"\x9a" + SIZE.to_bytes(4, "big") + fill(b"\xf6")),
    ("zeros without an end", lambda: b"\x9f" + fill(b"\0") + b"\xff"),
    ("numbers for names", lambda: b"\xba" + _HALF.to_bytes(4, "big") + fill(b"\0")),
    ("one member again and again", lambda: b"\xbf" + fill(b"\x41a\x01") + b"\xff"),
    ("bytes", lambda: b"\x5a" + SIZE.to_bytes(4, "big") + fill(b"a")),
    ("counts", lambda: fill(b"\x9b" + b"\xff" * 8)),
    ("a big number", lambda: b"\x81\xc2\x5a" + SIZE.to_bytes(4, "big") + fill(b"\xff")),
)


def requests() -> Iterator[Attack]:
    """All but those of CBOR. Nothing of it is stored."""
    yield from _created(JSON, "configmaps", JSONS)
    yield from _created(JSON, "pods", PODS)
    yield from _created(YAML, "configmaps", YAMLS)
    yield from _created(PROTOBUF, "configmaps", PROTOBUFS)
    for media_type, bodies in ((JSON_PATCH, JSON_PATCHES), (MERGE_PATCH, MERGES), (STRATEGIC_PATCH, MERGES)):
        yield from _patched(media_type, bodies)
    yield from _patched(APPLY, (*YAMLS, *JSONS[:14]))


def cbor_requests() -> Iterator[Attack]:
    """Those of CBOR, for a server that reads it."""
    yield from _created(CBOR, "configmaps", CBORS)
    yield from _patched(APPLY_CBOR, CBORS)


def _created(media_type: str, resource: str, bodies: Bodies) -> Iterator[Attack]:
    for name, body in bodies:
        yield f"{media_type}: simple {name}", "POST", f"{NAMESPACE}/{resource}?dryRun=All", media_type, body


def _patched(media_type: str, bodies: Bodies) -> Iterator[Attack]:
    path = f"{NAMESPACE}/configmaps/there?dryRun=All&fieldManager=simple" + "&force=true" * ("apply" in media_type)
    for name, body in bodies:
        yield f"{media_type}: simple {name}", "PATCH", path, media_type, body
