"""Typed decoding: what is kept, what is dropped, in which order, and how a body that does not fit is refused."""

from __future__ import annotations

import gzip
import importlib.resources
import re
import tarfile
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from recorded_bodies import CONFORMANCE, SHARED, packages_by_kind, schema_of, sent_bodies

from pilothouse.builtin.types import CORE, builtin_types
from pilothouse.machinery.decode import DecodeError, Findings, compile_decoder, decode_json, decode_parsed
from pilothouse.machinery.errors import APIError
from pilothouse.machinery.jsoncodec import dumps, dumps_pretty, loads

APPS = "k8s.io/api/apps/v1"
CRD = "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="needs ../shared")


def decoded(kind: str, document: str | dict[str, Any], package: str = CORE) -> Any:
    data = document.encode() if isinstance(document, str) else orjson.dumps(document)
    return decode_json(builtin_types().get(package, kind), data)


def found(kind: str, document: str, package: str = CORE) -> list[str]:
    findings = Findings()
    decode_json(builtin_types().get(package, kind), document.encode(), findings)
    return findings.strict


def refusal(kind: str, document: str | dict[str, Any], package: str = CORE) -> str:
    with pytest.raises(DecodeError) as refused:
        decoded(kind, document, package)
    return str(refused.value)


def test_members_come_in_the_order_of_the_type_and_map_keys_sorted() -> None:
    made = decoded(
        "ConfigMap", '{"data":{"b":"2","a":"1"},"metadata":{"labels":{"z":"","y":""},"name":"n"},"kind":"K"}'
    )
    assert dumps(made) == b'{"kind":"K","metadata":{"name":"n","labels":{"y":"","z":""}},"data":{"a":"1","b":"2"}}'


def test_null_is_absence_and_zero_values_are_left_out() -> None:
    made = decoded(
        "ConfigMap",
        {"metadata": {"name": "a", "labels": None, "annotations": {"x": None}, "finalizers": []}, "data": {"k": None},
         "binaryData": {"b": None}, "immutable": None},
    )  # fmt: skip
    assert made == {"metadata": {"name": "a", "annotations": {"x": ""}}, "data": {"k": ""}, "binaryData": {"b": ""}}


def test_pointers_keep_what_was_set() -> None:
    made = decoded("ConfigMap", {"immutable": False})
    assert made == {"metadata": {}, "immutable": False}
    spec = decoded("Pod", {"spec": {"containers": [], "securityContext": {}, "hostNetwork": False, "priority": 0}})[
        "spec"
    ]
    assert spec == {"containers": None, "securityContext": {}, "priority": 0}


def test_structs_that_are_no_pointers_always_stand() -> None:
    assert decoded("Pod", {"spec": {"containers": [{"name": "c"}, None]}}) == {
        "metadata": {},
        "spec": {"containers": [{"name": "c", "resources": {}}, {"name": "", "resources": {}}]},
        "status": {},
    }
    assert decoded("Service", {"status": None})["status"] == {"loadBalancer": {}}


def test_what_must_stand_has_its_zero() -> None:
    made = decoded("Event", {})
    assert made["firstTimestamp"] is None and made["eventTime"] is None and made["reportingComponent"] == ""
    spec = decoded("Deployment", {"spec": {"selector": None}}, APPS)["spec"]
    assert spec["selector"] is None and spec["strategy"] == {}
    assert spec["template"] == {"metadata": {}, "spec": {"containers": None}}
    assert "creationTimestamp" not in spec["template"]["metadata"]


def test_quantities_are_canonical_texts() -> None:
    requests = {"cpu": 0.5, "memory": "1024Mi", "a": 1, "b": "+3", "c": None}
    made = decoded("Pod", {"spec": {"containers": [{"resources": {"requests": requests}}]}})
    assert made["spec"]["containers"][0]["resources"]["requests"] == {
        "a": "1", "b": "+3", "c": "0", "cpu": "500m", "memory": "1Gi",
    }  # fmt: skip


