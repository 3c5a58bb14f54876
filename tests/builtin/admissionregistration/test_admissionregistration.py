"""Webhook configurations, admission policies and their bindings."""

from writes import Kind

GROUP = "admissionregistration.k8s.io"
VALIDATING = Kind(GROUP, "validatingwebhookconfigurations")
MUTATING = Kind(GROUP, "mutatingwebhookconfigurations")
POLICIES = Kind(GROUP, "validatingadmissionpolicies")
CHANGES = Kind(GROUP, "mutatingadmissionpolicies")
BINDINGS = Kind(GROUP, "validatingadmissionpolicybindings")
RULE = {"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]}


def hooks(**fields):
    client = {"service": {"namespace": "n", "name": "s"}}
    usual = {"name": "a.example.com", "clientConfig": client, "sideEffects": "None", "admissionReviewVersions": ["v1"]}
    return {"webhooks": [{**usual, **fields}]}


def policy(**spec):
    return {"spec": {"matchConstraints": {"resourceRules": [RULE]}, "validations": [{"expression": "true"}], **spec}}


def test_a_webhook_is_strict_and_patient_unless_it_says_otherwise():
    made, _ = MUTATING.create(hooks(rules=[RULE]))
    [webhook] = made["webhooks"]
    assert webhook["clientConfig"]["service"]["port"] == 443
    assert webhook["rules"][0]["scope"] == "*"
    names = ("failurePolicy", "matchPolicy", "timeoutSeconds", "reinvocationPolicy", "namespaceSelector")
    assert [webhook[name] for name in names] == ["Fail", "Equivalent", 10, "Never", {}]


def test_a_webhook_is_reached_in_one_way_and_safely():
    where = "webhooks[0].clientConfig"
    both = {"url": "https://localhost/", "service": {"namespace": "n", "name": "s"}}
    assert VALIDATING.causes(hooks(clientConfig=both)) == [
        (where, "Required value: exactly one of url or service is required")
    ]
    assert VALIDATING.causes(hooks(clientConfig={"url": "http://localhost/"})) == [
        (
            f"{where}.url",
            "Invalid value: \"http\": 'https' is the only allowed URL scheme; desired format: https://host[/path]",
        )
    ]


def test_a_wildcard_stands_alone():
    body = hooks(rules=[{**RULE, "apiGroups": ["*", "apps"]}])
    assert VALIDATING.causes(body) == [
        (
            "webhooks[0].rules[0].apiGroups",
            'Invalid value: ["*","apps"]: if \'*\' is present, must not specify other API groups',
        )
    ]


def test_names_of_configurations_in_files_are_not_for_the_api():
    [(field, message)] = VALIDATING.causes({"metadata": {"name": "a.static.k8s.io"}})
    assert field == "metadata.name"
    assert "reserved for static manifest-based configurations" in message


def test_a_policy_says_what_it_is_about_and_what_must_hold():
    made, _ = POLICIES.create(policy())
    assert made["spec"]["failurePolicy"] == "Fail"
    assert made["spec"]["matchConstraints"]["matchPolicy"] == "Equivalent"
    fields = [field for field, _ in POLICIES.causes({"spec": {}})]
    assert fields == ["spec.matchConstraints", "spec.validations", "spec.auditAnnotations"]


def test_what_is_deleted_cannot_be_changed():
    expression = "[JSONPatch{op: 'remove', path: '/data'}]"
    mutation = {"patchType": "JSONPatch", "jsonPatch": {"expression": expression}}
    rules = {"matchConstraints": {"resourceRules": [{**RULE, "operations": ["DELETE"]}]}}
    body = {"spec": {**rules, "mutations": [mutation], "reinvocationPolicy": "Never"}}
    assert CHANGES.causes(body) == [
        (
            "spec.matchConstraints.resourceRules.operations",
            'Unsupported value: "DELETE": supported values: "*", "CONNECT", "CREATE", "UPDATE"',
        )
    ]


def test_a_failure_is_not_told_twice():
    [(field, message)] = BINDINGS.causes({"spec": {"policyName": "p", "validationActions": ["Deny", "Warn"]}})
    assert field == "spec.validationActions"
    assert "must not contain both Deny and Warn" in message
