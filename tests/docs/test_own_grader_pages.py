"""The pages about graders of one's own list what the code has: options, keys and kinds of errors."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

from helpers import ROOT
from turnwise.graders.base import Submission
from turnwise.graders.protocol import submission_data
from turnwise.graders.registry import KINDS
from turnwise.programs.words import Unstarted

PAGES = ROOT / "docs" / "graders"
SOURCE = ROOT / "src" / "turnwise" / "graders"


def section(page: str, heading: str) -> str:
    """The text below a heading of a page."""
    found = re.search(rf"^## {heading}\n(.*?)(?=^## |\Z)", (PAGES / page).read_text("utf-8"), re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[1]


def first_cells(page: str, heading: str) -> list[str]:
    """The names in the first column of the table below a heading."""
    rows = re.findall(r"^\| (`.*?) \|", section(page, heading), re.MULTILINE)
    return [name for row in rows for name in re.findall(r"`(\w[\w-]*)`", row)]


@pytest.mark.parametrize("kind", ["code", "python"])
def test_every_option_is_explained(kind: str) -> None:
    """In the order in which the code has them or not: none is missing, and none is made up."""
    assert set(first_cells(f"{kind}.md", "Options")) == set(KINDS[kind].options_model.model_fields)


def test_every_key_that_a_program_reads_is_explained() -> None:
    """Under its own name or as the second name of another."""
    listed = first_cells("code.md", "What it reads")
    second = re.findall(r"also as `(\w+)`", section("code.md", "What it reads"))
    assert sorted(listed + second) == sorted(submission_data(Submission(question="", text="")))


@pytest.mark.parametrize("page", ["code.md", "python.md"])
def test_every_kind_of_error_is_explained(page: str) -> None:
    """Each that the source of the kind gives has a row, and each row is given somewhere."""
    files = {"code.md": ("code", "code_run", "code_verdict", "protocol"), "python.md": ("python", "protocol")}[page]
    source = "".join(Path(SOURCE / f"{name}.py").read_text("utf-8") for name in files)
    given = set(re.findall(r'GradeError\(\s*"([\w-]+)"', source))
    given |= set(get_args(Unstarted)) if page == "code.md" else set()
    assert set(first_cells(page, "When it cannot grade")) == given
