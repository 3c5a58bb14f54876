"""The outline of a document decodes as the document does, and is refused as it is."""

from __future__ import annotations

import random
from typing import Final

import pytest

from pilothouse.builtin.types import builtin_types
from pilothouse.machinery.decode import DecodeError, Findings, decode_parsed
from pilothouse.machinery.decode.outline import outline
from pilothouse.machinery.jsoncodec import JSONError, dumps, loads
from pilothouse.machinery.schema import Schema
from pilothouse.machinery.structural.node import Node
from pilothouse.machinery.structural.outlined import outlined as outlined_thing

CONFIGMAP: Final = builtin_types().get("k8s.io/api/core/v1", "ConfigMap")
POD: Final = builtin_types().get("k8s.io/api/core/v1", "Pod")
FILL: Final = ",".join(["1"] * 40)


def answer(schema: Schema, data: bytes) -> str:
    findings = Findings()
    try:
        made = decode_parsed(schema, data, loads(data), findings)
    except (JSONError, DecodeError) as refused:
        return f"{type(refused).__name__}: {refused}"
    return f"{dumps(made)!r} {findings.strict}"


def outlined(schema: Schema, document: str, *, sound: bool = False) -> bytes:
    return outline(schema, filled(document), sound=sound)


def filled(document: str) -> bytes:
    """A document with FILL in the place of each @."""
    return document.replace("@", FILL).encode("utf-8", "surrogateescape")


def test_what_has_no_place_is_emptied() -> None:
    assert outlined(CONFIGMAP, '{"x":[@],"data":{"a":"b"}}') == b'{"x":[],"data":{"a":"b"}}'
    assert outlined(POD, '{"spec":{"x":{"a":[@]},"nodeName":"n"}}') == b'{"spec":{"x":{},"nodeName":"n"}}'
    assert outlined(CONFIGMAP, '{"data":[@]}') == b'{"data":[]}'
    assert outlined(CONFIGMAP, '{"data":{"a":[@],"b":"c"}}') == b'{"data":{"a":[],"b":"c"}}'
    assert outlined(POD, '{"spec":{"containers":[{"name":"a","x":[@]}]}}') == (
        b'{"spec":{"containers":[{"name":"a","x":[]}]}}'
    )


def test_what_has_a_place_stays() -> None:
    document = '{"metadata":{"managedFields":[{"fieldsV1":{"f:a":[@]}}]},"data":{"a":"[@]"}}'
    assert outlined(CONFIGMAP, document) == filled(document)


def test_brackets_in_texts_are_none() -> None:
    assert outlined(CONFIGMAP, '{"x":["]","\\"]",@],"y":1}', sound=True) == b'{"x":[],"y":1}'


TORN: Final = (
    "[1,]", "[[1,][2]]", "[[1][,2]]", "[[[ ]1]]", '{"a":{"b":1,}"c":2}', '{"a":{"b":}1}', '{"a":{"b"}:1}',
    '{"a":{ }"b":1}', "[1}", '{"a":1]', '[{"a":1},"b":{"c":1}]', "[01]", '["\\x"]', "[tru]", '{"a" 1}', "[1 2]", "[:1]",
    '{"a":{"b":1},{"c":2}}', '["a]"', '["\\ud800"]', '["\udcff"]', "[" * 9_000 + "]" * 9_000,
    '{"a":' * 9_000 + "1" + "}" * 9_000, "[" * 10_001 + "]" * 10_001, '[{"a":' * 3_000 + "}]" * 3_000,
)  # fmt: skip


@pytest.mark.parametrize("part", TORN, ids=range(len(TORN)))
@pytest.mark.parametrize("form", ['{"x":[@,!],"y":[1]}', '{"x":{"a":[@],"b":!},"kind":[1]}', '{"data":{"a":[@,!]}}'])
def test_the_answer_is_that_of_the_document(form: str, part: str) -> None:
    data = filled(form.replace("!", part))
    assert answer(CONFIGMAP, outline(CONFIGMAP, data, sound=False)) == answer(CONFIGMAP, data)


@pytest.mark.parametrize(
    "part",
    ["1e999", "-1.5E+400", "01e999", "1e999.5", "1e9995e3", '"\\u1e999"', '"\\u12e999"', '"\\u123e999"', "1.e999"],
)
@pytest.mark.parametrize("form", ['{"x":[@,!],"y":[1]}', '{"x":{"a":[@],"b":!},"kind":[1]}', '{"data":{"a":[@,!]}}'])
def test_a_number_that_is_too_great_does_not_matter_where_nobody_reads_it(form: str, part: str) -> None:
    data = filled(form.replace("!", part))
    usual = "1" if part in ("1e999", "-1.5E+400") else part
    assert answer(CONFIGMAP, outline(CONFIGMAP, data, sound=False)) == answer(
        CONFIGMAP, filled(form.replace("!", usual))
    )


def test_random_documents_that_are_hurt() -> None:
    rng = random.Random(1)
    parts = (f"[{FILL}]", "[[],[1]]", '{"a":{"b":1},"c":[{}]}', '"a]"', "1", "[[[[1]]]]")
    for _ in range(500):
        listed = ",".join(rng.choices(parts, k=12))
        document = bytearray(b'{"data":{"a":"b"},"x":[%b],"y":{"z":[%b]}}' % (listed.encode(), listed.encode()))
        for _ in range(rng.randint(0, 2)):
            document[rng.randrange(len(document))] = rng.choice(b'[]{},:"\\1 ')
        data = bytes(document)
        assert answer(CONFIGMAP, outline(CONFIGMAP, data, sound=False)) == answer(CONFIGMAP, data)


THING: Final = Node(
    {
        "type": "object",
        "properties": {
            "spec": {
                "type": "object",
                "properties": {
                    "text": {"type": "string"},
                    "any": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                    "list": {"type": "array", "items": {"type": "object", "properties": {"a": {"type": "string"}}}},
                    "map": {"type": "object", "additionalProperties": {"type": "object"}},
                },
            }
        },
    },
    root=True,
)


@pytest.mark.parametrize(
    ("document", "left"),
    [
        ('{"x":[@],"spec":{"y":[[@]]}}', '{"x":[],"spec":{"y":[]}}'),
        ('{"spec":{"list":[{"a":"b","c":[@]}]}}', '{"spec":{"list":[{"a":"b","c":[]}]}}'),
        ('{"spec":{"map":{"a":{"b":[@]}}}}', '{"spec":{"map":{"a":{"b":[]}}}}'),
        ('{"spec":{"any":{"x":[@]}}}', None),
        ('{"metadata":{"x":[@]},"kind":[@]}', None),
        ('{"spec":{"text":[@],"list":{"a":[@]}}}', None),  # shown in the refusal
        ('{"x":[{"a":1,"a":2},@]}', None),  # and so is the member that is there twice
        ('{"x":[@,[1,]]}', None),
    ],
)  # fmt: skip
def test_lists_that_are_pruned_are_emptied(document: str, left: str | None) -> None:
    assert outlined_thing(THING, filled(document)) == (filled(document) if left is None else left.encode())
