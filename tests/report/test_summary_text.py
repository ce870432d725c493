"""The summary for people: what is shown, what is left out, and why something is missing."""

from __future__ import annotations

from typing import Any

import pytest

from turnwise.engine.summary import Tally
from turnwise.engine.verdict import judge
from turnwise.report.summary import summary_text
from turnwise.report.terminal import Style, coloured, plain


def line(case_id: str = "a", score: float | None = 1.0, trial: int = 1, **fields: Any) -> dict[str, Any]:
    """One result with an answer."""
    usual = {"case_id": case_id, "target": "gpt", "trial": trial, "score": score, "answer": "x", "paid": False}
    return {**usual, **fields}


def shown(*records: dict[str, Any], style: Style = plain) -> str:
    """The text of these results."""
    tally = Tally()
    for record in records:
        tally.add(record)
    summary = tally.summary()
    return summary_text(summary, judge(summary), style)


def test_a_small_summary_in_full() -> None:
    """Counts, estimates with their intervals, the meaning of both, and the verdict last."""
    text = shown(*(line(str(number), float(number < 8), suite="s.yaml", run_id="r1") for number in range(10)))
    # Wilson's interval of 8 in 10 is 0.49 to 0.94; the t interval is 0.8 ± 2.262 · 0.4216/√10 = 0.8 ± 0.30.
    assert text.splitlines() == [
        "run r1",
        "",
        "target  suite   passed  failed   n  mean score         pass rate",
        "gpt     s.yaml       8       2  10  0.80 [0.50, 1.00]  0.80 [0.49, 0.94]",
        "",
        "n: graded results; in brackets: 95 % confidence interval",
        "",
        "FAILED: s.yaml on gpt: 2 of 10 failed (exit 1)",
    ]


@pytest.mark.parametrize(
    ("heading", "fields"),
    [
        ("variant", {"variant": "short"}),
        ("suite", {"suite": "s.yaml"}),
        ("ungraded", {"score": None}),
        ("errors", {"score": None, "error": {"kind": "timeout"}}),
        ("cases", {"case_id": "a", "trial": 2}),
        ("p95", {"latency_ms": 12}),
        ("tokens in/out", {"usage": {"input_tokens": 5}}),
        ("cost", {"cost_usd": 0.5}),
        ("cost", {"cost_usd": None, "paid": True}),
        ("slowest", {"latency_ms": 12}),
        ("most expensive", {"cost_usd": 0.5}),
        ("pass@k", {"case_id": "a", "trial": 2}),
    ],
)
def test_a_column_is_there_only_if_it_says_something(heading: str, fields: dict[str, Any]) -> None:
    """Two plain results have none of them; one result that has something to say brings it."""
    assert heading not in shown(line("a"), line("c"))
    assert heading in shown(line("a"), line(**{"case_id": "b", **fields}))


def test_times_tokens_and_cost() -> None:
    """Percentiles of the times, sums of the others."""
    text = shown(
        line("a", latency_ms=100, usage={"input_tokens": 12_000, "output_tokens": 30}, cost_usd=1.0),
        line("b", latency_ms=300, usage={"input_tokens": 345, "output_tokens": 4}, cost_usd=0.25),
    )
    row = next(each for each in text.splitlines() if "$1.25" in each)
    assert row.split()[-6:] == ["200", "ms", "290", "ms", "12.3k/34", "$1.25"]


def test_tokens_that_were_counted_in_part_are_a_lower_bound() -> None:
    """The reader learns how many answers were not counted."""
    text = shown(line("a", usage={"input_tokens": 7, "output_tokens": 3}), line("b", usage=None))
    assert "≥ 7/3" in text
    assert "tokens: not counted for 1 answer" in text


def test_an_unknown_cost_is_never_nothing() -> None:
    """It is said to be unknown, or a lower bound, and why."""
    unknown = line("a", cost_usd=None, paid=True)
    text = shown(unknown)
    assert "unknown" in text
    assert "cost: not known of 1 answer; give the target `prices`, if it counts tokens" in text
    assert "$" not in text
    assert "≥ $0.50" in shown(unknown, line("b", cost_usd=0.5))


