"""Tables of text, and numbers in few characters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnwise.report.summary_table import Column, duration, middle_cut, number, share, table
from turnwise.report.terminal import coloured


def test_names_stand_left_and_numbers_right() -> None:
    """Cells line up under their headings, without blanks at the end of lines."""
    lines = table([Column("target", ("a", "long-name"), right=False, name=True), Column("n", ("5", "12"))])
    assert lines == [
        "target      n",
        "a           5",
        "long-name  12",
    ]


def test_the_widest_name_is_shortened_until_the_table_fits() -> None:
    """Names give way, no more than needed; numbers never do."""
    columns = [
        Column("target", ("gpt",), right=False, name=True),
        Column("suite", ("evals/support/refunds.yaml",), right=False, name=True),
        Column("n", ("123456",)),
    ]
    heading, row = table(columns, width=31)
    assert row == "gpt     evals/…nds.yaml  123456"
    assert len(heading) == len(row) == 31


def test_a_table_that_cannot_fit_keeps_its_numbers() -> None:
    """Names are not shortened to nothing."""
    row = table([Column("suite", ("a-rather-long-name",), False, True), Column("n", ("1" * 50,))], width=20)[1]
    assert row.endswith("1" * 50)
    assert len(row) == 12 + 2 + 50


def test_names_cannot_harm_the_terminal() -> None:
    """Control characters and line breaks become signs."""
    row = table([Column("case", ("a\x1b[31m\nb",), right=False, name=True)])[1]
    assert row == "a␛[31m␊b"


def test_headings_are_bold() -> None:
    """Colour does not count as width."""
    heading, row = table([Column("n", ("1",))], coloured)
    assert heading == "\x1b[1mn\x1b[0m"
    assert row == "1"


@given(st.text(), st.integers(1, 40))
def test_a_cut_keeps_to_its_length(text: str, length: int) -> None:
    """Short texts stay as they are, others have exactly the length and both their ends."""
    cut = middle_cut(text, length)
    assert cut == text if len(text) <= length else len(cut) == length
    front, _, end = cut.partition("…")
    assert text.startswith(front) or cut == text
    assert text.endswith(end) or cut == text


@pytest.mark.parametrize(
    ("value", "shown"), [(0.0, "0.00"), (0.004, "0.004"), (0.5, "0.50"), (0.995, "0.99"), (0.99996, "0.99996")]
)
def test_shares_are_never_rounded_to_all_or_nothing(value: float, shown: str) -> None:
    """Two decimals, or as many as it takes to differ from 0 and 1."""
    assert share(value) == shown


@pytest.mark.parametrize(
    ("milliseconds", "shown"),
    [(0.31, "0.3 ms"), (12.4, "12 ms"), (999.6, "1.00 s"), (12_340, "12.3 s"), (1_234_000, "1,234 s")],
)
def test_times_have_about_three_digits(milliseconds: float, shown: str) -> None:
    """Milliseconds below a second, seconds from there."""
    assert duration(milliseconds) == shown


@pytest.mark.parametrize(("count", "shown"), [(0, "0"), (10_000, "10.0k"), (999_949, "999.9k"), (999_950, "1.0M")])
def test_counts_are_short(count: int, shown: str) -> None:
    """Thousands and millions from ten thousand on."""
    assert number(count) == shown
