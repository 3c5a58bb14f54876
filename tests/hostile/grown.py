"""Objects grown very long and then damaged, as somebody would who knows nothing of this server.

An object has its lists and maps repeated, with names made new or not, its texts made long, its values of other types;
its bytes are changed, cut, moved and doubled. What comes out depends on the `Random` alone.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from copy import deepcopy
from typing import Any, Final

Path = tuple[str | int, ...]

_NAMES: Final = ("name", "key", "uid", "ip", "mountPath", "devicePath", "topologyKey", "type", "containerPort", "port")
_DEEP: Final = 120
_JUNK: Final[tuple[Any, ...]] = (
    None, True, False, 0, -1, 1, 80, 2**31, 2**31 - 1, -(2**63), 2**63, 2**64, 10**30, 1.5, 1e300, -0.0, "", " ", "a",
    "-a", "A_B", "é", "\U0001f600", "\0", "a" * 300, "1", "100m", "1e3Ki", "-1", "2020-01-01T00:00:00Z", "10.0.0.1",
    "%00", "*", "a/b/c", "{}", "$(A)", "delete", [], {}, [None], [[]], [{}], [1, "a", None], {"": ""}, {"a": None},
    {"name": "a"}, {"$patch": "delete"}, {"$patch": "replace"}, [{"$patch": "replace"}], ["a", "a"],
)  # fmt: skip
_SIGNS: Final = b"\0\xff\x80\xc0\x7f{}[]\":,&*!|>%@`'#\n\r\t -09aAe\\"
_SPLICES: Final = (
    b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\\ud800", b"\\u0000", b"1e999", b"9" * 400, b"[" * 300, b'{"a":' * 300,
    b"\xff" * 9, b"\x80" * 11, b"\n---\n", b"*a", b"&a ", b"<<: ", b"\t", b"\x00" * 40, b"\x9f" * 70, b"\xbf" * 70,
    b"\xd9\xd9\xf7", b"\xfb\x7f\xf0\0\0\0\0\0\0", b"\x0b" * 50, b"null", b'"', b"'", b"\n  ", b"# ",
)  # fmt: skip


def junk(chance: random.Random) -> Any:
    """A value that is unlikely to be what is wanted."""
    deep: Any = 1
    for _ in range(chance.choice((2, 3, 5, 9, _DEEP))):
        deep = [deep] if chance.random() < 0.5 else {"a": deep}
    return deepcopy(chance.choice([*_JUNK, deep]))


def places(value: Any, wanted: Callable[[Any], bool], most: int = 4000) -> list[Path]:
    """Where something wanted is, top down; the first `most` of what is there are looked at."""
    found: list[Path] = []
    queue: list[tuple[Path, Any]] = [((), value)]
    for path, one in queue:
        if wanted(one):
            found.append(path)
        if len(queue) > most:
            continue
        if isinstance(one, dict):
            queue.extend(((*path, key), inner) for key, inner in one.items())
        elif isinstance(one, list):
            queue.extend(((*path, number), inner) for number, inner in enumerate(one[:20]))
    return found


def at(value: Any, path: Path) -> Any:
    for step in path:
        value = value[step]
    return value


def renewed(item: Any, number: int) -> Any:
    """A copy with another name."""
    if isinstance(item, str):
        return f"{item}{number}"
    if isinstance(item, bool) or not isinstance(item, dict | int):
        return item
    if isinstance(item, int):
        return number
    copy = dict(item)
    for name in [name for name in _NAMES if name in copy] or list(copy)[:1]:
        copy[name] = renewed(copy[name], number)
    return copy


def _longer(chance: random.Random, value: Any, path: Path, size: int) -> None:
    """The list, map or text at `path` is made about `size` bytes long."""
    found, again = at(value, path), chance.random() < 0.3
    if isinstance(found, str):
        at(value, path[:-1])[path[-1]] = (found or "x") * (size // max(1, len(found)) + 1)
    elif isinstance(found, list):
        items = [*found] or [junk(chance)]
        count = size * len(items) // (len(json.dumps(items)) + 1)
        for number in range(count):
            item = items[number % len(items)]
            found.append(item if again else renewed(item, number))
    else:
        entries = [*found.items()] or [("k", junk(chance))]
        count = size * len(entries) // (len(json.dumps(entries)) + 6)
        for number in range(count):
            key, item = entries[number % len(entries)]
            found[f"{key}{number}"] = item


def grow(chance: random.Random, value: Any, size: int) -> Any:
    """A copy of about `size` bytes of JSON, grown at one place or at several, beside or in one another."""
    copy = json.loads(json.dumps(value))
    kinds: tuple[type, ...] = chance.choice([(list,), (list,), (dict,), (list, dict), (list, dict, str)])
    there = [path for path in places(copy, lambda one: isinstance(one, kinds)) if path]
    there = there or [path for path in places(copy, lambda one: isinstance(one, dict | list | str)) if path]
    if not there:
        return copy
    chosen = chance.sample(there, min(len(there), chance.choice((1, 1, 1, 2, 5))))
    if len(chosen) == 1 and chance.random() < 0.3:  # a few in one another: what is longer already is repeated
        chosen = [path for path in there if path == chosen[0][: len(path)]][-3:]
    left = size
    for number, path in enumerate(sorted(chosen, key=len, reverse=True), 1):
        share = left if number == len(chosen) else left // chance.choice((2, 40, 1000))
        left -= share
        _longer(chance, copy, path, share)
    return copy


def shaken(chance: random.Random, value: Any, times: int) -> Any:
    """With values of other types, fields renamed, gone or new. `value` is changed."""
    for _ in range(times):
        inner, step = value, 0
        while isinstance(inner, dict | list) and inner:
            key = chance.choice([*inner]) if isinstance(inner, dict) else chance.randrange(len(inner))
            step += 1
            if not isinstance(inner[key], dict | list) or not inner[key] or chance.random() < 0.02 * step:
                _shake(chance, inner, key)
                break
            inner = inner[key]
    return value


def _shake(chance: random.Random, inner: Any, key: Any) -> None:
    way = chance.randrange(8)
    if way == 0:
        del inner[key]
    elif way == 1 and isinstance(inner, dict):
        inner[chance.choice([f"{key}x", str(key).upper(), "", "$patch", "name", "é", "metadata"])] = inner.pop(key)
    elif way == 2 and isinstance(inner, dict):
        inner[chance.choice(["x", "kind", "items", "status", "$retainKeys", "f:a"])] = junk(chance)
    elif way == 3 and isinstance(inner[key], int):
        inner[key] = chance.choice([inner[key] + 2**31, -inner[key], inner[key] * 10**19, inner[key] + 0.5])
    elif way == 3 and isinstance(inner[key], str):
        inner[key] = inner[key] + chance.choice([" ", "\0", "é", "_", "/", "." * 260])
    elif way == 4 and isinstance(inner, list):
        inner.insert(0, inner[key])
    else:
        inner[key] = junk(chance)


def hurt(chance: random.Random, body: bytes, other: bytes = b"") -> bytes:
    """One change: a bit, a sign, a slice gone, doubled, moved or taken from `other`, or a sign wherever it is."""
    size = len(body)
    if size < 2:
        return body
    a = chance.randrange(size)
    b = min(size, a + chance.choice((1, 2, 7, 40, 1000, size // 3)))
    way = chance.randrange(12)
    if way == 0:
        return body[:a] + bytes([body[a] ^ 1 << chance.randrange(8)]) + body[a + 1 :]
    if way == 1:
        return body[:a] + bytes([chance.choice(_SIGNS)]) + body[a + 1 :]
    if way == 2:
        return body[:a] + bytes([chance.choice(_SIGNS)]) + body[a:]
    if way == 3:
        return body[:a] + body[b:]
    if way == 4:
        return body[:b] + body[a:b] + body[b:]
    if way == 5:
        return body[: max(1, a)]
    if way == 6:
        c = chance.randrange(b, size + 1)
        d = min(size, c + b - a)
        return body[:a] + body[c:d] + body[b:c] + body[a:b] + body[d:]
    if way == 7 and other:
        c = chance.randrange(len(other))
        return body[:a] + other[c : c + b - a] + body[b:]
    if way == 8:
        return body.replace(bytes([body[a]]), bytes([chance.choice(_SIGNS)]))
    if way == 9:
        step = chance.choice((3, 17, 100, 5000))
        changed = bytearray(body)
        changed[a % step :: step] = bytes([chance.choice(_SIGNS)]) * len(changed[a % step :: step])
        return bytes(changed)
    if way == 10:
        return body[:a] + chance.randbytes(b - a) + body[b:]
    return body[:a] + chance.choice(_SPLICES) + body[a:]
