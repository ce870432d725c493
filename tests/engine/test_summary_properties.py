"""What holds for the summary of any results: order is no matter, and a file says what the live run said."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from turnwise.engine.summary import Tally, summarise
from turnwise.engine.summary_format import Summary

amounts = st.none() | st.floats(0, 1e6)
results = st.fixed_dictionaries(
    {
        "case_id": st.sampled_from("abc"),
        "target": st.sampled_from("tu"),
        "trial": st.integers(1, 3),
        "score": st.none() | st.floats(0, 1),
    },
    optional={
        "suite": st.sampled_from(["s", None]),
        "conversation_id": st.sampled_from(["a", "b", None]),
        "answer": st.sampled_from(["x", None]),
        "latency_ms": amounts,
        "cost_usd": amounts,
        "paid": st.booleans(),
        "attempts": st.integers(0, 2),
        "error": st.sampled_from([None, {"kind": "timeout"}, {"kind": "setup"}]),
    },
)
distinct = st.lists(
    results, max_size=12, unique_by=lambda each: (each.get("suite"), each["case_id"], each["target"], each["trial"])
)


def summed(records: list[dict[str, Any]]) -> Summary:
    """The summary of results that are added one by one."""
    tally = Tally()
    for record in records:
        tally.add(record)
    return tally.summary()


def unordered(summary: Summary) -> dict[str, Any]:
    """The summary without the order of its groups, the one thing that follows the order of results."""
    data = summary.as_dict()
    data["targets"].sort(key=lambda group: (group["target"], group["suite"] or ""))
    return data


@given(distinct.flatmap(lambda records: st.tuples(st.just(records), st.permutations(records))))
def test_the_order_of_lines_does_not_matter(orders: tuple[list[dict[str, Any]], list[dict[str, Any]]]) -> None:
    """Not a digit changes, in whatever order results arrive."""
    first, second = orders
    assert unordered(summed(first)) == unordered(summed(second))


@given(distinct)
def test_a_live_run_and_its_file_have_one_summary(records: list[dict[str, Any]]) -> None:
    """What was added one by one, and what is read from the lines that were written, is the same."""
    lines = [json.dumps(record) for record in records]
    assert summarise(lambda: map(json.loads, lines)) == summed(records)


@given(distinct)
def test_counts_add_up(records: list[dict[str, Any]]) -> None:
    """Every result is in one group, and of one status."""
    summary = summed(records)
    assert summary.results == len(records)
    for group in summary.targets:
        assert group.passed + group.failed + group.ungraded + group.errors == group.trials
        assert group.cases <= group.trials
