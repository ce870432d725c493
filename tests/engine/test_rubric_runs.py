"""Rubrics, panels and comparisons against servers of this machine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from deck_run_fixtures import messages_of, said
from fault_server import Received, answer, serving
from judge_fixtures import PRICE, graded, judge_project, opinion, ticks
from run_fixtures import case, plan, run
from turnwise.errors import SuiteError
from turnwise.graders.judge_words import PAIRWISE, RUBRIC
from turnwise.report.summary_judges import judge_lines

LINES = {
    "type": "rubric",
    "target": "judge",
    "lines": ["It greets.", {"text": "It is short.", "weight": 2, "range": [1, 5]}],
}


def lines(*entries: Any) -> bytes:
    """An answer with these entries."""
    return said(json.dumps({"lines": list(entries)}))


ONE, TWO = {"id": "1", "met": True}, {"id": "2", "score": 3}


def test_plain_lines_are_one_grader_and_one_call(tmp_path: Path) -> None:
    """All texts among the graders are asked about together, each with its id; the score is the share that is met."""
    with serving(lambda _: ticks(True, False, True, False)) as server:
        graders = ["It greets.", {"contains": "hello"}, "It is short.", "It is kind.", "It is long."]
        line = graded(tmp_path, server, *graders, judge="judge")
        (request,) = server.received
    rubric, contains = line["grades"]
    assert (rubric["kind"], rubric["score"], contains["kind"]) == ("rubric", 0.5, "contains")
    assert (rubric["evidence"]["hits"], rubric["evidence"]["misses"]) == (
        ["It greets.", "It is kind."],
        ["It is short.", "It is long."],
    )
    system = messages_of(request)[0]["content"]
    assert system.startswith(RUBRIC)
    assert system.splitlines()[-4:] == [
        '- id "1", "met": It greets.',
        '- id "2", "met": It is short.',
        '- id "3", "met": It is kind.',
        '- id "4", "met": It is long.',
    ]
    assert line["judge_cost_usd"] == pytest.approx(PRICE)


def test_weights_and_ranges_make_the_score(tmp_path: Path) -> None:
    """One line met with weight 1, and 3 of 1 to 5 with weight 2: (1 + 2 · 0.5) / 3."""
    with serving(lambda _: lines(ONE, {**TWO, "evidence": "five words"})) as server:
        (grade,) = graded(tmp_path, server, LINES)["grades"]
    assert grade["score"] == pytest.approx(2 / 3)
    assert grade["evidence"]["votes"][0]["lines"][1]["evidence"] == "five words"


@pytest.mark.parametrize(("met", "passed"), [(True, True), (False, False)])
def test_a_required_line_decides(tmp_path: Path, met: bool, passed: bool) -> None:
    """The grader fails without it, however high the score of the others is."""
    rubric = {"type": "rubric", "target": "judge", "lines": [{"text": "Safe.", "required": True}, *"abcdefghi"]}
    with serving(lambda _: ticks(met, *[True] * 9)) as server:
        line = graded(tmp_path, server, {**rubric, "required": True})
    assert line["grades"][0]["score"] == pytest.approx(1.0 if met else 0.9)
    assert (line["grades"][0]["passed"], line["status"]) == (passed, "passed" if passed else "failed")


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (lines(ONE), "no_score"),
        (lines(), "no_score"),
        (lines(ONE, TWO, TWO), "wrong_type"),
        (lines(ONE, {"id": "2"}), "no_score"),
        (lines(ONE, {"id": "2", "met": True}), "no_score"),
        (lines(ONE, {"id": "2", "score": 9}), "out_of_range"),
        (lines(ONE, {"id": "2", "score": True}), "wrong_type"),
        (lines({"id": "1", "met": 1}, TWO), "wrong_type"),
        (lines({"id": "1", "met": "perhaps"}, TWO), "out_of_range"),
        (lines({"id": "1", "met": []}, TWO), "wrong_type"),
        (lines(ONE, "2: 3"), "wrong_type"),
        (said('{"lines": {"1": true}}'), "wrong_type"),
        (said('{"score": 1}'), "no_score"),
        (said('{"lines": [{"id": "1", "met": tr'), "truncated"),
        (said("I cannot judge this."), "refusal"),
        (said("They are all met."), "not_json"),
        (said(""), "empty"),
        (answer({"error": {"message": "broken"}}, 500), "api_error"),
    ],
)
def test_a_line_without_a_verdict_is_no_score(tmp_path: Path, reply: bytes, kind: str) -> None:
    """Missing, doubled and malformed entries leave the answer ungraded: no line is taken for 0."""
    with serving(lambda _: reply) as server:
        line = graded(tmp_path, server, LINES)
    assert (line["status"], line["score"], line["grades"][0]["error"]["kind"]) == ("ungraded", None, kind)


@pytest.mark.parametrize(
    ("reply", "repairs"),
    [
        (lines({"id": 1, "met": True}, TWO), []),
        (lines(TWO, {"id": "1", "met": "true"}, {"id": "7", "met": False}), ["extra_lines"]),
        (said('Sure: {"lines": [{"id": "1", "met": true}, {"id": "2", "score": "3"}]}'), ["prose"]),
    ],
)
def test_what_is_too_much_does_no_harm(tmp_path: Path, reply: bytes, repairs: list[str]) -> None:
    """Ids as numbers, another order, lines that there are not, and words around it change no score."""
    with serving(lambda _: reply) as server:
        (grade,) = graded(tmp_path, server, LINES)["grades"]
    assert grade["score"] == pytest.approx(2 / 3)
    assert grade["evidence"]["votes"][0]["repairs"] == repairs


PANEL = {"type": "llm_judge", "targets": ["judge", "second", "third"]}


@pytest.mark.parametrize(
    ("combine", "score"), [(None, 0.5), ("mean", 0.5), ("median", 0.6), ("min", 0.0), ("majority", 1.0)]
)
def test_a_panel_combines_its_votes(tmp_path: Path, combine: str | None, score: float) -> None:
    """Votes of 0.9, 0.6 and 0: each is kept with its judge, and one pair of three agrees."""
    with (
        serving(lambda _: opinion(0.9)) as one,
        serving(lambda _: opinion(0.6)) as two,
        serving(lambda _: opinion(0)) as three,
    ):
        grader = {**PANEL, **({} if combine is None else {"combine": combine})}
        line = graded(tmp_path, one, grader, others={"second": two.url, "third": three.url})
    evidence = line["grades"][0]["evidence"]
    assert line["score"] == pytest.approx(score)
    assert [(each["judge"], each["score"], each["passed"]) for each in evidence["votes"]] == [
        ("judge", 0.9, True),
        ("second", 0.6, True),
        ("third", 0.0, False),
    ]
    assert evidence["agreement"] == pytest.approx(1 / 3)
    assert line["judge_cost_usd"] == pytest.approx(3 * PRICE)


@pytest.mark.parametrize(("least", "score"), [(None, None), (3, None), (2, 0.75)])
def test_a_broken_judge_is_left_out_only_if_that_is_allowed(tmp_path: Path, least: int | None, score: Any) -> None:
    """Without `least`, every judge is needed; its cost is counted in any case."""
    with (
        serving(lambda _: opinion(1)) as one,
        serving(lambda _: said("no")) as two,
        serving(lambda _: opinion(0.5)) as three,
    ):
        grader = {**PANEL, **({} if least is None else {"least": least})}
        line = graded(tmp_path, one, grader, others={"second": two.url, "third": three.url})
    grade = line["grades"][0]
    assert (line["score"], grade["evidence"]["valid"]) == (score, 2)
    assert (grade["error"] or {"kind": None})["kind"] == ("not_json" if score is None else None)
    assert "second" in grade["reason"]
    assert line["judge_cost_usd"] == pytest.approx(3 * PRICE)


def test_a_panel_combines_line_by_line(tmp_path: Path) -> None:
    """Lines that two of three find met are met by majority, and the judges' own scores stay in the evidence."""
    panel = {**PANEL, "type": "rubric", "combine": "majority", "lines": ["a", "b"]}
    with (
        serving(lambda _: ticks(True, False)) as one,
        serving(lambda _: ticks(True, True)) as two,
        serving(lambda _: ticks(False, False)) as three,
    ):
        (grade,) = graded(tmp_path, one, panel, others={"second": two.url, "third": three.url})["grades"]
    assert (grade["score"], [each["score"] for each in grade["evidence"]["lines"]]) == (0.5, [1.0, 0.0])
    assert [each["score"] for each in grade["evidence"]["votes"]] == [0.5, 1.0, 0.0]


