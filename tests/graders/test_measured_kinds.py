"""The kinds `length`, `latency` and `cost`: bounds on what can be counted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from turnwise.graders.base import Grade
from turnwise.providers.base import Usage

pytest_plugins = ["grader_fixtures"]

TEXT = "One two.\nThree!"


@pytest.mark.parametrize(("unit", "count"), [("characters", 15), ("words", 3), ("lines", 2), ("tokens", 7)])
def test_both_bounds_are_inclusive(grade: Callable[..., Grade], unit: str, count: int) -> None:
    """An answer of exactly `min` or `max` is neither too short nor too long."""

    def score(**bounds: int) -> float | None:
        return grade({"type": "length", "unit": unit, **bounds}, TEXT, usage=Usage(output_tokens=7)).score

    assert [score(min=count), score(max=count), score(min=count, max=count)] == [1, 1, 1]
    assert [score(min=count + 1), score(max=count - 1)] == [0, 0]


def test_characters_are_counted_if_no_unit_is_given(grade: Callable[..., Grade]) -> None:
    """The reason has the count, its unit and the bound that was missed; `not-length` is the opposite."""
    long = grade({"length": {"max": 4}}, "Hello")
    assert (long.score, long.reason, long.evidence) == (0, "the answer has 5 characters, more than 4", {"count": 5})
    assert grade({"not-length": {"max": 4}}, "Hello").score == 1


@pytest.mark.parametrize("usage", [None, Usage()])
def test_tokens_that_nobody_counted_are_not_guessed(grade: Callable[..., Grade], usage: Usage | None) -> None:
    """Without the target's own count there is no score."""
    unknown = grade({"length": {"max": 4, "unit": "tokens"}}, "Hello", usage=usage)
    assert unknown.error is not None
    assert unknown.error.kind == "unknown-tokens"


MEASURES: list[tuple[str, str]] = [("latency", "latency_ms"), ("cost", "cost_usd")]


@pytest.mark.parametrize(("kind", "field"), MEASURES)
def test_a_measure_is_held_against_its_bound(grade: Callable[..., Grade], kind: str, field: str) -> None:
    """Up to the bound and with it, the score is 1, and 0 beyond."""
    spec: Any = {kind: {"max": 2.5}}
    assert [grade(spec, "", **{field: found}).score for found in (0.0, 2.5, 2.6)] == [1, 1, 0]


@pytest.mark.parametrize(("kind", "field"), MEASURES)
def test_an_unknown_measure_is_no_score(grade: Callable[..., Grade], kind: str, field: str) -> None:
    """What the target does not say is neither good nor bad."""
    unknown = grade({kind: {"max": 2.5}}, "", **{field: None})
    assert unknown.score is None
    assert unknown.error is not None
    assert unknown.error.kind == f"unknown-{kind}"
