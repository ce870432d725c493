"""AgentV v2 suites are read unchanged, in our words; what is wrong with them is said in theirs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import turnwise
from turnwise.conversation import File
from turnwise.diagnostics import Diagnostic
from turnwise.suite.check import check_case
from turnwise.suite.format import GraderSpec, LongGrader
from turnwise.suite.suite import Suite, read_suite

EXAMPLE = Path(__file__).parent / "data" / "agentv-simple"
HELLO = "input_messages: [{role: user, content: Hello}]"


def read(folder: Path, text: str) -> tuple[Suite | None, list[Diagnostic]]:
    (folder / ".agentv").mkdir(exist_ok=True)
    path = folder / "suite.yaml"
    path.write_text(text)
    return read_suite(path)


def good(folder: Path, text: str) -> Suite:
    suite, diagnostics = read(folder, text)
    assert suite is not None, diagnostics
    return suite


def settings(grader: GraderSpec) -> dict[str, Any]:
    """A grader as the mapping that it stands for."""
    assert isinstance(grader, LongGrader)
    return grader.model_dump(exclude_none=True)


def spots(diagnostics: list[Diagnostic]) -> list[tuple[str, int | None, str]]:
    return [(found.code, found.place.line, found.path) for found in diagnostics]


def test_their_example_loads_unchanged() -> None:
    """Targets, evaluators, conversation ids and messages of a real suite arrive in our words."""
    suite = turnwise.load_suite(EXAMPLE / "evals" / "coding" / "example-eval.yaml")
    assert suite.warnings == ()
    assert suite.project.root == EXAMPLE
    assert suite.guidelines.patterns == ("**/*.instructions.md", "**/*.prompt.md", "**/SKILL.md")
    assert [case.id for case in suite.cases] == [
        "code-review-javascript",
        "code-gen-python-comprehensive",
        "feature-proposal-brainstorm",
        "coding-multiturn-debug-session",
    ]
    assert [case.target for case in suite.cases] == ["default", "azure_base", "default", "default"]
    assert [case.conversation_id for case in suite.cases] == [None, "python-code-generation", None, None]
    assert [[grader["type"] for grader in map(settings, case.graders)] for case in suite.cases] == [
        ["llm_judge"],
        ["code", "llm_judge"],
        ["llm_judge"],
        ["llm_judge"],
    ]
    assert [len(case.input_messages) for case in suite.cases] == [2, 2, 2, 4]


def test_their_evaluators_become_graders() -> None:
    """A `code` evaluator keeps its script and folder, an `llm_judge` its prompt; without any, one judge judges."""
    suite = turnwise.load_suite(EXAMPLE / "evals" / "coding" / "example-eval.yaml")
    code, judge = map(settings, suite.cases[1].graders)
    assert code == {
        "type": "code",
        "name": "keyword_check",
        "command": "uv run check_python_keywords.py",
        "cwd": "../../evaluators/scripts",
    }
    assert judge == {
        "type": "llm_judge",
        "name": "code_correctness",
        "prompt": "../../evaluators/prompts/code-correctness-judge.md",
        "placeholders": "dollar",
    }
    assert [settings(grader) for grader in suite.cases[0].graders] == [{"type": "llm_judge"}]


@pytest.mark.parametrize("name", ["coding/example-eval.yaml", "local-cli/cli-provider-demo.yaml"])
def test_the_files_of_their_examples_are_found(name: str) -> None:
    """Every case of both suites makes its conversation, the expected one too."""
    for case in turnwise.load_suite(EXAMPLE / "evals" / name).cases:
        assert [found for found in check_case(case) if found.severity == "error"] == []


def test_the_guidelines_of_their_example() -> None:
    """A file that their config calls a guideline is one; another file is shown inline."""
    case = turnwise.load_suite(EXAMPLE / "evals" / "local-cli" / "cli-provider-demo.yaml").cases[0]
    files = [part for message in case.conversation.messages for part in message.parts if isinstance(part, File)]
    assert [(file.written, file.guideline) for file in files] == [
        ("../../prompts/python.instructions.md", True),
        ("./attachments/example.txt", False),
    ]
    assert case.target == "local_cli"
    assert (case.outcome or "").startswith("CLI echoes the prompt")


def test_their_names_for_ours(tmp_path: Path) -> None:
    """`dataset` is the name, `evalcases` the cases, `execution.target` a case's target."""
    suite = good(
        tmp_path,
        f"""\
$schema: agentv-eval-v2
dataset: greetings
description: d
target: base
evalcases:
  - {{id: a, {HELLO}, execution: {{target: special}}}}
  - {{id: b, {HELLO}, conversation_id: c, outcome: Greets.}}
""",
    )
    assert (suite.name, suite.spec.description) == ("greetings", "d")
    assert [(case.id, case.target, case.outcome) for case in suite.cases] == [
        ("a", "special", None),
        ("b", "base", "Greets."),
    ]


