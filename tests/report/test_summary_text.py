"""The summary for people: what is shown, what is left out, and why something is missing."""

from __future__ import annotations

from typing import Any

import pytest

from turnwise.engine.budget import shown_usd
from turnwise.engine.summary import Tally
from turnwise.engine.verdict import judge
from turnwise.report.summary import summary_text
from turnwise.report.terminal import Style, coloured, plain


def line(case_id: str = "a", score: float | None = 1.0, trial: int = 1, **fields: Any) -> dict[str, Any]:
    """One result with an answer."""
    usual = {"case_id": case_id, "target": "gpt", "trial": trial, "score": score, "answer": "x", "paid": False}
    return {**usual, **fields}


def shown(
    *records: dict[str, Any], style: Style = plain, planned: dict[tuple[str, str | None, str | None], int] | None = None
) -> str:
    """The text of these results, and of those that are planned for a target, variant and suite."""
    tally = Tally()
    for group, results in (planned or {}).items():
        tally.expect(*group, results)
    for record in records:
        tally.add(record)
    summary = tally.summary()
    return summary_text(summary, judge(summary), style)


def test_a_small_summary_in_full() -> None:
    """Counts, estimates with their intervals, the meaning of both, and the verdict last."""
    grades = [{"name": "exact", "passed": False, "reason": "no"}]
    results = [line(str(number), float(number < 8), suite="s.yaml", run_id="r1") for number in range(10)]
    text = shown(*({**each, "grades": grades} if each["score"] == 0 else each for each in results))
    # Wilson's interval of 8 in 10 is 0.49 to 0.94; the t interval is 0.8 ± 2.262 · 0.4216/√10 = 0.8 ± 0.30.
    assert text.splitlines() == [
        "run r1",
        "",
        "target  suite   passed  failed   n  mean score         pass rate",
        "gpt     s.yaml       8       2  10  0.80 [0.50, 1.00]  0.80 [0.49, 0.94]",
        "",
        "n: graded results; in brackets: 95 % confidence interval",
        "",
        "not passed",
        "✗ 8  gpt  exact: no",
        "✗ 9  gpt  exact: no",
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
        ("not passed", {"score": 0.0}),
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
    unknown = line("a", cost_usd=None, paid=True, usage={"input_tokens": 7, "output_tokens": 3})
    text = shown(unknown)
    assert "unknown" in text
    assert "cost: not known of 1 answer; give the target `prices`, if it counts tokens" in text
    assert "$" not in text
    assert "≥ $0.50" in shown(unknown, line("b", cost_usd=0.5))


def test_prices_are_no_help_where_no_tokens_are_counted() -> None:
    """The note on an unknown cost then says why, and not what would change nothing."""
    text = shown(line("a", cost_usd=None, paid=True, usage=None))
    assert "cost: not known of 1 answer; no tokens were counted" in text
    assert "prices" not in text


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


def test_tokens_from_the_cache_are_not_used_again() -> None:
    """Only those that this run asked for are summed, and the reader knows."""
    usage = {"input_tokens": 100, "output_tokens": 10}
    text = shown(line("a", attempts=0, usage=usage), line("b", attempts=0, usage=usage), line("c", 1.0, usage=usage))
    assert "100/10" in text
    assert "cache: 2 answers came from it, and took no time; tokens are those of the others" in text


def test_ten_failures_are_listed_and_the_others_counted() -> None:
    """All of them are in the journal, and the text says so."""
    rows = shown(*(line(f"case {number:02}", 0.0, threshold=0.5) for number in range(25))).splitlines()
    begin = rows.index("not passed")
    assert rows[begin + 1] == "✗ case 00  gpt  the score 0.00 is below 0.50"
    assert rows[begin + 10].startswith("✗ case 09")
    assert rows[begin + 11 : begin + 13] == ["and 15 more; `results.jsonl` has them all", ""]


def test_each_failure_has_its_reasons_within_the_width() -> None:
    """Errors, failures and what could not be graded have marks of their own; long reasons are wrapped, then cut."""
    judge_error = {"name": "tone", "passed": None, "reason": "", "error": {"kind": "judge", "message": "no JSON"}}
    failed = [
        {"name": name, "passed": False, "reason": f"{name} is wrong " * 5} for name in ("first", "second", "third")
    ]
    text = shown(
        line("a", None, error={"kind": "timeout", "message": "late"}),
        line("b", None, grades=[judge_error]),
        line("c", 0.0, 2, grades=failed, variant="terse"),
    )
    rows = text.splitlines()
    assert "! a  gpt  timeout: late" in rows
    assert "? b  gpt  tone: no JSON" in rows
    begin = next(number for number, row in enumerate(rows) if row.startswith("✗ c  gpt/terse#2  first: first is wrong"))
    assert rows[begin + 1].startswith("    ")
    assert "second: second is wrong" in " ".join(each.strip() for each in rows[begin : begin + 3])
    assert max(map(len, rows[:-1])) <= 100


def test_the_suite_of_a_failure_is_named_where_there_are_several() -> None:
    """Two suites may have cases of one name."""
    one = line("a", 0.0, suite="s.yaml", threshold=0.5)
    assert "✗ a  gpt  the score" in shown(one)
    assert "✗ z.yaml: a  gpt  the score" in shown(one, {**one, "suite": "z.yaml"})


def test_answers_that_were_never_to_be_graded_are_no_failures() -> None:
    """A run that only collects answers has nothing to list."""
    assert "not passed" not in shown(line("a", None, grades=[]))


def test_what_was_not_run_is_in_the_table() -> None:
    """A target of the plan has its row even without a result; the column is there only if something is missing."""
    planned: dict[tuple[str, str | None, str | None], int] = {("gpt", None, "s.yaml"): 3, ("late", None, "s.yaml"): 2}
    done = [line(name, suite="s.yaml") for name in "abc"]
    rows = [row.split() for row in shown(*done, planned=planned).splitlines()]
    assert rows[0][:6] == ["target", "suite", "passed", "failed", "not", "run"]
    assert rows[1][:5] == ["gpt", "s.yaml", "3", "0", "0"]
    assert rows[2][:5] == ["late", "s.yaml", "0", "0", "2"]
    assert "not run" not in shown(*done, planned={("gpt", None, "s.yaml"): 3})


@pytest.mark.parametrize(
    ("dollars", "said"), [(12.345, "$12.35"), (0.25, "$0.25"), (0.002, "$0.002"), (1234.5, "$1,234.50")]
)
def test_money_is_written_in_one_way(dollars: float, said: str) -> None:
    """In the table and among the most expensive as in a budget."""
    text = shown(line(cost_usd=dollars))
    assert text.count("$") == text.count(said) == 2
    assert shown_usd(dollars) == said


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


def test_a_mean_without_an_interval_says_what_it_lacks() -> None:
    """Two cases are graded, but one of them has no score, or both have the same: they are not of one case."""
    words = "mean score without interval: its scores are of one conversation or case, or all the same"
    for text in (shown(line("a"), line("b", None, status="failed")), shown(line("a", 0.6), line("b", 0.6))):
        assert "no interval: all graded results are of one conversation or case" not in text
        assert words in text
