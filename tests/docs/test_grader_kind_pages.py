"""Every kind of grader has a page of one shape, whose options are those of the code and whose examples can be used."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from helpers import ROOT
from turnwise.graders.diagnose import grader_diagnostics
from turnwise.graders.registry import KINDS, NOT
from turnwise.suite.suite import load_suite

FOLDER = ROOT / "docs" / "graders"
PAGES = {path.stem: path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.md"))}
SHAPE = ["When to use it", "Example", "Options", "What it cannot tell"]
CASE = """cases:
  - id: a
    input_messages: [{role: user, content: Hi}]
    expected_messages: [{role: assistant, content: '{"a": 1}'}]
"""


def sections(kind: str) -> str:
    """What is written about a kind: its page, or its section of the page about texts."""
    if kind in PAGES:
        return PAGES[kind]
    return re.split(r"^## ", PAGES["text"].partition(f"\n## {kind}\n")[2], flags=re.MULTILINE)[0]


@pytest.mark.parametrize("kind", sorted(kind for kind in KINDS if not kind.startswith(NOT)))
def test_the_options_of_a_kind_are_listed(kind: str) -> None:
    """Each option has a row of the first table, and no other has."""
    found = re.search(r"^\| option \|.*\n\|[-|]+\n((?:\|.*\n)+)", sections(kind), re.MULTILINE)
    assert found is not None
    fields = KINDS[kind].options_model.model_fields
    assert re.findall(r"^\| `(\w+)`", found[1], re.MULTILINE) == [each.alias or name for name, each in fields.items()]


@pytest.mark.parametrize("page", sorted(set(PAGES) - {"text"}))
def test_a_page_has_the_shape_of_the_others(page: str) -> None:
    """What it does, when to use it, an example, options, and what it cannot tell; each kind's name is its title."""
    assert page in KINDS
    assert PAGES[page].startswith(f"# {page}\n")
    headings = re.findall(r"^## (.+)$", PAGES[page], re.MULTILINE)
    assert [each for each in headings if each in SHAPE] == SHAPE
    assert (headings[:3], headings[-1]) == (SHAPE[:3], SHAPE[-1])


def test_every_page_has_an_example_that_can_be_used(tmp_path: Path) -> None:
    """No list of graders on these pages has a problem in a suite; those in files of their own are run."""
    for name, page in PAGES.items():
        examples = re.findall(r"^```yaml\n(graders:\n.*?)^```$", page, re.MULTILINE | re.DOTALL)
        assert examples or "```console run\n$ turnwise run" in page, name
        for example in examples:
            (tmp_path / "suite.yaml").write_text(example + CASE, encoding="utf-8")
            (case,) = load_suite(tmp_path / "suite.yaml").cases
            assert grader_diagnostics(case) == [], name