def test_a_number_s_literal_text_counts_for_quantities() -> None:
    document = '{"spec":{"hard":{"a":1e3,"b":1000.0,"c":12E6,"d":5}}}'
    assert decoded("ResourceQuota", document)["spec"]["hard"] == {"a": "1e3", "b": "1k", "c": "12E6", "d": "5"}


def test_times_are_kept_in_utc_seconds_and_microseconds_in_six_digits() -> None:
    made = decoded(
        "Event", {"firstTimestamp": "2024-06-23T20:10:50.9+02:00", "eventTime": "2024-06-23T20:10:50.123456+02:00"}
    )
    assert made["firstTimestamp"] == "2024-06-23T18:10:50Z"
    assert made["eventTime"] == "2024-06-23T18:10:50.123456Z"
    assert decoded("Event", {"firstTimestamp": "0001-01-01T00:00:00Z"})["firstTimestamp"] is None


def test_base64_is_made_canonical() -> None:
    assert decoded("Secret", {"data": {"x": "AAEC\nAw==", "e": ""}})["data"] == {"e": "", "x": "AAECAw=="}


def test_int_or_string_takes_both() -> None:
    ports = [
        {"port": 1, "targetPort": "http"},
        {"port": 2, "targetPort": 80},
        {"port": 3, "targetPort": None},
        {"port": 4},
    ]
    made = decoded("Service", {"spec": {"ports": ports}})["spec"]["ports"]
    assert [port["targetPort"] for port in made] == ["http", 80, 0, 0]


def test_embedded_objects_are_kept_as_they_came() -> None:
    data = {"z": 1, "a": [None, {"k": {}}]}
    made = decoded("ControllerRevision", {"data": data, "revision": 1}, APPS)
    assert list(made["data"]) == ["z", "a"] and made["data"] == data


