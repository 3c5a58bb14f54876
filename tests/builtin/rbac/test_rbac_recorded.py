"""The recorded writes of the group's kinds, replayed without a server. Steps named are decided elsewhere: by
admission, or by what a decoded object no longer tells (an empty list from none).
"""

from writes import replayed

test_writes_are_answered_as_recorded = replayed(
    "clusterrolebindings clusterroles rolebindings roles",
    [
        ("rbac", "role-in-one-namespace"),
        ("rbac", "cluster-role-binding"),
        ("rbac", "bindings-to-groups-and-accounts"),
        ("rbac", "binding-to-a-missing-role"),
        ("rbac", "role-with-more-than-one-has"),
        ("rbac", "update-of-a-role-one-does-not-hold"),
        ("rbac", "escalate-verb"),
        ("rbac", "binding-more-than-one-has"),
        ("rbac", "bind-verb"),
        ("rbac", "role-ref-cannot-change"),
        ("rbac", "invalid-bindings"),
        ("rbac", "invalid-roles"),
        ("rbac", "bindings-of-the-default-groups"),
        ("rbac", "cluster-role-aggregation-is-stored"),
        ("rbac", "aggregation-needs-everything"),
        ("groups_policy", "role-basic"),
        ("groups_policy", "role-invalid"),
        ("groups_policy", "clusterrole-basic"),
        ("groups_policy", "rolebinding-defaults"),
        ("groups_policy", "rolebinding-invalid"),
        ("groups_policy", "rolebinding-immutable-ref"),
        ("objects", "bad-names"),
    ],
)
