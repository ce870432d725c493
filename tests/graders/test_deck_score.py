"""From a verdict on a deck's scale to a score from 0 to 1."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnwise.graders.deck_score import passes, unit_score, why_no_score
from turnwise.graders.verdict_scale import Scale

STEPS = Scale("ordinal", min=-3, max=3, pass_=1, ungradable=0)


@pytest.mark.parametrize(
    ("scale", "value", "score"),
    [
        (STEPS, -3, 0.0),
        (STEPS, 3, 1.0),
        (STEPS, 1, 4 / 6),
        (Scale("continuous", min=0, max=10), 2.5, 0.25),
        (Scale("ordinal", values=(1, 2, 10)), 2, 1 / 9),
        (Scale("binary", values=(0, 1)), 1, 1.0),
        (Scale("binary", labels=("fail", "pass")), "pass", 1.0),
        (Scale("binary", labels=("fail", "pass")), "fail", 0.0),
        (Scale("categorical", labels=("Formal", "casual"), pass_="formal"), "Formal", 1.0),
        (Scale("categorical", labels=("Formal", "casual"), pass_="formal"), "casual", 0.0),
    ],
)
def test_a_verdict_is_a_share_of_the_scale(scale: Scale, value: Any, score: float) -> None:
    """(v - min) / (max - min) for numbers; of labels, the one that passes is 1 and the others are 0."""
    assert why_no_score(scale) is None
    assert unit_score(value, scale) == pytest.approx(score, abs=1e-12)


@pytest.mark.parametrize(
    ("scale", "lacks"),
    [
        (Scale("ordinal"), "`min` and `max`"),
        (Scale("continuous", min=0), "`min` and `max`"),
        (Scale("binary"), "`min` and `max`"),
        (Scale("categorical"), "`labels`"),
        (Scale("categorical", labels=("red", "blue")), "`pass`"),
        (Scale("categorical", labels=("yes", "good", "no")), "`pass`"),
    ],
)
def test_a_scale_that_cannot_be_mapped_says_what_it_lacks(scale: Scale, lacks: str) -> None:
    """Without ends, labels, or one label that is good there is no score, and the message names the key to add."""
    assert lacks in (why_no_score(scale) or "")


def test_the_pass_of_the_scale_decides() -> None:
    """A number passes from `pass` on, a label if it is that one; without `pass` the scale decides nothing."""
    assert [passes(value, STEPS) for value in (-1, 1, 2)] == [False, True, True]
    words = Scale("categorical", labels=("Good", "bad"), pass_="good")
    assert [passes(value, words) for value in ("Good", "bad")] == [True, False]
    assert passes(3, Scale("ordinal", min=1, max=5)) is None


@given(st.floats(-1e308, 1e308), st.floats(-1e308, 1e308), st.floats(-1e308, 1e308))
def test_a_score_is_never_outside(low: float, high: float, value: float) -> None:
    """Whatever the ends are, the score lies between 0 and 1."""
    low, value, high = sorted((low, high, value))
    if low / 2 < high / 2:
        assert 0 <= unit_score(value, Scale("continuous", min=low, max=high)) <= 1
