"""`turnwise validate` refuses what `turnwise run` is certain to refuse: judges and agents that cannot do their part."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from run_fixtures import case, mock, plan, project, suite
from turnwise.checks.validate import Validation
from turnwise.errors import SuiteError

JUDGE = mock("judge", response="{}")
CLAUDE = {"name": "claude", "provider": "anthropic", "model": "m", "api_key": "k"}
LINE = "The answer is polite."


def found(root: Path) -> list[tuple[str, str, str]]:
    """Severity, code and path of everything that is said."""
    validation = Validation()
    validation.check_paths([str(root / "s.yaml")])
    validation.finish()
    return [(each.severity, each.code, each.path) for each in validation.diagnostics]


@pytest.mark.parametrize(
    ("graders", "code", "path"),
    [
        ([{"type": "llm_judge"}], "no-judge", "graders[0]"),
        ([{"contains": "x"}, LINE], "no-judge", "graders[1]"),
        ([{"type": "pairwise", "baseline": "x"}], "no-judge", "graders[0]"),
        ([{"type": "similar", "value": "x", "target": "claude"}], "no-embeddings", "graders[0]"),
        ([{"type": "llm_judge", "target": "judge", "model": "other"}], "grader-options", "graders[0]"),
        ([{"type": "llm_judge", "target": "jugde"}], "unknown-target", "graders[0].target"),
        ([{"composite": {"graders": [{"type": "llm_judge"}]}}], "no-judge", "graders[0].composite.graders[0]"),
    ],
)
def test_what_a_run_refuses_is_an_error(tmp_path: Path, graders: Sequence[Any], code: str, path: str) -> None:
    """The same code is said before the run, and by the run itself, at the line of the grader."""
    project(tmp_path, mock(), JUDGE, CLAUDE, s=suite([case("a")], graders=graders))
    assert found(tmp_path) == [("error", code, path)]
    with pytest.raises(SuiteError) as refused:
        plan(tmp_path / "s.yaml")
    (said,) = refused.value.diagnostics
    assert (said.code, said.file, said.place.line) == (code, str(tmp_path / "s.yaml"), 1)
    assert said.path == path.removesuffix(".target")


@pytest.mark.parametrize("fields", [{"judge": "nope"}, {"user": {"target": "nope", "goal": "g"}}])
def test_nobody_else_can_be_named_on_the_command_line(tmp_path: Path, fields: dict[str, Any]) -> None:
    """An unknown judge or user is an error; `--target` can stand in for an unknown target alone."""
    project(tmp_path, mock(), s=suite([case("a")], **fields))
    ((severity, code, _),) = found(tmp_path)
    assert (severity, code) == ("error", "unknown-target")
    project(tmp_path, mock(), s=suite([case("a")], target="nope"))
    assert found(tmp_path) == [("warning", "unknown-target", "target")]


def test_the_judge_of_any_target_is_enough_where_the_suite_names_none(tmp_path: Path) -> None:
    """A suite that leaves its target to the command line is held against the target that is most likely to do."""
    own = json.loads(json.dumps(suite([case("a")], graders=[LINE])))
    for target, said in ((mock(), ["no-judge"]), (mock(judge_target="judge"), [])):
        project(tmp_path, JUDGE, target)
        (tmp_path / "s.yaml").write_text(json.dumps(own))
        assert [code for _, code, _ in found(tmp_path)] == said


def test_without_a_targets_file_nothing_is_claimed(tmp_path: Path) -> None:
    """Targets that are defined elsewhere may have judges."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "s.yaml").write_text(json.dumps(suite([case("a")], graders=[{"type": "llm_judge", "target": "j"}])))
    assert found(tmp_path) == []


def test_short_names_of_providers_are_targets(tmp_path: Path) -> None:
    """`mock` and `provider/model` need no entry in the targets file."""
    graders = [{"type": "llm_judge", "target": "openai/any"}, {"type": "llm_judge", "target": "mock"}]
    project(tmp_path, mock(), s=suite([case("a")], graders=graders))
    assert found(tmp_path) == []


@pytest.mark.parametrize("part", ["turns", "user"])
def test_agents_have_no_live_conversations(tmp_path: Path, part: str) -> None:
    """`turns` and `user` of a case for an agent are an error before the run."""
    agent = {"name": "echo", "provider": "cli", "command": ["cat"]}
    live: dict[str, Any] = {"turns": [{"user": "And?"}], "user": {"target": "judge", "goal": "g"}}
    project(tmp_path, agent, JUDGE, s=suite([case("a", **{part: live[part]})]))
    assert ("error", "agent-turns", f"cases[0].{part}") in found(tmp_path)


def test_a_deck_is_judged_by_the_judge_of_its_suite(tmp_path: Path) -> None:
    """`judge` of the suite counts for decks that name no model; a grader's `target` goes before it."""
    (tmp_path / "tone.deck.md").write_text('+++\n[scale]\nkind = "ordinal"\nmin = 1\nmax = 5\n+++\nHow kind is it?\n')
    deck = {"deck": "tone.deck.md"}
    project(tmp_path, mock(), JUDGE, s=suite([case("a")], graders=[deck], judge="judge"))
    assert found(tmp_path) == []
    assert [each.target.name for each in plan(tmp_path / "s.yaml").judges.judges] == ["judge"]
    project(tmp_path, mock(), JUDGE, s=suite([case("a")], graders=[deck]))
    assert [code for _, code, _ in found(tmp_path)] == ["no-judge"]
