"""Names of finalizers are checked when an object is made; later on only that they have a domain."""

from __future__ import annotations

from endpoints.served import Served

MERGE = "application/merge-patch+json"
CONFIG_MAP = {"apiVersion": "v1", "kind": "ConfigMap"}
NO_DOMAIN = "name is neither a standard finalizer name nor is it fully qualified"


def test_what_is_wrong_with_new_ones_is_told_in_order(served: Served, place: str) -> None:
    finalizers = ["plain", "a b/c", "orphan", "foregroundDeletion"]
    message = served.ask(
        f"POST {place}/configmaps", CONFIG_MAP | {"metadata": {"name": "a", "finalizers": finalizers}}
    ).message
    texts = ('"a b/c": prefix part', "cannot be both set", f'finalizers[0]: Invalid value: "plain": {NO_DOMAIN}')
    places = [message.index(text) for text in texts]
    assert places == sorted(places)


def test_an_update_only_asks_for_a_domain(served: Served, place: str) -> None:
    where = f"{place}/configmaps"
    served.make(where, CONFIG_MAP | {"metadata": {"name": "a"}})
    taken = ["a b/c", "orphan", "foregroundDeletion"]
    found = served.ask(f"PATCH {where}/a", {"metadata": {"finalizers": taken}}, MERGE)
    assert (found.status, found.json()["metadata"]["finalizers"]) == (200, taken)
    refused = served.ask(f"PATCH {where}/a", {"metadata": {"finalizers": ["x/y", "plain"]}}, MERGE)
    assert refused.message.endswith(f'metadata.finalizers[1]: Invalid value: "plain": {NO_DOMAIN}')


def test_new_ones_on_the_way_out_are_the_first_thing_told(served: Served, place: str) -> None:
    where = f"{place}/configmaps"
    served.make(where, CONFIG_MAP | {"metadata": {"name": "a", "finalizers": ["x/y"]}})
    assert served.ask(f"DELETE {where}/a").status == 200
    patch = {"metadata": {"finalizers": ["x/y", "x/z"], "uid": "other", "labels": {"a b": "c"}}}
    message = served.ask(f"PATCH {where}/a", patch, MERGE).message
    texts = ("no new finalizers", "metadata.uid", "metadata.labels")
    places = [message.index(text) for text in texts]
    assert places == sorted(places)