def test_schemas_of_definitions_are_schemas_booleans_or_lists() -> None:
    schema = {
        "type": "object",
        "properties": {
            "a": {"items": {"type": "string", "x": 1}, "default": {"b": 1.0, "a": []}},
            "b": {"additionalProperties": True},
            "c": {"additionalProperties": {"type": "integer", "maximum": 5.0}},
        },
    }
    versions = [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}]
    made = decoded("CustomResourceDefinition", {"spec": {"versions": versions}}, CRD)
    shown = made["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]
    assert dumps(shown) == (
        b'{"a":{"default":{"a":[],"b":1},"items":{"type":"string"}},"b":{"additionalProperties":true},'
        b'"c":{"additionalProperties":{"type":"integer","maximum":5}}}'
    )


def test_unknown_and_duplicate_fields_are_found_in_the_order_of_the_document() -> None:
    document = (
        '{"metadata":{"name":"a","name":"b","colour":1},"spec":{"contaners":[{"x":1}],"containers":[{"name":"c"},'
        '{"img":1,"name":"d","img":2}],"nodeSelector":{"a":"1","a":"2"}}}'
    )
    assert found("Pod", document) == [
        'duplicate field "metadata.name"',
        'unknown field "metadata.colour"',
        'unknown field "spec.contaners"',
        'unknown field "spec.containers[1].img"',
        'duplicate field "spec.nodeSelector.a"',
    ]


def test_names_are_quoted() -> None:
    document = r'{"metadata":{"a\"":1,"\u0001":2},"spec":{"nodeSelector":{"\\":"1","\\":"2"}}}'
    assert found("Pod", document) == [
        r'unknown field "metadata.a\""',
        r'unknown field "metadata.\x01"',
        r'duplicate field "spec.nodeSelector.\\"',
    ]


def test_a_member_that_comes_again_and_again_is_told_once_and_hides_nothing() -> None:
    members = ['"a":"x"'] * 1_000
    members[500], members[900], members[901] = '"b":"y"', '"b":"z"', '"c":""'
    document = '{"data":{%s}}'
    assert found("ConfigMap", document % ",".join(members)) == [
        'duplicate field "data.a"', 'duplicate field "data.b"'
    ]  # fmt: skip
    members[700] = '"a":1'
    assert refusal("ConfigMap", document % ",".join(members)) == refusal("ConfigMap", {"data": {"a": 1}})


def test_repeated_structs_are_merged_and_repeated_scalars_replaced() -> None:
    made = decoded("ConfigMap", '{"data":{"a":"1"},"data":{"b":"2"},"metadata":{"name":"x"},"metadata":{"uid":"u"}}')
    assert made == {"metadata": {"name": "x", "uid": "u"}, "data": {"a": "1", "b": "2"}}
    findings = Findings()
    schema = builtin_types().get(CORE, "ConfigMap")
    strict = decode_json(schema, b'{"data":{"a":"1"},"data":{"b":"2"},"metadata":{"name":"x","name":"y"}}', findings)
    assert strict == {"metadata": {"name": "y"}, "data": {"a": "1", "b": "2"}}
    assert findings.strict == ['duplicate field "data"', 'duplicate field "metadata.name"']


def test_no_more_than_a_hundred_findings_are_kept() -> None:
    document = "{" + ",".join(f'"x{number}":1' for number in range(150)) + "}"
    assert len(found("ConfigMap", document)) == 100


def test_pretty_documents_without_duplicates_have_no_findings() -> None:
    pretty = '{\n  "data" : { "a": "x\\":y", ":": ":" },\n "metadata": {"name": "b \\\\"} }'
    assert found("ConfigMap", pretty) == []
    assert found("ConfigMap", '{"data":{"a" :"1","a":"2"}}') == ['duplicate field "data.a"']


IN_SCHEMA = '{"spec":{"versions":[{"schema":{"openAPIV3Schema":%s}}]}}'
WRONG_TYPES = [
    ("Pod", "[]", "array into Go value of type v1.Pod"),
    ("ConfigMap", '{"metadata":"a"}', "string into Go struct field ConfigMap.metadata of type v1.ObjectMeta"),
    ("ConfigMap", '{"data":{"n":5}}', "number into Go struct field ConfigMap.data of type string"),
    ("ConfigMap", '{"data":["x"]}', "array into Go struct field ConfigMap.data of type map[string]string"),
    ("Pod", '{"spec":{"priority":2.0}}', "number 2.0 into Go struct field PodSpec.spec.priority of type int32"),
    ("Pod", '{"spec":{"priority":1e2}}', "number 1e2 into Go struct field PodSpec.spec.priority of type int32"),
    (
        "Pod",
        '{"spec":{"activeDeadlineSeconds":99999999999999999999}}',
        "number 99999999999999999999 into Go struct field PodSpec.spec.activeDeadlineSeconds of type int64",
    ),
    (
        "Pod",
        '{"spec":{"restartPolicy":1}}',
        "number into Go struct field PodSpec.spec.restartPolicy of type v1.RestartPolicy",
    ),
    (
        "Pod",
        '{"spec":{"volumes":[{"configMap":1}]}}',
        "number into Go struct field Volume.spec.volumes.VolumeSource.configMap of type v1.ConfigMapVolumeSource",
    ),
    (
        "Pod",
        '{"metadata":{"creationTimestamp":5}}',
        "number into Go struct field ObjectMeta.metadata.creationTimestamp of type string",
    ),
    ("Secret", '{"data":{"a":5}}', "number into Go struct field Secret.data of type []uint8"),
    (
        "CustomResourceDefinition",
        IN_SCHEMA % '{"items":{"type":5}}',
        "number into Go struct field JSONSchemaProps.spec.versions.schema.openAPIV3Schema.items.type of type string",
    ),
]


@pytest.mark.parametrize(("kind", "document", "message"), WRONG_TYPES)
def test_a_value_of_the_wrong_type_is_told_with_its_field(kind: str, document: str, message: str) -> None:
    package = CRD if kind == "CustomResourceDefinition" else CORE
    assert refusal(kind, document, package) == f"json: cannot unmarshal {message}"


def test_other_refusals_are_worded_like_the_original_s() -> None:
    base64 = {"AAE": 0, "AA=A": 2, "AA=": 3, "AAA=x": 4, "not base64!": 3, "-_8=": 0}
    for text, at in base64.items():
        assert refusal("Secret", {"data": {"a": text}}) == f"illegal base64 data at input byte {at}"
    wrong = IN_SCHEMA % '{"additionalProperties":5}'
    assert refusal("CustomResourceDefinition", wrong, CRD) == "boolean or JSON schema expected"


def test_the_first_wrong_type_counts_but_a_refused_text_beats_it() -> None:
    two = '{"spec":{"hostNetwork":1,"hostname":2}}'
    assert "hostNetwork of type bool" in refusal("Pod", two)
    late = '{"spec":{"hostNetwork":1},"metadata":{"creationTimestamp":"yesterday"}}'
    assert refusal("Pod", late).startswith('parsing time "yesterday"')


def test_a_parsed_value_decodes_without_its_document() -> None:
    decode = compile_decoder(builtin_types().get(CORE, "ConfigMap"))
    findings = Findings()
    assert decode({"data": {"a": "1"}, "nope": 1}, findings) == {"metadata": {}, "data": {"a": "1"}}
    assert findings.strict == ['unknown field "nope"']
    with pytest.raises(DecodeError, match=r"cannot unmarshal number into Go struct field ConfigMap\.data"):
        decode({"data": {"a": 1}}, Findings())


def test_schemas_nested_without_end_are_refused_not_crashed() -> None:
    deep = '{"spec":{"versions":[{"schema":{"openAPIV3Schema":' + '{"not":' * 3000 + "{}" + "}" * 3000 + "}}]}}"
    assert refusal("CustomResourceDefinition", deep, CRD)


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["", "1", "a", "yesterday", "AAAA", "2024-06-23T18:10:50Z"]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(
            ["metadata", "spec", "containers", "resources", "limits", "cpu", "name", "ports", "hostPort", "env",
             "labels", "creationTimestamp", "volumes", "emptyDir", "sizeLimit", "livenessProbe", "httpGet", "port", "x"]
        ),
        inner,
        max_size=4,
    ),
    max_leaves=25,
)  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(JSON_VALUES)
def test_any_document_is_decoded_or_refused_in_words(value: Any) -> None:
    schema = builtin_types().get(CORE, "Pod")
    data = dumps({"metadata": {}, "spec": value, "status": {}})
    findings = Findings()
    try:
        made = decode_json(schema, data, findings)
    except DecodeError as refused:
        assert not str(refused).startswith("cannot decode")
        return
    again = Findings()
    assert dumps(decode_json(schema, dumps(made), again)) == dumps(made)
    assert again.strict == []


