"""Options that could only fail later are refused at once, in words that say what to write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from run_fixtures import case, plan, project, suite
from turnwise.errors import Problem, SuiteError
from turnwise.graders.llm_judge import judge_system, unit_scale
from turnwise.graders.rubric import RubricLine, rubric_system
from turnwise.graders.specs import make_graders


def refused(*specs: Any) -> Problem:
    """The one problem of graders."""
    (problem,) = make_graders(specs)[1]
    return problem


@pytest.mark.parametrize("reference", ["#/nope", "https://example.com/team.json", "#missing"])
def test_a_reference_must_lead_into_the_schema(reference: str) -> None:
    """Nothing is downloaded, so that a `$ref` to elsewhere could never be followed."""
    problem = refused({"is-json": {"schema": {"properties": {"team": {"$ref": reference}}}}})
    assert problem.code == "bad-schema"
    assert reference in problem.message


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#/$defs/team", "$defs": {"team": {"type": "string"}}},
        {"$id": "https://example.com/s", "$ref": "https://example.com/s#/$defs/t", "$defs": {"t": {}}},
        {"properties": {"$ref": {"type": "string"}}},
        {"const": {"$ref": "#/nope"}},
    ],
)
def test_references_that_the_schema_holds_are_fine(schema: dict[str, Any]) -> None:
    """By pointer or by `$id`; and a `$ref` among data is none."""
    assert make_graders([{"is-json": {"schema": schema}}])[1] == []


def test_one_judge_is_no_panel() -> None:
    """`targets` with one name says how to write that."""
    problem = refused({"llm_judge": {"targets": ["strict"]}})
    assert problem.message == "`targets` must name at least two judges, found 1"
    assert problem.hint == "write `target: strict`"


def test_variables_of_env_are_inherited_by_name() -> None:
    """`${{ }}` is not filled in for programs; the error says what to write, without the value of anything."""
    problem = refused({"code": {"command": ["true"], "env": {"KEY": "${{ MY_SECRET }}"}}})
    assert (problem.code, "KEY" in problem.message) == ("grader-options", True)
    assert problem.hint is not None
    assert "`inherit_env: [MY_SECRET]`" in problem.hint


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"command": ["./gone.sh"]}, "there is no program ./gone.sh"),
        ({"command": ["true"], "cwd": "nowhere"}, "there is no folder"),
    ],
)
@pytest.mark.parametrize("around", [None, "composite"])
def test_programs_that_are_not_there_end_a_run_before_it_starts(
    tmp_path: Path, options: dict[str, Any], said: str, around: str | None
) -> None:
    """A path with a slash, and the folder to run it in, are looked up from the suite."""
    grader: dict[str, Any] = {"type": "code", **options}
    inner = {"composite": {"graders": [grader]}} if around else grader
    project(tmp_path, s=suite([case("a")], graders=[inner]))
    with pytest.raises(SuiteError) as caught:
        plan(tmp_path / "s.yaml")
    (found,) = caught.value.diagnostics
    assert (found.code, said in found.message) == ("bad-command", True)
    assert found.path == ("graders[0].composite.graders[0]" if around else "graders[0]")


def test_programs_that_are_there_are_found_from_their_folder(tmp_path: Path) -> None:
    """A program in `cwd`, and one on the path, are no problem."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "check.sh").write_text("#!/bin/sh")
    graders = [{"type": "code", "command": ["./check.sh"], "cwd": "bin"}, {"code": ["python3", "later.py"]}]
    project(tmp_path, s=suite([case("a")], graders=graders))
    assert plan(tmp_path / "s.yaml").warnings == []


def test_the_python_kind_speaks_of_graders(tmp_path: Path) -> None:
    """Hints about a function speak of the grader and of what it takes, and never of targets."""
    import asyncio

    from turnwise.graders.base import Submission

    (tmp_path / "judge_words_a.py").write_text("_hidden = 1\n")
    (tmp_path / "judge_words_b.py").write_text("seven = 7\n")
    said = {}
    for name in ("judge_words_a:score", "judge_words_b:seven", "judge_words_c:score"):
        (grader,), _ = make_graders([{"python": name}])
        grade = asyncio.run(grader.grade(Submission(question="", text="", folder=tmp_path)))
        said[name] = grade.reason
    assert "define it there" in said["judge_words_a:score"]
    assert "takes the answer and its case" in said["judge_words_b:seven"]
    assert "`path` of the grader" in said["judge_words_c:score"]
    assert "target" not in json.dumps(said)


def test_judges_are_told_the_exact_ends_of_a_range() -> None:
    """Large and fine numbers are not rounded, and whole ones have no point."""
    assert "1234567" in judge_system(unit_scale([0, 1234567]))
    assert "from 0.1234567 to 1234567: x" in rubric_system({"1": RubricLine(text="x", range=[0.1234567, 1234567.0])})
