"""Bodies of claims and slices, for tests."""

from writes import Kind

CLAIMS = Kind("resource.k8s.io", "resourceclaims")
CLASSES = Kind("resource.k8s.io", "deviceclasses")
SLICES = Kind("resource.k8s.io", "resourceslices")
TAINTS = Kind("resource.k8s.io", "devicetaintrules")


def claim(*requests, **devices):
    return {"spec": {"devices": {"requests": list(requests), **devices}}}


def exact(**fields):
    return {"name": "r", "exactly": {"deviceClassName": "gpu", **fields}}


def offer(*devices, **spec):
    pool = {"name": "p", "generation": 1, "resourceSliceCount": 1}
    return {"spec": {"driver": "d.example.com", "nodeName": "n", "pool": pool, "devices": list(devices), **spec}}


def allocation(device="gpu-0"):
    result = {"request": "r", "driver": "d.example.com", "pool": "p", "device": device}
    return {"allocation": {"devices": {"results": [result]}}}
