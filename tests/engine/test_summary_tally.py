"""The summary of results: counts, estimates, times, tokens and cost, from a live run and from a file alike."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import pytest

from turnwise.engine.summary import Tally, summarise
from turnwise.engine.summary_format import FailedResult, GroupSummary, Summary
from turnwise.engine.verdict import judge
from turnwise.errors import RunError
from turnwise.stats.intervals import mean_interval, wilson
from turnwise.stats.trials import pass_at_k, pass_hat_k


def line(case_id: str = "a", score: float | None = 1.0, trial: int = 1, **fields: Any) -> dict[str, Any]:
    """One result of a target named gpt."""
    return {"case_id": case_id, "target": "gpt", "trial": trial, "score": score, **fields}


def answered(case_id: str = "a", **fields: Any) -> dict[str, Any]:
    """One result with an answer that was asked for once."""
    return line(case_id, **{"answer": "x", "attempts": 1, **fields})


def summed(*records: dict[str, Any]) -> Summary:
    """The summary of results that are added one by one."""
    tally = Tally()
    for record in records:
        tally.add(record)
    return tally.summary()


def group_of(*records: dict[str, Any]) -> GroupSummary:
    """The only group of the results."""
    (group,) = summed(*records).targets
    return group


def test_every_result_is_counted_once() -> None:
    """Passed, failed, ungraded and errors are all of the results; cases count once, however often they were tried."""
    group = group_of(
        line("a", 1.0), line("a", 0.0, trial=2), line("b", None), line("c", None, error="gone"), line("d", 0.8)
    )  # fmt: skip
    assert (group.cases, group.trials) == (4, 5)
    assert (group.passed, group.failed, group.ungraded, group.errors) == (2, 1, 1, 1)
    assert group.mean_score.value == pytest.approx(0.6)
    assert group.pass_rate.value == pytest.approx(2 / 3)
    assert group.mean_score.n == group.pass_rate.n == 3


def test_independent_cases_have_the_plain_intervals() -> None:
    """One trial a case and no conversations: Student's interval of the scores, Wilson's of the rate."""
    scores = [0.9, 0.1, 0.7, 0.6, 0.2]
    group = group_of(*(line(f"case {number}", score) for number, score in enumerate(scores)))
    assert group.mean_score == mean_interval(scores)
    assert group.pass_rate == wilson(3, 5)


def test_trials_of_one_case_are_no_independent_cases() -> None:
    """Two cases whose four trials agree tell as much as two values, not as eight."""
    group = group_of(*(line(case, score, trial) for case, score in (("a", 1.0), ("b", 0.0)) for trial in range(1, 5)))
    assert group.mean_score.method == "t-clustered"
    # Two clusters with means 1 and 0: standard error 1/2, and t with one degree of freedom is 12.706.
    assert group.mean_score.lo == pytest.approx(0.5 - 12.7062047 / 2)
    assert group.pass_rate.method == "wilson-clustered"


def test_a_conversation_is_one_cluster() -> None:
    """Cases of one conversation count together: with a single conversation there is no interval."""
    group = group_of(line("a", 1.0, conversation_id="c"), line("b", 0.0, conversation_id="c"))
    assert (group.mean_score.value, group.mean_score.lo, group.mean_score.method) == (0.5, None, "none")


def test_a_conversation_and_a_case_of_one_name_are_two_clusters() -> None:
    """A name is either that of a conversation or of a case."""
    group = group_of(line("a", 1.0, conversation_id="same"), line("same", 0.0))
    assert group.mean_score == mean_interval([1.0, 0.0])


def test_chances_of_repeated_trials_leave_ungraded_ones_out() -> None:
    """pass@k and pass^k are those of the graded trials of each case that has any."""
    group = group_of(
        line("a", 1.0, 1), line("a", 0.0, 2), line("a", None, 3), line("b", 1.0, 1), line("b", 1.0, 2), line("c", None)
    )  # fmt: skip
    assert group.pass_at_k == pass_at_k([(2, 1), (2, 2)]) == {1: 0.75, 2: 1.0}
    assert group.pass_hat_k == pass_hat_k([(2, 1), (2, 2)]) == {1: 0.75, 2: 0.5}


def test_groups_are_target_variant_and_suite_as_they_first_appear() -> None:
    """Each combination has a group of its own; what is absent is None."""
    summary = summed(
        line(suite="z.yaml"), line(suite="a.yaml"), line(suite="z.yaml", variant="v"), line("b", suite="z.yaml"), line()
    )  # fmt: skip
    found = [(group.suite, group.variant, group.cases) for group in summary.targets]
    assert found == [("z.yaml", None, 2), ("a.yaml", None, 1), ("z.yaml", "v", 1), (None, None, 1)]


def test_only_answers_that_were_asked_for_have_a_time() -> None:
    """An answer from the cache took no time now, and an error has none; without attempts, an answer was asked for."""
    summary = summed(
        answered("a", latency_ms=100),
        answered("b", latency_ms=300, attempts=2),
        answered("c", latency_ms=9000, attempts=0),
        line("d", None, error="gone", latency_ms=9000, attempts=1),
        line("e", latency_ms=200),
    )
    latency = summary.targets[0].latency_ms
    assert asdict(latency) == {"n": 3, "mean": 200, "p50": 200, "p90": 280, "p95": 290, "p99": 298, "max": 300}
    assert [each.case_id for each in summary.slowest] == ["b", "e", "a"]
    assert summary.targets[0].from_cache == 1


def test_tokens_are_summed_where_they_were_counted() -> None:
    """What nobody counted is None, and the answers without counts are counted."""
    group = group_of(
        answered("a", usage={"input_tokens": 10, "output_tokens": 2, "cached_input_tokens": None}),
        answered("b", usage={"input_tokens": 5, "output_tokens": 0, "reasoning_tokens": 7}),
        answered("c", usage={"input_tokens": None, "output_tokens": None}),
        answered("d", usage=None),
        line("e", None, error="gone", usage=None),
    )
    assert (group.usage.input_tokens, group.usage.output_tokens, group.usage.reasoning_tokens) == (15, 2, 7)
    assert (group.usage.cached_input_tokens, group.usage_unknown) == (None, 2)


def test_tokens_from_the_cache_are_left_out() -> None:
    """They were used when the answer was made; whether they were counted then is no matter, either."""
    usage = {"input_tokens": 10, "output_tokens": 2}
    group = group_of(
        answered("a", usage=usage), answered("b", usage=usage, attempts=0), answered("c", usage=None, attempts=0)
    )  # fmt: skip
    assert (group.usage.input_tokens, group.usage.output_tokens) == (10, 2)
    assert (group.usage_unknown, group.from_cache) == (0, 2)


def test_what_is_planned_has_a_group_before_it_has_results() -> None:
    """Groups stand in the order of the plan; what is missing is planned, but not there."""
    tally = Tally()
    tally.expect("late", None, "s.yaml", 2)
    tally.expect("gpt", "v", "s.yaml", 1)
    tally.expect("gpt", "v", "s.yaml", 2)
    tally.add(line(suite="s.yaml", variant="v"))
    tally.add(line(suite="other.yaml"))
    found = [(each.target, each.suite, each.planned, each.trials, each.not_run) for each in tally.summary().targets]
    assert found == [
        ("late", "s.yaml", 2, 0, 2),
        ("gpt", "s.yaml", 3, 1, 2),
        ("gpt", "other.yaml", None, 1, None),
    ]


def test_nothing_is_less_than_done() -> None:
    """More results than were planned leave none to run."""
    tally = Tally()
    tally.expect("gpt", None, None, 1)
    tally.add(line("a"))
    tally.add(line("b"))
    assert tally.summary().targets[0].not_run == 0


def test_twenty_failures_are_kept_and_all_are_counted() -> None:
    """Those whose names come first, in whatever order they came."""
    records = [line(f"case {number:02}", 0.0) for number in range(30)]
    summary = summed(*reversed(records), line("good", 1.0))
    assert [each.case_id for each in summary.failures] == [f"case {number:02}" for number in range(20)]
    assert summary.failures_in_all == 30
    assert summary.failures == summed(*records).failures


def test_a_failure_says_what_and_why() -> None:
    """Failed, errors and ungraded, with everything that names the result; what was never to be graded is none."""
    broken = {"name": "tone", "passed": None, "reason": "", "error": {"kind": "judge", "message": "no JSON"}}
    summary = summed(
        line("a", 0.0, 2, suite="s", variant="v", grades=[{"name": "x", "passed": False, "reason": "no"}]),
        line("b", None, error={"kind": "timeout", "message": "late"}),
        line("c", None, grades=[broken]),
        line("d", None, grades=[]),
    )
    assert summary.failures == (
        FailedResult("b", None, "gpt", None, 1, "error", "timeout: late"),
        FailedResult("c", None, "gpt", None, 1, "ungraded", "tone: no JSON"),
        FailedResult("a", "s", "gpt", "v", 2, "failed", "x: no"),
    )
    assert summary.as_dict()["failures"] == [asdict(each) for each in summary.failures]


def test_a_cost_that_is_not_known_makes_the_sum_unknown() -> None:
    """The sum of what is known stands beside it; nothing is taken for 0."""
    known = answered("a", cost_usd=0.25), answered("b", cost_usd=0.5)
    group = group_of(*known)
    assert (group.cost_usd, group.costs_unknown) == (0.75, 0)
    group = group_of(*known, answered("c", cost_usd=None))
    assert (group.cost_usd, group.cost_usd_known, group.costs_unknown) == (None, 0.75, 1)


@pytest.mark.parametrize(
    "record", [answered(cost_usd=None, paid=False), line(), line("a", None, error="gone", paid=True)]
)
def test_what_has_no_price_has_no_unknown_cost(record: dict[str, Any]) -> None:
    """A target that nobody pays, a line without an answer and an error leave no cost open."""
    group = group_of(record)
    assert (group.cost_usd, group.cost_usd_known, group.costs_unknown) == (None, None, 0)


def test_five_results_stand_out() -> None:
    """The highest values come first; among equal ones the first by name, in whatever order they came."""
    records = [answered(name, cost_usd=cost) for name, cost in zip("gfedcba", [1, 1, 1, 1, 1, 3, 2], strict=True)]
    found = [(each.case_id, each.value) for each in summed(*records).most_expensive]
    assert found == [("b", 3), ("a", 2), ("c", 1), ("d", 1), ("e", 1)]
    assert summed(*records).most_expensive == summed(*reversed(records)).most_expensive


def test_errors_are_counted_by_kind() -> None:
    """The most frequent kind comes first."""
    kinds = ["timeout", "rate_limit", "rate_limit"]
    errors = [line(str(number), None, error={"kind": kind}) for number, kind in enumerate(kinds)]
    assert list(summed(*errors).errors_by_kind.items()) == [("rate_limit", 2), ("timeout", 1)]


def test_the_run_is_named_only_if_there_is_one() -> None:
    """Results of two runs, or of none, have no run's name."""
    assert summed(line(run_id="r1"), line("b", run_id="r1")).run_id == "r1"
    assert summed(line(run_id="r1"), line("b", run_id="r2")).run_id is None
    assert summed(line()).run_id is None


