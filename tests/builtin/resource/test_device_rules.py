"""How many devices, claims and words of them there may be, and what drivers say of what was allocated."""

from devicebodies import CLAIMS, CLASSES, SLICES, allocation, claim, exact, offer
from writes import Kind

TEMPLATES = Kind("resource.k8s.io", "resourceclaimtemplates")
TAINT = {"key": "k", "effect": "NoSchedule"}
UID = "11111111-1111-1111-1111-111111111111"


def allocated(**status):
    """A claim that has a device, with more in its status."""
    made, _ = CLAIMS.create(claim(exact()))
    got, _ = CLAIMS.change(made, {"status": allocation()}, "status")
    return got, {**got, "status": {**got["status"], **status}}


def device(**fields):
    return {"driver": "d.example.com", "pool": "p", "device": "gpu-0", **fields}


def test_a_slice_has_fewer_devices_once_one_is_tainted():
    devices = [{"name": f"d-{number}"} for number in range(65)]
    made, _ = SLICES.create(offer(*devices))
    assert len(made["spec"]["devices"]) == 65
    assert SLICES.causes(offer({**devices[0], "taints": [TAINT]}, *devices[1:])) == [
        ("spec.devices", "Too many: 65: must have at most 64 items")
    ]


def test_a_device_has_so_many_properties():
    attributes = {f"a{number}": {"int": 1} for number in range(30)}
    capacity = {f"c{number}": {"value": "1"} for number in range(3)}
    assert SLICES.causes(offer({"name": "d", "attributes": attributes, "capacity": capacity})) == [
        ("spec.devices[0]", "Invalid value: 33: the total number of attributes and capacities must not exceed 32")
    ]


def test_a_device_has_so_many_taints():
    assert SLICES.causes(offer({"name": "d", "taints": [TAINT] * 17})) == [
        ("spec.devices[0].taints", "Too many: 17: must have at most 16 items")
    ]


def test_conditions_of_binding_and_of_its_failure_are_others_however_many():
    wanted, failed = [f"w{number}" for number in range(50_000)], [f"f{number}" for number in range(50_000)]
    path = "spec.devices[0].bindingFailureConditions"
    too_many = "Too many: 50000: must have at most 4 items"
    causes = SLICES.causes(offer({"name": "d", "bindingConditions": wanted, "bindingFailureConditions": failed}))
    assert causes == [("spec.devices[0].bindingConditions", too_many), (path, too_many)]
    failed[40_000:] = ["f0", "w7", "w 8"]
    causes = SLICES.causes(offer({"name": "d", "bindingConditions": wanted, "bindingFailureConditions": failed}))
    overlaps = 'Invalid value: "w7": bindingFailureConditions must not overlap with bindingConditions'
    assert causes[2:4] == [(f"{path}[40000]", 'Duplicate value: "f0"'), (f"{path}[40001]", overlaps)]
    assert [told for told, _ in causes[4:]] == [f"{path}[40002]"]


def test_a_device_consumes_of_two_sets_of_counters():
    counters = {"m": {"value": "1"}}
    consumed = [{"counterSet": name, "counters": counters} for name in ("a", "b", "c")]
    assert SLICES.causes(offer({"name": "d", "consumesCounters": consumed})) == [
        ("spec.devices[0].consumesCounters", "Too many: 3: must have at most 2 items")
    ]
    [(field, _)] = SLICES.causes(offer({"name": "d", "consumesCounters": [consumed[0], consumed[0]]}))
    assert field == "spec.devices[0].consumesCounters[1]"


def test_a_device_says_itself_where_it_is_if_the_slice_leaves_that_to_it():
    body = offer(
        {"name": "a", "nodeName": ""},
        {"name": "b", "nodeName": "n", "allNodes": True},
        {"name": "c", "allNodes": True},
        perDeviceNodeSelection=True,
    )
    del body["spec"]["nodeName"]
    first, second, third = SLICES.causes(body)
    assert first == ("spec.devices[0].nodeName", 'Invalid value: "": must not be empty')
    assert second[0] == "spec.devices[0]"
    assert third[0] == "spec.devices[1]"
    assert third[1].startswith('Invalid value: "{`nodeName`, `allNodes`}": exactly one of ')