@settings(max_examples=300, deadline=None)
@given(JSON_VALUES)
def test_what_does_not_fit_is_told_the_same_without_the_texts_of_numbers(value: Any) -> None:
    schema = builtin_types().get(CORE, "Pod")
    text = dumps({"spec": value, "status": {}})
    try:
        decode_json(schema, text)
    except DecodeError as refused:
        with pytest.raises(DecodeError) as exactly:  # for a member is there twice
            decode_json(schema, text[:-1] + b',"status":{}}')
        assert str(exactly.value) == str(refused)


@pytest.mark.parametrize(
    ("first", "then", "told"),
    [
        ('"name":1', '"image":2', "json: cannot unmarshal number into Go struct field Container.spec.containers.name"),
        ('"name":1', '"resources":{"limits":{"cpu":"x"}}', "quantities must match"),
        ('"name":1', '"env":[{"valueFrom":{"resourceFieldRef":{"divisor":"x"}}}]', "quantities must match"),
        ('"resources":{"limits":{"cpu":"x"}}', '"name":1', "quantities must match"),
        ('"name":1', '"x":2', "json: cannot unmarshal number into Go struct field Container.spec.containers.name"),
    ],
)
def test_behind_what_does_not_fit_only_what_ends_decoding_counts(first: str, then: str, told: str) -> None:
    document = f'{{"spec":{{"containers":[{{}},{{{first}}},{{{then}}}]}}}}'
    assert refusal("Pod", document).startswith(told)