def test_a_target_without_prices_has_no_cost() -> None:
    """Beside one that has, it shows a dash that is explained."""
    text = shown(line("a", cost_usd=0.5), line("a", target="local"))
    row = next(each for each in text.splitlines() if each.startswith("local"))
    assert row.endswith("—")
    assert "cost —: a target without prices, or without answers" in text


def test_what_has_no_interval_says_why() -> None:
    """One conversation tells nothing of others."""
    text = shown(line("a", 1.0, conversation_id="c"), line("b", 0.0, conversation_id="c"))
    assert "0.50  " in text
    assert "[0" not in text
    assert "no interval: all graded results are of one conversation or case" in text


def test_what_was_not_graded_says_so() -> None:
    """There is no score to show, and no column for it unless another group has one."""
    assert "no score: nothing was graded" in shown(line("a", None))
    both = shown(line("a", None), line("a", target="other"))
    assert "score —: nothing was graded" in both


def test_chances_are_shown_for_powers_of_two_and_the_highest() -> None:
    """Five trials with two passes: one of k passes, and all of k."""
    text = shown(*(line("a", float(trial <= 2), trial) for trial in range(1, 6)), line("a", 1.0, target="once"))
    rows = [each.split() for each in text.splitlines()]
    assert ["target", "k=1", "k=2", "k=4", "k=5"] in rows
    # Of the 10 pairs of trials 3 hold no pass and 1 nothing else.
    assert ["gpt", "pass@k", "0.40", "0.70", "1.00", "1.00"] in rows
    assert ["gpt", "pass^k", "0.40", "0.10", "0.00", "0.00"] in rows
    assert not [row for row in rows if row[:2] == ["once", "pass@k"]]


def test_errors_are_listed_by_kind() -> None:
    """Each kind with its count."""
    text = shown(line("a"), *(line(name, None, error={"kind": "rate_limit"}) for name in "bc"))
    assert "errors  kind\n     2  rate_limit" in text


def test_answers_from_the_cache_are_told() -> None:
    """They have no time, and the reader knows why."""
    text = shown(line("a", attempts=0, latency_ms=900), line("b", attempts=1, latency_ms=20))
    assert "cache: 1 answer came from it" in text
    assert "900 ms" not in text


def test_a_wide_summary_stays_within_100_columns() -> None:
    """It becomes several tables, and long names are shortened in the middle."""
    suite = "evals/customer-support/escalations/refunds-and-returns-of-large-items.yaml"
    figures: dict[str, Any] = {"latency_ms": 1234, "usage": {"input_tokens": 123_456, "output_tokens": 9999}}
    records = [
        line(name, score, trial, suite=suite, variant="long", target="local-qwen3", cost_usd=12.5, **figures)
        for name, score in (("a", 0.7), ("b", 0.2), ("c", None))
        for trial in (1, 2)
    ]
    *rest, verdict = shown(*records).splitlines()
    assert max(map(len, rest)) <= 100
    assert any("evals/" in row and "…" in row and "items.yaml" in row for row in rest)
    assert suite in verdict


def test_names_cannot_harm_the_terminal() -> None:
    """Whatever names hold, no control character comes out, in the tables or in the verdict."""
    evil = "x\x1b[2J\n"
    text = shown(line(evil, 0.0, suite=evil, target=evil, variant=evil, run_id=evil, latency_ms=5))
    assert "\x1b" not in text
    assert "x␛[2J␊" in text.splitlines()[-1]


@pytest.mark.parametrize(("score", "colour"), [(1.0, 32), (0.0, 31), (None, 33)])
def test_the_verdict_has_a_colour(score: float | None, colour: int) -> None:
    """Green is good, red is below the bar, yellow is not known."""
    assert shown(line(score=score), style=coloured).splitlines()[-1].startswith(f"\x1b[1;{colour}m")


def test_no_results_say_so() -> None:
    """An empty summary is a sentence and a verdict."""
    assert shown() == "no results\n\nINCOMPLETE: there are no results (exit 3)"
