"""What a report must not hide: classes without verdicts, split votes, invalid repeats, what cached answers cost."""

from __future__ import annotations

from pathlib import Path

import pytest

from replay_fixtures import binary_cells, deck_text, judge_lines, replay_report, sample_row
from turnwise.calibration.judgement import Output
from turnwise.calibration.model_report import _cost_per_1000

STEPS = 'kind = "ordinal"\nmin = 1\nmax = 3'


def test_a_class_without_a_verdict_is_not_trusted(tmp_path: Path) -> None:
    """A judge that fails on every sample of one class is not fit for gating, however good it is on the others."""
    samples = [sample_row(f"s{number}", number % 3 + 1) for number in range(120)]
    said = judge_lines("judge", {f"s{number}": "hm" if number % 3 == 2 else number % 3 + 1 for number in range(120)})
    [model] = replay_report(tmp_path, samples, said, deck_text(STEPS))["models"]
    assert model["verdict"]["use"] == "unknown"
    assert "3" in model["verdict"]["reason"]


def test_few_verdicts_are_warned_of(tmp_path: Path) -> None:
    """Many labels do not help a judge of which few outputs are verdicts."""
    samples, said = binary_cells((30, 0, 0, 30))
    for line in said[10:]:
        line["output"] = "hm"
    report = replay_report(tmp_path, samples, said)
    assert [each["model"] for each in report["warnings"] if each["code"] == "few_samples"] == ["judge"]


def test_split_votes_are_among_the_disagreements(tmp_path: Path) -> None:
    """Where people are split, the judge is held against the one whom it would harm to ignore, and that is marked."""
    votes = [{"rater": "ann", "label": "fail"}, {"rater": "ben", "label": "pass"}]
    samples, said = binary_cells((10, 0, 0, 10))
    samples.append({**sample_row("split"), "labels": votes})
    said += judge_lines("judge", {"split": "pass"})
    deck = deck_text('kind = "binary"\nlabels = ["pass", "fail"]\npass = "pass"')
    [model] = replay_report(tmp_path, samples, said, deck)["models"]
    [found] = model["disagreements"]
    assert (found["id"], found["human"], found["judge"]) == ("split", "fail", "pass")
    assert (found["dangerous"], found["split"]) == (True, True)


def test_invalid_repeats_are_counted(tmp_path: Path) -> None:
    """One garbled output of three is a third of all, and is warned of, even if the other two make a verdict."""
    samples, said = binary_cells((20, 0, 0, 20))
    garbled = [{**line, "output": "hm"} for line in said]
    report = replay_report(tmp_path, samples, [*said, *said, *garbled])
    [model] = report["models"]
    assert (model["total"], model["valid"], model["invalid"]) == (120, 80, {"not_json": 40})
    assert "invalid_outputs" in [each["code"] for each in report["warnings"]]
    assert model["statistics"]["agreement"]["n"] == 40


def test_continuous_scores_have_no_bounds_of_agreement(tmp_path: Path) -> None:
    """Scores that are never quite equal are not wrong for that."""
    samples = [sample_row(f"s{number}", number + 0.5) for number in range(40)]
    said = judge_lines("judge", {f"s{number}": number + 0.51 for number in range(40)})
    [model] = replay_report(tmp_path, samples, said, deck_text('kind = "continuous"'))["models"]
    assert model["bounds"] == {"all_wrong": None, "all_right": None}


def test_a_rare_side_of_continuous_scores(tmp_path: Path) -> None:
    """With `pass`, three good answers among two hundred do not tell how the judge does on good ones."""
    samples = [sample_row(f"s{number}", 0.9 if number < 3 else number / 1000) for number in range(200)]
    said = judge_lines("judge", {f"s{number}": 0.9 if number < 3 else number / 1000 for number in range(200)})
    [model] = replay_report(tmp_path, samples, said, deck_text('kind = "continuous"\npass = 0.5'))["models"]
    assert model["verdict"]["use"] == "unknown"


def test_votes_that_say_nothing_are_counted(tmp_path: Path) -> None:
    """A person who could not grade a sample that another has graded is not lost."""
    votes = [{"rater": "ann", "score": 0}, {"rater": "ben", "score": 2}]
    samples = [{**sample_row(f"s{number}"), "labels": votes} for number in range(5)]
    report = replay_report(
        tmp_path,
        samples,
        judge_lines("judge", {"s0": 2}),
        deck_text('kind = "ordinal"\nmin = 0\nmax = 3\nungradable = 0'),
    )
    assert (report["samples"]["ungradable"], report["samples"]["ungradable_labels"]) == (0, 5)


@pytest.mark.parametrize(
    ("outputs", "samples", "cost"),
    [
        ([Output("1", cost_usd=0.002), Output("1", cost_usd=0.004)], 2, 3.0),
        ([Output("1", cost_usd=0.002), Output("1", cost_usd=0.0, is_cached=True)], 2, 2.0),
        ([Output("1", cost_usd=0.0, is_cached=True)], 1, None),
        ([Output("1", cost_usd=0.001, repeat=number) for number in (1, 2, 3)], 1, 3.0),
        ([Output("1", cost_usd=0.001), Output(None, failure="api_error")], 2, 1.0),
        ([Output("1", cost_usd=0.001), Output("1")], 2, None),
    ],
)
def test_what_a_thousand_verdicts_cost(outputs: list[Output], samples: int, cost: float | None) -> None:
    """Repeats count, cached answers tell nothing, and one unknown price makes the whole unknown."""
    assert _cost_per_1000(outputs, samples) == (None if cost is None else pytest.approx(cost))
