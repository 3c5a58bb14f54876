"""Runtime classes."""

from writes import Kind

CLASSES = Kind("node.k8s.io", "runtimeclasses")


def test_the_handler_is_fixed():
    made, _ = CLASSES.create({"handler": "runc"})
    assert CLASSES.causes({"handler": "kata"}, made) == [("handler", "Invalid value: null: field is immutable")]


def test_overhead_is_judged_like_the_limits_of_a_container():
    assert CLASSES.causes({"handler": "runc", "overhead": {"podFixed": {"cpu": "-1"}}}) == [
        ("overhead.limits[cpu]", 'Invalid value: "-1": must be greater than or equal to 0')
    ]


def test_deprecated_node_labels_are_warned_about():
    _, warnings = CLASSES.create({"handler": "r", "scheduling": {"nodeSelector": {"beta.kubernetes.io/os": "linux"}}})
    assert warnings == ['scheduling.nodeSelector: deprecated since v1.14; use "kubernetes.io/os" instead']
