"""Differences between judges: what cannot be compared is no tie, and no interval contradicts its p value."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from calibration_fixtures import bare_calibration, model_report
from turnwise.calibration.report import PairedDifference
from turnwise.report.calibration.comparing import difference_lines, not_comparable, p_remark, possible_interval
from turnwise.report.calibration.html.compared import compared, difference_text

TIE = PairedDifference("b", "agreement", 0.1, -0.05, 0.25, 0.2, 0.4, False, 40, "mcnemar-exact")


def line(*found: PairedDifference) -> str:
    """What the text says of two judges, with spaces at which no line ends as plain ones."""
    (only,) = difference_lines(bare_calibration(model_report("a", differences=found), model_report("b")))
    return only.replace("\u00a0", " ")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"n": 0, "value": None, "lo": None, "hi": None, "p": None}, "no sample has a verdict of both"),
        ({"value": None, "lo": None, "hi": None, "p": None}, "the figure of one of them is not defined"),
        ({"lo": None, "hi": None, "p": None, "p_holm": None}, "their verdicts do not vary enough"),
    ],
)
def test_what_cannot_be_compared_is_no_tie(changes: dict[str, Any], reason: str) -> None:
    """Without pairs, without a figure, or without interval and p, the reason is said instead of a comparison."""
    found = replace(TIE, **changes)
    assert not_comparable(found) == reason
    assert line(found) == f"a and b: not comparable: {reason}"
    assert difference_text("a", found) == f"a and b: not comparable in agreement: {reason}."
    assert "≈" not in compared([model_report("a", differences=(found,)), model_report("b")])


def test_one_figure_of_two_can_be_compared() -> None:
    """The one that cannot says so beside the one that can."""
    unknown = replace(TIE, statistic="kappa", value=None, lo=None, hi=None, p=None, p_holm=None)
    assert line(TIE, unknown) == (
        "a and b: no reliable difference (a − b: agreement +.10 [-.05, +.25], p = .40, n = 40;"
        " κ not comparable: the figure of one of them is not defined)"
    )


def test_judges_that_never_differ_are_a_tie() -> None:
    """A p of 1 is known, so that the comparison is too, even without an interval."""
    same = replace(TIE, value=0.0, lo=None, hi=None, p=1.0, p_holm=1.0)
    assert line(same) == "a and b: no reliable difference (a − b: agreement .00, p = 1.00, n = 40)"


@pytest.mark.parametrize(
    ("statistic", "shown"), [("agreement", (-0.5, 1.0)), ("kappa", (-0.5, 1.4)), ("lin_ccc", (-0.5, 1.4))]
)
def test_intervals_stay_within_what_is_possible(statistic: str, shown: tuple[float, float]) -> None:
    """Agreement cannot differ by more than 1; κ and concordance, which reach from −1 to 1, by 2."""
    assert possible_interval(replace(TIE, statistic=statistic, lo=-0.5, hi=1.4)) == shown
    assert possible_interval(replace(TIE, statistic="kappa", lo=-0.5, hi=2.4)) == (-0.5, 2.0)
    assert possible_interval(replace(TIE, statistic="mae", lo=-0.5, hi=2.4)) == (-0.5, 2.4)


def test_no_interval_beside_a_p_value_that_says_something_else() -> None:
    """An interval without 0 beside an exact p above .05 would read as a contradiction: the test is named instead."""
    exact = replace(TIE, value=0.5, lo=0.1, hi=0.9, p=0.0625, p_holm=0.0625)
    assert (possible_interval(exact), p_remark(exact)) == (None, "exact test")
    assert "agreement +.50, p = .062 (exact test), n = 40" in line(exact)
    assert "(50.0 points, p = .062 by the exact test, after Holm)" in difference_text("a", exact)


def test_what_only_the_adjustment_makes_unreliable_says_so() -> None:
    """A p of .02 that is .06 among three comparisons is not the exact test's doing."""
    adjusted = replace(TIE, lo=0.02, p=0.02, p_holm=0.06)
    assert p_remark(adjusted) == "adjusted for the number of comparisons"
    assert possible_interval(adjusted) is None


def test_nothing_is_minus_nothing() -> None:
    """A difference of −0, and one that rounds to it, has no sign."""
    nothing = replace(TIE, value=-0.0, lo=-1e-9, hi=0.2)
    assert "agreement .00 [.00, +.20]" in line(nothing)
    assert "-0.0" not in difference_text("a", replace(TIE, value=-0.0001, lo=-0.1)).replace("−", "-")
