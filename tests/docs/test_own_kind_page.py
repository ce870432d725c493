"""The package of docs/guides/your-own-grader-kind.md does what the page says."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from helpers import ROOT
from turnwise.graders.base import Grade
from turnwise.graders.specs import make_graders

pytest_plugins = ["grader_fixtures"]

PAGE = (ROOT / "docs" / "guides" / "your-own-grader-kind.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"^```\w+ file=(\S+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))


@pytest.fixture(autouse=True)
def _installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The package as an installer leaves it, with the entry points of its pyproject.toml."""
    project = tomllib.loads(FILES["pyproject.toml"])["project"]
    info = tmp_path / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    groups = project["entry-points"].items()
    lines = [f"[{group}]\n" + "".join(f"{name} = {goal}\n" for name, goal in each.items()) for group, each in groups]
    (info / "entry_points.txt").write_text("".join(lines))
    (tmp_path / "turnwise_sentences.py").write_text(FILES["turnwise_sentences.py"])
    monkeypatch.syspath_prepend(str(tmp_path))


def test_the_kind_of_the_page_grades(grade: Callable[..., Grade]) -> None:
    """Its short and its long form are used like ours, and what it cannot count is ungraded."""
    assert grade({"sentences": 1}, "Yes.").passed is True
    half = grade({"sentences": {"value": 1, "threshold": 0.5}}, "Yes. It is.")
    assert (half.score, half.passed, half.evidence) == (0.5, True, {"count": 2})
    nothing = grade({"sentences": 1}, "yes")
    assert (nothing.score, nothing.error is not None and nothing.error.kind) == (None, "no-sentences")


def test_its_options_are_checked_like_ours() -> None:
    """A wrong value is an error of the suite, in the usual words."""
    (problem,) = make_graders([{"sentences": 0}])[1]
    assert (problem.code, "`sentences`" in problem.message) == ("out-of-range", True)