PAIR = {"type": "pairwise", "target": "judge", "baseline": "goodbye"}


def prefers(text: str) -> Any:
    """A judge that names the place where the text stands."""

    def reply(request: Received) -> bytes:
        first = messages_of(request)[1]["content"].partition("<answer B")[0]
        return said(json.dumps({"reason": "so", "label": "A" if f">{text}</answer A" in first else "B"}))

    return reply


@pytest.mark.parametrize(
    ("reply", "score", "outcomes"),
    [
        (prefers("hello"), 1.0, ["win", "win"]),
        (prefers("goodbye"), 0.0, ["loss", "loss"]),
        (lambda _: said('{"label": "A"}'), 0.5, ["win", "loss"]),
        (lambda _: said('{"label": "B"}'), 0.5, ["loss", "win"]),
        (lambda _: said('{"label": "Tie"}'), 0.5, ["tie", "tie"]),
    ],
)
def test_both_orders_decide(tmp_path: Path, reply: Any, score: float, outcomes: list[str]) -> None:
    """A win or a loss counts if it does not depend on the order; a judge that likes a place gives a tie."""
    with serving(reply) as server:
        line = graded(tmp_path, server, PAIR)
        first, second = (messages_of(request) for request in server.received)
    (grade,) = line["grades"]
    assert (grade["score"], [each["outcome"] for each in grade["evidence"]["votes"]]) == (score, outcomes)
    assert [each["answer_as"] for each in grade["evidence"]["votes"]] == ["A", "B"]
    assert first[0] == second[0] == {"role": "system", "content": PAIRWISE}
    swapped = first[1]["content"].replace("hello</answer", "X").replace("goodbye</answer", "hello</answer")
    assert swapped.replace("X", "goodbye</answer") == second[1]["content"]
    assert line["judge_cost_usd"] == pytest.approx(2 * PRICE)


