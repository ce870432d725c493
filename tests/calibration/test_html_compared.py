"""Differences between models read as sentences that say no more than is known."""

from __future__ import annotations

from dataclasses import replace

import pytest

from calibration_page import table_calibration
from html_tree import parsed
from turnwise.calibration.report import PairedDifference
from turnwise.report.calibration.html.compared import compared, difference_text

FOUND = PairedDifference("B", "agreement", 0.041, 0.012, 0.07, 0.005, 0.01, True, 300, "mcnemar-exact")


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({}, "A agrees more often than B by 4.1 points (1.2 … 7.0), p = .010 after Holm."),
        (
            {"value": -0.041, "lo": -0.07, "hi": -0.012},
            "B agrees more often than A by 4.1 points (1.2 … 7.0), p = .010 after Holm.",
        ),
        (
            {"statistic": "mae", "value": -0.25, "lo": -0.4, "hi": -0.1},
            "A is closer to people than B by 0.250 (0.100 … 0.400), p = .010 after Holm.",
        ),
        (
            {"statistic": "mae", "value": 0.25, "lo": 0.1, "hi": 0.4},
            "B is closer to people than A by 0.250 (0.100 … 0.400), p = .010 after Holm.",
        ),
        (
            {"statistic": "kappa_quadratic", "lo": None, "hi": None},
            "A has a higher quadratic κ than B by .04, p = .010 after Holm.",
        ),
        (
            {"reliable": False, "lo": -0.012, "p_holm": 0.3},
            "A and B: no reliable difference in agreement (4.1 points; −1.2 … 7.0, p = .300 after Holm).",
        ),
        (
            {"value": None, "reliable": False},
            "A and B: not comparable in agreement: the figure of one of them is not defined.",
        ),
    ],
)
def test_a_difference_is_one_sentence(changes: dict[str, object], sentence: str) -> None:
    """The better one comes first with a positive size; what is not reliable is no ranking."""
    assert difference_text("A", replace(FOUND, **changes)) == sentence  # type: ignore[arg-type]


def test_each_pair_is_said_once() -> None:
    """Both models know of their difference, and the page says it once for each statistic."""
    models = table_calibration().models
    assert [len(model.differences) for model in models] == [2, 2]
    assert len(list(parsed(compared(models)).all("li"))) == 2


def test_one_model_has_nothing_to_be_compared_with() -> None:
    """Without a second model there is no such part."""
    (model, _) = table_calibration().models
    assert compared([replace(model, differences=())]) == ""
