"""The page about graders lists what the code has, and its examples can be used as they stand."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from helpers import ROOT
from turnwise.graders.diagnose import grader_diagnostics
from turnwise.graders.registry import KINDS, NOT
from turnwise.suite.format import LongGrader
from turnwise.suite.suite import load_suite

PAGE = (ROOT / "docs" / "guides" / "graders.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```yaml\n(graders:\n.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
CASE = """cases:
  - id: a
    input_messages: [{role: user, content: Hi}]
    expected_messages: [{role: assistant, content: Hello}]
"""


def table(head: str) -> dict[str, str]:
    """The table whose first row begins with these words: the name in each row's first cell, and the rest of the row."""
    found = re.search(rf"^\| {re.escape(head)} \|.*\n\|[-|]+\n((?:\|.*\n)+)", PAGE, re.MULTILINE)
    assert found is not None, head
    rows = (line.strip("|").split("|", 1) for line in found[1].splitlines())
    return {name.split("`")[1]: rest for name, rest in rows}


def options_of(kind: str) -> set[str]:
    """The options that a kind takes, as they are written."""
    return {field.alias or name for name, field in KINDS[kind].options_model.model_fields.items()}


def test_every_kind_is_listed_with_its_options() -> None:
    """The table has the kinds of this version, without their `not-` forms, and the options that each one takes."""
    listed = {kind: set(re.findall(r"`([\w-]+)`", rest.rsplit("|", 2)[1])) for kind, rest in table("kind").items()}
    assert listed == {kind: options_of(kind) for kind in KINDS if not kind.startswith(NOT)}


def test_every_option_and_setting_is_explained() -> None:
    """Each option of a kind has a row, and so has each setting of all kinds that this version can use."""
    assert set(table("option")) == {option for kind in KINDS for option in options_of(kind)}
    assert set(table("setting")) == set(LongGrader.model_fields) - {"type", "target"}


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_example_can_be_used(example: str, tmp_path: Path) -> None:
    """The lists of graders that stand alone have no problem in a suite."""
    (tmp_path / "suite.yaml").write_text(example + CASE, encoding="utf-8")
    (case,) = load_suite(tmp_path / "suite.yaml").cases
    assert len(case.graders) > 1
    assert grader_diagnostics(case) == []


def test_there_are_examples() -> None:
    """The pattern above finds what the page has."""
    assert EXAMPLES
