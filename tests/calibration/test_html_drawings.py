"""Drawings hold what they claim, for any scores that people and judges may give."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from html_tree import Element, parsed
from turnwise.report.calibration.html.histogram import columns_of, deviation_histogram
from turnwise.report.calibration.html.interval_bar import common_axis, interval_bar, scale_bar
from turnwise.report.calibration.html.plot import can_be_drawn, round_step
from turnwise.report.calibration.html.scatter import score_scatter
from turnwise.stats.statistic import Statistic, undefined

SCORES = st.floats(allow_nan=False, allow_infinity=False)
PAIRS = st.lists(st.tuples(SCORES, SCORES), min_size=1, max_size=15).filter(can_be_drawn)


@settings(max_examples=40)
@given(PAIRS)
def test_columns_hold_every_pair_and_stay_few(pairs: list[tuple[float, float]]) -> None:
    """However large or small the deviations are, each is in a column, 0 is one of them, and there are at most 23."""
    columns = columns_of([judge - human for human, judge in pairs])
    assert sum(column.count for column in columns) == len(pairs)
    assert 0 in [column.step for column in columns]
    assert len(columns) <= 23


@settings(max_examples=40)
@given(PAIRS)
def test_drawings_of_any_scores_stay_in_their_frame(pairs: list[tuple[float, float]]) -> None:
    """Columns and dots lie inside the drawing."""
    for drawing in (deviation_histogram(pairs), score_scatter(pairs)):
        for element in parsed(drawing).all():
            for name, most in (("cx", 330), ("cy", 230), ("x", 330), ("y", 230)):
                assert -5 <= float(element.attributes.get(name) or 0) <= most


@pytest.mark.parametrize("pairs", [[], [(1e308, -1e308)], [(0.0, 5e-324)]])
def test_scores_beyond_reckoning_are_not_drawn(pairs: list[tuple[float, float]]) -> None:
    """Scores whose differences overflow or vanish are refused rather than drawn wrong."""
    assert not can_be_drawn(pairs)


def test_equal_deviations_on_both_sides_are_treated_alike() -> None:
    """Halves are rounded away from 0 on both sides, so that the histogram of mirrored data is mirrored."""
    deviations = [-12.5, -7.5, -2.5, 0.0, 2.5, 7.5, 12.5]
    counts = {column.step: column.count for column in columns_of(deviations)}
    assert all(counts[step] == counts[-step] for step in counts)


@given(st.floats(min_value=1e-50, max_value=1e50))
def test_a_round_step_is_the_next_larger_one(least: float) -> None:
    """A step is at least what was asked for, and at most two and a half times as much."""
    assert least * 0.999 <= round_step(least) <= least * 2.501


def bar(statistic: Statistic, ceiling: float | None = None) -> Element:
    """The drawing of one figure on its own axis."""
    axis = common_axis("kappa", [statistic], ceiling)
    return parsed(interval_bar(statistic, axis))


def test_a_bar_puts_value_bounds_and_marks_on_one_axis() -> None:
    """On an axis from 0 to 1 over 160 units with an edge of 5, .5 lies at 85, .4 at 69 and .6 at 101."""
    drawn = bar(Statistic(0.5, 100, 0.25, 0.75, "fleiss-cohen-everitt"), ceiling=0.9)
    assert drawn.one("circle").attributes["cx"] == "85.0"
    span = drawn.one("line", "span").attributes
    assert (span["x1"], span["x2"]) == ("45.0", "125.0")
    assert [each.attributes["x1"] for each in drawn.all("line", "mark")] == ["69.0", "101.0"]
    assert drawn.one("line", "ceiling").attributes["x1"] == "149.0"
    assert drawn.one("title").text == ".50 (.25 … .75)"


def test_an_axis_reaches_below_zero_where_an_interval_does() -> None:
    """A lower bound of −.33 moves the axis to −.4, and the numbers of the axis say so."""
    axis = common_axis("kappa", [Statistic(0.1, 20, -0.33, 0.5, "t")], None)
    assert axis.lo == -0.4
    assert [each.text for each in parsed(scale_bar(axis)).all("text")] == ["−.4", "0", ".4", ".6", "1"]


def test_the_bars_for_use_belong_to_figures_beyond_chance() -> None:
    """.4 and .6 say nothing about agreement, so they are not marked there."""
    assert common_axis("agreement", [], None).marks == ()


def test_what_is_not_defined_is_not_drawn() -> None:
    """A figure without a value has no bar; one without an interval is a point."""
    assert list(bar(undefined(0, "no pairs")).all()) == []
    assert list(bar(Statistic(0.0, 9, None, None, "none")).all("line", "span")) == []