def test_a_later_line_replaces_an_earlier_one() -> None:
    """What was redone counts as it ended, once; other trials, variants and suites are other work."""
    records = [
        line("a", None, error={"kind": "timeout"}),
        line("a", 1.0, trial=2),
        line("a", 0.0, variant="v"),
        line("a", 1.0),
    ]
    summary = summarise(lambda: iter(records))
    assert summary.errors_by_kind == {}
    assert [(group.variant, group.trials, group.passed) for group in summary.targets] == [(None, 2, 2), ("v", 1, 0)]


def test_what_is_added_between_the_readings_does_not_count() -> None:
    """A run that goes on meanwhile gives the summary of one moment."""
    records = [line("a", 0.0)]

    def growing() -> Iterator[dict[str, Any]]:
        yield from list(records)
        records.extend([line("a", 1.0), line("b")])

    (group,) = summarise(growing).targets
    assert (group.trials, group.failed) == (1, 1)


def test_a_bad_line_is_named_by_its_place() -> None:
    """The error begins with the place that the caller knows."""
    with pytest.raises(RunError, match=r"^file:2: `score` must be a number") as caught:
        summarise(lambda: iter([line(), line("b", 7)]), lambda number: f"file:{number}")
    assert caught.value.hint == "correct the line, or remove it"