def test_parameters_are_of_no_great_size():
    config = [{"opaque": {"driver": "d.example.com", "parameters": {"a": "x" * 10240}}}]
    assert CLAIMS.causes(claim(exact(), config=config)) == [
        ("spec.devices.config[0].opaque.parameters", "Too long: may not be more than 10240 bytes")
    ]


def test_choices_are_so_many():
    selectors = [{"cel": {"expression": "true"}}] * 33
    text = "Too many: 33: must have at most 32 items"
    assert CLAIMS.causes(claim(exact(selectors=selectors))) == [("spec.devices.requests[0].exactly.selectors", text)]
    assert CLASSES.causes({"spec": {"selectors": selectors}}) == [("spec.selectors", text)]


def test_a_configuration_names_a_request_once():
    config = [{"requests": ["r", "r"], "opaque": {"driver": "d.example.com", "parameters": {}}}]
    assert CLAIMS.causes(claim(exact(), config=config)) == [
        ("spec.devices.config[0].requests[1]", 'Duplicate value: "r"')
    ]


def test_a_template_gives_labels_and_annotations_alone():
    spec = {"metadata": {"name": "x", "labels": {"a": "b c"}}, **claim(exact())}
    assert [field for field, _ in TEMPLATES.causes({"spec": spec})] == ["spec.metadata.labels", "spec.metadata.name"]


def test_a_driver_tells_of_an_allocated_device_once():
    old, new = allocated(devices=[device(), device()])
    [(field, message)] = CLAIMS.causes(new, old, "status")
    assert (field, message.split(":")[0]) == ("status.devices[1]", "Duplicate value")


def test_what_a_driver_tells_has_bounds():
    condition = {"status": "True", "reason": "R", "message": "", "lastTransitionTime": "2024-01-01T00:00:00Z"}
    conditions = [{"type": f"T{number}", **condition} for number in range(9)]
    old, new = allocated(devices=[device(conditions=conditions, data=[1])])
    assert CLAIMS.causes(new, old, "status") == [
        ("status.devices[0].conditions", "Too many: 9: must have at most 8 items"),
        ("status.devices[0].data", 'Invalid value: "<value omitted>": must be a valid JSON object'),
    ]


def test_nobody_more_reserves_a_claim_that_is_being_deleted():
    old, new = allocated(reservedFor=[{"resource": "pods", "name": "p", "uid": UID}])
    for one in (old, new):
        one["metadata"] = {**one["metadata"], "deletionTimestamp": "2024-01-01T00:00:00Z", "finalizers": ["a.b/c"]}
    assert CLAIMS.causes(new, old, "status") == [
        (
            "status.reservedFor",
            "Forbidden: new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set",
        )
    ]


def test_an_allocation_names_requests_and_shares_well():
    made, _ = CLAIMS.create(claim(exact()))
    status = allocation()
    status["allocation"]["devices"]["results"][0].update(request="R", shareID="mine")
    found = CLAIMS.causes({**made, "status": status}, made, "status")
    path = "status.allocation.devices.results[0]"
    assert [field for field, _ in found] == [f"{path}.request", f"{path}.request", f"{path}.shareID"]


def test_another_effect_of_a_rule_is_there_since_now():
    rules = Kind("resource.k8s.io", "devicetaintrules")
    long_ago = "2020-01-01T00:00:00Z"
    spec = {"deviceSelector": {"driver": "d.example.com"}, "taint": {**TAINT, "timeAdded": long_ago}}
    made, _ = rules.create({"metadata": {"name": "a"}, "spec": spec})

    def since(**taint):
        changed, _ = rules.change(made, {"spec": {"taint": taint}})
        return changed["spec"]["taint"]["timeAdded"]

    assert since(value="x") == long_ago
    assert since(effect="NoExecute") > long_ago
    assert since(effect="NoExecute", timeAdded="2021-01-01T00:00:00Z") == "2021-01-01T00:00:00Z"
