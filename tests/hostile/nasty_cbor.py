"""Bodies of CBOR that hold as much as so many bytes can."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Final

from hostile.nasty import NAMESPACE, SIZE, Body, fill
from pilothouse.machinery import cbor

CBOR: Final = "application/cbor"
APPLY: Final = "application/apply-patch+cbor"
_THERE: Final = b"\xa4\x4aapiVersion\x42v1\x44kind\x49ConfigMap\x48metadata\xa1\x44name\x45there"

_CONTAINER: Final = cbor.dumps(
    {
        "name": "web", "image": "registry.example.com/web:1.2.3", "args": ["--port", "8080"],
        "env": [{"name": "HOME", "value": "/home/web"}, {"name": "LEVEL", "value": "info"}],
        "ports": [{"containerPort": 8080, "name": "http"}],
        "resources": {"limits": {"cpu": "500m", "memory": "128Mi"}, "requests": {"cpu": "50m", "memory": "64Mi"}},
        "volumeMounts": [{"mountPath": "/var/run/secrets", "name": "secrets", "readOnly": True}],
    },
    described=False,
)  # fmt: skip


def text(name: str) -> bytes:
    """A byte string of less than 24 bytes."""
    return bytes((0x40 | len(name),)) + name.encode()


def listed(item: bytes, size: int = SIZE) -> bytes:
    """A list without a count of so many bytes."""
    return b"\x9f" + fill(item, size) + b"\xff"


def counted(head: int, count: int) -> bytes:
    return bytes((head | 26,)) + count.to_bytes(4, "big")


def unknown(value: bytes) -> bytes:
    """An object with an unknown member."""
    return b"\xa1" + text("x") + value


def containers(items: bytes) -> bytes:
    return b"\xa1" + text("spec") + b"\xa1" + text("containers") + items


def data(members: bytes) -> bytes:
    """An object with data: a map without a count."""
    return b"\xa1" + text("data") + b"\xbf" + members + b"\xff"


def ports(size: int) -> Iterator[bytes]:
    """Ports of two shapes."""
    for number in range(size // 60):
        port = text("containerPort") + b"\x1a" + number.to_bytes(4, "big")
        yield b"\xa2" + port + text("name") + text(f"p{number}")
        yield b"\xa3" + port + text("hostIP") + text("a") + text("name") + text("b")


def numbered(value: bytes, size: int = SIZE) -> bytes:
    return b"".join(text(str(number)) + value for number in range(size // 8))


def small(items: tuple[bytes, ...], size: int = SIZE) -> bytes:
    """So many bytes of such items, in no order, as a list without an end."""
    chance = random.Random(size)
    return b"\x9f" + b"".join(chance.choices(items, k=size))[:size]


def uneven(value: bytes, size: int = SIZE) -> bytes:
    """Members with this value, whose names are of changing length."""
    return b"".join(text("x" * (number % 7) + str(number)) + value for number in range(size // 12))


def any_members(values: Callable[[random.Random], bytes], size: int = SIZE) -> bytes:
    """Members with such values, as an object without a count."""
    chance = random.Random(size)
    made = [text(f"k{number}") + values(chance) for number in range(size // 16)]
    return b"\xbf" + b"".join(made) + b"\xff"


def any_bytes(number: int) -> bytes:
    """So many short strings of any bytes."""
    chance = random.Random(number)
    sizes = [chance.randrange(20) for _ in range(number)]
    return b"".join(bytes((0x40 | size,)) + chance.randbytes(size) for size in sizes)


def any_value(chance: random.Random, deeper: int = 3) -> bytes:
    """A number, a text, a list or an object, as people's have them."""
    kind = chance.randrange(10) if deeper else chance.randrange(4, 10)
    if kind < 4:
        items = [any_value(chance, deeper - 1) for _ in range(chance.randrange(4))]
        named = kind > 1
        head = bytes(((0xA0 if named else 0x80) | len(items),))
        return head + b"".join((text(f"n{place}") if named else b"") + item for place, item in enumerate(items))
    number = b"\x1a" + chance.randbytes(4)
    return chance.choice((number, b"\x07", b"\xf5", b"\xf6", b"\xfb\x40" + chance.randbytes(7), text("some text")))


