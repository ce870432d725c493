"""Problems of graders as diagnostics: each where it is written, and those of the suite in the same words for all."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from turnwise.diagnostics import Diagnostic
from turnwise.errors import Problem
from turnwise.graders import diagnose
from turnwise.graders.base import Grader
from turnwise.graders.diagnose import grader_diagnostics
from turnwise.graders.specs import make_graders
from turnwise.suite.format import GraderSpec
from turnwise.suite.suite import load_suite

MESSAGES = "input_messages: [{role: user, content: Hi}]"


def found_in(tmp_path: Path, text: str) -> list[list[Diagnostic]]:
    """What is said about each case."""
    path = tmp_path / "suite.yaml"
    path.write_text(text, encoding="utf-8")
    return [grader_diagnostics(case) for case in load_suite(path).cases]


def test_good_graders_and_none_have_no_problem(tmp_path: Path) -> None:
    """Nothing is said."""
    text = f"cases:\n  - {{id: a, {MESSAGES}}}\n  - {{id: b, graders: [{{contains: x}}], {MESSAGES}}}\n"
    assert found_in(tmp_path, text) == [[], []]


def test_a_problem_of_a_case_is_at_its_place(tmp_path: Path) -> None:
    """Line and column of the key that is wrong, in the case that has it."""
    text = (
        f"cases:\n  - id: a\n    {MESSAGES}\n    graders:\n      - contians: x\n      - {{type: contains, valeu: x}}\n"
    )
    ((unknown, key),) = found_in(tmp_path, text)
    assert (unknown.code, unknown.place.line, unknown.place.column, unknown.case_id) == ("unknown-grader", 5, 9, "a")
    assert (key.code, key.place.line, key.place.column, key.severity) == ("unknown-key", 6, 26, "error")
    assert unknown.path == "cases[0].graders[0].contians"


def test_a_problem_of_the_suite_is_the_same_for_all_its_cases(tmp_path: Path) -> None:
    """It has the place in the suite and no case, also beside a case's own graders and with variables."""
    text = (
        'graders:\n  - contians: "{{ x }}"\nvars: {x: y}\ncases:\n'
        f"  - {{id: a, {MESSAGES}}}\n  - {{id: b, vars: {{x: z}}, {MESSAGES}}}\n"
        f"  - {{id: c, inherit_graders: true, graders: [{{contians: a}}], {MESSAGES}}}\n"
    )
    (first,), (second,), (shared, own) = found_in(tmp_path, text)
    assert first == second == shared
    assert (first.code, first.place.line, first.place.column, first.case_id) == ("unknown-grader", 2, 5, None)
    assert (own.place.line, own.case_id, own.path) == (7, "c", "cases[2].graders[0].contians")


def test_what_variables_bring_about_is_the_case_s_own(tmp_path: Path) -> None:
    """A pattern that is bad in one row is that row's; one that is bad only before it is filled is none."""
    text = (
        'graders: [{regex: "{{ x }}"}, {regex: "({{ x }}"}]\nvars: {x: "y)"}\ncases:\n'
        f"  - {{id: a, {MESSAGES}, graders: [{{contains: x}}]}}\n  - {{id: b, {MESSAGES}}}\n"
    )
    nothing, (only,) = found_in(tmp_path, text)
    assert nothing == []
    assert (only.code, only.case_id, only.place.line) == ("bad-pattern", "b", 5)


EXPECTED = "expected_messages: [{role: assistant, content: Oslo}]"


def test_a_grader_with_nothing_to_compare_with_is_an_error(tmp_path: Path) -> None:
    """It is the case that lacks a text: a grader of the suite is fine for those that have one."""
    text = (
        f"graders: [{{type: contains}}]\ncases:\n  - {{id: a, {MESSAGES}, {EXPECTED}}}\n  - {{id: b, {MESSAGES}}}\n"
        f"  - {{id: c, {MESSAGES}, graders: [{{contains: x}}, {{not-equals: {{trim: false}}}}]}}\n"
    )
    good, (inherited,), (own,) = found_in(tmp_path, text)
    assert good == []
    assert (inherited.severity, inherited.code, inherited.case_id) == ("error", "grader-no-value", "b")
    assert (inherited.place.line, own.place.line, own.case_id) == (4, 5, "c")
    assert own.path == "cases[2].graders[1]"
    assert "`not-equals` has no `value`" in own.message
    assert "expected_messages" in (own.hint or "")


@pytest.mark.parametrize(
    ("expected", "count"),
    [
        ("[{role: assistant, content: Oslo}]", 0),
        ("[{role: assistant, content: [Oslo]}]", 0),
        ("[{role: assistant, content: Oslo}, {role: tool, content: x}]", 0),
        ("[{role: user, content: Oslo}]", 1),
        ('[{role: assistant, content: ""}]', 1),
        ("[{role: assistant, tool_calls: [{name: f}]}]", 1),
    ],
)
def test_the_expected_text_is_the_assistant_s(tmp_path: Path, expected: str, count: int) -> None:
    """What others say, an empty text and a bare tool call are nothing to compare with."""
    text = f"cases: [{{id: a, {MESSAGES}, graders: [{{icontains: }}], expected_messages: {expected}}}]\n"
    ((*found,),) = found_in(tmp_path, text)
    assert [each.code for each in found] == ["grader-no-value"] * count


@pytest.mark.parametrize("grader", ["{is-json: }", "{type: llm_judge}", "{equals: ''}", "{contians: }", "Be kind."])
def test_only_graders_that_compare_need_a_text(tmp_path: Path, grader: str) -> None:
    """Others need none, and one that is wrong already is not said twice."""
    (found,) = found_in(tmp_path, f"cases: [{{id: a, {MESSAGES}, graders: [{grader}]}}]\n")
    assert "grader-no-value" not in [each.code for each in found]


def test_the_graders_of_a_suite_are_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cases that inherit them unchanged cost nothing more."""
    made: list[int] = []

    def counted(specs: Sequence[GraderSpec]) -> tuple[list[Grader], list[Problem]]:
        made.append(len(specs))
        return make_graders(specs)

    monkeypatch.setattr(diagnose, "make_graders", counted)
    rows = "".join(f"  - {{id: c{number}, {MESSAGES}}}\n" for number in range(50))
    assert len(found_in(tmp_path, f"graders: [{{contians: x}}, {{contains: y}}]\ncases:\n{rows}")) == 50
    assert made == [2]


def test_suites_are_not_mixed_up(tmp_path: Path) -> None:
    """More suites than are remembered, each with its own problem."""
    for number in range(20):
        (tmp_path / str(number)).mkdir()
        text = f"graders: [{{unknown{number}: x}}]\ncases: [{{id: a, {MESSAGES}}}]\n"
        ((only,),) = found_in(tmp_path / str(number), text)
        assert f"'unknown{number}'" in only.message
