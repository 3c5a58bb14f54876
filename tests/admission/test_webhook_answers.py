"""Answers of webhooks are read strictly, and rules say exactly which writes they take."""

from __future__ import annotations

import base64
from typing import Any

import orjson
import pytest

from pilothouse.admission.criteria import Criteria, Kind
from pilothouse.admission.forms import Form
from pilothouse.admission.webhooks.answer import BadAnswer, Verdict, refusal, verdict
from pilothouse.admission.webhooks.patching import operations_of
from pilothouse.builtin.types import builtin_types
from pilothouse.machinery.errors import APIError
from pilothouse.machinery.patch.jsonpatch import PatchFailed, carried_out

SCHEMAS = {
    version: builtin_types().get(f"k8s.io/api/admission/{version}", "AdmissionReview") for version in ("v1", "v1beta1")
}
UID = "u"
PATCH = base64.b64encode(b'[{"op": "add", "path": "/a", "value": 1}]').decode()


def read(response: Any, *, mutating: bool = False, version: str = "v1", **more: Any) -> Verdict:
    review = {"apiVersion": f"admission.k8s.io/{version}", "kind": "AdmissionReview", "response": response, **more}
    return verdict(orjson.dumps(review), UID, version, SCHEMAS, mutating=mutating)


def wrong(response: Any, **more: Any) -> str:
    with pytest.raises(BadAnswer) as caught:
        read(response, **more)
    return str(caught.value)


def test_a_yes_is_a_yes() -> None:
    found = read({"uid": UID, "allowed": True, "warnings": ["w"], "auditAnnotations": {"k": "v"}})
    assert found.allowed
    assert (found.warnings, found.annotations) == (["w"], {"k": "v"})
    assert not read({"uid": UID}).allowed  # what is not said is a no


@pytest.mark.parametrize(
    ("response", "more", "why"),
    [
        ({"uid": "other", "allowed": True}, {}, 'expected response.uid="u", got "other"'),
        (
            {"uid": UID, "allowed": True},
            {"kind": "", "apiVersion": ""},
            "expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got /, Kind=",
        ),
        ({"uid": UID, "allowed": True, "patch": PATCH}, {}, "validating webhook may not return response.patch"),
        ({"uid": UID, "patchType": "JSONPatch"}, {}, "validating webhook may not return response.patchType"),
        (
            {"uid": UID, "patch": PATCH},
            {"mutating": True},
            "webhook returned response.patch but not response.patchType",
        ),
        (
            {"uid": UID, "patch": PATCH, "patchType": ""},
            {"mutating": True},
            'webhook returned invalid response.patchType of ""',
        ),
    ],
)
def test_answers_that_do_not_fit(response: Any, more: dict[str, Any], why: str) -> None:
    assert wrong(response, **more) == f"received invalid webhook response: {why}"


def test_other_documents_are_no_answers() -> None:
    assert wrong({"uid": UID}, kind="Pod", apiVersion="v1").startswith(
        'failed to call webhook: no kind "Pod" is registered for version "v1"'
    )
    assert "json: cannot unmarshal" in wrong({"uid": UID, "allowed": "yes"})
    for data in (b"", b"[]", b"null", b"{", b'"text"', b"\xff", b"- a\n- b"):
        with pytest.raises(BadAnswer):
            verdict(data, UID, "v1", SCHEMAS, mutating=False)


def test_the_old_version_is_read_as_it_always_was() -> None:
    found = read({"allowed": True, "patch": PATCH}, version="v1beta1", mutating=True)
    assert (found.allowed, found.patch_type) == (True, "JSONPatch")


def test_a_refusal_is_never_told_as_a_success() -> None:
    told = refusal("h", {"code": 200, "status": "Success", "message": "m"})
    assert (told.code, told.status()["status"]) == (400, "Failure")
    assert refusal("h", {"code": 100_000}).code == 999


def form(version: str = "v1", group: str = "apps", plural: str = "deployments") -> Form:
    return Form(group, version, plural, "Deployment", f"{group}/{version}")


@pytest.mark.parametrize(
    ("resources", "subresource", "taken"),
    [
        (["deployments"], "", True),
        (["deployments"], "scale", False),
        (["deployments/scale"], "scale", True),
        (["deployments/scale"], "", False),
        (["deployments/*"], "", True),  # as the original takes it
        (["deployments/*"], "status", True),
        (["*"], "", True),
        (["*"], "status", False),
        (["*/status"], "status", True),
        (["*/*"], "scale", True),
        (["pods", "*/scale"], "scale", True),
        (["pods"], "", False),
        ([], "", False),
    ],
)
def test_resources_and_subresources(resources: list[str], subresource: str, taken: bool) -> None:
    rule = {"operations": ["*"], "apiGroups": ["apps"], "apiVersions": ["v1"], "resources": resources}
    kind = Kind("UPDATE", form(), (), subresource, True)
    assert (Criteria({}, [rule]).form(kind) is not None) == taken


def test_equal_forms_are_taken_unless_only_exact_ones_are_wanted() -> None:
    rule = {"operations": ["CREATE"], "apiGroups": ["apps"], "apiVersions": ["v1"], "resources": ["*"]}
    kind = Kind("CREATE", form("v2"), (form("v1"),), "", True)
    assert Criteria({}, [rule]).form(kind) == form("v1")
    assert Criteria({"matchPolicy": "Exact"}, [rule]).form(kind) is None
    assert Criteria({}, [rule]).form(Kind("UPDATE", form("v1"), (), "", True)) is None


@pytest.mark.parametrize(("scope", "namespaced"), [("Cluster", False), ("Namespaced", True)])
def test_scope(scope: str, namespaced: bool) -> None:
    rule = {
        "operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*"], "scope": scope,
    }  # fmt: skip
    takes = Criteria({}, [rule]).form
    assert takes(Kind("CREATE", form(), (), "", namespaced)) is not None
    assert takes(Kind("CREATE", form(), (), "", not namespaced)) is None


@pytest.mark.parametrize(
    ("operation", "why"),
    [
        ({"op": "test", "path": "/a", "value": 2}, "testing value /a failed: test failed"),
        (
            {"op": "add", "path": "/x/y", "value": 1},
            'add operation does not apply: doc is missing path: "/x/y": missing value',
        ),
        (
            {"op": "remove", "path": "/x"},
            "error in remove for path: '/x': Unable to remove nonexistent key: x: missing value",
        ),
        ({"op": "jump", "path": "/x"}, "Unexpected kind: jump"),
    ],
)
def test_what_a_patch_says_that_cannot_be_carried_out(operation: dict[str, Any], why: str) -> None:
    with pytest.raises(PatchFailed) as caught:
        carried_out([operation], {"a": 1})
    assert str(caught.value) == why


def test_the_tests_of_a_patch_compare_how_values_are_written() -> None:
    patch = rb'[{"op":"add","path":"/b","value":"\u0041"},{"op":"test","path":"/a","value":%b}]'
    made = carried_out(operations_of(patch % rb'"\u003c"'), {"a": "<"})
    assert made == {"a": "<", "b": "A"}
    assert type(made["b"]) is str
    with pytest.raises(PatchFailed):
        carried_out(operations_of(patch % b'"<"'), {"a": "<"})


def test_what_cannot_be_read_takes_nothing_silently() -> None:
    """An object from a store that was written elsewhere."""
    criteria = Criteria({"objectSelector": {"matchExpressions": [{"key": "a", "operator": "Near"}]}}, [])
    with pytest.raises(APIError) as caught:
        criteria.selects(None, None)  # type: ignore[arg-type]
    assert caught.value.code == 500
