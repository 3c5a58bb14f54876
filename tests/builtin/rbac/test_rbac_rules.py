"""Roles and bindings."""

from writes import Kind

ROLES = Kind("rbac.authorization.k8s.io", "roles")
CLUSTER_ROLES = Kind("rbac.authorization.k8s.io", "clusterroles")
BINDINGS = Kind("rbac.authorization.k8s.io", "rolebindings")
CLUSTER_BINDINGS = Kind("rbac.authorization.k8s.io", "clusterrolebindings")
GROUP = "rbac.authorization.k8s.io"


def test_groups_are_filled_in_for_roles_and_users_but_not_for_accounts():
    subjects = [{"kind": "User", "name": "ann"}, {"kind": "ServiceAccount", "name": "s", "namespace": "n"}]
    made, _ = BINDINGS.create({"roleRef": {"kind": "Role", "name": "r"}, "subjects": subjects})
    assert made["roleRef"] == {"apiGroup": GROUP, "kind": "Role", "name": "r"}
    assert [one.get("apiGroup") for one in made["subjects"]] == [GROUP, None]


def test_the_role_of_a_binding_is_fixed():
    made, _ = BINDINGS.create({"roleRef": {"kind": "Role", "name": "r"}})
    assert BINDINGS.causes({"roleRef": {"kind": "ClusterRole", "name": "r"}}, made) == [
        ("roleRef", f'Invalid value: {{"APIGroup":"{GROUP}","Kind":"ClusterRole","Name":"r"}}: field is immutable')
    ]


def test_a_cluster_binding_binds_cluster_roles_and_names_the_namespace_of_accounts():
    body = {"roleRef": {"kind": "Role", "name": "r"}, "subjects": [{"kind": "ServiceAccount", "name": "s"}]}
    assert CLUSTER_BINDINGS.causes(body) == [
        ("roleRef.kind", 'Unsupported value: "Role": supported values: "ClusterRole"'),
        ("subjects[0].namespace", "Required value"),
    ]


def test_roles_in_a_namespace_have_no_say_about_paths():
    rules = [{"nonResourceURLs": ["/healthz"], "verbs": ["get"]}]
    CLUSTER_ROLES.create({"rules": rules})
    assert ROLES.causes({"rules": rules}) == [
        ("rules[0].nonResourceURLs", 'Invalid value: ["/healthz"]: namespaced rules cannot apply to non-resource URLs')
    ]


def test_missing_verbs_are_told_after_everything_else():
    causes = ROLES.causes({"rules": [{"apiGroups": [""], "resources": ["pods"]}, {}]})
    assert [field for field, _ in causes] == [
        "rules[1].apiGroups",
        "rules[1].resources",
        "rules[0].verbs",
        "rules[1].verbs",
    ]
