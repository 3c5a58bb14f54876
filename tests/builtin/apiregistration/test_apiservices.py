"""API services."""

from writes import Kind

SERVICES = Kind("apiregistration.k8s.io", "apiservices")


def service(**spec):
    usual = {"group": "example.com", "version": "v1", "groupPriorityMinimum": 1000, "versionPriority": 10}
    return {"metadata": {"name": "v1.example.com"}, "spec": {**usual, **spec}}


def test_what_the_server_serves_itself_is_available_at_once():
    made, _ = SERVICES.create(service())
    [condition] = made["status"]["conditions"]
    assert (condition["type"], condition["status"], condition["reason"]) == ("Available", "True", "Local")


def test_a_service_behind_another_listens_on_443():
    made, _ = SERVICES.create(service(service={"namespace": "n", "name": "s"}))
    assert made["spec"]["service"]["port"] == 443
    assert made["status"] == {}


def test_the_name_is_version_and_group():
    body = {**service(), "metadata": {"name": "other"}}
    assert SERVICES.causes(body) == [
        ("metadata.name", 'Invalid value: "other": must be `spec.version+"."+spec.group`: "v1.example.com"')
    ]
