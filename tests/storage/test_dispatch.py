"""Who is found for which key."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from pilothouse.storage.api import prefix_end
from pilothouse.storage.dispatch import Dispatch

KEYS = st.text("ab/", min_size=1, max_size=6)


@dataclass(frozen=True)
class Event:
    key: str


@given(
    st.lists(st.tuples(KEYS, st.sampled_from(["key", "folder", "range"]), st.booleans())), st.lists(KEYS, min_size=1)
)
def test_the_index_finds_what_asking_each_watch_would_find(
    watches: list[tuple[str, str, bool]], keys: list[str]
) -> None:
    dispatch: Dispatch[int] = Dispatch()
    kept: dict[int, tuple[str, str]] = {}
    for number, (name, form, stays) in enumerate(watches):
        start = name + "/" if form == "folder" else name
        end = {"key": start + "\0", "folder": prefix_end(start), "range": start + "z"}[form]
        dispatch.add(start, end, number)
        if stays:
            kept[number] = (start, end)
        else:
            dispatch.remove(start, end, number)
    got: dict[int, list[str]] = {}

    def receive(number: int, events: object) -> None:
        assert number not in got
        got[number] = [event.key for event in events]  # type: ignore[attr-defined]

    dispatch.send([Event(key) for key in keys], receive)
    expected = {
        number: found for number, (start, end) in kept.items() if (found := [key for key in keys if start <= key < end])
    }
    assert got == expected
    assert sorted(dispatch.all()) == sorted(kept)
