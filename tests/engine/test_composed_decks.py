"""Decks inside of composites and behind conditions: they are judged, paid for, summed up and checked like any other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from deck_run_fixtures import deck_project, said, verdict
from fault_server import serving
from run_fixtures import case, journal, plan, run, suite
from turnwise.checks.together import suite_target_names
from turnwise.engine.deck_grades import deck_grades
from turnwise.engine.summary_judges import judged_grades
from turnwise.graders.deck_files import deck_uses
from turnwise.graders.diagnose import grader_diagnostics
from turnwise.graders.inside import holds_judge
from turnwise.graders.specs import make_graders
from turnwise.suite.suite import load_suite

NOWHERE = "http://127.0.0.1:9"
TONE = {"type": "deck", "name": "tone", "path": "tone.deck.md", "target": "judge"}
SHORT = {"deck": {"path": "tone.deck.md", "target": "judge"}}
HELLO = {"contains": "hello"}
PRICE = 1100 / 1_000_000


def holding(*graders: Any, mode: str = "all", **settings: Any) -> dict[str, Any]:
    """A composite of these graders."""
    return {"type": "composite", "mode": mode, "graders": list(graders), **settings}


def made(root: Path, url: str, *graders: Any) -> Path:
    """A suite of one case, whose answer is `hello`, with these graders."""
    deck_project(root, url, s=suite([case("a")], graders=list(graders)))
    return root / "s.yaml"


@pytest.mark.parametrize(
    "grader",
    [
        holding(HELLO, TONE),
        holding(HELLO, SHORT),
        {"composite": {"graders": [holding(TONE), HELLO]}},
        holding({"composite": {"mode": "any", "graders": [SHORT]}}),
        holding({**TONE, "when": {"target": "*"}}),
    ],
)
def test_a_deck_inside_is_judged_and_paid_for(tmp_path: Path, grader: dict[str, Any]) -> None:
    """At any depth and in any form: the verdict decides, its cost is the result's, and its judge is summed up."""
    with serving(lambda _: verdict(5)) as server:
        outcome = run(made(tmp_path, server.url, grader))
    (line,) = journal(outcome)
    assert (line["status"], line["score"]) == ("passed", 1.0)
    assert line["judge_usage"]["input_tokens"] == 1000
    assert line["judge_cost_usd"] == pytest.approx(PRICE)
    (judge,) = judged_grades(line["grades"])
    assert (judge.deck, judge.judge, judge.score) == ("tone.deck.md", "judge", 1.0)


def test_every_deck_inside_is_paid_for(tmp_path: Path) -> None:
    """Costs of a deck beside a composite and of one inside of it add up."""
    with serving(lambda _: verdict(5)) as server:
        (line,) = journal(run(made(tmp_path, server.url, TONE, holding({**TONE, "name": "again"})), cache=False))
    assert line["judge_cost_usd"] == pytest.approx(2 * PRICE)
    assert [each.grader for each in judged_grades(line["grades"])] == ["tone", "again"]


def test_what_gave_no_verdict_is_still_paid_for(tmp_path: Path) -> None:
    """A composite that cannot grade keeps the grades inside of it, with what they took."""
    with serving(lambda _: said("no idea")) as server:
        (line,) = journal(run(made(tmp_path, server.url, holding(HELLO, TONE))))
    assert (line["status"], line["score"], line["grades"][0]["error"]["kind"]) == ("ungraded", None, "inner")
    assert line["judge_cost_usd"] == pytest.approx(PRICE)
    (inner,) = deck_grades(line["grades"])
    assert inner["error"]["kind"] == "not_json"


def test_a_judge_that_is_left_out_is_still_paid_for(tmp_path: Path) -> None:
    """With `on_error: skip`, the grade keeps what the judge wrote and took beside the reason for leaving it out."""
    with serving(lambda _: said("no idea")) as server:
        (line,) = journal(run(made(tmp_path, server.url, HELLO, {**TONE, "on_error": "skip"})))
    assert (line["status"], line["score"]) == ("passed", 1.0)
    evidence = line["grades"][1]["evidence"]
    assert (evidence["left_out"], evidence["status"]) == ("on_error: skip", "not_json")
    assert line["judge_cost_usd"] == pytest.approx(PRICE)


def test_a_deck_that_does_not_apply_is_not_asked(tmp_path: Path) -> None:
    """A condition that does not hold spares the judge, and its cost."""
    other = {**TONE, "when": {"target": "another"}}
    with serving(lambda _: verdict(1)) as server:
        (line,) = journal(run(made(tmp_path, server.url, HELLO, other)))
        assert server.received == []
    assert (line["status"], line["judge_usage"], line["judge_cost_usd"]) == ("passed", None, None)


def test_a_broken_deck_inside_is_said_where_it_is_written(tmp_path: Path) -> None:
    """The path of the problem leads through the composite, in both of its forms."""
    short = {"composite": {"graders": [HELLO, SHORT]}}
    suite_file = made(tmp_path, NOWHERE, holding(HELLO, TONE), short)
    (tmp_path / "tone.deck.md").write_text("How polite is the last answer? It has no scale.\n")
    (only,) = load_suite(suite_file).cases
    found = [each.path for each in grader_diagnostics(only) if each.code == "deck-scale"]
    assert found == ["graders[0].graders[1]", "graders[1].composite.graders[1]"]


def test_a_model_that_judges_itself_inside_is_warned_of(tmp_path: Path) -> None:
    """A composite hides no judge from the check that it is another model."""
    planned = plan(made(tmp_path, NOWHERE, holding(TONE)), targets=("judge",))
    (warning,) = [each for each in planned.warnings if each.code == "self-judged"]
    assert warning.path == "graders[0].graders[0]"


def test_a_target_that_is_named_inside_is_checked(tmp_path: Path) -> None:
    """In the long form and below a kind: whoever judges is among the names that the project must define."""
    specs = [holding(HELLO, SHORT), {"composite": {"graders": [TONE]}}]
    found = list(suite_target_names(load_suite(made(tmp_path, NOWHERE, *specs))))
    assert [(each.path, each.name) for each in found if each.path[0] == "graders"] == [
        (("graders", 0, "graders", 1, "deck", "target"), "judge"),
        (("graders", 1, "composite", "graders", 0, "target"), "judge"),
    ]


def test_graders_without_decks_have_none(tmp_path: Path) -> None:
    """Neither the word in a text nor a composite of rules is a deck."""
    specs = [holding(HELLO, {"contains": "deck"}), {"contains": "deck"}]
    (only,) = load_suite(made(tmp_path, NOWHERE, *specs)).cases
    assert list(deck_uses(only)) == []
    assert not any(map(holds_judge, make_graders(only.graders)[0]))


def test_evidence_of_other_kinds_is_not_believed() -> None:
    """A program that prints grades of a deck has paid for none."""
    forged = {"name": "tone", "kind": "deck", "score": 1.0, "evidence": {"judge": "gpt"}}
    assert list(deck_grades([{"kind": "code", "evidence": {"grades": [forged]}}])) == []
    nested: dict[str, Any] = forged
    for _ in range(10):
        nested = {"kind": "composite", "evidence": {"grades": [nested]}}
    assert list(deck_grades([nested])) == []
