"""Resuming: what is done stays done, what failed or is missing is done again."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnwise.engine.result_keys import Done, ResultKey, is_done, key_of
from turnwise.errors import RunError

KEYS = st.builds(
    ResultKey,
    suite=st.sampled_from(["a.yaml", "b.yaml"]),
    case_id=st.text(max_size=3),
    target=st.sampled_from(["gpt", "gpt'"]),
    variant=st.none() | st.sampled_from(["terse", "None"]),
    trial=st.integers(1, 2),
)


@given(st.sets(KEYS), st.sets(KEYS))
def test_done_is_what_was_added_and_nothing_else(added: set[ResultKey], asked: set[ResultKey]) -> None:
    """A set of keys in little memory: whatever their texts hold, no two of them are taken for one."""
    done = Done()
    for key in added:
        done.add(key)
    assert len(done) == len(added)
    assert {key for key in asked if key in done} == asked & added


@pytest.mark.parametrize(
    ("status", "final"), [("passed", True), ("failed", True), ("ungraded", True), ("error", False), (None, False)]
)
def test_all_but_errors_are_final(status: str | None, final: bool) -> None:
    """An answer is not asked for again, good or bad; an error is no answer."""
    assert is_done({"status": status}) is final


@pytest.mark.parametrize(
    "change", [{"case_id": None}, {"trial": "1"}, {"trial": True}, {"suite": 5}, {"variant": 3}, {"target": None}]
)
def test_a_line_that_does_not_say_what_it_is_of_is_an_error(change: dict[str, Any]) -> None:
    """Guessing could count a case twice."""
    fine = ResultKey("s", "c", "t", None, 1)._asdict()
    assert key_of(fine) == ResultKey("s", "c", "t", None, 1)
    with pytest.raises(RunError, match="which case"):
        key_of({**fine, **change})
