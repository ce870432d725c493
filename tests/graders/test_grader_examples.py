"""The shipped examples of graders run offline, and show the kind that they are named after."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

import turnwise
from helpers import ROOT
from turnwise.graders.registry import KINDS

pytest_plugins = ["grader_fixtures"]

SUITES = sorted((ROOT / "examples" / "graders").glob("*/suite.yaml"))
TOPICS = {"text", "when"}  # several kinds, or a setting of all of them


@pytest.mark.parametrize("suite", SUITES, ids=lambda path: path.parent.name)
def test_an_example_passes_and_uses_its_kind(suite: Path, tmp_path: Path) -> None:
    """Every case passes without a network, and the folder's kind is among the grades."""
    outcome = asyncio.run(turnwise.run(suite, runs_dir=tmp_path))
    assert outcome.passed
    kinds = {grade["kind"] for result in outcome.results() for grade in result.record["grades"]}
    assert suite.parent.name in kinds | TOPICS


def test_every_kind_has_an_example() -> None:
    """One suite a kind; those that compare texts share one."""
    text = (ROOT / "examples" / "graders" / "text" / "suite.yaml").read_text(encoding="utf-8")
    named = {path.parent.name for path in SUITES}
    assert {kind for kind in KINDS if not kind.startswith("not-") and kind not in named and kind not in text} == set()
