"""Expressions that choose devices."""

from __future__ import annotations

import pytest

from pilothouse.builtin.resource.expressions import TOO_COMPLEX, selector_problem

TEN = "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]"


@pytest.mark.parametrize(
    "expression",
    [
        "device.driver == 'gpu.example.com' && device.attributes['gpu.example.com'].model.matches('^a+$')",
        "device.capacity['gpu.example.com'].memory.isGreaterThan(quantity('10Gi'))",
        "cel.bind(found, device.attributes['gpu.example.com'], found.year >= 2024 && found.fast)",
        "device.attributes.all(domain, device.attributes[domain].all(name, name != 'x'))",
        "device.allowMultipleAllocations",
    ],
)
def test_devices_are_chosen_by_driver_attributes_and_capacity(expression: str) -> None:
    assert selector_problem(expression) == ""


@pytest.mark.parametrize(
    ("expression", "problem"),
    [
        ("device.driver", "must evaluate to bool or the unknown type, not string"),
        ("device.name == 'a'", "compilation failed: ERROR: <input>:1:7: undefined field 'name'"),
        ("".join(f"{TEN}.all(x{i}, " for i in range(7)) + "true" + ")" * 7, TOO_COMPLEX),
    ],
)
def test_other_expressions_are_refused(expression: str, problem: str) -> None:
    assert selector_problem(expression).partition("\n")[0] == problem
