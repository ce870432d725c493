"""Graders that did not count are counted: a mean over fewer graders does not look like one over all of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from run_fixtures import ECHO, case, journal, project, run, suite
from turnwise.engine.summary import Tally, summarise
from turnwise.engine.summary_format import LeftOutSummary, Summary
from turnwise.engine.summary_left_out import grader_uses
from turnwise.engine.verdict import judge
from turnwise.report.summary import summary_text
from turnwise.report.summary_left_out import left_out_lines

# A mock says nothing about money, so this one cannot grade.
PRICE = {"type": "cost", "name": "price", "max": 1, "weight": 9, "on_error": "skip"}
CITES = {"type": "contains", "name": "cites", "value": "x", "when": {"tags": ["law"]}}


def counted(folder: Path, graders: list[Any], *cases: dict[str, Any]) -> Summary:
    """The summary of a run with these graders, as `turnwise summary` reads it."""
    root = project(folder, ECHO, s=suite(list(cases) or [case("a"), case("b")], graders=graders))
    lines = journal(run(root / "s.yaml"))
    return summarise(lambda: iter(lines))


def test_a_skipped_grader_is_told_with_its_error(tmp_path: Path) -> None:
    """The text and the JSON say in how many of its results it is missing, and why."""
    summary = counted(tmp_path, [{"equals": "hello"}, PRICE])
    (found,) = summary.left_out
    assert (found.grader, found.rule, found.results, found.of) == ("price", "on_error", 2, 2)
    text = summary_text(summary, judge(summary))
    assert f"left out: price in 2 of 2 results ({found.kind}: {found.why})" in text
    assert summary.as_dict()["left_out"][0]["results"] == 2


def test_a_grader_that_is_not_meant_for_a_result_is_told_apart(tmp_path: Path) -> None:
    """`when` is no failure: it has words of its own, and comes after what failed."""
    cases = [case("a", tags=["law"]), case("b"), case("c")]
    summary = counted(tmp_path, [{"equals": "hello"}, CITES, PRICE], *cases)
    assert [(each.grader, each.rule, each.results, each.of) for each in summary.left_out] == [
        ("price", "on_error", 3, 3),
        ("cites", "when", 2, 3),
    ]
    assert left_out_lines(summary.left_out)[1] == "not meant for: cites in 2 of 3 results"


def test_graders_inside_of_composites_are_counted(tmp_path: Path) -> None:
    """One that an inner rule leaves out is as missing as any other."""
    inner = {"type": "composite", "mode": "all", "graders": [{"equals": "hello"}, PRICE]}
    (found,) = counted(tmp_path, [inner]).left_out
    assert (found.grader, found.results, found.of) == ("price", 2, 2)


def test_a_grader_left_out_of_some_turns_is_counted_once(tmp_path: Path) -> None:
    """A composite for each turn may lack a grader in several of them: that is one result."""
    inner = {"type": "composite", "scope": "turn", "graders": [{"contains": "o"}, PRICE]}
    (found,) = counted(tmp_path, [inner], case("a", "one", turns=[{"user": "two"}])).left_out
    assert (found.grader, found.results, found.of) == ("price", 1, 1)


def test_the_line_of_a_result_says_it(tmp_path: Path) -> None:
    """`reason` has what decided, how many graders graded, and who is missing."""
    root = project(tmp_path, ECHO, s=suite([case("a")], graders=[{"equals": "hello"}, PRICE]))
    (line,) = journal(run(root / "s.yaml"))
    assert line["reason"].startswith("1 reaches the threshold of 0.5; 1 of 2 graders graded; price: ")


def test_the_order_of_results_makes_no_difference() -> None:
    """Of several messages, the same one is shown whichever came first."""

    def line(case_id: str, why: str) -> dict[str, Any]:
        error = {"kind": "crash", "message": why}
        grade = {"name": "p", "kind": "code", "score": None, "evidence": {"left_out": "on_error: skip"}, "error": error}
        return {"case_id": case_id, "target": "t", "trial": 1, "score": 1.0, "grades": [grade]}

    lines = [line("a", "exit code 4"), line("b", "exit code 3")]
    found = []
    for order in (lines, lines[::-1]):
        tally = Tally()
        for each in order:
            tally.add(each)
        found.append(tally.summary().left_out)
    expected = LeftOutSummary(grader="p", rule="on_error", kind="crash", results=2, of=2, why="exit code 3")
    assert found == [(expected,), (expected,)]


@pytest.mark.parametrize("grades", [None, "x", [1], [{}], [{"kind": "code"}], [{"kind": "code", "name": 3}]])
def test_what_others_write_is_no_grader(grades: Any) -> None:
    """Lines of other programs may hold anything under `grades`."""
    assert grader_uses(grades) == ()


def test_many_lines_are_cut_and_harmless() -> None:
    """Ten are shown, each as one line that cannot move the cursor; the rest is counted."""
    many = [
        LeftOutSummary(grader=f"g{number}", rule="on_error", kind="crash", results=1, of=2, why="\x1b[2J\n" + "x" * 999)
        for number in range(12)
    ]
    lines = left_out_lines(many)
    assert (len(lines), lines[-1]) == (11, "and 2 more; `results.jsonl` has them all")
    assert not any("\x1b" in line or "\n" in line for line in lines)
    assert max(map(len, lines)) <= 240


def left_out(name: str, rule: str, kind: str, why: str) -> dict[str, Any]:
    """A grade that does not count."""
    error = {"kind": kind, "message": why}
    return {"name": name, "kind": "code", "score": None, "evidence": {"left_out": rule}, "error": error}


@pytest.mark.parametrize("order", [1, -1])
def test_graders_of_one_name_are_told_apart_by_what_kept_them(order: int) -> None:
    """One that failed does not vanish behind one that is not meant for the result, or that failed in another way."""
    grades = [
        left_out("judge", "when", "not-applicable", "not for this answer"),
        left_out("judge", "on_error: skip", "timeout", "too slow"),
        left_out("judge", "on_error: skip", "crash", "exit code 3"),
        {"name": "judge", "kind": "code", "score": 1.0, "evidence": {}, "error": None},
    ]
    tally = Tally()
    tally.add({"case_id": "a", "target": "t", "trial": 1, "score": 1.0, "grades": grades[::order]})
    assert left_out_lines(tally.summary().left_out) == [
        "left out: judge in 1 of 1 result (crash: exit code 3)",
        "left out: judge in 1 of 1 result (timeout: too slow)",
        "not meant for: judge in 1 of 1 result",
    ]


def test_what_is_inside_of_a_turn_is_told_apart_by_its_turn() -> None:
    """Graders inside of the composites of two turns have one name, and are not the same."""
    inside = left_out("price", "on_error: skip", "unknown-cost", "no prices")
    grades = [
        {"name": f"turn {turn}: both", "kind": "composite", "score": 1.0, "evidence": {"grades": [inside]}}
        for turn in (2, 3)
    ]
    assert [use.grader for use in grader_uses(grades) if use.rule] == ["turn 2: price", "turn 3: price"]
