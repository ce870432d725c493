"""Resuming: what is done stays done, what failed or is missing is done again."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnwise.engine.resume import ResultKey, key_of, latest_statuses, left_to_do
from turnwise.errors import RunError

KEYS = st.builds(
    ResultKey,
    suite=st.sampled_from(["a.yaml", "b.yaml"]),
    case_id=st.sampled_from(["x", "y"]),
    target=st.just("gpt"),
    variant=st.none() | st.just("terse"),
    trial=st.integers(1, 2),
)
STATUSES = st.sampled_from(["passed", "failed", "ungraded", "error"])


def record(key: ResultKey, status: str) -> dict[str, Any]:
    return {**key._asdict(), "status": status}


@given(st.lists(st.tuples(KEYS, STATUSES)), st.lists(KEYS, unique=True))
def test_every_piece_of_work_is_either_done_or_left(lines: list[tuple[ResultKey, str]], plan: list[ResultKey]) -> None:
    """Done is what has a line whose last status is no error; the rest is left, once, in the order of the plan."""
    statuses = latest_statuses(record(*line) for line in lines)
    left = list(left_to_do(plan, statuses))
    last = dict(lines)
    assert left == [key for key in plan if key not in last or last[key] == "error"]


@pytest.mark.parametrize(
    "change", [{"case_id": None}, {"trial": "1"}, {"trial": True}, {"suite": 5}, {"variant": 3}, {"target": None}]
)
def test_a_line_that_does_not_say_what_it_is_of_is_an_error(change: dict[str, Any]) -> None:
    """Guessing could count a case twice."""
    fine = record(ResultKey("s", "c", "t", None, 1), "passed")
    assert key_of(fine) == ResultKey("s", "c", "t", None, 1)
    with pytest.raises(RunError, match="which case"):
        key_of({**fine, **change})
