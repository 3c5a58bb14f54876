"""Priority classes."""

from writes import Kind

PRIORITIES = Kind("scheduling.k8s.io", "priorityclasses")


def test_a_class_preempts_unless_it_says_otherwise():
    made, _ = PRIORITIES.create({"value": 5})
    assert made["preemptionPolicy"] == "PreemptLowerPriority"


def test_names_of_the_system_belong_to_the_systems_own_classes():
    PRIORITIES.create({"metadata": {"name": "system-node-critical"}, "value": 2000001000})
    [(field, message)] = PRIORITIES.causes({"metadata": {"name": "system-node-critical"}, "value": 5})
    assert field == "metadata.name"
    assert message.endswith("error: value of system-node-critical PriorityClass must be 2000001000")


def test_users_cannot_be_as_important_as_the_system():
    assert PRIORITIES.causes({"value": 1000000001}) == [
        ("value", "Forbidden: maximum allowed value of a user defined priority is 1000000000")
    ]


def test_the_value_is_fixed():
    made, _ = PRIORITIES.create({"value": 5})
    assert PRIORITIES.causes({"value": 6}, made) == [("value", "Forbidden: may not be changed in an update.")]
