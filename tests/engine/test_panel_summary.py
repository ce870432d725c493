"""What a summary says of panels and of judges of turns: who was silent, who agrees, and the mean that counts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fault_server import FaultServer, answer, serving
from judge_fixtures import graded, opinion, ticks
from run_fixtures import case
from turnwise.engine.summary import Tally
from turnwise.engine.summary_format import JudgeSummary
from turnwise.report.summary_judges import judge_lines

PANEL = {"type": "llm_judge", "targets": ["judge", "second", "third"], "least": 2}
TURNS = [case("a", "one", turns=[{"user": "Nairobi"}])]


def judged(*lines: dict[str, Any]) -> tuple[JudgeSummary, ...]:
    """The judges of a summary of these results."""
    tally = Tally()
    for line in lines:
        tally.add(line)
    return tally.summary().judges


def panel(folder: Path, server: FaultServer, grader: dict[str, Any], second: FaultServer, third: FaultServer) -> Any:
    return graded(folder, server, grader, others={"second": second.url, "third": third.url})


def test_a_judge_without_a_verdict_is_told_by_name(tmp_path: Path) -> None:
    """The panel has its score, and the summary says whose vote is missing in how many results."""
    with (
        serving(lambda _: opinion(1)) as one,
        serving(lambda _: opinion(0)) as two,
        serving(lambda _: opinion("excellent")) as three,
    ):
        line = panel(tmp_path, one, PANEL, two, three)
    (judge,) = judged(line)
    assert (judge.graded, judge.ungraded, judge.without_verdict) == (1, 0, {"third": 1})
    assert " · third: 1 without a verdict · " in judge_lines([judge])[0]


def test_the_mean_agreement_is_in_text_and_data(tmp_path: Path) -> None:
    """Of three judges with one against two, one pair of three agrees."""
    with serving(lambda _: opinion(1)) as one, serving(lambda _: opinion(0)) as two:
        line = panel(tmp_path, one, PANEL, one, two)
    (judge,) = judged(line)
    assert judge.agreement == pytest.approx(1 / 3)
    assert judge.agreement_n == 1
    assert " · the judges agree by 0.33 (n = 1)" in judge_lines([judge])[0]


def test_one_judge_has_nobody_to_agree_with(tmp_path: Path) -> None:
    """Neither an agreement nor a missing vote is told of it: without a verdict, the answer has none."""
    with serving(lambda _: answer({"error": {"message": "no"}}, 400)) as server:
        line = graded(tmp_path, server, {"type": "llm_judge", "target": "judge"})
    (judge,) = judged(line)
    assert (judge.agreement, judge.agreement_n, judge.without_verdict, judge.ungraded) == (None, 0, {}, 1)


def test_judges_of_a_rubric_agree_by_lines(tmp_path: Path) -> None:
    """Two judges that meet opposite lines give the same score, and agree on nothing."""
    grader = {"type": "rubric", "targets": ["judge", "second"], "lines": ["a", "b"]}
    with serving(lambda _: ticks(True, False)) as one, serving(lambda _: ticks(False, True)) as two:
        line = panel(tmp_path, one, grader, two, two)
    assert line["grades"][0]["evidence"]["agreement"] == 0.0


@pytest.mark.parametrize(("aggregate", "mean"), [("min", 0.5), ("mean", 0.75)])
def test_the_mean_of_a_judge_of_turns_is_that_of_its_grades(tmp_path: Path, aggregate: str, mean: float) -> None:
    """Turns with 1 and 0.5 are one grade by the rule, and only that counts."""
    grader = {"type": "llm_judge", "target": "judge", "scope": "turn", "aggregate": aggregate}
    with serving(lambda request: opinion(0.5 if b"Nairobi" in request.body else 1)) as server:
        line = graded(tmp_path, server, grader, cases=TURNS)
    (judge,) = judged(line)
    assert line["score"] == mean
    assert (judge.graded, judge.means) == (1, {"echo": mean})


def test_a_conversation_without_one_verdict_is_one_result_without(tmp_path: Path) -> None:
    """One of two turns has no verdict: the result has none, and the turn that has one is not told as a mean."""
    grader = {"type": "llm_judge", "target": "judge", "scope": "turn"}
    with serving(lambda request: opinion("good" if b"Nairobi" in request.body else 1)) as server:
        line = graded(tmp_path, server, grader, cases=TURNS)
    (judge,) = judged(line)
    assert (judge.graded, judge.ungraded, judge.means) == (0, 1, {"echo": None})


def test_a_judge_inside_a_composite_of_turns_has_one_grade(tmp_path: Path) -> None:
    """The composite is made for each turn; its rule makes one score of the judge's, and what both calls took counts."""
    inner = {"type": "llm_judge", "target": "judge"}
    grader = {"type": "composite", "mode": "weighted", "scope": "turn", "aggregate": "mean", "graders": [inner]}
    with serving(lambda request: opinion(0.5 if b"Nairobi" in request.body else 1)) as server:
        line = graded(tmp_path, server, grader, cases=TURNS)
    (judge,) = judged(line)
    assert (judge.graded, judge.means) == (1, {"echo": 0.75})
    assert judge.cost_usd == pytest.approx(line["judge_cost_usd"])


def test_a_deck_of_turns_keeps_its_calibration() -> None:
    """The deck, the judge and its calibration are those of its turns."""
    about = {"deck": "tone.deck.md", "judge": "gpt", "calibration": "uncalibrated", "cost_usd": 0.25, "usage": {"x": 1}}
    turns = [{"turn": number, "name": "tone", "kind": "deck", "score": 1.0, "evidence": about} for number in (1, 2)]
    evidence = {"scope": "turn", "aggregate": "min", "turns": turns}
    grade = {"name": "tone", "kind": "deck", "score": 0.5, "evidence": evidence}
    (judge,) = judged({"case_id": "a", "target": "t", "trial": 1, "score": 0.5, "grades": [grade]})
    assert (judge.deck, judge.judge, judge.calibration) == ("tone.deck.md", "gpt", "uncalibrated")
    assert (judge.means, judge.cost_usd) == ({"t": 0.5}, 0.5)