@pytest.mark.parametrize(
    ("header", "own", "kinds"),
    [
        ("", "", ["llm_judge"]),
        ("evaluators: [{name: n, type: code, script: s}]", "", ["code"]),
        ("evaluators: [{name: n, type: code_judge, script: s}]", "", ["code"]),
        ("evaluator: code", "evaluators: [{name: n, script: s}]", ["code"]),
        ("evaluator: code", "evaluator: llm_judge, evaluators: [{name: n, prompt: p}]", ["llm_judge"]),
        ("evaluator: code", "", ["code"]),
        ("evaluator: code_judge", "", ["code"]),
        ("", "evaluators: [{name: n, prompt: p}]", ["llm_judge"]),
        ("", "execution: {target: x}, evaluators: [{name: n, type: code, script: s}]", ["code"]),
        ("", "execution: {evaluators: [{name: n, type: code, script: s}]}", ["code"]),
        ("evaluators: [{name: m, type: code, script: s}]", "evaluators: [{name: n, type: llm_judge}]", ["llm_judge"]),
    ],
)
def test_which_graders_a_case_gets(tmp_path: Path, header: str, own: str, kinds: list[str]) -> None:
    """A case's own evaluators, else the suite's, else one judge; `evaluator` is the kind where none is written."""
    extra = f", {own}" if own else ""
    suite = good(tmp_path, f"$schema: agentv-eval-v2\n{header}\nevalcases: [{{id: a, {HELLO}{extra}}}]")
    assert [settings(grader)["type"] for grader in suite.cases[0].graders] == kinds


def test_a_suite_without_schema_is_known_by_its_cases(tmp_path: Path) -> None:
    """`evalcases` alone tells whose file it is."""
    suite = good(tmp_path, f"evalcases: [{{id: a, {HELLO}}}]")
    assert [settings(grader) for grader in suite.cases[0].graders] == [{"type": "llm_judge"}]


def test_our_suites_are_not_given_a_judge(tmp_path: Path) -> None:
    """The rule of one judge is theirs: a suite of ours without graders has none."""
    assert list(good(tmp_path, f"$schema: suite.schema.json\ncases: [{{id: a, {HELLO}}}]").cases[0].graders) == []


def test_messages_that_they_drop_are_read(tmp_path: Path) -> None:
    """An unknown role and a plain text in a content list are messages like any other."""
    suite = good(
        tmp_path, "evalcases: [{id: a, input_messages: [{role: critic, content: [Hm, {type: text, value: So}]}]}]"
    )
    assert suite.cases[0].conversation.transcript() == "[Critic]:\nHm\nSo"


def test_problems_are_shown_at_the_keys_that_were_written(tmp_path: Path) -> None:
    """Lines and paths speak of `evalcases`, `execution` and `evaluators`."""
    text = """\
$schema: agentv-eval-v2
dataset: ''
evaluators:
  - {type: 5}
evalcases:
  - id: a
    execution:
      target: 5
      evaluators:
        - {name: n, weight: -1}
    input_messages: [{role: user, content: Hello}]
  - id: b
    evaluators:
      - {type: code, threshold: 3}
    input_messages: [{role: user}]
  - id: c
  - text
"""
    suite, diagnostics = read(tmp_path, text)
    assert suite is None
    assert sorted(spots(diagnostics), key=lambda spot: spot[1] or 0) == [
        ("empty", 2, "dataset"),
        ("wrong-type", 4, "evaluators[0].type"),
        ("wrong-type", 8, "evalcases[0].execution.target"),
        ("out-of-range", 10, "evalcases[0].execution.evaluators[0].weight"),
        ("out-of-range", 14, "evalcases[1].evaluators[0].threshold"),
        ("no-content", 15, "evalcases[1].input_messages[0]"),
        ("missing-key", 16, "evalcases[2]"),
        ("wrong-type", 17, "evalcases[3]"),
    ]


def test_a_script_is_shown_as_one(tmp_path: Path) -> None:
    """What is wrong in a `script` is shown there, and in a `command` only where one was written."""
    text = """\
$schema: agentv-eval-v2
vars: {}
evaluators:
  - {type: code, script: "{{ suites }}"}
evalcases:
  - {id: a, input_messages: [{role: user, content: Hello}]}
  - id: b
    evaluators:
      - type: code
        script: "{{ own }}"
    input_messages: [{role: user, content: Hello}]
  - id: c
    execution:
      evaluators:
        - type: code
          script: ["{{ inner }}"]
        - type: code
          command: "{{ ours }}"
    input_messages: [{role: user, content: Hello}]
"""
    suite, diagnostics = read(tmp_path, text)
    assert suite is None
    assert sorted(spots(diagnostics), key=lambda spot: spot[1] or 0) == [
        ("unknown-variable", 4, "evaluators[0].script"),
        ("unknown-variable", 10, "evalcases[1].evaluators[0].script"),
        ("unknown-variable", 16, "evalcases[2].execution.evaluators[0].script[0]"),
        ("unknown-variable", 18, "evalcases[2].execution.evaluators[1].command"),
    ]


