"""Corrected pass rates of unlabelled answers, from recorded outputs."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from estimate_fixtures import ORACLE, answer_rows, conversation, estimate_files, judged_rows, lines_to
from turnwise.calibration.answer_files import load_answers
from turnwise.calibration.estimating import Estimate, estimates_of
from turnwise.calibration.options import CalibrationOptions
from turnwise.calibration.replaying import replayed
from turnwise.errors import DeckError, UsageError
from turnwise.report.calibration.estimate_text import estimate_lines, estimate_markdown
from turnwise.report.terminal import one_line

_DECK = '+++\n[scale]\nkind = "binary"\nlabels = ["fail", "pass"]\npass = "pass"\n+++\nGrade the answer.\n'
Z = 1.959963984540054


@pytest.fixture(autouse=True)
def _in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _estimate(**options: Any) -> Estimate:
    reports, _ = replayed(CalibrationOptions(samples=("s.jsonl",), estimate="a.jsonl", **options), "r.jsonl", draws=50)
    (found,) = estimates_of(reports)
    return found


def test_published_interval() -> None:
    """A rate of .4 among 1,000 with TNR .7 and TPR .9 of 200 labels each is .166667, from .056351 to .262733."""
    estimate_files(Path(), ORACLE, ["pass"] * 400 + ["fail"] * 600)
    found = _estimate()
    figures = (found.rate.value, found.rate.lo, found.rate.hi)
    assert figures == pytest.approx((1 / 6, 0.056351, 0.262733), abs=5e-7)
    assert (found.rate.raw, found.rate.n, found.rate.labels, found.tpr, found.tnr) == (0.4, 1000, 400, 0.9, 0.7)
    assert found.rate.method == "rogan-gladen"


def test_answers_enter_no_statistic_of_the_calibration() -> None:
    """The report of a calibration is the same with and without answers."""
    estimate_files(Path(), ORACLE, ["pass"] * 30 + ["?"] * 5)
    ((with_answers,), _) = replayed(CalibrationOptions(samples=("s.jsonl",), estimate="a.jsonl"), "r.jsonl", draws=50)
    lines = Path("r.jsonl").read_text(encoding="utf-8").splitlines()
    Path("alone.jsonl").write_text("\n".join(lines[:400]) + "\n", encoding="utf-8")
    ((alone,), _) = replayed(CalibrationOptions(samples=("s.jsonl",)), "alone.jsonl", draws=50)
    assert with_answers.models == alone.models
    assert with_answers.samples == alone.samples
    assert estimates_of([alone]) == []


def test_invalid_verdicts_are_counted_and_left_out() -> None:
    """An answer without a verdict is in no rate, but in `invalid` by its status; one without output is missing."""
    estimate_files(Path(), ORACLE, ["pass"] * 6 + ["fail"] * 4 + ["?"] * 3)
    lines_to("a.jsonl", [*map(json.loads, Path("a.jsonl").read_text(encoding="utf-8").splitlines()), conversation("x")])
    found = _estimate()
    assert (found.rate.n, found.rate.raw) == (10, 0.6)
    assert sum(found.invalid.values()) == 4
    assert found.invalid["missing"] == 1
    assert any("4 answers without a verdict" in line for line in estimate_lines(found, clean=one_line))


def test_random_draw_by_hand() -> None:
    """With labels drawn at random the rate is that of PPI++, as worked out by hand from its formula."""
    cells = {("pass", "pass"): 5, ("pass", "fail"): 1, ("fail", "fail"): 3, ("fail", "pass"): 1}
    estimate_files(Path(), cells, ["pass"] * 8 + ["fail"] * 12)
    drawn = [{"id": row["id"], "messages": row["messages"]} for row in judged_rows(cells)[0]]
    lines_to("a.jsonl", [*drawn, *answer_rows(["pass"] * 20)[0]])
    weight = Fraction(7, 18)  # Cov = 1.4/9, Var f = 2.4/9, 1 + n/N = 1.5
    rest = [1 - weight] * 5 + [Fraction(1)] + [Fraction(0)] * 3 + [-weight]
    mean = sum(rest) / 10
    variance = sum((each - mean) ** 2 for each in rest) / 9 / 10 + weight**2 * Fraction(48, 190) / 20
    value, half = Fraction(47, 90), Z * float(variance) ** 0.5
    found = _estimate(drawn=True)
    figures = (found.rate.value, found.rate.lo, found.rate.hi)
    assert figures == pytest.approx((float(value), float(value) - half, float(value) + half), abs=1e-9)
    assert found.rate.method == "ppi++"


def test_drawn_samples_are_not_answers_too() -> None:
    """Of answers that hold the labelled samples themselves, only the others count as unlabelled."""
    estimate_files(Path(), {("pass", "pass"): 6, ("fail", "fail"): 6}, ["pass"] * 4 + ["fail"] * 4)
    samples = [{**row, "expected": None} for row in judged_rows({("pass", "pass"): 6, ("fail", "fail"): 6})[0]]
    rows = [{key: value for key, value in row.items() if value is not None} for row in samples]
    lines_to("a.jsonl", [*rows, *answer_rows(["pass"] * 8)[0]])
    found = _estimate(drawn=True)
    assert found.rate.n == 8
    assert any("12 answers left out" in note for note in found.notes)


@pytest.mark.parametrize("drawn", [False, True])
def test_same_id_is_refused(drawn: bool) -> None:
    """An answer with the id of a sample is an error with its place, unless it is that sample, drawn."""
    estimate_files(Path(), ORACLE, ["pass"] * 3)
    lines_to("a.jsonl", [conversation("a0"), {"id": "s1", "messages": [{"role": "user", "content": "Other"}]}])
    with pytest.raises(DeckError) as caught:
        _estimate(drawn=drawn)
    (problem,) = caught.value.diagnostics
    assert (problem.code, problem.file, problem.place.line) == ("duplicate-id", "a.jsonl", 2)
    assert "'s1'" in problem.message
    assert "s.jsonl, line 2" in problem.message


def test_refusals() -> None:
    """Too few labels of a kind, a judge that guesses, and a scale without good and bad have a reason, and no value."""
    estimate_files(Path(), {("pass", "pass"): 50, ("fail", "fail"): 9}, ["pass"] * 5)
    assert "50 passes and 9 fails" in str(_estimate().rate.refusal)
    estimate_files(
        Path(), {("pass", "pass"): 6, ("pass", "fail"): 6, ("fail", "pass"): 6, ("fail", "fail"): 6}, ["pass"]
    )
    assert "no better than chance" in str(_estimate().rate.refusal)
    estimate_files(Path(), {("a", "a"): 12, ("b", "b"): 12, ("c", "c"): 12}, ["a"])
    found = _estimate()
    assert (found.rate.value, found.tpr) == (None, None)
    assert "`pass`" in str(found.rate.refusal)


def test_a_judge_worse_than_chance_is_called_so() -> None:
    """TPR 4/12 + TNR 4/12 − 1 is below 0."""
    cells = {("pass", "pass"): 4, ("pass", "fail"): 8, ("fail", "fail"): 4, ("fail", "pass"): 8}
    estimate_files(Path(), cells, ["pass"])
    assert "worse than chance" in str(_estimate().rate.refusal)


def test_no_verdict_on_any_answer_is_what_is_said() -> None:
    """It is not the answers that are missing: their number, and why there is no verdict, stand in the refusal."""
    estimate_files(Path(), ORACLE, ["?"] * 300)
    found = _estimate()
    assert (found.rate.value, found.rate.raw) == (None, None)
    assert found.rate.refusal == "300 answers, no valid verdict: 300 not_json"


@pytest.mark.parametrize(
    ("passes", "words"),
    [
        (2, "less often than labelled bad ones (30.0 %)"),
        (97, "more often than labelled good ones (90.0 %)"),
    ],
)
def test_an_impossible_pass_rate_is_doubted_first(passes: int, words: str) -> None:
    """No mixture of good and bad answers is passed less often than bad ones, or more often than good ones."""
    estimate_files(Path(), ORACLE, ["pass"] * passes + ["fail"] * (100 - passes))
    found = _estimate()
    _, first, *_ = estimate_lines(found, clean=one_line)
    assert words in first
    assert "must differ from the labelled samples" in first
    assert words in found.as_dict()["notes"][0]


@pytest.mark.parametrize("passes", [30, 60, 90])
def test_a_possible_pass_rate_is_not_doubted(passes: int) -> None:
    """Between both rates, and at them, nothing speaks against the correction."""
    estimate_files(Path(), ORACLE, ["pass"] * passes + ["fail"] * (100 - passes))
    assert _estimate().doubts == ()


def test_an_interval_of_no_width_is_not_shown() -> None:
    """Both ends at 0 would promise what the note above denies; the data keep them."""
    estimate_files(Path(), {("pass", "pass"): 500, ("fail", "fail"): 300, ("fail", "pass"): 200}, ["fail"] * 500)
    found = _estimate()
    assert (found.rate.value, found.rate.lo, found.rate.hi) == (0.0, 0.0, 0.0)
    first = estimate_lines(found, clean=one_line)[0]
    assert first.endswith("corrected for its errors 0.0 % (no interval: see below)")


def test_drawn_from_other_answers_is_a_mistake() -> None:
    """Where no labelled sample is among the answers, nothing was drawn from them."""
    estimate_files(Path(), ORACLE, ["pass"] * 3)
    with pytest.raises(UsageError, match="no labelled sample is among the answers"):
        _estimate(drawn=True)


def test_drawn_needs_answers() -> None:
    """A random draw of nothing is a mistake."""
    with pytest.raises(UsageError, match="--estimate"):
        CalibrationOptions(drawn=True)


def test_clusters_are_said() -> None:
    """The interval takes samples as independent, and says so where some belong together."""
    estimate_files(Path(), ORACLE, ["pass"] * 2)
    lines_to("a.jsonl", [conversation("a0", cluster="c"), conversation("a1", cluster="c")])
    assert any("independent" in note for note in _estimate().notes)


def test_most_people_decide() -> None:
    """Several labels of a sample count as one, that of most people; a sample without a majority is left out."""
    estimate_files(Path(), {("pass", "pass"): 20, ("fail", "fail"): 20}, ["pass"] * 4)
    rows, _ = judged_rows({("pass", "pass"): 20, ("fail", "fail"): 20})
    votes = [[row.pop("expected")] * 2 for row in rows]
    votes[0], votes[1] = ["pass", "fail"], ["pass", "pass", "fail"]
    for row, words in zip(rows, votes, strict=True):
        row["labels"] = [{"rater": f"r{place}", "label": word} for place, word in enumerate(words)]
    lines_to("s.jsonl", rows)
    found = _estimate()
    assert (found.rate.labels, found.tpr, found.tnr) == (39, 1.0, 1.0)
    assert any("1 labelled sample without a majority" in note for note in found.notes)


def test_with_a_deck() -> None:
    """With a deck, its name stands beside the rate."""
    estimate_files(Path(), ORACLE, ["pass"] * 400 + ["fail"] * 600)
    Path("d.deck.md").write_text(_DECK, encoding="utf-8")
    found = _estimate(decks=("d.deck.md",))
    assert found.deck == "d.deck.md"
    assert found.rate.value == pytest.approx(1 / 6)


def test_results_of_a_run_are_answers() -> None:
    """The results of a run are read as answers; those without an answer are counted as left out."""
    results = [
        {"case_id": f"c{place}", "target": "t", "trial": 1, "score": 1, "answer": answer, "error": None}
        for place, answer in enumerate(["Yes.", "No.", None])
    ]
    Path("run").mkdir()
    lines_to("run/results.jsonl", results)
    found = load_answers("run")
    assert [each.messages[-1]["content"] for each in found.samples] == ["Yes.", "No."]
    assert found.skipped == 1


def test_a_run_is_known_by_its_id() -> None:
    """As `samples from` takes it; an id that no run has is an error that names the latest ones."""
    folder = Path(".turnwise/runs/20260101-000000-abc")
    folder.mkdir(parents=True)
    (folder / "run.json").write_text("{}", encoding="utf-8")
    row = {"case_id": "c", "target": "t", "trial": 1, "score": 1, "answer": "Yes.", "error": None}
    lines_to(folder / "results.jsonl", [row])
    assert [each.messages[-1]["content"] for each in load_answers(folder.name).samples] == ["Yes."]
    with pytest.raises(UsageError, match="there is no run 'other'") as caught:
        load_answers("other")
    assert folder.name in str(caught.value.hint)


def test_labels_among_answers_are_not_used() -> None:
    """An answer that has a label loses it, and that is counted."""
    lines_to("a.jsonl", [conversation("a0", expected="pass"), conversation("a1")])
    found = load_answers("a.jsonl")
    assert not any(each.is_labelled for each in found.samples)
    assert found.labels_ignored == 1


def test_hostile_names_are_harmless() -> None:
    """The name of a model cannot clear the screen, nor be markup."""
    estimate_files(Path(), ORACLE, ["pass"] * 2)
    text = Path("r.jsonl").read_text(encoding="utf-8").replace('"model": "m"', '"model": "\\u001b[2J<b>"')
    Path("r.jsonl").write_text(text, encoding="utf-8")
    found = _estimate()
    assert "\x1b" not in "".join(estimate_lines(found, clean=one_line))
    assert "<b>" not in estimate_markdown([found], clean=one_line)
