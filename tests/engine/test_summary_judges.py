"""The summary of judged results: no mean of a judge without the words of how far it can be trusted."""

from __future__ import annotations

from typing import Any

import pytest

from turnwise.engine.budget import Budget
from turnwise.engine.judge_costs import count_judging, count_result, judging_cost
from turnwise.engine.summary import Tally
from turnwise.engine.summary_format import Summary
from turnwise.engine.summary_judges import judged_grades
from turnwise.graders.base import Grade, GradeError
from turnwise.report.summary_judges import judge_lines
from turnwise.targets.choose import find_target
from turnwise.targets.resolve import resolve_target

KNOWN = "κ 0.71 [0.62, 0.79], n = 120, 2026-11-16"
USAGE = {"input_tokens": 10, "output_tokens": 1}


def grade(score: float | None, cost: float | None = 0.25, **changes: Any) -> dict[str, Any]:
    """A grade as a line has it."""
    evidence = {"deck": "tone.deck.md", "judge": "gpt", "calibration": KNOWN, "cost_usd": cost, "usage": USAGE}
    return {"name": "tone", "kind": "deck", "score": score, "evidence": {**evidence, **changes}}


def summed(*results: tuple[str, str, dict[str, Any]]) -> Summary:
    """The summary of results, each of a case, a target and its grade."""
    tally = Tally()
    for case_id, target, each in results:
        tally.add({"case_id": case_id, "target": target, "trial": 1, "score": each["score"], "grades": [each]})
    return tally.summary()


def test_the_mean_stands_beside_the_calibration() -> None:
    """One line for a judge: mean of the verdicts, the calibration, what has no verdict, and what judging took."""
    summary = summed(("a", "echo", grade(1.0)), ("b", "echo", grade(0.5)), ("c", "echo", grade(None)))
    (judge,) = summary.judges
    assert (judge.graded, judge.ungraded, judge.means, judge.cost_usd) == (2, 1, {"echo": 0.75}, 0.75)
    line = f"tone (deck, judged by gpt): mean 0.75 · {KNOWN} · 1 without a verdict · judging took $0.75"
    assert judge_lines(summary.judges) == [line]


def test_targets_are_not_mixed() -> None:
    """Each target has a mean of its own; one without any verdict has none."""
    summary = summed(("a", "x", grade(1.0)), ("a", "y", grade(0.0)), ("a", "z", grade(None, None)))
    (line,) = judge_lines(summary.judges)
    assert line == f"tone (deck, judged by gpt): mean 1.00 (x), 0.00 (y), — (z) · {KNOWN} · 1 without a verdict"


def test_an_unknown_cost_is_not_a_low_one() -> None:
    """A verdict whose cost nobody knows makes the sum unknown; a judge that did not answer has taken nothing."""
    assert summed(("a", "x", grade(1.0)), ("b", "x", grade(1.0, None))).judges[0].cost_usd is None
    failed = grade(None, None, usage=None)
    assert summed(("a", "x", grade(1.0)), ("b", "x", failed)).judges[0].cost_usd == 0.25


def test_words_that_differ_are_not_one_judge() -> None:
    """Verdicts under another calibration are another line, sorted, whichever came first."""
    stale = grade(0.0, calibration="stale (the deck changed): " + KNOWN)
    summary = summed(("a", "x", stale), ("b", "x", grade(1.0)))
    assert [each.calibration for each in summary.judges] == sorted([KNOWN, stale["evidence"]["calibration"]])


def test_hostile_names_are_harmless() -> None:
    """What a line says cannot move the cursor or start a line of its own."""
    (line,) = judge_lines(summed(("a", "x", grade(1.0, calibration="\x1b[2J\nfine"))).judges)
    assert "\x1b" not in line
    assert "\n" not in line


@pytest.mark.parametrize(
    "grades",
    [None, "x", [1], [{}], [{"kind": "deck"}], [{"kind": "deck", "evidence": 1}], [grade(1.0) | {"kind": "regex"}]],
)
def test_what_others_write_is_no_judge(grades: Any) -> None:
    """Lines of other programs may hold anything under `grades`."""
    assert judged_grades(grades) == ()


def test_several_judges_of_one_answer_are_added_up() -> None:
    """Tokens and dollars of all decks; one that did not answer adds nothing, one without a price makes it unknown."""

    def made(cost: float | None, usage: Any, kind: str = "deck") -> Grade:
        evidence = {"judge": "gpt", "cost_usd": cost, "usage": usage}
        return Grade(name="x", kind=kind, score=1.0, passed=True, reason="", evidence=evidence)

    failed = Grade(
        name="x", kind="deck", score=None, passed=None, reason="", error=GradeError("timeout", "late"),
        evidence={"judge": "gpt", "cost_usd": None, "usage": None},
    )  # fmt: skip
    both = judging_cost([made(0.25, USAGE), made(0.5, USAGE), failed, made(9.0, USAGE, "other")])
    assert both["judge_cost_usd"] == 0.75
    assert (both["judge_usage"]["input_tokens"], both["judge_usage"]["reasoning_tokens"]) == (20, None)
    assert judging_cost([made(0.25, USAGE), made(None, USAGE)])["judge_cost_usd"] is None
    assert judging_cost([made(9.0, USAGE, "other")]) == {"judge_usage": None, "judge_cost_usd": None}


def test_a_budget_counts_what_judges_took() -> None:
    """Dollars and tokens of the line; nothing where no judge was asked."""
    budget = Budget(usd=1.0, tokens=100)
    count_judging(budget, {"judge_usage": USAGE, "judge_cost_usd": 0.25})
    count_judging(budget, {"judge_usage": None, "judge_cost_usd": None})
    count_judging(budget, {})
    assert (budget.spent_usd, budget.spent_tokens) == (0.25, 11)


def test_a_result_and_its_judge_are_one_request_of_the_budget() -> None:
    """Room is kept for what a whole result takes: 0.4 of a dollar is spent, and each further one needs as much."""
    target = resolve_target(find_target("mock/hello", None, file="targets.yaml"), {})
    record = {
        "answer": "x", "attempts": 1, "usage": USAGE, "cost_usd": 0.1, "paid": True, "output_messages": [],
        "raw_request": {"messages": []}, "judge_usage": USAGE, "judge_cost_usd": 0.3,
    }  # fmt: skip
    budget = Budget(usd=1.0)
    count_result(budget, record, target)
    assert (budget.spent_usd, budget.spent_tokens) == (0.4, 22)
    assert (budget.admits(0), budget.admits(1)) == (True, False)
    cached = Budget(usd=1.0)
    count_result(cached, {**record, "attempts": 0, "cost_usd": 0.0}, target)
    assert (cached.spent_usd, cached.spent_tokens) == (0.3, 11)
