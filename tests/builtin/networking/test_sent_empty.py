"""Lists that were sent as `[]` are told apart from none, where the original shows them."""

from __future__ import annotations

import datetime

import pytest

from pilothouse.builtin.behaviours import behaviour
from pilothouse.registry.behaviour import Context

NOW = datetime.datetime(2026, 11, 29, tzinfo=datetime.UTC)


@pytest.mark.parametrize(("empty", "shown"), [((), "null"), (("spec.rules",), "[]")])
def test_an_ingress_without_rules_shows_what_was_sent(empty: tuple[str, ...], shown: str) -> None:
    ingress = behaviour("networking.k8s.io", "ingresses")
    assert ingress.validate is not None
    assert ingress.heeds_empty == ("spec.rules",)
    context = Context("n", "a", "", "admin", (), NOW, False, empty=frozenset(empty))
    obj = {"metadata": {"name": "a", "namespace": "n"}, "spec": {}, "status": {}}
    (cause,) = ingress.validate(obj, None, context)
    assert cause.message == f"Invalid value: {shown}: either `defaultBackend` or `rules` must be specified"
