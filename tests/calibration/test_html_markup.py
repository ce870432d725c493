"""Markup is safe by construction, and figures read as people expect."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibration_page import HOSTILE
from html_tree import parsed
from turnwise.report.calibration.html.figures import figure_text, interval_text, p_text, percent
from turnwise.report.calibration.html.markup import Html, clipped, joined, tag, visible, with_code

ANY_TEXT = st.text(st.characters(), max_size=60)


@given(ANY_TEXT)
def test_any_text_comes_back_as_text_and_nothing_else(text: str) -> None:
    """Whatever stands in an element or an attribute is read back by a parser as that text."""
    (element,) = parsed(tag("p", text, title=text)).all()
    assert element.text == visible(text)
    assert element.attributes == {"title": visible(text)}


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_makes_no_element(text: str) -> None:
    """Hostile text makes no element, however it is joined."""
    assert list(parsed(joined([text, tag("b", text), with_code(f"`{text}`")])).all("script")) == []
    assert {each.tag for each in parsed(joined([text, tag("b", text)])).all()} == {"b"}


@given(ANY_TEXT)
def test_visible_text_can_be_written_and_hides_nothing(text: str) -> None:
    """Made visible, a text has no control or reordering characters and no halves of characters."""
    shown = visible(text)
    shown.encode("utf-8")
    assert not set(shown) & {
        *map(chr, [*range(9), *range(11, 32), 127, *range(0x202A, 0x202F), *range(0x2066, 0x206A)])
    }


def test_html_is_not_escaped_twice() -> None:
    """An element inside an element stays one."""
    assert tag("p", tag("b", "a & b")) == "<p><b>a &amp; b</b></p>"
    assert isinstance(tag("p"), Html)


def test_attributes_that_are_not_set_are_left_out() -> None:
    """None and False write no attribute, True one without value, and 0 is a value."""
    assert tag("i", hidden=True, title=None, open=False, data_n=0) == '<i hidden data-n="0"></i>'


def test_an_odd_backtick_is_a_backtick() -> None:
    """A backtick without a partner is shown as it is."""
    assert with_code("a ` b") == "a ` b"


def test_a_clipped_text_says_how_much_is_missing() -> None:
    """What is left out is counted; what fits is whole."""
    assert clipped("x" * 2500, 2000) == ("x" * 2000, 500)
    assert clipped("x" * 2000, 2000) == ("x" * 2000, 0)


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("kappa", 0.603102, ".60"),
        ("kappa", -0.12, "−.12"),
        ("kappa", 1.0, "1.00"),
        ("kappa", 0.99996, ".99996"),
        ("kappa", -0.0001, "−.00010"),
        ("agreement", 0.684524, "68.5 %"),
        ("agreement", 0.9999, "99.99 %"),
        ("agreement", 1.0, "100.0 %"),
        ("bias", 0.029762, "+0.030"),
        ("bias", -1.25, "−1.250"),
        ("bias", 0.0, "0.000"),
        ("mae", 0.35119, "0.351"),
        ("rmse", 12.34, "12.3"),
        ("kappa", None, "–"),
        ("kappa", float("nan"), "–"),
    ],
)
def test_a_figure_reads_as_its_kind(name: str, value: float | None, shown: str) -> None:
    """Shares are percentages, coefficients have no leading zero, and nothing is rounded up to perfect."""
    assert figure_text(name, value) == shown


def test_an_interval_names_its_unit_once() -> None:
    """Both ends of a share, one percent sign; an interval with one end is none."""
    assert interval_text("agreement", 0.639581, 0.947631) == "64.0 … 94.8 %"
    assert interval_text("kappa", None, 0.5) == ""


def test_small_p_values_are_not_zero() -> None:
    """No p value is shown as 0, and one that is absent is not made up."""
    assert p_text(1e-9) == "p < .001"
    assert p_text(None) == "p unknown"
    assert percent(None) == "–"
