"""A list at any revision, and a watch from there, come to the state of now: for histories that nobody wrote down."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.api import Api

NAMES = ("a", "b", "c")
COLOURS = ("red", "blue")

Object = dict[str, Any]
State = dict[str, Object]
Step = tuple[str, str, str]

histories = st.lists(
    st.tuples(st.sampled_from(("put", "put", "delete")), st.sampled_from(NAMES), st.sampled_from(COLOURS)),
    min_size=1,
    max_size=10,
)
few = settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck), database=None)
_numbers = itertools.count(1)


def fresh(api: Api, namespace: str) -> str:
    """The collection of a namespace that no other example has."""
    name = f"{namespace}-{next(_numbers)}"
    assert api.post("/api/v1/namespaces", {"metadata": {"name": name}}).status == 201
    return f"/api/v1/namespaces/{name}/configmaps"


def listed(api: Api, path: str, query: str = "") -> tuple[State, str]:
    """The state, and the revision it is of."""
    answer = api.get(f"{path}?{query}")
    assert answer.status == 200, answer.text
    found = answer.json()
    return {one["metadata"]["name"]: one for one in found["items"]}, found["metadata"]["resourceVersion"]


def lived(api: Api, path: str, steps: list[Step]) -> list[tuple[str, State]]:
    """Does the steps; the state after each, with its revision. The first is that of the beginning."""
    past = [(revision, state) for state, revision in [listed(api, path)]]
    for number, (verb, name, colour) in enumerate(steps):
        if verb == "delete":
            api.delete(f"{path}/{name}")
        else:
            thing = {"metadata": {"name": name, "labels": {"colour": colour}}, "data": {"step": str(number)}}
            if api.put(f"{path}/{name}", thing).status == 404:
                assert api.post(path, thing).status == 201
        state, revision = listed(api, path)
        past.append((revision, state))
    return past


def followed(api: Api, path: str, state: State, revision: str, query: str = "") -> State:
    """The state after the events of a watch from a revision, as far as a sentinel that is made and deleted now."""
    assert api.post(path, {"metadata": {"name": "sentinel", "labels": {"colour": "red"}}}).status == 201
    state = dict(state)
    with api.watch(f"{path}?watch=1&timeoutSeconds=15&resourceVersion={revision}&{query}") as watch:
        for event in watch:
            thing = {key: value for key, value in event["object"].items() if key not in ("kind", "apiVersion")}
            name = thing["metadata"]["name"]
            if name == "sentinel":
                if event["type"] == "ADDED" and thing["metadata"]["uid"] == sentinel(api, path):
                    break
                continue
            assert int(thing["metadata"]["resourceVersion"]) > int(revision)
            apply(state, event["type"], name, thing)
        else:
            raise AssertionError("the watch ended before its time")
    assert api.delete(f"{path}/sentinel").status == 200
    return state


def sentinel(api: Api, path: str) -> str:
    found: str = api.get(f"{path}/sentinel").json()["metadata"]["uid"]
    return found


def apply(state: State, kind: str, name: str, thing: Object) -> None:
    if kind == "DELETED":
        assert state.pop(name), f"{name} is deleted and was not there"
    else:
        assert (kind == "ADDED") == (name not in state), f"{kind} of {name}"
        state[name] = thing


def test_a_list_at_a_revision_is_the_state_of_then(api: Api, namespace: str) -> None:
    @few
    @given(histories)
    def holds(steps: list[Step]) -> None:
        path = fresh(api, namespace)
        for revision, state in lived(api, path, steps):
            exact = listed(api, path, f"resourceVersion={revision}&resourceVersionMatch=Exact")
            assert exact == (state, revision)

    holds()


def test_a_list_and_the_watch_from_there_come_to_the_state_of_now(api: Api, namespace: str) -> None:
    @few
    @given(histories, st.data())
    def holds(steps: list[Step], data: st.DataObject) -> None:
        path = fresh(api, namespace)
        past = lived(api, path, steps)
        final = past[-1][1]
        revision, state = data.draw(st.sampled_from(past))
        assert followed(api, path, state, revision) == final

    holds()


def test_so_do_those_of_a_selector(api: Api, namespace: str) -> None:
    def red(state: State) -> State:
        return {name: one for name, one in state.items() if one["metadata"]["labels"]["colour"] == "red"}

    @few
    @given(histories, st.data())
    def holds(steps: list[Step], data: st.DataObject) -> None:
        path = fresh(api, namespace)
        past = lived(api, path, steps)
        revision, _ = data.draw(st.sampled_from(past))
        query = "labelSelector=colour%3Dred"
        then, _ = listed(api, path, f"resourceVersion={revision}&resourceVersionMatch=Exact&{query}")
        assert followed(api, path, then, revision, query) == red(past[-1][1])

    holds()


def test_pages_are_of_one_moment(api: Api, namespace: str) -> None:
    @few
    @given(histories, histories)
    def holds(before: list[Step], after: list[Step]) -> None:
        path = fresh(api, namespace)
        _, state = lived(api, path, before)[-1]
        first = api.get(f"{path}?limit=1").json()
        lived(api, path, after)
        names = [one["metadata"]["name"] for page in pages(api, path, first) for one in page["items"]]
        assert names == sorted(state)

    holds()


def pages(api: Api, path: str, page: Object) -> Iterator[Object]:
    yield page
    while token := page["metadata"].get("continue"):
        answer = api.get(f"{path}?limit=1&continue={token}")
        assert answer.status == 200, answer.text
        page = answer.json()
        yield page
