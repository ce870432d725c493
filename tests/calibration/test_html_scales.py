"""Every kind of scale, and every lack of data, makes a page with what can be said."""

from __future__ import annotations

from typing import Any

import pytest

from calibration_page import answer, sample
from html_tree import Element, parsed
from turnwise.calibration.analysis import analyse
from turnwise.calibration.judgement import Output
from turnwise.decks.sample import HumanLabel
from turnwise.decks.scale import ScaleSpec
from turnwise.report.calibration.html.page import calibration_html


def page(labels: list[Any], said: list[Any], spec: ScaleSpec | None = None, repeats: int = 1) -> Element:
    """The page of one judge that said these things of samples with those labels."""
    samples = [sample(f"n-{place}", label=label, tags=("all",)) for place, label in enumerate(labels)]
    outputs = {
        each.id: [Output(answer(value).text, repeat=turn + 1) for turn in range(repeats)]
        for each, value in zip(samples, said, strict=True)
    }
    return parsed(calibration_html([analyse(samples, {"judge": outputs}, spec, draws=50)]))


def heads(whole: Element) -> list[str]:
    """The heads of the table of models."""
    return [each.text for each in whole.one("table", "models").one("thead").all("th")]


def test_continuous_scores_have_an_error_in_place_of_agreement() -> None:
    """Scores are never exactly the same, so the mean absolute error stands beside Lin's concordance."""
    human = [place / 7 for place in range(40)]
    whole = page(human, [score + 0.25 for score in human], ScaleSpec(kind="continuous", min=0, max=10))
    assert heads(whole)[3:5] == ["Mean absolute error", "Lin’s concordance"]
    cells = [each.text for each in whole.one("table", "models").one("tbody").all("td")]
    assert cells[2].startswith("0.250")
    assert cells[5].startswith("+0.250")
    assert list(whole.all("table", "confusion")) == []


def test_labels_have_a_matrix_and_no_histogram() -> None:
    """Words have no distance: κ is drawn, and there is neither histogram nor scatter."""
    whole = page(
        ["A", "B", "tie"] * 12, ["A", "tie", "tie"] * 12, ScaleSpec(kind="categorical", labels=["A", "B", "tie"])
    )
    assert heads(whole)[3:5] == ["Agreement", "Cohen’s κ"]
    cells = [each.text for each in whole.one("table", "slices").one("tbody").all("td")]
    # 24 of 36 are right; people called 12 a tie and the judge 24, so that the 12 A remain, all right.
    assert cells[0].startswith("66.7 %")
    assert cells[0].endswith("24 of 36")
    assert cells[1].startswith("100.0 %")
    assert cells[1].endswith("12 of 12")
    assert list(whole.all("svg", "chart")) == []
    assert len(list(whole.all("table", "confusion"))) == 1


def test_an_inferred_scale_is_said_to_be() -> None:
    """Without a declaration the page says that the scale was inferred."""
    assert "inferred from the labels" in page([1, 2, 3] * 10, [1, 2, 2] * 10).one("p", "lead").text


@pytest.mark.parametrize("kind", ["binary", "ordinal", "continuous", "categorical"])
def test_samples_without_any_label_make_a_page(kind: Any) -> None:
    """Nothing can be said, so every figure is a dash, and all samples are shown as unlabelled."""
    words = {"labels": ["good", "bad"]} if kind in ("binary", "categorical") else {"min": 1, "max": 5}
    said = ["good" if "labels" in words else 3] * 3
    whole = page([None] * 3, said, ScaleSpec.model_validate({"kind": kind, **words}))
    cells = [each.text for each in whole.one("table", "models").one("tbody").all("td")]
    assert [cell[0] for cell in cells[2:4]] == ["–", "–"]
    assert [each.text for each in whole.all("span", "badges")] == ["unlabelled"] * 3


def test_repeats_are_counted_and_shown() -> None:
    """Three outputs for each of 30 samples are 90 outputs, and each sample lists what its repeats said."""
    whole = page([1, 2, 3] * 10, [1, 2, 3] * 10, ScaleSpec(kind="ordinal", min=1, max=3), repeats=3)
    assert "3 repeats: 90 of 90 outputs valid" in whole.text
    assert "repeats: 1, 1, 1" in whole.text


def test_many_labels_are_not_drawn() -> None:
    """A matrix of 40 labels would be unreadable: the page says where it is."""
    labels = [f"label-{place}" for place in range(40)]
    whole = page(labels, labels, ScaleSpec(kind="categorical", labels=labels))
    assert "The table of 40 labels is too large to show" in whole.text


def test_people_are_beside_the_models_by_tag() -> None:
    """Where a tag has several raters, their own agreement is in its row: two of three samples are labelled alike."""
    votes = [("good", "good"), ("bad", "bad"), ("good", "bad")]
    samples = [
        sample(
            f"v-{place}", labels=[HumanLabel(None, one, None, "ann"), HumanLabel(None, two, None, "ben")], tags=("all",)
        )
        for place, (one, two) in enumerate(votes)
    ]
    outputs = {each.id: [answer("good")] for each in samples}
    spec = ScaleSpec(kind="binary", labels=["bad", "good"])
    whole = parsed(calibration_html([analyse(samples, {"judge": outputs}, spec, draws=50)]))
    cells = [each.text for each in whole.one("table", "slices").one("tbody").all("td")]
    assert cells[3].startswith("66.7 %")
    assert cells[3].endswith("2 of 3")