@pytest.mark.parametrize(
    ("reply", "kind"),
    [(said('{"label": "C"}'), "out_of_range"), (said('{"score": 1}'), "wrong_type"), (said("hm"), "not_json")],
)
def test_a_comparison_without_a_label_is_no_score(tmp_path: Path, reply: bytes, kind: str) -> None:
    """Both orders need a verdict."""
    with serving(
        lambda request: reply if ">hello</answer B" in str(request.body) else said('{"label": "A"}')
    ) as server:
        line = graded(tmp_path, server, PAIR)
    assert (line["status"], line["grades"][0]["error"]["kind"]) == ("ungraded", kind)


def test_the_reference_is_the_baseline(tmp_path: Path) -> None:
    """Without a `baseline`, the expected answer is compared with."""
    expected = [{"role": "assistant", "content": "bye"}]
    with serving(prefers("hello")) as server:
        line = graded(
            tmp_path, server, {"pairwise": None}, judge="judge", cases=[case("a", expected_messages=expected)]
        )
        assert ">bye</answer B" in messages_of(server.received[0])[1]["content"]
    assert line["score"] == 1.0


def test_nothing_to_compare_with_is_an_error(tmp_path: Path) -> None:
    """A case that lacks a baseline is told before anything is asked."""
    with pytest.raises(SuiteError, match="`pairwise` has no `baseline`") as caught:
        plan(judge_project(tmp_path, "http://127.0.0.1:9", {"type": "pairwise", "target": "judge"}))
    assert [each.code for each in caught.value.diagnostics] == ["grader-no-value"]


def test_judges_are_summed_up(tmp_path: Path) -> None:
    """A grader that asks a model has a line with its mean and its cost, which says that it has no calibration."""
    with serving(lambda _: opinion(0.5)) as one, serving(lambda _: opinion(1)) as two:
        grader = {"type": "llm_judge", "name": "quality", "targets": ["judge", "second"]}
        outcome = run(judge_project(tmp_path, one.url, grader, others={"second": two.url}))
    (summed,) = outcome.summary.judges
    assert (summed.grader, summed.kind, summed.judge, summed.graded) == ("quality", "llm_judge", "judge, second", 1)
    assert summed.cost_usd == pytest.approx(2 * PRICE)
    (shown,) = judge_lines([summed])
    assert shown.startswith("quality (llm_judge, judged by judge, second): mean 0.75 · uncalibrated: ")
