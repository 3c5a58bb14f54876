"""Ingresses, classes, network policies, addresses and ranges: what is filled in, refused, and fixed."""

from writes import Kind

INGRESSES = Kind("networking.k8s.io", "ingresses")
CLASSES = Kind("networking.k8s.io", "ingressclasses")
POLICIES = Kind("networking.k8s.io", "networkpolicies")
ADDRESSES = Kind("networking.k8s.io", "ipaddresses")
RANGES = Kind("networking.k8s.io", "servicecidrs")
BACKEND = {"service": {"name": "shop", "port": {"number": 80}}}


def ingress(**spec):
    return {"spec": {"defaultBackend": BACKEND, **spec}}


def path(**fields):
    return ingress(rules=[{"http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": BACKEND, **fields}]}}])


def test_an_ingress_needs_somewhere_to_send_requests():
    assert INGRESSES.causes({"spec": {}}) == [
        ("spec", "Invalid value: null: either `defaultBackend` or `rules` must be specified")
    ]


def test_a_status_sent_with_a_new_ingress_is_dropped():
    made, warnings = INGRESSES.create({**ingress(), "status": {"loadBalancer": {"ingress": [{"ip": "192.0.2.1"}]}}})
    assert made["status"] == {"loadBalancer": {}}
    assert warnings == []


def test_exact_paths_are_absolute_and_plain():
    where = "spec.rules[0].http.paths[0].path"
    assert INGRESSES.causes(path(path="a")) == [(where, 'Invalid value: "a": must be an absolute path')]
    assert INGRESSES.causes(path(path="/a//b")) == [(where, "Invalid value: \"/a//b\": must not contain '//'")]
    INGRESSES.create(path(path="/a//b", pathType="ImplementationSpecific"))


def test_hosts_of_an_ingress_are_names():
    body = ingress(rules=[{"host": "10.0.0.1"}])
    where = "spec.rules[0].host"
    assert INGRESSES.causes(body) == [(where, 'Invalid value: "10.0.0.1": must be a DNS name, not an IP address')]


def test_an_uncanonical_address_of_a_load_balancer_is_warned_about_and_a_wrong_one_refused():
    made, _ = INGRESSES.create(ingress())
    good = {"status": {"loadBalancer": {"ingress": [{"ip": "2001:DB8::1"}]}}}
    _, warnings = INGRESSES.change(made, good, "status")
    where = "status.loadBalancer.ingress[0]"
    assert warnings == [f'{where}: IPv6 address "2001:DB8::1" should be in RFC 5952 canonical format ("2001:db8::1")']
    bad = {**made, "status": {"loadBalancer": {"ingress": [{"ip": "010.0.0.1"}]}}}
    assert INGRESSES.causes(bad, made, "status") == [
        ("status.loadBalancer.ingress[0].ip", 'Invalid value: "010.0.0.1": must not have leading 0s')
    ]


def test_an_address_that_was_let_in_once_stays():
    made, _ = INGRESSES.create(ingress())
    old = {**made, "status": {"loadBalancer": {"ingress": [{"ip": "010.0.0.1"}]}}}
    INGRESSES.update(old, {**old, "metadata": {**old["metadata"], "labels": {"a": "b"}}}, "status")


def test_the_controller_of_a_class_is_fixed_and_its_parameters_have_a_scope():
    parameters = {"kind": "Settings", "name": "s"}
    made, _ = CLASSES.create({"spec": {"controller": "example.com/c", "parameters": parameters}})
    assert made["spec"]["parameters"]["scope"] == "Cluster"
    body = {"spec": {"controller": "example.com/d"}}
    assert CLASSES.causes(body, made) == [("spec.controller", 'Invalid value: "example.com/d": field is immutable')]


def test_a_network_policy_with_egress_rules_has_both_types():
    made, _ = POLICIES.create({"spec": {"egress": [{"ports": [{"port": 53}]}]}})
    assert made["spec"]["policyTypes"] == ["Ingress", "Egress"]
    assert made["spec"]["egress"][0]["ports"] == [{"protocol": "TCP", "port": 53}]


def test_exceptions_lie_within_their_block():
    block = {"cidr": "10.0.0.0/8", "except": ["10.1.0.0/16", "11.0.0.0/16"]}
    assert POLICIES.causes({"spec": {"ingress": [{"from": [{"ipBlock": block}]}]}}) == [
        (
            "spec.ingress[0].from[0].ipBlock.except[1]",
            'Invalid value: "11.0.0.0/16": must be a strict subset of `cidr`',
        )
    ]


def test_an_address_is_named_by_its_canonical_form():
    parent = {"spec": {"parentRef": {"resource": "services", "name": "web"}}}
    ADDRESSES.create({**parent, "metadata": {"name": "2001:db8::1"}})
    assert ADDRESSES.causes({**parent, "metadata": {"name": "2001:DB8::1"}}) == [
        ("metadata.name", 'Invalid value: "2001:DB8::1": must be in canonical form ("2001:db8::1")')
    ]


def test_a_range_of_the_other_family_can_be_added_once():
    made, _ = RANGES.create({"spec": {"cidrs": ["10.0.0.0/24"]}})
    both, _ = RANGES.change(made, {"spec": {"cidrs": ["10.0.0.0/24", "fd00::/112"]}})
    assert RANGES.causes({"spec": {"cidrs": ["10.0.0.0/24"]}}, both) == [
        ("spec.cidrs", 'Invalid value: ["10.0.0.0/24"]: field is immutable')
    ]
