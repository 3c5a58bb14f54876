"""Storage version migrations."""

from writes import Kind

MIGRATIONS = Kind("storagemigration.k8s.io", "storageversionmigrations")
BODY = {"spec": {"resource": {"group": "example.com", "resource": "widgets"}}}


def condition(kind, status="True"):
    when = "2026-01-01T00:00:00Z"
    return {"type": kind, "status": status, "reason": "R", "message": "", "lastTransitionTime": when}


def test_a_migration_is_of_one_resource_for_good():
    made, _ = MIGRATIONS.create(BODY)
    assert MIGRATIONS.causes({"spec": {"resource": {"group": "", "resource": "pods"}}}, made) == [
        ("spec", 'Invalid value: {"Resource":{"group":"","resource":"pods"}}: field is immutable')
    ]


def test_a_success_is_final():
    made, _ = MIGRATIONS.create(BODY)
    done, _ = MIGRATIONS.change(made, {"status": {"conditions": [condition("Succeeded")]}}, "status")
    [(field, message)] = MIGRATIONS.causes({**done, "status": {}}, done, "status")
    assert field == "status.conditions"
    assert message.endswith("Success condition cannot be set to false once it is true")