# Types of these use an alias that the table of types does not resolve.
ALIASED = frozenset({"MutatingAdmissionPolicy", "MutatingWebhookConfiguration"})


def table_of_types() -> str:
    packed = (importlib.resources.files("pilothouse.builtin") / "data" / "types.tsv.gz").read_bytes()
    return gzip.decompress(packed).decode()


@pytest.mark.shared
@needs_shared
def test_filled_in_objects_of_every_kind_come_back_to_the_byte() -> None:
    types = builtin_types()
    packages = packages_by_kind(types, table_of_types())
    count = 0
    with tarfile.open(SHARED / "corpus" / "api-roundtrip-1.37.tar.gz") as archive:
        for member in archive:
            opened = archive.extractfile(member) if member.name.endswith(".json") else None
            if opened is None:
                continue
            data = opened.read()
            value = loads(data)
            schema = schema_of(types, packages, value) if value.get("kind", "x") not in {"x", *ALIASED} else None
            if schema is None:
                continue
            findings = Findings()
            assert dumps_pretty(decode_json(schema, data, findings)) == data.rstrip(b"\n"), member.name
            assert findings.strict == []
            count += 1
    assert count > 185


SUITES = ("admission", "authn", "core", "crds", "groups_misc", "groups_network", "groups_policy", "groups_storage",
          "objects", "reports", "reviews", "versions", "workloads")  # fmt: skip


@pytest.mark.shared
@needs_shared
def test_recorded_bodies_are_taken_or_refused_as_recorded() -> None:
    types = builtin_types()
    packages = packages_by_kind(types, table_of_types())
    compared = 0
    for sent in sent_bodies(*SUITES):
        schema = schema_of(types, packages, sent.value)
        if schema is None or schema.name in ALIASED:
            continue
        findings = Findings()
        try:
            decode_json(schema, sent.data, findings)
            wrong = ""
        except DecodeError as refused:
            wrong = str(refused)
        why = re.search(r"cannot be handled as a \w+: (.*)", sent.message, re.DOTALL)
        expected = why[1] if why and "unknown conversion" not in why[1] and "no kind" not in why[1] else ""
        if expected.startswith("strict decoding error"):
            wrong = f"strict decoding error: {', '.join(findings.strict)}"
        if "<time>" in expected:
            wrong = re.sub(r'time "[^"]*"', 'time "<time>"', wrong, count=1)
        assert (sent.case, wrong) == (sent.case, expected)
        if not wrong and sent.status < 300 and "fieldValidation=Ignore" not in sent.query:
            warned = re.findall(r'299 - "((?:unknown|duplicate) field (?:[^"\\]|\\.)*)"', sent.warning)
            assert (sent.case, findings.strict) == (sent.case, [text.replace('\\"', '"') for text in warned])
        compared += 1
    assert compared > 1000 and CONFORMANCE.is_dir()


def test_lists_that_are_longer_than_any_body_are_refused_before_they_are_made() -> None:
    with pytest.raises(APIError) as refused:
        decoded("Pod", '{"spec":{"containers":[' + "{}," * 200_000 + "{}]}}")
    assert refused.value.code == 413
    assert refusal("Pod", '{"spec":{"containers":"' + "x" * 200_000 + '"}}').startswith("json: cannot unmarshal string")
    assert len(decoded("Pod", '{"spec":{"containers":[' + "{}," * 20_000 + "{}]}}")["spec"]["containers"]) == 20_001


