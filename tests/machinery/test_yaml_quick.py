"""What the quick reader of YAML reads is what the parser would have read; at the rest it gives up."""

from __future__ import annotations

import random
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pilothouse.machinery.yamlcodec import YAMLError, quick, read

GOOD = (
    "a", "true", "No", "~", "-1", "0x1f", "1.5", "1e3", "1_000", "2020-01-01", "nginx:1.2", "a b  c", "http://x/?z=1",
    "a#b", "a #c", "x,y", "'it''s'", '"e\\n\\"x"', '""', "é", "$(V)", "18446744073709551616", "[a, b]", "[--x=1,-2, c]",
    "{}", "[]", "{a: b}", '{"a":1, b: c}', "[[],{}]", "{b: [1], b: 2, a: x}", "[a,]", "{'a': 1}", "a   ", "",
)  # fmt: skip
ODD = (
    "a: b", "[", "{", "- a", "-", "--", "---", "...", '"\\u00e9"', "!!str a", "&x a", "*x", "|", ">", "<<", "a:", "?",
    ":a", "%", "@", "`", "[a b]", "[a: b]", "{a:b}", "{a}", "[,]", ".inf", ".nan", "'q", "\ta", "a\r", "\u2028",
)  # fmt: skip
KEYS = ("a", "b", "c", "k1", "1", "true", "x.y/z", '"q"', "'s'")
ODD_KEYS = ("null", "1.5", "a b", "-k", "~", "<<", "012", "a:b", "é", "x" * 1100)
SIGNS = (" ", "\n", ":", "-", "#", "'", '"', "[", "]", "{", "}", ",", "|", "&", "a", " #", ": ", "- ", "\n\n", "  ")


class _Writer:
    """Documents from chance, most of them good."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance

    def of(self, usual: tuple[str, ...], odd: tuple[str, ...]) -> str:
        return self.chance.choice(odd if self.chance.random() < 0.01 else usual)

    def end(self) -> str:
        return self.chance.choice(("\n",) * 12 + ("\n\n", " \n", "\n# c\n", "  # c\n", "\n   # c\n"))

    def members(self, indent: int, depth: int) -> str:
        count = self.chance.randrange(1, 5)
        pad = " " * indent
        return "".join(f"{pad}{self.of(KEYS, ODD_KEYS)}:{self.value(indent, depth)}" for _ in range(count))

    def items(self, indent: int, depth: int) -> str:
        pad = " " * indent
        return "".join(f"{pad}-{self.item(indent, depth)}" for _ in range(self.chance.randrange(1, 4)))

    def value(self, indent: int, depth: int) -> str:
        kind = self.chance.random()
        if depth < 4 and kind < 0.2:
            return self.end() + self.members(indent + self.chance.choice((1, 2, 2, 4)), depth + 1)
        if depth < 4 and kind < 0.35:
            return self.end() + self.items(indent + self.chance.choice((0, 0, 2)), depth + 1)
        if kind < 0.4:
            return f" {self.literal(indent)}"
        return self.end() if kind < 0.45 else f" {self.of(GOOD, ODD)}{self.end()}"

    def item(self, indent: int, depth: int) -> str:
        kind = self.chance.random()
        if depth < 4 and kind < 0.4:
            space = self.chance.choice((1, 1, 3))
            return " " * space + self.members(indent + 1 + space, depth + 1)[indent + 1 + space :]
        if kind < 0.45:
            return f" {self.literal(indent)}"
        return f" {self.of(GOOD, ODD)}{self.end()}"

    def literal(self, indent: int) -> str:
        pad = " " * (indent + self.chance.choice((1, 2, 4)))
        lines = self.chance.choices(("x", "y: z", "# no", "  in", "- a", ""), k=self.chance.randrange(1, 5))
        style = self.chance.choice(("|", "|-", "|+", "| # c", "|2", ">"))
        return f"{style}\n" + "".join(f"{pad if line else ''}{line}\n" for line in lines)

    def document(self) -> str:
        text = self.chance.choice(("",) * 6 + ("---\n", "# c\n", "\n")) + self.members(0, 0)
        if self.chance.random() < 0.2:
            text += "".join(self.chance.choice((f"k{n}: v\n", "a: b\n")) for n in range(30))
        if self.chance.random() < 0.2:
            text += "l:\n" + "".join(f"- {self.chance.choice('ay1')}\n" for _ in range(20))
        if self.chance.random() < 0.2:
            text += "f: [" + "".join(self.chance.choice(("a, ", "1,")) for _ in range(20)) + "[],[]," * 10 + "]\n"
        if self.chance.random() < 0.3:
            at = self.chance.randrange(len(text) + 1)
            text = text[:at] + self.chance.choice((*SIGNS, "")) + text[at + self.chance.randrange(2) :]
        return text[:-1] if self.chance.random() < 0.1 else text


def parsed(data: bytes) -> Any:
    builder = read._Builder()
    try:
        return read._built(data, builder), builder.repeated
    except YAMLError as wrong:
        return wrong


@given(st.integers(0, 2**63))
@settings(max_examples=300, deadline=None)
def test_what_is_read_quickly_is_what_the_parser_reads(seed: int) -> None:
    data = _Writer(random.Random(seed)).document().encode()
    found = quick.read(data)
    if found is not None:
        assert repr(found) == repr(parsed(data)), data


def test_most_documents_of_people_are_read_quickly() -> None:
    text = """\
# A comment.
apiVersion: apps/v1
kind: Deployment
metadata:
  name: "web"   # quoted
  labels: {app: web, tier: 'front'}
spec:
  replicas: 2
  template:
    spec:
      containers:
      - name: c
        image: nginx:1.27
        args: [--verbose=2, "a b"]
        env:
          - name: X
            value: "1"

      volumes: []
---
kind: Ignored
"""
    found = quick.read(text.encode())
    assert found is not None
    assert found[0]["spec"]["template"]["spec"]["containers"][0]["args"] == ["--verbose=2", "a b"]
    found = quick.read(b"data:\n  run.sh: |\n    #!/bin/sh\n\n    echo 'a: b'\n  other: x\n")
    assert found == ({"data": {"run.sh": "#!/bin/sh\n\necho 'a: b'\n", "other": "x"}}, [])


@pytest.mark.parametrize(
    "text", ["a: &x b", "a: *x", "a: !!str 1", "a: b\n  c", "a: >\n  b", "? a", "a: 'b\n  c'", "a:\tb"]
)
def test_the_rest_is_left_to_the_parser(text: str) -> None:
    assert quick.read(text.encode()) is None


@pytest.mark.parametrize(
    "data",
    [
        b"x: [" + b"a,[]," * 100_000 + b"]",
        b"x:\n" + b"- a\n- 'b'\n" * 60_000,
        b"x:\n" + b"- a: b\n" * 60_000,
        b"".join(b"k%d: '%d'\n" % (n, n) for n in range(60_000)),
        b"x: [" + b"[" * 400_000,
        b"x: " + b"{a: " * 200_000,
        b"x: '" + b"''" * 300_000,
        b'x: "' + b'\\"' * 300_000,
        b"x: |\n" + b"  a\n" * 200_000,
        b"x: a" + b" #a" * 200_000,
        b"".join(b" " * n + b"k:\n" for n in range(1000)),
        b"a: b\n" + b"# c\n" * 200_000,
        b"- " * 300_000,
        b'"a":' * 200_000,
    ],
)
def test_long_documents_take_time_that_grows_with_their_length(data: bytes) -> None:
    started = time.process_time()
    quick.read(data)
    assert time.process_time() - started < 3
