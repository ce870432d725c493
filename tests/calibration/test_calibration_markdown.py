"""The report of calibrations in a pull request: tables that hold, and nothing that others wrote as markup."""

from __future__ import annotations

import re

import pytest

from calibration_fixtures import (
    bare_calibration,
    binary_calibration,
    hostile_calibration,
    model_report,
    tied_calibration,
)
from turnwise.calibration.analysis import analyse
from turnwise.calibration.report import Calibration, Warned
from turnwise.report.calibration.markdown import calibration_markdown
from turnwise.report.calibration.markdown_text import block, code, inline
from turnwise.report.terminal import printable


def markdown_of(*calibrations: Calibration) -> str:
    return calibration_markdown(calibrations, clean=printable)


def without_blocks(text: str) -> str:
    """The text without what stands as it was written."""
    return re.sub(r"(?ms)^<pre>$.*?^</pre>$", "", text)


def test_every_row_of_a_table_has_as_many_cells_as_its_head() -> None:
    """No name and no label can add a cell."""
    for calibration in (binary_calibration(), hostile_calibration(), tied_calibration()):
        for table in re.findall(r"(?m)(?:^\|.*\n)+", markdown_of(calibration)):
            assert len({line.count("|") for line in table.splitlines()}) == 1


def test_the_table_has_judges_and_the_baseline() -> None:
    """The same figures as on a terminal: 18 of 20 is .90, κ .80."""
    row = next(
        line for line in markdown_of(binary_calibration()).splitlines() if line.startswith("| <code>good</code>")
    )
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells[1:3] == ["20/20", "20"]
    assert cells[3].startswith(".90 ")
    assert cells[4].startswith(".80 ")
    assert cells[-1] == "unknown"
    assert "| <code>always answer fail</code> |" in markdown_of(binary_calibration())


def test_only_tags_of_this_report_are_in_it() -> None:
    """Whatever tags others wrote are letters."""
    tags = set(re.findall(r"</?[a-z!-]+", markdown_of(hostile_calibration())))
    assert {tag.strip("</") for tag in tags} <= {"code", "br", "sub", "details", "summary", "pre", "i", "!--"}


def test_nobody_is_called_and_nothing_is_linked() -> None:
    """Outside of blocks as they were written, no sign stands before a name, and no address is whole."""
    text = without_blocks(markdown_of(hostile_calibration()))
    assert not re.search(r"@\w", text)
    assert not re.search(r"(?<!&)#\d", text)
    assert "://" not in text
    assert "](" not in text


def test_a_block_cannot_be_left() -> None:
    """An end of a block that others wrote is letters: ends and beginnings are as many."""
    text = markdown_of(hostile_calibration())
    assert text.count("<pre>") == text.count("</pre>") == 3
    assert len(re.findall(r"(?m)^\n<pre>$", text)) == 3
    assert "&lt;/pre&gt;" in text


def test_control_characters_are_shown_instead_of_obeyed() -> None:
    """Neither escapes nor marks that reorder letters come through."""
    assert not set("\x1b\r\u202e\u2028") & set(markdown_of(hostile_calibration()))


def test_the_worst_disagreements_are_folded() -> None:
    """Eleven samples: five are shown, six more are counted."""
    text = markdown_of(binary_calibration())
    assert text.count("<details>") == text.count("</details>") == 5
    assert "… and 6 more" in text
    assert "people say so of s19" in text


def test_differences_and_warnings_are_lists() -> None:
    """Both say the same as the terminal does."""
    text = markdown_of(tied_calibration())
    assert "- large is better than small by κ (κ" in text
    warned = bare_calibration(model_report("m"), warnings=(Warned("few_samples", "only 4", "label more"),))
    assert "- ⚠️ only 4<br>→ label more" in markdown_of(warned)


def test_several_calibrations_stand_below_each_other() -> None:
    """Each has a heading; a calibration of nothing has one, too."""
    text = markdown_of(binary_calibration(), analyse([], {}, None, draws=50))
    assert len(re.findall(r"(?m)^## ", text)) == 2


@pytest.mark.parametrize(
    ("text", "harmless"),
    [
        ("a\nb", "a b"),
        ("- a", "&#45; a"),
        ("1. a", "&#49;. a"),
        ("# a", "&#35; a"),
        ("#12", "#<!-- -->12"),
        ("www.x.y", "www<!-- -->.x.y"),
        ("*a* _b_", "&#42;a&#42; &#95;b&#95;"),
        ("&amp;", "&#38;amp;"),
        ("", ""),
    ],
)
def test_markup_becomes_letters(text: str, harmless: str) -> None:
    """What could be markup is written as the number of its character, what could be a link is parted."""
    assert inline(text) == harmless
    assert code(text) == f"<code>{harmless}</code>"


def test_a_block_keeps_its_lines() -> None:
    """Only what could be a tag is changed."""
    assert block("a\n\n  b & *c*") == "<pre>\na\n\n  b &amp; *c*\n</pre>"
