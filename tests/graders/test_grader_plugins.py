"""Graders of other packages: found by entry point, validated by their own model, and never fatal."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from turnwise.graders.base import Grade
from turnwise.graders.plugins import find_plugin, plugin_names
from turnwise.graders.specs import make_graders

pytest_plugins = ["grader_fixtures"]

GOOD = """\
from turnwise.conversation.authored import FormatModel

class Options(FormatModel):
    value: int

class Longer:
    options_model = Options
    asks_model = True

    def __init__(self, options, settings):
        self.options, self.settings = options, settings

    @classmethod
    def make(cls, options, settings):
        return cls(options, settings)

    async def grade(self, submission):
        return self.settings.graded(min(1, len(submission.text) / self.options.value), f"judge {self.settings.target}")
"""

Install = Callable[[str, str], None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Makes a package that announces the grader `longer-than`, out of the text of its module."""

    def installed(text: str, name: str) -> None:
        info = tmp_path / "site" / f"{name}-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[turnwise.graders]\nlonger-than = {name}:Longer\n")
        (tmp_path / "site" / f"{name}.py").write_text(text)
        monkeypatch.syspath_prepend(str(tmp_path / "site"))

    return installed


def test_another_packages_grader_is_used_like_ours(grade: Callable[..., Grade], install: Install) -> None:
    """Its options are validated by its model, and it has the settings of every grader."""
    install(GOOD, "longer_good")
    result = grade({"longer-than": {"value": 10, "threshold": 0.5, "target": "gpt"}}, "12345")
    assert (result.score, result.passed, result.reason) == (0.5, True, "judge gpt")
    _, (wrong, near) = make_graders([{"longer-than": "ten"}, {"longer-then": 10}])
    assert wrong.message == "`longer-than` must be a whole number, found the text 'ten'"
    assert near.hint == "did you mean `longer-than`?"
    assert "longer-than" in plugin_names()


@pytest.mark.parametrize(
    ("text", "name", "why"),
    [
        ("raise RuntimeError('no\\nluck')", "longer_raises", "cannot be imported: RuntimeError: no luck"),
        ("class Longer: ...", "longer_bare", "has no `options_model`"),
        (GOOD.replace("def make", "def mkae"), "longer_makeless", "has no function `make`"),
    ],
)
def test_a_package_that_cannot_be_used_is_a_problem(install: Install, text: str, name: str, why: str) -> None:
    """The package is named with the reason, and nothing is raised."""
    install(text, name)
    graders, (problem,) = make_graders([{"longer-than": 5}])
    assert graders == []
    assert problem.code == "bad-plugin"
    assert why in problem.message
    assert problem.hint is not None
    assert name in problem.hint


def test_a_name_that_nobody_announces_is_no_plugin() -> None:
    """Looking for it is no error."""
    assert find_plugin("nobody-has-this") is None
