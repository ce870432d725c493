"""Telling duplicates among ids in little memory."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from turnwise.suite.ids import IdSet


@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=3) | st.sampled_from(["a", "b", ""])))
def test_it_answers_as_a_set_would(words: list[str]) -> None:
    """A text is new exactly if it was not added before."""
    ids, plain = IdSet(), set[str]()
    for word in words:
        assert ids.add(word) is (word not in plain)
        plain.add(word)
        assert len(ids) == len(plain)


def test_it_forgets_nothing_when_it_grows() -> None:
    """A hundred thousand ids, added twice: each is new once."""
    ids = IdSet()
    words = [f"case-{number}" for number in range(100_000)]
    assert all(ids.add(word) for word in words)
    assert not any(ids.add(word) for word in words)
    assert len(ids) == 100_000


def test_texts_that_look_alike_are_different_ids() -> None:
    """Nothing is folded: case, white space and composed characters count."""
    ids = IdSet()
    assert all(ids.add(word) for word in ["a", "A", "a ", "é", "e\u0301", "", "\0"])
