"""Graders that ask a model without a deck judge recorded answers, too."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

import turnwise
from deck_run_fixtures import judge_target
from fault_server import serving
from judge_fixtures import opinion
from run_fixtures import ECHO, case, journal, project, run, suite
from turnwise.errors import SuiteError

PLAIN = [{"contains": "hello"}]


@pytest.mark.parametrize(
    ("target", "settings"),
    [({"judge_target": "judge"}, {}), ({}, {"judge": "judge"})],
    ids=["of the target", "of the file"],
)
def test_recorded_answers_have_a_usual_judge(tmp_path: Path, target: dict[str, Any], settings: dict[str, Any]) -> None:
    """A grader that names nobody asks the judge of the target that answered, or the one of the file of graders."""
    with serving(lambda _: opinion(0.25)) as server:
        asked = {**ECHO, **target}
        root = project(tmp_path, asked, judge_target(server.url), s=suite([case("a")], graders=PLAIN))
        recorded = run(root / "s.yaml")
        file = root / "graders.yaml"
        file.write_text(json.dumps({"graders": [{"type": "llm_judge"}], **settings}))
        (line,) = journal(asyncio.run(turnwise.grade(recorded.folder, graders=file)))
        assert len(server.received) == 1
    assert (line["score"], line["status"]) == (0.25, "failed")


def test_the_judge_of_each_suite_is_asked_for_a_file_that_names_none(tmp_path: Path) -> None:
    """Graders of a file ask the judge of the suite that an answer belongs to, before the one of its target."""
    opinions = {"strict": 0.25, "kind": 0.75}
    with serving(lambda _: opinion(0.25)) as strict, serving(lambda _: opinion(0.75)) as kind:
        judges = [judge_target(each.url, name=name) for name, each in zip(opinions, (strict, kind), strict=True)]
        suites = {name: suite([case(name)], graders=PLAIN, judge=name) for name in opinions}
        root = project(tmp_path, {**ECHO, "judge_target": "strict"}, *judges, **suites)
        recorded = run([root / f"{name}.yaml" for name in opinions])
        file = root / "graders.yaml"
        file.write_text(json.dumps({"graders": [{"type": "llm_judge"}]}))
        lines = journal(asyncio.run(turnwise.grade(recorded.folder, graders=file)))
    assert {each["case_id"]: each["score"] for each in lines} == opinions


def test_without_a_judge_the_hint_names_the_file_that_can_have_one(tmp_path: Path) -> None:
    """A file of graders may name a judge, and so the hint says which file that is."""
    root = project(tmp_path, s=suite([case("a")], graders=PLAIN))
    recorded = run(root / "s.yaml")
    file = root / "graders.yaml"
    file.write_text(json.dumps({"graders": [{"type": "llm_judge"}]}))
    with pytest.raises(SuiteError) as refused:
        asyncio.run(turnwise.grade(recorded.folder, graders=file))
    (said,) = refused.value.diagnostics
    assert said.code == "no-judge"
    assert f"`judge: NAME` to {said.file}" in str(said.hint)
    assert said.file.endswith("graders.yaml")


def test_vectors_are_asked_for_inside_of_a_composite_only_where_they_are_there(tmp_path: Path) -> None:
    """A target without embeddings is refused at the grader inside."""
    inner = {"composite": {"graders": [{"contains": "hello"}, {"similar": {"value": "hello", "target": "claude"}}]}}
    claude = {"name": "claude", "provider": "anthropic", "model": "m"}
    root = project(tmp_path, ECHO, claude, s=suite([case("a")], graders=[inner]))
    with pytest.raises(turnwise.SuiteError) as caught:
        run(root / "s.yaml")
    (found,) = caught.value.diagnostics
    assert (found.code, found.path) == ("no-embeddings", "graders[0].composite.graders[1]")
