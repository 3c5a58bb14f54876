"""Which names a definition gets, by itself."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from pilothouse.extensions.definition import Names, by_preference, parse
from pilothouse.extensions.naming import Taken, condition, established, named, taken_by

NOW = datetime(2030, 1, 2, tzinfo=UTC)
FREE = Taken(frozenset(), frozenset())


def definition(group: str = "farm.example.com", **names: Any) -> dict[str, Any]:
    wanted = {"plural": "ducks", "singular": "duck", "kind": "Duck", "listKind": "DuckList", **names}
    versions = [{"name": "v1", "served": True, "storage": True}]
    return {
        "metadata": {"name": f"ducks.{group}"},
        "spec": {"group": group, "scope": "Namespaced", "names": wanted, "versions": versions},
    }


def accepted(obj: dict[str, Any], taken: Taken = FREE) -> dict[str, Any]:
    return {**obj, "status": named(obj, taken, NOW) or obj.get("status")}


def shown(obj: dict[str, Any], kind: str) -> tuple[str, str]:
    found = condition(obj["status"]["conditions"], kind) or {}
    return found["status"], found["reason"]


def test_free_names_are_given_then_the_definition_is_established() -> None:
    made = accepted(definition())
    assert made["status"]["acceptedNames"]["kind"] == "Duck"
    assert shown(made, "Established") == ("False", "Installing")
    done = {**made, "status": established(made, NOW)}
    assert shown(done, "Established") == ("True", "InitialNamesAccepted")
    assert established(done, NOW) is None
    assert named(done, FREE, NOW) is None


@pytest.mark.parametrize(
    ("taken", "reason", "given"),
    [
        (Taken(frozenset({"duck"}), frozenset()), "SingularConflict", {"plural", "kind", "listKind"}),
        (Taken(frozenset(), frozenset({"Duck"})), "KindConflict", {"plural", "singular", "kind", "listKind"}),
        (Taken(frozenset({"duck"}), frozenset({"DuckList"})), "ListKindConflict", {"plural", "kind"}),
    ],
)
def test_a_taken_name_is_not_given_and_the_last_clash_is_told(taken: Taken, reason: str, given: set[str]) -> None:
    made = accepted(definition(), taken)
    assert shown(made, "NamesAccepted") == ("False", reason)
    assert shown(made, "Established") == ("False", "NotAccepted")
    assert set(made["status"]["acceptedNames"]) == given


def test_established_names_stay_when_new_ones_are_taken() -> None:
    made = accepted(definition(shortNames=["dk"]))
    made["status"] = established(made, NOW)
    made["spec"]["names"]["shortNames"] = ["gs", "dk"]
    after = accepted(made, Taken(frozenset({"gs"}), frozenset()))
    assert after["status"]["acceptedNames"]["shortNames"] == ["dk"]
    assert shown(after, "Established")[0] == "True"


def test_groups_of_the_project_tell_whether_they_were_approved() -> None:
    made = definition("farm.k8s.io")
    assert shown(accepted(made), "KubernetesAPIApprovalPolicyConformant") == ("False", "MissingAnnotation")
    made["metadata"]["annotations"] = {"api-approved.kubernetes.io": "https://example.com/1"}
    assert shown(accepted(made), "KubernetesAPIApprovalPolicyConformant") == ("True", "ApprovedAnnotation")


def test_a_bundle_that_holds_no_certificates_is_not_established() -> None:
    made = definition()
    config = {"url": "https://127.0.0.1/", "caBundle": "bm9uZQ=="}
    made["spec"]["conversion"] = {"strategy": "Webhook", "webhook": {"clientConfig": config}}
    made = accepted(made)
    after = {**made, "status": established(made, NOW)}
    assert shown(after, "Established") == ("False", "InvalidCABundle")
    assert named(after, FREE, NOW) is None
    assert established(after, NOW) is None


def test_names_are_taken_by_kinds_and_by_resources() -> None:
    taken = taken_by([Names("geese", "goose", "Goose", "Gaggle", ("gs",)), Names()])
    assert taken == Taken(frozenset({"geese", "goose", "gs"}), frozenset({"Goose", "Gaggle"}))


def test_versions_stand_in_the_order_of_their_maturity() -> None:
    made = definition()
    order = ["v1beta1", "foo10", "v2alpha1", "v10", "v2", "foo1"]
    made["spec"]["versions"] = [{"name": name, "served": True} for name in order]
    found = [version.name for version in by_preference(parse(made).versions)]
    assert found == ["v10", "v2", "v1beta1", "v2alpha1", "foo1", "foo10"]
