"""Classes, drivers, attachments and capacities of storage."""

from writes import Kind

CLASSES = Kind("storage.k8s.io", "storageclasses")
DRIVERS = Kind("storage.k8s.io", "csidrivers")
NODES = Kind("storage.k8s.io", "csinodes")
CAPACITIES = Kind("storage.k8s.io", "csistoragecapacities")
ATTACHMENTS = Kind("storage.k8s.io", "volumeattachments")
ATTRIBUTES = Kind("storage.k8s.io", "volumeattributesclasses")
NULL_IMMUTABLE = "Invalid value: null: field is immutable"
ATTACHED = {"attacher": "d.example.com", "nodeName": "n", "source": {"persistentVolumeName": "v"}}


def test_a_class_deletes_its_volumes_and_binds_at_once_unless_it_says_otherwise():
    made, _ = CLASSES.create({"provisioner": "d.example.com"})
    assert (made["reclaimPolicy"], made["volumeBindingMode"]) == ("Delete", "Immediate")


def test_what_a_class_promises_is_fixed():
    made, _ = CLASSES.create({"provisioner": "d.example.com"})
    causes = CLASSES.causes({"provisioner": "e.example.com", "reclaimPolicy": "Retain"}, made)
    assert causes == [("provisioner", NULL_IMMUTABLE), ("reclaimPolicy", NULL_IMMUTABLE)]


def test_a_driver_without_a_spec_gets_eight_defaults():
    made, _ = DRIVERS.create({})
    assert made["spec"] == {
        "attachRequired": True,
        "podInfoOnMount": False,
        "storageCapacity": False,
        "fsGroupPolicy": "ReadWriteOnceWithFSType",
        "volumeLifecycleModes": ["Persistent"],
        "requiresRepublish": False,
        "seLinuxMount": False,
        "preventPodSchedulingIfMissing": False,
    }
    assert "generation" not in made["metadata"]


def test_defaults_are_not_shared_between_objects():
    first, _ = DRIVERS.create({})
    first["spec"]["volumeLifecycleModes"].append("Ephemeral")
    second, _ = DRIVERS.create({})
    assert second["spec"]["volumeLifecycleModes"] == ["Persistent"]


def test_tokens_outside_of_secrets_are_warned_about():
    _, warnings = DRIVERS.create({"spec": {"tokenRequests": [{"audience": "vault"}]}})
    assert warnings[0].startswith("spec.serviceAccountTokenInSecrets is unset")
    assert (
        DRIVERS.create({"spec": {"tokenRequests": [{"audience": "a"}], "serviceAccountTokenInSecrets": True}})[1] == []
    )


def test_a_driver_keeps_its_place_on_a_node_but_may_take_more_volumes():
    driver = {"name": "d.example.com", "nodeID": "i-1", "topologyKeys": ["zone"]}
    made, _ = NODES.create({"spec": {"drivers": [driver]}})
    NODES.update(made, {"spec": {"drivers": [{**driver, "allocatable": {"count": 3}}]}})
    [(field, message)] = NODES.causes({"spec": {"drivers": [{**driver, "nodeID": "i-2"}]}}, made)
    assert field == "spec.drivers"
    assert message == (
        'Invalid value: {"Name":"d.example.com","NodeID":"i-2","TopologyKeys":["zone"],"Allocatable":null}: '
        "field is immutable"
    )


def test_the_class_of_a_capacity_is_fixed_and_its_amount_is_not():
    made, _ = CAPACITIES.create({"storageClassName": "fast", "capacity": "1Gi"})
    CAPACITIES.change(made, {"capacity": "2Gi"})
    assert CAPACITIES.causes({"storageClassName": "slow"}, made) == [
        ("storageClassName", 'Invalid value: "slow": field is immutable')
    ]


def test_a_new_attachment_is_not_attached():
    made, _ = ATTACHMENTS.create({"spec": ATTACHED, "status": {"attached": True}})
    assert made["status"] == {"attached": False}
    assert ATTACHMENTS.causes({"spec": {**ATTACHED, "nodeName": "m"}}, made) == [("spec", NULL_IMMUTABLE)]


def test_attributes_classes_never_change():
    made, _ = ATTRIBUTES.create({"driverName": "d.example.com", "parameters": {"iops": "1"}})
    assert ATTRIBUTES.causes({"driverName": "d.example.com", "parameters": {"iops": "2"}}, made) == [
        ("parameters", "Forbidden: updates to parameters are forbidden.")
    ]