def test_many_members_are_sorted_as_few_are() -> None:
    data = {f"k{number * 7919 % 1000}": "x" for number in range(1000)}
    assert list(decoded("ConfigMap", {"data": data})["data"]) == sorted(data)
    assert decoded("ConfigMap", {"data": {**data, "none": None}})["data"]["none"] == ""
    assert "cannot unmarshal number" in refusal("ConfigMap", {"data": {**data, "one": 1}})


@pytest.mark.parametrize("kept", ["1m", 1.5, 7])
@pytest.mark.parametrize("wrong", ["x", "1K", [], True, ".5i"])
def test_one_wrong_quantity_among_many(kept: Any, wrong: Any) -> None:
    amounts = {f"k{number}": kept for number in range(300)}
    with pytest.raises(DecodeError) as few:
        decoded("ResourceQuota", {"spec": {"hard": {"a": wrong}}})
    with pytest.raises(DecodeError) as many:
        decoded("ResourceQuota", {"spec": {"hard": {**amounts, "a": wrong, "b": "1KK"}}})
    assert str(many.value) == str(few.value)


def test_long_maps_may_be_left_in_disorder() -> None:
    sent = {f"k{number}": "v" for number in range(20_000, 0, -1)}
    later: list[dict[str, Any]] = []
    schema = builtin_types().get(CORE, "ConfigMap")
    made = decode_parsed(schema, orjson.dumps({"data": sent}), {"data": dict(sent)}, None, later)
    assert later == [sent]
    assert list(made["data"]) == list(sent)
    assert list(decoded("ConfigMap", {"data": sent})["data"]) == sorted(sent)


@pytest.mark.parametrize("wrong", [{"key": 1}, {"key": "a", "mode": 2**40}, 5, {"keys": "b"}])
def test_one_wrong_object_among_many(wrong: Any) -> None:
    items: list[Any] = [{"key": f"k{number}", "path": "p"} for number in range(1000)]
    few = {"items": [items[0], wrong, {"key": True}]}
    many = {"items": [*items, wrong, {"key": True}, *items]}
    assert refusal("SecretVolumeSource", few) == refusal("SecretVolumeSource", many)
    unknown = orjson.dumps({"items": [*items, {"keys": "b"}, *items, {"b": 1}]}).decode()
    assert found("SecretVolumeSource", unknown) == ['unknown field "items[1000].keys"', 'unknown field "items[2001].b"']


@pytest.mark.parametrize(
    "wrong",
    [
        '{"key":"a","key":"b"}', '{"key":1,"key":"b"}', '{"key":"a","key":1}', '{"key":"a","x":1,"x":2}',
        '{"mode":1.5}', '{"key":"a","mode":1,"mode":2}',
    ],
)  # fmt: skip
def test_one_object_among_many_that_repeats_a_member(wrong: str) -> None:
    usual = '{"key":"k","path":"p"}'
    few = f'{{"items":[{usual},{wrong},{{"y":1}}]}}'
    many = f'{{"items":[{",".join([usual] * 999)},{usual},{wrong},{{"y":1}},{",".join([usual] * 999)}]}}'
    hidden = f'{{"items":[{usual},{wrong},{{"y":1}}],"items":[{",".join([usual] * 999)}],"items":[]}}'
    findings, many_findings = Findings(), Findings()
    schema = builtin_types().get(CORE, "SecretVolumeSource")
    answers = []
    for document, notes in ((few, findings), (many, many_findings), (hidden, Findings())):
        try:
            decode_json(schema, document.encode(), notes)
            answers.append("")
        except DecodeError as refused:
            answers.append(str(refused))
    assert answers[0] == answers[1] == answers[2]
    shifted = [text.replace("[1]", "[1000]").replace("[2]", "[1001]") for text in findings.strict]
    assert many_findings.strict == shifted or answers[0]


def test_what_is_in_a_member_that_does_not_count_is_told() -> None:
    usual = '{"key":"k","path":"p"}'
    document = f'{{"items":[{",".join([usual] * 500)},{{"x":1}}],"items":[{usual}]}}'
    assert found("SecretVolumeSource", document) == ['unknown field "items[500].x"', 'duplicate field "items"']
