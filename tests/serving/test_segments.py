"""What is written is cut, and nothing of it is lost, doubled or moved."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pilothouse.serving.segments import slices

PIECES = st.lists(st.binary(max_size=70), max_size=12)


@given(PIECES, st.integers(1, 40))
def test_slices_are_full_but_the_last_and_hold_all_bytes_in_order(pieces: list[bytes], most: int) -> None:
    made = [bytes(part) for part in slices(pieces, most)]
    assert b"".join(made) == b"".join(pieces)
    assert [len(part) for part in made[:-1]] == [most] * (len(made) - 1)
    assert all(0 < len(part) <= most for part in made)


def test_a_large_piece_is_viewed_and_not_copied() -> None:
    (first, second) = slices([b"a" * 30], 20)
    assert isinstance(first, memoryview)
    assert (bytes(first), bytes(second)) == (b"a" * 20, b"a" * 10)
