"""Endpoint slices: addresses by family, ports, what raises the generation."""

from writes import Kind

SLICES = Kind("discovery.k8s.io", "endpointslices")


def slice_of(*addresses, kind="IPv4", **fields):
    return {"addressType": kind, "endpoints": [{"addresses": list(addresses)}], **fields}


def test_ports_get_an_empty_name_and_tcp():
    made, _ = SLICES.create(slice_of("192.0.2.1", ports=[{"port": 80}]))
    assert made["ports"] == [{"name": "", "protocol": "TCP", "port": 80}]


def test_addresses_are_of_the_slices_family_and_reachable():
    assert SLICES.causes(slice_of("2001:db8::1")) == [
        ("endpoints[0].addresses", 'Invalid value: "2001:db8::1": must be an IPv4 address')
    ]
    assert [message for _, message in SLICES.causes(slice_of("127.0.0.1", "0.0.0.0"))] == [
        'Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)',
        'Invalid value: "0.0.0.0": may not be unspecified (0.0.0.0)',
    ]


def test_names_are_deprecated():
    _, warnings = SLICES.create(slice_of("db.example.com", kind="FQDN"))
    assert warnings == ["spec.addressType: FQDN endpoints are deprecated"]


def test_the_family_is_fixed():
    made, _ = SLICES.create(slice_of("192.0.2.1"))
    assert SLICES.causes(slice_of("2001:db8::1", kind="IPv6"), made) == [
        ("addressType", "Invalid value: null: field is immutable")
    ]


def test_labels_raise_the_generation_and_annotations_do_not():
    made, _ = SLICES.create(slice_of("192.0.2.1"))
    labelled, _ = SLICES.change(made, {"metadata": {"labels": {"a": "b"}}})
    annotated, _ = SLICES.change(labelled, {"metadata": {"annotations": {"a": "b"}}})
    assert [one["metadata"]["generation"] for one in (made, labelled, annotated)] == [1, 2, 2]


def test_topology_labels_are_no_longer_kept():
    body = slice_of("192.0.2.1")
    body["endpoints"][0]["deprecatedTopology"] = {"zone": "a"}
    made, _ = SLICES.create(body)
    assert "deprecatedTopology" not in made["endpoints"][0]
