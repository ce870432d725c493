"""What is legal but probably not meant is said, and what cannot be meant is refused with what to write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from run_fixtures import case, mock, plan, project, run, suite
from turnwise.engine.regrading import RegradeOptions, plan_regrading
from turnwise.errors import SuiteError
from turnwise.graders.specs import make_graders
from turnwise.graders.suspicious import unfilled
from turnwise.suite.format import SuiteHeader
from turnwise.suite.suite import read_suite

DECK = '+++\n[scale]\nkind = "ordinal"\nmin = 1\nmax = 5\npass = 4\n+++\nHow kind is it?\n'
NAMED = {"type": "contains", "value": "x", "name": "n"}


def warned(root: Path, *graders: Any, **fields: Any) -> list[tuple[str, str]]:
    """Code and path of what a plan warns about."""
    project(root, mock(), mock("judge", response="{}"), s=suite([case("a", **fields)], graders=list(graders)))
    return [(each.code, each.path) for each in plan(root / "s.yaml").warnings]


def test_placeholders_without_any_variables_are_warned_of(tmp_path: Path) -> None:
    """Without `vars`, braces are compared as they stand; with them, they are filled in. Prompts have their own."""
    assert warned(tmp_path, {"contains": "{{ city }}"}) == [("unfilled", "graders[0].contains")]
    assert warned(tmp_path, {"contains": "{{ city }}"}, vars={"city": "Oslo"}) == []
    assert warned(tmp_path, {"type": "llm_judge", "target": "judge", "prompt": "Is {{ answer }} kind?"}) == []
    assert list(unfilled([{"llm_judge": "Is {{ answer }} kind?"}])) == []


def test_placeholders_of_a_file_of_graders_are_warned_of(tmp_path: Path) -> None:
    """A run is graded again by the braces as they stand, and that is said."""
    project(tmp_path)
    done = run(tmp_path / "s.yaml")
    (tmp_path / "g.yaml").write_text(json.dumps({"graders": [{"contains": "{{ city }}"}]}))
    again = plan_regrading(RegradeOptions(run=str(done.folder), graders=str(tmp_path / "g.yaml")))
    assert [each.code for each in again.warnings] == ["unfilled"]


def test_two_graders_of_one_name_are_warned_of(tmp_path: Path) -> None:
    """The second one is named; graders without names of their own are not meant."""
    assert warned(tmp_path, NAMED, {"regex": {"value": "x", "name": "n"}}) == [("same-name", "graders[1]")]
    assert warned(tmp_path, {"contains": "x"}, {"contains": "y"}) == []


def test_a_threshold_beside_a_scale_that_decides_is_warned_of(tmp_path: Path) -> None:
    """The `pass` of a deck's scale goes before the grader's threshold."""
    (tmp_path / "tone.deck.md").write_text(DECK)
    deck = {"type": "deck", "path": "tone.deck.md", "target": "judge"}
    assert warned(tmp_path, {**deck, "threshold": 0.9}) == [("unused-threshold", "graders[0]")]
    assert warned(tmp_path, deck) == []


def test_what_ends_like_a_file_is_no_prompt(tmp_path: Path) -> None:
    """A name with blanks that leads to no file is an error, and would else be sent to the judge."""
    with pytest.raises(SuiteError) as caught:
        warned(tmp_path, {"type": "llm_judge", "target": "judge", "prompt": "judge prompt v2.txt"})
    (found,) = caught.value.diagnostics
    assert (found.code, "full stop" in (found.hint or "")) == ("file-missing", True)


def test_settings_beside_a_short_form_say_where_they_belong() -> None:
    """`{contains: foo, weight: 2}` is refused with both forms that do it."""
    with pytest.raises(ValidationError) as caught:
        SuiteHeader.model_validate({"graders": [{"contains": "foo", "weight": 2}], "cases": []})
    hint = caught.value.errors()[0]["ctx"]["hint"]
    assert "`contains: {value: …, weight: …}`" in hint
    assert "`type: contains`" in hint


def test_a_bare_number_names_the_bound() -> None:
    """`length: 5` says how the most is written."""
    (problem,) = make_graders([{"length": 5}])[1]
    assert problem.hint == "write `length: {max: 5}`"


def test_a_name_must_say_something() -> None:
    """An empty name is an error."""
    with pytest.raises(ValidationError):
        SuiteHeader.model_validate({"graders": [{**NAMED, "name": ""}], "cases": []})


def test_agentv_cases_without_their_program_are_warned_of(tmp_path: Path) -> None:
    """`evaluator: code` without evaluators is said, at its line, and not silently judged by a model."""
    one = {**case("a"), "evaluator": "code"}
    other = {**case("b"), "evaluator": "code", "evaluators": [{"type": "code", "script": "true"}]}
    (tmp_path / "s.yaml").write_text(json.dumps({"evalcases": [one, other]}))
    _, said = read_suite(tmp_path / "s.yaml")
    assert [(each.code, each.path) for each in said] == [("unused-evaluator", "evalcases[0].evaluator")]