_NOISE: Final = (b"\x81", b"\x82", b"\x83", b"\xa1", b"\x80", b"\xa0", b"\x41", b"\x61", b"\x40", *[b"\x01"] * 6)
CBORS: Final[tuple[Body, ...]] = (
    ("empty objects", "pods", lambda: containers(listed(b"\xa0"))),
    ("empty objects, counted", "pods", lambda: containers(counted(0x80, SIZE) + fill(b"\xa0"))),
    ("objects with a name", "pods", lambda: containers(listed(b"\xa1" + text("name") + text("a")))),
    ("empty lists, unknown", "pods", lambda: unknown(listed(b"\x80"))),
    ("numbers, unknown", "pods", lambda: unknown(listed(b"\x01"))),
    ("half floats, unknown", "pods", lambda: unknown(listed(b"\xf9\x3e\x00"))),
    ("lists in lists, unknown", "pods", lambda: unknown(listed(b"\x81" * 60 + b"\x01"))),
    ("endless lists in lists", "pods", lambda: b"\x9f" * SIZE),
    ("endless objects in objects", "pods", lambda: fill(b"\xbf\x41a")),
    ("tags on tags", "pods", lambda: fill(b"\xd9\xd9\xf7")),
    ("tags on numbers", "pods", lambda: unknown(listed(b"\xd9\xd9\xf7" * 50 + b"\x01"))),
    ("a count of what does not come", "pods", lambda: b"\x9b\x7f" + b"\xff" * 7 + fill(b"\x01")),
    ("a long string that does not come", "pods", lambda: b"\x5b\x7f" + b"\xff" * 7 + fill(b"\x01")),
    ("members", "configmaps", lambda: data(numbered(b"\x40"))),
    ("one member again and again", "configmaps", lambda: data(fill(b"\x41a\x40"))),
    ("members, and one twice", "configmaps", lambda: data(numbered(b"\x40") + b"\x411\x40")),
    ("members at the top", "configmaps", lambda: b"\xbf" + numbered(b"\x40") + b"\xff"),
    ("members at the top, and one twice", "configmaps", lambda: b"\xbf" + numbered(b"\x40") + b"\x411\x40\xff"),
    ("one byte strings in pieces", "configmaps", lambda: data(text("a") + b"\x5f" + fill(b"\x41a") + b"\xff")),
    ("empty pieces", "configmaps", lambda: data(text("a") + b"\x5f" + fill(b"\x40") + b"\xff")),
    ("bad text", "configmaps", lambda: data(text("a") + counted(0x40, SIZE) + fill(b"\xff"))),
    ("a long text in hexadecimal digits", "configmaps",
     lambda: data(text("a") + b"\xd7" + counted(0x40, SIZE) + fill(b"\xff"))),
    ("bad base64", "configmaps",
     lambda: b"\xa1" + text("binaryData") + b"\xbf" + text("a") + counted(0x40, SIZE) + fill(b"\xff") + b"\xff"),
    ("times", "configmaps", lambda: unknown(listed(b"\xc1\x1a\x10\x00\x00\x00"))),
    ("big numbers", "configmaps", lambda: unknown(b"\xc2" + counted(0x40, SIZE) + fill(b"\xff"))),
    ("bytes behind the object", "configmaps", lambda: b"\xa0" + fill(b"\x00")),
    ("pairs, unknown", "pods", lambda: unknown(listed(b"\x82\x01\x01"))),
    ("pairs in pairs, unknown", "pods", lambda: unknown(listed(b"\x82\x01" * 60 + b"\x01"))),
    ("objects of two, unknown", "pods", lambda: unknown(listed(b"\xa2\x41a\x01\x41b\x01"))),
    ("endless lists, unknown", "pods", lambda: unknown(listed(b"\x9f\xff"))),
    ("tags on lists, unknown", "pods", lambda: unknown(listed(b"\xd5\x81\x01"))),
    ("no pieces, unknown", "pods", lambda: unknown(listed(b"\x5f\xff"))),
    ("text in pieces", "configmaps", lambda: data(text("a") + b"\x7f" + fill(b"\x62\xc3\xa9") + b"\xff")),
    ("bad values", "configmaps", lambda: data(numbered(b"\x41\xff"))),
    ("numbers for texts", "configmaps", lambda: data(numbered(b"\x01"))),
    ("half floats for texts", "configmaps", lambda: b"\xa1" + text("data") + listed(b"\xf9\x3e\x00")),
    ("one refused, and pairs", "pods", lambda: b"\xa2" + text("y") + b"\xf7" + text("x") + listed(b"\x82\x01\x01")),
    ("containers without an end", "pods", lambda: containers(b"\x9f" + fill(_CONTAINER))),
    ("values nobody knows, unknown", "pods", lambda: unknown(listed(b"\xf7"))),
    ("infinities, unknown", "pods", lambda: unknown(listed(b"\xf9\x7c\x00"))),
    ("bad texts, unknown", "pods", lambda: unknown(listed(b"\x61\xff"))),
    ("numbers for names, unknown", "pods", lambda: unknown(listed(b"\xa1\x01\x01"))),
    ("objects with one name twice, unknown", "pods", lambda: unknown(listed(b"\xa2\x41a\x01\x41a\x01"))),
    ("strings in one piece, unknown", "pods", lambda: unknown(listed(b"\x5f\x41a\xff"))),
    ("text of two bytes, unknown", "pods", lambda: unknown(listed(b"\x62\xc3\xa9"))),
    ("pairs of two numbers, unknown", "pods",
     lambda: unknown(b"\x9f" + b"".join(b"\x82\x18%c\x17" % (n % 200 + 24) for n in range(SIZE // 4)) + b"\xff")),
    ("numbers for finalizers", "configmaps",
     lambda: b"\xa1" + text("metadata") + b"\xa1" + text("finalizers") + listed(b"\x18\x20\x01\x39\x10\x10")),
    ("pairs for texts", "configmaps", lambda: data(numbered(b"\x82\x01\x01"))),
    ("endless objects for texts", "configmaps", lambda: data(numbered(b"\xbf\x41a\x01\xff"))),
    ("times for texts", "configmaps", lambda: data(numbered(b"\xc1\x1a\x10\x00\x00\x00"))),
    ("pairs for texts, names of any length", "configmaps", lambda: data(uneven(b"\x82\x01\x01"))),
    ("pairs and texts in turns", "configmaps",
     lambda: data(b"".join(text(str(n)) + (b"\x82\x01\x01", b"\x41a")[n % 2] for n in range(SIZE // 8)))),
    ("values nobody knows at the top", "configmaps", lambda: b"\xbf" + numbered(b"\xf7") + b"\xff"),
    ("values with zeros", "configmaps", lambda: data(numbered(b"\x42\0a"))),
    ("managed pairs", "configmaps",
     lambda: b"\xa1" + text("metadata") + b"\xa1" + text("managedFields") + b"\x81\xa1" + text("fieldsV1")
     + listed(b"\x82\x01\x01")),
    ("noise of small containers", "pods", lambda: unknown(small(_NOISE))),
    ("noise of small lists", "pods", lambda: unknown(small((b"\x81", b"\x82", b"\x83", *[b"\x01"] * 5)))),
    ("one refused, and noise of small containers", "pods",
     lambda: b"\xa2" + text("y") + b"\xf7" + text("x") + small(_NOISE)),
    ("one refused, and texts as deep as may be", "pods",
     lambda: b"\xa2" + text("y") + b"\xf7" + text("x") + b"\x9f" * 61
     + small((b"\x43abc", b"\x01", b"\xf7", b"\x42ab"))),
    ("any scalars at the top", "configmaps", lambda: any_members(lambda chance: any_value(chance, 0))),
    ("any values at the top", "pods", lambda: any_members(any_value, SIZE // 2)),
    ("any values for texts", "configmaps", lambda: b"\xa1" + text("data") + any_members(any_value, SIZE // 2)),
    ("nothing for texts", "configmaps", lambda: b"\xa1" + text("data") + any_members(lambda _: b"\xf6")),
    ("bytes for texts", "configmaps",
     lambda: b"\xa1" + text("data") + any_members(lambda chance: b"\x4a" + chance.randbytes(10))),
    ("bytes of any length for texts", "configmaps",
     lambda: b"\xa1" + text("data")
     + any_members(lambda chance: bytes((0x40 | (size := chance.randrange(20)),)) + chance.randbytes(size))),
    ("bytes of any length for finalizers", "configmaps",
     lambda: b"\xa1" + text("metadata") + b"\xa1" + text("finalizers") + listed(any_bytes(4096))),
    ("noise for texts", "configmaps", lambda: b"\xa1" + text("data") + small((*_NOISE, b"\x9f\x01\xff"))),
    ("ports in turns, and bytes behind", "pods",
     lambda: containers(b"\x81\xa1" + text("ports") + b"\x9f" + b"".join(ports(SIZE)) + b"\xff") + b"\0"),
    ("bad names", "services",
     lambda: b"\xa1" + text("spec") + b"\xa1" + text("ports") + listed(b"\xa2\x44por\xff\x01\x44name\x41a")),
    ("owners", "configmaps",
     lambda: b"\xa1" + text("metadata") + b"\xa1" + text("ownerReferences") + listed(b"\xa0")),
    ("managed fields", "configmaps",
     lambda: b"\xa1" + text("metadata") + b"\xa1" + text("managedFields") + b"\x81\xa1" + text("fieldsV1") + b"\xbf"
     + b"".join(text(f"f:{number}") + b"\xa0" for number in range(SIZE // 10)) + b"\xff"),
)  # fmt: skip

APPLIED: Final[tuple[tuple[str, Callable[[], bytes]], ...]] = (
    ("members", lambda: _THERE + text("data") + b"\xbf" + numbered(b"\x40") + b"\xff"),
    ("lists", lambda: _THERE + text("x") + listed(b"\x80")),
    ("numbers", lambda: _THERE + text("data") + listed(b"\x01")),
    ("lists in lists", lambda: b"\x9f" * SIZE),
    ("pairs", lambda: _THERE + text("x") + listed(b"\x82\x01\x01")),
    ("half floats", lambda: _THERE + text("x") + listed(b"\xf9\x3e\x00")),
    ("nothing known", lambda: unknown(listed(b"\xa0"))),
)


def requests() -> Iterator[tuple[str, str, str, str, Callable[[], bytes]]]:
    """(name, method, path, media type, body) of all. Nothing of it is stored."""
    for name, resource, body in CBORS:
        yield name, "POST", f"{NAMESPACE}/{resource}?dryRun=All", CBOR, body
    for name, body in APPLIED:
        yield name, "PATCH", f"{NAMESPACE}/configmaps/there?dryRun=All&fieldManager=nasty", APPLY, body