def test_a_bad_record_counts_for_nothing() -> None:
    """A tally is the same after a refused record as before."""
    tally = Tally()
    tally.add(line())
    with pytest.raises(RunError):
        tally.add(line("b", 2.0))
    assert tally.summary() == summed(line())


def test_the_data_are_plain_json() -> None:
    """Everything is there under its name, k is a text, and the verdict comes along if there is one."""
    summary = summed(answered(suite="s.yaml", run_id="r", latency_ms=5, cost_usd=0.5), line("b", None, suite="s.yaml"))
    data = summary.as_dict(judge(summary))
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    assert list(data) == [
        "run_id", "targets", "slowest", "most_expensive", "errors_by_kind", "ungraded_by_reason",
        "failures", "failures_in_all", "judges", "left_out", "unjudged", "verdict",
    ]  # fmt: skip
    assert data["targets"][0]["pass_at_k"] == {"1": 1.0}
    assert data["slowest"] == [
        {"case_id": "a", "suite": "s.yaml", "target": "gpt", "variant": None, "trial": 1, "value": 5.0}
    ]
    assert (data["targets"][0]["planned"], data["targets"][0]["not_run"]) == (None, None)
    assert [each["case_id"] for each in data["failures"]] == ["b"]
    assert data["verdict"]["exit_code"] == 3
    assert summary.as_dict()["verdict"] is None


def test_many_results_are_summed_without_loss() -> None:
    """Ten thousand lines, each redone once, are ten thousand results with exact sums."""
    first = [line(f"case {number}", None, error="gone") for number in range(10_000)]
    second = [
        answered(f"case {number}", score=number % 4 / 3, cost_usd=0.125, latency_ms=number) for number in range(10_000)
    ]
    (group,) = summarise(lambda: iter(first + second)).targets
    assert (group.cases, group.trials, group.errors) == (10_000, 10_000, 0)
    assert (group.passed, group.failed) == (5_000, 5_000)
    assert group.mean_score.value == pytest.approx(0.5)
    assert (group.cost_usd, group.latency_ms.mean, group.latency_ms.p50) == (1250.0, 4999.5, 4999.5)
