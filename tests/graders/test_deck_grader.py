"""Deck graders: a verdict becomes a score, everything else leaves the answer ungraded, and mistakes are told early."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from deck_run_fixtures import DECK
from run_fixtures import case, project, suite
from turnwise.decks.deck import read_deck
from turnwise.diagnostics import Diagnostic
from turnwise.graders.base import Grade, GraderSettings, Submission
from turnwise.graders.deck import DeckGrader, DeckOptions, sample_of
from turnwise.graders.deck_request import judging
from turnwise.graders.diagnose import grader_diagnostics
from turnwise.graders.embedding import Embed
from turnwise.graders.judges import Asker, Judge, JudgeAnswer
from turnwise.graders.specs import make_graders
from turnwise.graders.verdict_scale import Scale
from turnwise.providers import ProviderRequest, Usage
from turnwise.suite.format import LongGrader
from turnwise.suite.suite import load_suite

SCALE = Scale("ordinal", min=1, max=5, pass_=4, ungradable=0)
USAGE = Usage(input_tokens=10, output_tokens=2)


class OneJudge:
    """Gives one answer, whatever it is asked by; `asked` is what it was asked."""

    def __init__(self, folder: Path, given: JudgeAnswer) -> None:
        (folder / "tone.deck.md").write_text(DECK)
        deck, _ = read_deck(folder / "tone.deck.md")
        assert deck is not None
        self.asked: list[ProviderRequest] = []
        self._judge = Judge("tone.deck.md", "gpt", SCALE, judging(deck, SCALE, temperature=0.0), "κ 0.71", self._ask)
        self._given = given

    def judge(self, path: str, target: str | None) -> Judge | None:
        return self._judge if (path, target) == ("tone.deck.md", "gpt") else None

    def asker(self, target: str | None, model: str | None = None) -> Asker | None:
        return None

    def prompt(self, written: str) -> str:
        return written

    def embedder(self, target: str) -> Embed | None:
        return None

    async def _ask(self, request: ProviderRequest) -> JudgeAnswer:
        self.asked.append(request)
        return self._given


def graded(folder: Path, given: JudgeAnswer, **settings: Any) -> Grade:
    """The grade of an answer that a judge has said this of."""
    grader = DeckGrader(
        DeckOptions(path="tone.deck.md"), GraderSettings(name="tone", kind="deck", target="gpt", **settings)
    )
    submission = Submission(question="Q?", text="Hi.", judges=OneJudge(folder, given))
    return asyncio.run(grader.grade(submission))


def told(folder: Path, *graders: Any, deck: str | None = DECK) -> list[Diagnostic]:
    """What is said of the graders of a suite beside a deck."""
    project(folder, s=suite([case("a")], graders=list(graders)))
    if deck is not None:
        (folder / "tone.deck.md").write_text(deck)
    (only,) = load_suite(folder / "s.yaml").cases
    return grader_diagnostics(only)


def test_a_verdict_becomes_a_grade(tmp_path: Path) -> None:
    """The score is the share of the scale, `pass` decides, and the evidence names judge, model, repairs and trust."""
    text = 'Sure. {"score": "4", "reason": "kind"}'
    given = JudgeAnswer(text=text, model="m-1", usage=USAGE, cost_usd=0.5, latency_ms=7.0)
    grade = graded(tmp_path, given, weight=2.0, threshold=1.0)
    assert (grade.score, grade.passed, grade.reason, grade.weight) == (0.75, True, "4 (κ 0.71): kind", 2.0)
    evidence = dict(grade.evidence)
    assert evidence.pop("usage")["input_tokens"] == 10
    assert evidence == {
        "verdict": 4, "reason": "kind", "repairs": ["prose", "number_text"], "deck": "tone.deck.md", "judge": "gpt",
        "model": "m-1", "calibration": "κ 0.71", "cost_usd": 0.5, "latency_ms": 7.0, "attempts": 1,
    }  # fmt: skip


def test_a_low_verdict_fails(tmp_path: Path) -> None:
    """A verdict below `pass` fails, whatever the threshold."""
    grade = graded(tmp_path, JudgeAnswer(text='{"score": 3}'), threshold=0.1)
    assert (grade.score, grade.passed, grade.error) == (0.5, False, None)


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        (JudgeAnswer(text=""), "empty"),
        (JudgeAnswer(text="no idea"), "not_json"),
        (JudgeAnswer(text='{"reason": "x"}'), "no_score"),
        (JudgeAnswer(text='{"score": [1]}'), "wrong_type"),
        (JudgeAnswer(text='{"score": 9}'), "out_of_range"),
        (JudgeAnswer(text='{"score": 0}'), "ungradable"),
        (JudgeAnswer(text="", finish_reason="content_filter"), "refusal"),
        (JudgeAnswer(text='{"sco', finish_reason="length"), "truncated"),
        (JudgeAnswer(text=None, failure="api_error", detail="the server failed"), "api_error"),
        (JudgeAnswer(text=None, failure="timeout", detail="too late"), "timeout"),
        (JudgeAnswer(text=None), "missing"),
    ],
)
def test_no_verdict_is_no_score(tmp_path: Path, given: JudgeAnswer, kind: str) -> None:
    """Every status is an ungraded grade of that kind with the raw text, and never a 0."""
    grade = graded(tmp_path, given)
    assert (grade.score, grade.passed) == (None, None)
    assert grade.error is not None
    assert grade.error.kind == kind
    assert f"no verdict of gpt ({kind})" in grade.error.message
    assert (grade.evidence["status"], grade.evidence["raw"]) == (kind, given.text or "")


def test_without_a_judge_there_is_no_grade() -> None:
    """Where nobody can be asked, the answer stays ungraded and the deck is named."""
    grader = DeckGrader(DeckOptions(path="x.deck.md"), GraderSettings(name="x", kind="deck"))
    grade = asyncio.run(grader.grade(Submission(question="", text="")))
    assert grade.error is not None
    assert (grade.error.kind, "x.deck.md" in grade.error.message) == ("not-available", True)


def test_the_sample_is_the_conversation_with_the_answer() -> None:
    """The turns as they were, and the answer last; one that only calls tools is shown as these calls."""
    turns: Any = [{"role": "user", "content": "Hi"}]
    sample = sample_of(Submission(question="", text="Ho", turns=turns, case_id="c"))
    assert (sample.id, sample.messages) == ("c", (*turns, {"role": "assistant", "content": "Ho"}))
    call = {"function": {"name": "look", "arguments": "{}"}}
    messages: Any = [{"role": "assistant", "content": None, "tool_calls": [call]}]
    only_calls = sample_of(Submission(question="", text="", output_messages=messages))
    assert only_calls.messages[-1]["content"] == "Tool call: look({})"


def test_all_forms_of_the_grader_are_one() -> None:
    """`deck: path`, settings below `deck`, and `type: deck` mean the same."""
    long = LongGrader.model_validate({"type": "deck", "path": "a.deck.md", "target": "gpt"})
    graders, problems = make_graders([long, {"deck": {"path": "a.deck.md", "target": "gpt"}}, {"deck": "a.deck.md"}])
    assert problems == []
    made = [(each.options.path, each.settings.target) for each in graders if isinstance(each, DeckGrader)]
    assert made == [("a.deck.md", "gpt"), ("a.deck.md", "gpt"), ("a.deck.md", None)]


def test_a_grader_without_a_path_is_told() -> None:
    """The path is required, in either form."""
    problems = make_graders([LongGrader.model_validate({"type": "deck"}), {"deck": None}])[1]
    assert [problem.code for problem in problems] == ["missing-key", "missing-key"]


def test_a_good_deck_has_no_problem(tmp_path: Path) -> None:
    """A deck with a scale, and a judge that is named by the grader or by the deck itself."""
    own = DECK.replace("+++\n[scale]", '+++\nmodel = "gpt"\n[scale]', 1)
    assert told(tmp_path, {"type": "deck", "path": "tone.deck.md", "target": "gpt"}) == []
    assert told(tmp_path, {"deck": "tone.deck.md"}, deck=own) == []


@pytest.mark.parametrize(
    ("deck", "codes", "hint"),
    [
        (None, ["file-missing"], "paths are relative"),
        ("Judge.", ["deck-scale"], "[scale]"),
        ('+++\n[scale]\nkind = "ordinal"\n+++\nJudge.', ["deck-scale"], "[scale]"),
        ("+++\n[scale\n+++\nJudge.", ["bad-deck", "bad-toml"], "mend"),
        ("Judge. ![x](absent.md)", ["bad-deck", "include-missing"], "mend"),
    ],
)
def test_a_deck_that_cannot_be_used_is_told(tmp_path: Path, deck: str | None, codes: list[str], hint: str) -> None:
    """A missing file, a broken deck and a scale that says too little are errors before anything is asked."""
    found = told(tmp_path, {"type": "deck", "path": "tone.deck.md", "target": "gpt"}, deck=deck)
    assert [each.code for each in found] == codes
    assert {each.severity for each in found} == {"error"}
    assert (found[0].path, hint in (found[0].hint or "")) == ("graders[0]", True)


def test_a_deck_needs_a_judge(tmp_path: Path) -> None:
    """A grader without `target`, by a deck without `model`, has nobody to ask."""
    (found,) = told(tmp_path, {"deck": "tone.deck.md"})
    assert (found.code, "`target: NAME`" in (found.hint or "")) == ("no-judge", True)


def test_no_deck_outside_of_the_project(tmp_path: Path) -> None:
    """A suite of somebody else cannot send private files to a judge."""
    (tmp_path / "private.md").write_text(DECK)
    inside = tmp_path / "inside"
    found = told(inside, {"type": "deck", "path": "../private.md", "target": "gpt"}, deck=None)
    assert [each.code for each in found] == ["file-outside"]


def test_a_deck_beside_the_suite_serves_a_dataset_elsewhere(tmp_path: Path) -> None:
    """Graders of a suite look for decks beside the suite, wherever its cases are kept."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "rows.jsonl").write_text(json.dumps(case("a")) + "\n")
    (tmp_path / "evals").mkdir()
    (tmp_path / ".turnwise").mkdir()
    (tmp_path / "evals" / "tone.deck.md").write_text(DECK)
    graders = [{"type": "deck", "path": "tone.deck.md", "target": "gpt"}]
    (tmp_path / "evals" / "s.yaml").write_text(json.dumps({"graders": graders, "cases": "../data/rows.jsonl"}))
    (only,) = load_suite(tmp_path / "evals" / "s.yaml").cases
    assert grader_diagnostics(only) == []


def test_the_deck_of_a_case_is_told_with_its_case(tmp_path: Path) -> None:
    """What a case's own grader gets wrong is said of that case."""
    own = case("mine", graders=[{"type": "deck", "path": "absent.deck.md", "target": "gpt"}])
    project(tmp_path, s=suite([own]))
    (only,) = load_suite(tmp_path / "s.yaml").cases
    (found,) = grader_diagnostics(only)
    assert (found.code, found.case_id, found.path) == ("file-missing", "mine", "cases[0].graders[0]")


def test_what_a_judge_says_is_cleaned_and_bounded(tmp_path: Path) -> None:
    """A reason of a deck has no control characters and a bound, like those of other judges."""
    long = "\x1b[31mred\x1b[0m " + "x" * 100_000
    found = graded(tmp_path, JudgeAnswer(text=json.dumps({"score": 4, "reason": long}), usage=USAGE))
    assert found.score == 0.75
    assert "\x1b" not in found.reason
    assert found.reason.startswith("4 (κ 0.71): red x")
    assert len(found.reason) < 5_000
    assert len(found.evidence["reason"]) < 5_000
