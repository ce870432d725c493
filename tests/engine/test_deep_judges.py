"""Judges deep inside of graders: what they took is counted, however deep a suite may put them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from deck_run_fixtures import judge_target
from fault_server import serving
from judge_fixtures import PRICE, graded, opinion
from live_fixtures import model_at, only, saying
from run_fixtures import case
from turnwise.graders.registry import MOST_LEVELS

JUDGE: dict[str, Any] = {"type": "llm_judge", "target": "judge"}


def nested(levels: int, **settings: Any) -> dict[str, Any]:
    """A judge that stands inside of composites, so that there are as many levels in all."""
    return {"type": "composite", "graders": [nested(levels - 1, **settings)], **settings} if levels > 1 else JUDGE


def test_a_judge_as_deep_as_a_suite_allows_is_paid_for(tmp_path: Path) -> None:
    """The deepest place that the format allows has a cost like any other."""
    with serving(lambda _: opinion(1.0)) as server:
        line = graded(tmp_path, server, nested(MOST_LEVELS))
    assert line["status"] == "passed"
    assert line["judge_cost_usd"] == pytest.approx(PRICE)


def test_turns_are_no_levels(tmp_path: Path) -> None:
    """Composites for every turn, inside of each other: both replies are judged, and both verdicts are paid for."""
    live = case("a", turns=[{"content": "and then?"}])
    grader = nested(MOST_LEVELS, scope="turn")
    with serving(lambda _: opinion(1.0)) as judge:
        fields = {"graders": [grader]}
        with model_at(tmp_path, lambda _: saying("hello"), live, targets=[judge_target(judge.url)], suite=fields):
            line = only(tmp_path)
    assert (line["status"], len(judge.received)) == ("passed", 2)
    assert line["judge_cost_usd"] == pytest.approx(2 * PRICE)
    assert line["judge_usage"]["output_tokens"] == 200
