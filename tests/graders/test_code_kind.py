"""The kind `code`: what a program is given, what it may say, and which programs can be named."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from turnwise.graders.base import Grade, GradeError
from turnwise.graders.specs import make_graders

pytest_plugins = ["grader_fixtures"]

Grading = Callable[..., Grade]


def printing(said: Any) -> dict[str, Any]:
    """A grader that reads its input and prints this."""
    text = said if isinstance(said, str) else json.dumps(said)
    return {"type": "code", "command": ["sh", "-c", 'cat >/dev/null; printf "%s" "$0"', text]}


def error_of(grade: Grade) -> GradeError:
    """The error of a grade that has one, and so no score."""
    assert grade.score is None
    assert grade.error is not None
    return grade.error


def test_a_program_judges_by_what_it_is_given(grade: Grading, tmp_path: Path) -> None:
    """It reads the answer from its input, and its verdict is the grade."""
    (tmp_path / "check.py").write_text(
        "import json, sys\n"
        "given = json.load(sys.stdin)\n"
        "good = given['reference_answer'] in given['answer']\n"
        "print(json.dumps({'score': 1.0 if good else 0.25, 'reason': 'é', 'hits': ['h'], 'evidence': {'n': 1}}))\n",
        encoding="utf-8",
    )
    spec = {"type": "code", "command": [sys.executable, "check.py"], "name": "mine", "weight": 2}
    good = grade(spec, "It is Oslo.", reference="Oslo", folder=tmp_path)
    assert (good.score, good.passed, good.reason, good.name, good.weight) == (1.0, True, "é", "mine", 2)
    assert good.evidence == {"n": 1, "hits": ["h"]}
    bad = grade(spec, "It is Bergen.", reference="Oslo", folder=tmp_path)
    assert (bad.score, bad.passed, bad.error) == (0.25, False, None)


def test_a_program_that_cannot_grade_leaves_the_answer_ungraded(grade: Grading) -> None:
    """`error` goes before a score, which nobody knows then."""
    error = error_of(grade(printing({"error": "the database is down", "score": 0}), "x"))
    assert error.kind == "cannot-grade"
    assert "the database is down" in error.message


@pytest.mark.parametrize(
    ("spec", "passed"),
    [
        ({"score": 0.6}, False),
        ({"score": 0.6, "passed": True}, True),
        ({"score": 1, "passed": False}, False),
        ({"passed": True}, True),
    ],
)
def test_the_program_may_say_itself_whether_it_passes(grade: Grading, spec: Any, passed: bool) -> None:
    """Without `passed`, only a score of 1 passes."""
    assert grade(printing(spec), "x").passed is passed


def test_a_threshold_of_the_suite_decides(grade: Grading) -> None:
    """The suite's word goes before the program's."""
    assert grade({**printing({"score": 0.6, "passed": False}), "threshold": 0.5}, "x").passed is True


@pytest.mark.parametrize(
    "output",
    [
        "",
        "fine",
        '{"score": 1',
        '{"score": NaN}',
        '{"score": 1.01}',
        '{"score": -0.1}',
        '{"score": 1e999}',
        '{"score": "1"}',
        '{"score": true}',
        '{"score": null}',
        '{"score": 0, "score": 1}',
        '{"score": 1} {"score": 0}',
        "[1]",
        "1",
        '{"hits": ["a"]}',
        '{"score": 1, "hits": "a"}',
        '{"score": 1, "misses": [1]}',
        '{"score": 1, "reason": 5}',
        '{"score": 1, "passed": "yes"}',
        '{"score": 1, "evidence": {"x": NaN}}',
        '{"score": 1, "evidence": []}',
        "[" * 100_000,
        '{"score": ' + "9" * 10_000 + "}",
        "\x1b[31mred\x07",
    ],
)
def test_what_is_no_verdict_is_an_error(grade: Grading, output: str) -> None:
    """Junk, numbers off the scale and values of the wrong kind: said with what was found, and never a 0."""
    error = error_of(grade(printing(output), "x"))
    assert error.kind == "bad-output"
    assert "expected" in error.message
    assert "\x1b" not in error.message
    assert len(error.message) < 2_000


def test_a_reason_cannot_take_over_a_terminal(grade: Grading) -> None:
    """Control characters of a program, which may come from the model's answer, are removed; its length is bounded."""
    hostile = grade(printing({"score": 1, "reason": "a\x1b[2Jb\x00c\nd" + "é" * 10_000, "hits": ["\x1b[1mh"]}), "x")
    assert hostile.reason.startswith("abc\nd")
    assert len(hostile.reason) < 5_000
    assert hostile.evidence["hits"] == ["h"]


def test_a_reason_is_made_of_hits_and_misses(grade: Grading) -> None:
    """A program that gives none still says why."""
    assert grade(printing({"score": 0.5, "hits": ["a"], "misses": ["b", "c"]}), "x").reason == "missed: b; c"
    assert grade(printing({"score": 1, "reasoning": "their word"}), "x").reason == "their word"