def test_a_script_over_a_dataset_is_shown_as_one(tmp_path: Path) -> None:
    """The suite's own paths are theirs also where its cases are rows of a dataset."""
    (tmp_path / "rows.jsonl").write_text('{"id": "a", "input_messages": [{"role": "user", "content": "Hello"}]}')
    suite, diagnostics = read(
        tmp_path, 'vars: {}\nevaluators:\n- {type: code, script: "{{ x }}"}\nevalcases: rows.jsonl\n'
    )
    assert suite is None
    assert spots(diagnostics) == [("unknown-variable", 3, "evaluators[0].script")]


def test_a_script_beside_a_command_is_not_dropped(tmp_path: Path) -> None:
    """An evaluator that has both keeps both."""
    suite = good(tmp_path, f"evalcases: [{{id: a, {HELLO}, evaluators: [{{type: code, script: s, command: c}}]}}]")
    assert settings(suite.cases[0].graders[0]) == {"type": "code", "script": "s", "command": "c"}


def test_duplicate_ids_are_found_in_their_suites(tmp_path: Path) -> None:
    """An id that is used twice is shown at its line."""
    suite, (found,) = read(tmp_path, f"evalcases:\n- id: a\n  {HELLO}\n- id: a\n  {HELLO}\n")
    assert suite is None
    assert (found.code, found.place.line, found.path) == ("duplicate-id", 4, "evalcases[1].id")
    assert "line 2" in found.message


def test_files_that_are_missing_are_shown_in_their_suites(tmp_path: Path) -> None:
    """A file that a case refers to is an error of that case, at its path in their words."""
    text = "evalcases:\n- id: a\n  input_messages:\n  - role: user\n    content: [{type: file, value: gone.md}]\n"
    (found,) = check_case(good(tmp_path, text).cases[0])
    assert (found.code, found.place.line) == ("file-missing", 5)
    assert found.path == "evalcases[0].input_messages[0].content[0].value"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("evalcases: []\n", 1),
        ("$schema: agentv-eval-v2\nevalcases: {a: 1}\n", 2),
        ("$schema: agentv-eval-v2\nevalcases: 5\n", 2),
        ("$schema: agentv-eval-v2\nname: x\n", 1),
    ],
)
def test_a_suite_of_theirs_needs_cases(tmp_path: Path, text: str, line: int) -> None:
    """Cases that are missing, empty or of the wrong type are one error at the key that was written."""
    suite, (found,) = read(tmp_path, text)
    assert suite is None
    assert (found.severity, found.place.line) == ("error", line)


@pytest.mark.parametrize(
    "text",
    [
        f"evalcases: [{{id: a, {HELLO}}}]\ncases: [{{id: b, {HELLO}}}]",
        f"evalcases: [{{id: a, {HELLO}}}]\ndataset: x\nname: y",
        f"evalcases: [{{id: a, {HELLO}}}]\nevaluators: []\ngraders: []",
        f"evalcases: [{{id: a, {HELLO}, target: x, execution: {{target: y}}}}]",
        f"evalcases: [{{id: a, {HELLO}, graders: [], evaluators: []}}]",
        f"evalcases: [{{id: a, {HELLO}, execution: {{trget: y}}}}]",
        f"evalcases: [{{id: a, {HELLO}, execution: 5}}]",
    ],
)
def test_nothing_of_theirs_is_dropped(tmp_path: Path, text: str) -> None:
    """A key that is written in both languages, or in none, is an unknown key rather than a silent loss."""
    suite, (found,) = read(tmp_path, text)
    assert suite is None
    assert found.code == "unknown-key"


@pytest.mark.parametrize("kind", ["[a]", "{a: 1}", "5", "~", "true"])
def test_an_evaluator_of_a_strange_type(tmp_path: Path, kind: str) -> None:
    """A type that is no text is an error at the type."""
    suite, (found,) = read(tmp_path, f"evalcases:\n- id: a\n  {HELLO}\n  evaluators:\n  - type: {kind}\n")
    assert suite is None
    assert (found.code, found.place.line, found.path) == ("wrong-type", 5, "evalcases[0].evaluators[0].type")


@pytest.mark.parametrize("value", ["magic", [], {}, 5])
def test_an_evaluator_that_is_not_known_is_named(tmp_path: Path, value: object) -> None:
    """A default kind that AgentV does not have is an unknown key, in the suite and in a case, not ignored."""
    case = {"id": "a", "evaluator": value, "input_messages": [{"role": "user", "content": "Hi"}]}
    path = tmp_path / "suite.json"
    path.write_text(json.dumps({"$schema": "agentv-eval-v2", "evaluator": value, "evalcases": [case]}))
    suite, diagnostics = read_suite(path)
    assert suite is None
    assert [(diagnostic.code, diagnostic.path) for diagnostic in diagnostics] == [
        ("unknown-key", "evaluator"),
        ("unknown-key", "evalcases[0].evaluator"),
    ]
