"""Claims, classes, slices and taints of devices."""

from devicebodies import CLAIMS, CLASSES, SLICES, TAINTS, allocation, claim, exact, offer


def test_a_request_is_for_one_device():
    made, _ = CLAIMS.create(claim(exact(), {"name": "s", "firstAvailable": [{"name": "x", "deviceClassName": "a"}]}))
    first, second = made["spec"]["devices"]["requests"]
    assert first["exactly"] == {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1}
    assert second["firstAvailable"][0]["count"] == 1


def test_all_devices_are_not_counted():
    assert CLAIMS.causes(claim(exact(allocationMode="All", count=2))) == [
        (
            "spec.devices.requests[0].exactly.count",
            "Invalid value: 2: must not be specified when allocationMode is 'All'",
        )
    ]


def test_constraints_speak_of_requests_that_are_there():
    constraint = {"requests": ["nobody"], "matchAttribute": "a.example.com/x"}
    [(field, _)] = CLAIMS.causes(claim(exact(), constraints=[constraint]))
    assert field == "spec.devices.constraints[0].requests[0]"


def test_a_claim_is_fixed_and_so_is_what_it_got():
    made, _ = CLAIMS.create(claim(exact()))
    assert CLAIMS.causes(claim(exact(count=2)), made) == [("spec", "Invalid value: null: field is immutable")]
    got, _ = CLAIMS.change(made, {"status": allocation()}, "status")
    assert CLAIMS.causes({**got, "status": allocation("gpu-1")}, got, "status") == [
        ("status.allocation", "Invalid value: null: field cannot be modified once set")
    ]


def test_nothing_is_reserved_before_it_is_allocated():
    made, _ = CLAIMS.create(claim(exact()))
    consumer = {"resource": "pods", "name": "p", "uid": "u"}
    assert CLAIMS.causes({**made, "status": {"reservedFor": [consumer]}}, made, "status") == [
        ("status.reservedFor", "Forbidden: may not be specified when `allocated` is not set")
    ]


def test_fields_behind_closed_gates_are_dropped():
    made, _ = CLAIMS.create(claim(exact(derivedAttributes=[{"name": "a.example.com/x", "expression": "1"}])))
    assert "derivedAttributes" not in made["spec"]["devices"]["requests"][0]["exactly"]
    made, _ = SLICES.create(offer(skipNodeOperations=["*"]))
    assert "skipNodeOperations" not in made["spec"]


def test_parameters_of_a_driver_are_an_object_of_any_kind():
    CLASSES.create({"spec": {"config": [{"opaque": {"driver": "d.example.com", "parameters": {"any": [1, 2.5]}}}]}})
    assert CLASSES.causes({"spec": {"config": [{"opaque": {"driver": "d.example.com", "parameters": [1]}}]}}) == [
        ("spec.config[0].opaque.parameters", 'Invalid value: "<value omitted>": must be a valid JSON object')
    ]


def test_devices_are_offered_in_one_place():
    body = offer(allNodes=True)
    [(field, message)] = SLICES.causes(body)
    assert field == "spec"
    assert message.startswith('Invalid value: "{`nodeName`, `allNodes`}": exactly one of')


def test_an_attribute_has_one_value():
    device = {"name": "a", "attributes": {"x": {"int": 1, "bool": True}}}
    [(field, message)] = SLICES.causes(offer(device))
    assert field == "spec.devices[0].attributes[x]"
    assert message.startswith('Invalid value: "{int, bool}": must specify exactly one of')


def test_shared_capacity_is_asked_for_in_steps():
    policy = {"default": "4", "validRange": {"min": "1", "max": "9", "step": "2"}}
    device = {
        "name": "a",
        "allowMultipleAllocations": True,
        "capacity": {"bw": {"value": "10", "requestPolicy": policy}},
    }
    assert SLICES.causes(offer(device)) == [
        (
            "spec.devices[0].capacity[bw].requestPolicy.validRange.step",
            'Invalid value: "4": value is not a multiple of a given step (2) from (1)',
        )
    ]


def test_taints_are_from_now_unless_they_say_since_when():
    made, _ = TAINTS.create({"spec": {"taint": {"key": "example.com/broken", "effect": "NoExecute"}}})
    assert made["spec"]["taint"]["timeAdded"] == "2026-11-29T12:00:00Z"
    old = "2020-01-01T00:00:00Z"
    made, _ = TAINTS.create({"spec": {"taint": {"key": "example.com/b", "effect": "None", "timeAdded": old}}})
    assert made["spec"]["taint"]["timeAdded"] == old
