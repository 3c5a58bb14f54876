"""Flow schemas and priority levels."""

from writes import Kind

SCHEMAS = Kind("flowcontrol.apiserver.k8s.io", "flowschemas")
LEVELS = Kind("flowcontrol.apiserver.k8s.io", "prioritylevelconfigurations")
EVERYTHING = {
    "subjects": [{"kind": "Group", "group": {"name": "system:masters"}}],
    "resourceRules": [
        {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "clusterScope": True, "namespaces": ["*"]}
    ],
    "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
}
EXEMPT = {
    "metadata": {"name": "exempt"},
    "spec": {"matchingPrecedence": 1, "priorityLevelConfiguration": {"name": "exempt"}, "rules": [EVERYTHING]},
}


def queueing(**queuing):
    return {"spec": {"type": "Limited", "limited": {"limitResponse": {"type": "Queue", "queuing": queuing}}}}


def test_a_schema_is_in_the_middle_unless_it_says_otherwise():
    made, _ = SCHEMAS.create({"spec": {"priorityLevelConfiguration": {"name": "x"}}})
    assert made["spec"]["matchingPrecedence"] == 1000


def test_the_mandatory_schemas_are_as_they_must_be():
    made, _ = SCHEMAS.create(EXEMPT)
    [(field, message)] = SCHEMAS.causes({**EXEMPT, "spec": {**EXEMPT["spec"], "matchingPrecedence": 5}}, made)
    assert field == "spec"
    assert message.endswith("spec of 'exempt' must equal the fixed value")


def test_queues_are_filled_in():
    made, _ = LEVELS.create(queueing())
    limited = made["spec"]["limited"]
    assert limited["limitResponse"]["queuing"] == {"queues": 64, "handSize": 8, "queueLengthLimit": 50}
    assert (limited["nominalConcurrencyShares"], limited["lendablePercent"]) == (30, 0)


def test_hands_leave_something_of_the_deck():
    path = "spec.limited.limitResponse.queuing.handSize"
    assert LEVELS.causes(queueing(queues=4, handSize=5)) == [
        (path, "Invalid value: 5: should not be greater than queues (4)")
    ]
    assert LEVELS.causes(queueing(queues=512, handSize=8)) == [
        (path, "Invalid value: 8: required entropy bits of deckSize 512 and handSize 8 should not be greater than 60")
    ]


def test_only_the_level_of_that_name_is_exempt():
    assert LEVELS.causes({"spec": {"type": "Exempt"}}) == [
        ("spec.type", "Invalid value: \"Exempt\": must be 'Exempt' if and only if `name` is 'exempt'")
    ]
    made, _ = LEVELS.create({"metadata": {"name": "exempt"}, "spec": {"type": "Exempt", "exempt": {}}})
    assert made["spec"]["exempt"] == {"nominalConcurrencyShares": 0, "lendablePercent": 0}