@pytest.mark.parametrize(
    "spec",
    [
        {"code": 'sh -c \'echo "{\\"score\\": 1}"\''},
        {"code": ["sh", "-c", 'echo "{\\"score\\": 1}"']},
        {"type": "code", "script": "printf '{\"score\": 1}'"},
        {"code": {"command": ["printf", '{"score": 1}'], "timeout": 5}},
    ],
)
def test_a_command_is_a_list_or_a_text(grade: Grading, spec: Any) -> None:
    """A text is split as a shell would, but no shell reads it; AgentV's `script` is the same."""
    assert grade(spec, "x").score == 1


def test_no_shell_reads_a_text(grade: Grading, tmp_path: Path) -> None:
    """Its special characters are plain arguments."""
    spec = {"type": "code", "command": "echo '{\"score\": 1}' ; touch made > out"}
    assert error_of(grade(spec, "x", folder=tmp_path)).kind == "bad-output"
    assert list(tmp_path.iterdir()) == []


def test_a_folder_is_relative_to_the_suite(grade: Grading, tmp_path: Path) -> None:
    """`cwd` is where the program runs; without it, that is the suite's folder."""
    (tmp_path / "in").mkdir()
    script = 'printf \'{"score": 1, "reason": "%s"}\' "$(pwd -P)"'
    spec = {"type": "code", "command": ["sh", "-c", script]}
    assert grade(spec, "x", folder=tmp_path).reason == os.path.realpath(tmp_path)
    assert grade({**spec, "cwd": "in"}, "x", folder=tmp_path).reason == os.path.realpath(tmp_path / "in")
    error = error_of(grade({**spec, "cwd": "out"}, "x", folder=tmp_path))
    assert error.kind == "not-found"
    assert "cwd" in error.message


def test_programs_see_no_key_unless_it_is_named(grade: Grading, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment is an allow list; a value that is passed on by name is in no result."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789")
    monkeypatch.setenv("MY_FLAG", "flag-0123456789")
    monkeypatch.setenv("LC_TIME", "C")
    show = 'printf \'{"score": 1, "reason": "%s|%s|%s|%s"}\' "$OPENAI_API_KEY" "$MY_FLAG" "$MINE" "$LC_TIME"'
    spec = {"type": "code", "command": ["sh", "-c", show], "env": {"MINE": "set"}}
    assert grade(spec, "x").reason == "||set|C"
    assert grade({**spec, "inherit_env": ["MY_FLAG", "NOT_SET"]}, "x").reason == "|[MY_FLAG]|set|C"
    failing = {"type": "code", "command": ["sh", "-c", "echo $MY_FLAG >&2; exit 1"], "inherit_env": ["MY_FLAG"]}
    assert "[MY_FLAG]" in error_of(grade(failing, "x")).message


@pytest.mark.parametrize(
    ("spec", "code", "message"),
    [
        ({"type": "code"}, "bad-command", "`code` needs a `command`"),
        ({"type": "code", "command": ["a"], "script": "b"}, "bad-command", "are the same"),
        ({"code": "sh 'x"}, "bad-command", "cannot be split: no closing quotation"),
        ({"code": "  "}, "bad-command", "names no program"),
        ({"code": [""]}, "bad-command", "names no program"),
        ({"code": []}, "empty", "`code` must not be empty"),
        ({"code": 5}, "wrong-type", "`code` must be a list or text"),
        ({"code": ["a", 5]}, "wrong-type", "this item must be text"),
        ({"type": "code", "command": ["a"], "timeout": 0}, "out-of-range", "`timeout`"),
        ({"type": "code", "command": ["a"], "workers": 0}, "out-of-range", "`workers`"),
        ({"type": "code", "command": ["a"], "env": {"A": 5}}, "wrong-type", "`A` must be text"),
        ({"type": "code", "command": ["a"], "comand": "b"}, "unknown-key", "`comand`"),
    ],
)
def test_mistakes_in_a_suite_are_said_before_a_run(spec: Any, code: str, message: str) -> None:
    """Each names the key, what was found and what to do."""
    from pydantic import TypeAdapter

    from turnwise.suite.format import GraderSpec

    checked: Any = TypeAdapter(GraderSpec).validate_python(spec)
    graders, (problem,) = make_graders([checked])
    assert (graders, problem.code) == ([], code)
    assert message in problem.message
    assert problem.hint


def test_a_key_that_json_spells_otherwise_is_not_kept(
    grade: Callable[..., Grade], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a program is passed is taken out of what it says, not out of how JSON writes it."""
    key = 'pa"ss/w\u00f6rd\\1234'
    monkeypatch.setenv("MY_KEY", key)
    script = "import json, os; print(json.dumps({'score': 1, 'reason': 'the key is ' + os.environ['MY_KEY']}))"
    found = grade({"type": "code", "command": [sys.executable, "-c", script], "inherit_env": ["MY_KEY"]}, "x")
    assert found.reason == "the key is [MY_KEY]"


def test_an_output_that_nobody_can_see(grade: Callable[..., Grade]) -> None:
    """Control characters alone are told apart from no output."""
    found = grade({"type": "code", "command": [sys.executable, "-c", r"print('\x01\x02')"]}, "x")
    assert "it printed nothing that can be shown" in found.reason
