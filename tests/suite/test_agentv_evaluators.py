"""AgentV's evaluators become graders of ours, and what is wrong with them is said at the evaluator."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from turnwise.graders.diagnose import grader_diagnostics
from turnwise.suite.format import LongGrader
from turnwise.suite.suite import load_suite

HELLO = "input_messages: [{role: user, content: Hello}]"


def first_grader(folder: Path, text: str) -> dict[str, Any]:
    """The first grader of the first case, as a mapping."""
    (folder / "suite.yaml").write_text(text)
    grader = load_suite(folder / "suite.yaml").cases[0].graders[0]
    assert isinstance(grader, LongGrader)
    return grader.model_dump(exclude_none=True)


@pytest.mark.parametrize(
    ("evaluator", "grader"),
    [
        (
            "{name: n, type: llm_judge, prompt: p.md, model: gpt}",
            {"name": "n", "type": "llm_judge", "prompt": "p.md", "placeholders": "dollar", "model": "gpt"},
        ),
        ("{name: n, type: llm_judge, target: t}", {"name": "n", "type": "llm_judge", "target": "t"}),
        (
            "{name: n, type: code_judge, script: ./s, cwd: d}",
            {"name": "n", "type": "code", "command": "./s", "cwd": "d"},
        ),
        (
            "{name: n, prompt: 'Is ${candidate_answer} ${ question }?'}",
            {
                "name": "n",
                "type": "llm_judge",
                "prompt": "Is ${candidate_answer} ${ question }?",
                "placeholders": "dollar",
            },
        ),
    ],
)
def test_an_evaluator_in_our_words(tmp_path: Path, evaluator: str, grader: dict[str, Any]) -> None:
    """Name, prompt, judge, program and folder arrive under our names, in a case and below `execution`."""
    for holder in (f"evaluators: [{evaluator}]", f"execution: {{evaluators: [{evaluator}]}}"):
        assert first_grader(tmp_path, f"evalcases:\n- id: a\n  {HELLO}\n  {holder}\n") == grader


@pytest.mark.parametrize(
    ("text", "line", "path"),
    [
        (
            f"evalcases:\n- id: a\n  {HELLO}\n  evaluators:\n  - {{type: contians}}\n",
            5,
            "evalcases[0].evaluators[0].type",
        ),
        (
            f"evalcases:\n- id: a\n  {HELLO}\n  execution:\n    evaluators:\n    - {{type: code, script: []}}\n",
            6,
            "evalcases[0].execution.evaluators[0].script",
        ),
        (
            f"evaluators:\n- {{type: code, script: []}}\nevalcases:\n- id: a\n  {HELLO}\n",
            2,
            "evaluators[0].script",
        ),
    ],
)
def test_what_is_wrong_is_said_at_the_evaluator(tmp_path: Path, text: str, line: int, path: str) -> None:
    """Line and path are those of the evaluator, not of its case."""
    (tmp_path / "suite.yaml").write_text(text)
    found = grader_diagnostics(load_suite(tmp_path / "suite.yaml").cases[0])
    assert [(each.place.line, each.path) for each in found] == [(line, path)]
