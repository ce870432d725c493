"""Figures in words and text in columns: short, never rounded to what they are not, never wider than they may be."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from turnwise.graders.verdict_scale import Scale
from turnwise.report.calibration.layout import Line, middle_cut, side_by_side, wrapped
from turnwise.report.calibration.wording import cut, figure, p_text, percent, scale_text, signed
from turnwise.report.terminal import plain


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.0, ".00"),
        (-0.0, ".00"),
        (1e-17, ".00"),
        (0.005, ".0050"),
        (0.994, ".99"),
        (0.9951, ".995"),
        (-0.9999, "-.9999"),
        (1.0, "1.00"),
        (-1.0, "-1.00"),
        (9.994, "9.99"),
        (10.25, "10.2"),
        (12345.6, "12,346"),
        (float("nan"), "–"),
        (None, "–"),
    ],
)
def test_a_figure_is_short_and_true(value: float | None, shown: str) -> None:
    """Two decimals, more where two would make it 0 or 1, fewer where it is large."""
    assert figure(value) == shown


@given(st.floats(-1, 1))
def test_a_figure_is_near_its_value(value: float) -> None:
    """What is shown is at most half of a hundredth away, and is 1 only if the value is."""
    shown = float(figure(value))
    assert abs(shown - value) <= 0.005 + 1e-9
    assert abs(shown) < 1 or abs(value) > 1 - 1e-6


@pytest.mark.parametrize(("value", "shown"), [(0.5, "+.50"), (-0.5, "-.50"), (0.0, ".00"), (None, "–")])
def test_a_sign_is_shown_where_there_is_one(value: float | None, shown: str) -> None:
    """Nothing has no sign."""
    assert signed(value) == shown


def test_percents_and_p_values_do_not_pretend() -> None:
    """Almost all is not 100 %, and a p value is never 0."""
    assert [percent(each) for each in (0.0, 0.004, 0.996, 1.0)] == ["0 %", "0.4 %", "99.6 %", "100 %"]
    assert [p_text(each) for each in (0.0, 0.0099, 0.04, 1.0)] == ["p < .001", "p = .010", "p = .040", "p = 1.00"]


@pytest.mark.parametrize(
    ("scale", "shown"),
    [
        (Scale("binary", labels=("no", "yes"), declared=False), "binary no, yes (inferred from the labels)"),
        (Scale("ordinal", values=tuple(range(20))), "ordinal 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …"),
        (Scale("continuous"), "continuous"),
        (Scale("continuous", min=0, max=1, pass_=0.5), "continuous 0 to 1 (good from 0.5)"),
    ],
)
def test_a_scale_is_told_in_a_few_words(scale: Scale, shown: str) -> None:
    """Its kind, its steps, and from where it is good."""
    assert scale_text(scale) == shown


def test_a_cut_text_says_how_much_is_missing() -> None:
    """The number of letters that are left out; one is one."""
    assert cut("abc", 3) == "abc"
    assert cut("abcd", 3) == "abc… (1 more character)"


@given(st.text("ab \n世", max_size=60), st.integers(4, 20))
def test_wrapped_lines_fit_and_lose_no_letter(text: str, width: int) -> None:
    """Only spaces may go."""
    lines = wrapped(text, width, "  ")
    assert max(map(cell_len, lines)) <= width
    assert "".join("".join(lines).split()) == "".join(text.split())


def test_what_was_indented_stays_so() -> None:
    """Code in a conversation keeps its shape."""
    assert wrapped("if a:\n    b", 20) == ["if a:", "    b"]


def test_columns_stand_side_by_side() -> None:
    """The shorter one is filled up."""
    lines = side_by_side([Line("a"), Line("世")], [Line("b")], 3, plain)
    assert lines == ["a   │ b", "世  │"]


@given(st.text("a世", min_size=1, max_size=30), st.integers(5, 12))
def test_a_cut_name_fits(text: str, width: int) -> None:
    """Both ends are kept, and it is never wider than it may be."""
    assert cell_len(middle_cut(text, width)) <= width
