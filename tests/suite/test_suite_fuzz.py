"""No input gives a traceback: whatever stands in a file is a suite, or errors with places in that file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from turnwise.diagnostics import Diagnostic, has_errors
from turnwise.errors import ConfigError, TurnwiseError
from turnwise.suite.check import check_case
from turnwise.suite.kinds import file_kind
from turnwise.suite.project import read_config
from turnwise.suite.suite import Suite, read_suite

GOOD_YAML = """\
# A suite that uses all of the format.
name: weather
description: "Small talk: about the weather"
targets: [a, b]
system_prompt: |
  Be brief.
  Be kind.
guideline_patterns: ["**/*.instructions.md", "!draft.*"]
graders:
  - Mentions rain
  - contains: umbrella
  - {type: llm_judge, name: kind, weight: 2.5, threshold: 0.5}
threshold: 0.8
trials: 3
tags: [smoke]
metadata: {owner: me, since: 2024-01-01}
vars: {city: Oslo, days: 3}
cases:
  - &rain
    id: rain
    conversation_id: c1
    outcome: Says that it will rain in {{ city }}.
    input_messages:
      - role: system
        content: ['You know {{ city }}.', {type: file, value: ./g.instructions.md}]
      - {role: user, content: 'Will it rain, or "snow"?'}
      - role: assistant
        tool_calls: [{id: c1, function: {name: f, arguments: "{}"}}]
      - {role: tool, tool_call_id: c1, content: rain}
      - role: user
        content:
          - type: text
            value: "And in {{ days }} days? \\u263a"
          - {type: image, value: "data:image/png;base64,AAAA"}
    expected_messages:
      - {role: assistant, content: Yes.}
    metadata: {systemPrompt: Own}
    inherit_graders: true
    graders: [{equals: "Yes."}]
  - <<: *rain
    id: snow
    vars: {city: Bergen}
"""
GOOD_AGENTV = """\
$schema: agentv-eval-v2
dataset: d
target: default
evaluator: llm_judge
evalcases:
  - id: a
    execution:
      target: t
      evaluators:
        - {name: n, type: code, script: run it, cwd: .}
    input_messages:
      - role: user
        content: [{type: text, value: Hello}]
"""
GOOD_JSONL = "".join(
    json.dumps(
        {
            "id": f"case-{number}",
            "vars": {"n": number},
            "outcome": "Says {{ n }}.",
            "tags": ["é", "😀"],
            "input_messages": [
                {"role": "user", "content": ["Say {{ n }}", {"type": "text", "text": "\\ud83d"}]},
                {"role": "assistant", "content": None, "tool_calls": [{"name": "f", "arguments": {"a": [1, 2.5]}}]},
            ],
        },
        ensure_ascii=number % 2 == 0,
    )
    + "\n"
    for number in range(4)
)
GOOD_CSV = 'id,q,note\na,Hello,"one\ntwo"\nb,"say ""hi""",x\n\nc,é😀,\n'

FRAGMENTS = st.sampled_from(
    [
        " ", "\n", "\t", "\r", "\r\n", "\n\n", "  ", ": ", "- ", "? ", "#", "'", '"', "{", "}", "[", "]", ",",
        "&a ", "*a", "*rain", "<<: ", "<<: *rain\n", "!!int ", "!!float ", "!x ", "|\n", ">-\n", "---\n",
        "...\n", "%YAML 1.2\n", "\\", "\\ud800", "\\u0000", "\0", "\x01", "\x7f", "\x85", "\u2028", "\ufeff",
        "\ufffe", "é", "😀", "{{ ", " }}", "{{ city }}", "null", "~", "true", "5", "-1", "1e999", ".nan",
        "-.inf", "0x" + "f" * 5000, "9" * 5000, "NaN", "-Infinity", "type: ", "type: [a]", "role: ", "cases: ",
        "evalcases: ", "execution: ", "evaluators: ", "$schema: agentv-eval-v2\n", "[" * 200, "{a: " * 200,
        "- " * 200, '{"a":' * 200,
    ]
)  # fmt: skip
NAMES = st.sampled_from(
    [
        "$schema", "name", "description", "target", "targets", "system_prompt", "guideline_patterns",
        "graders", "threshold", "trials", "tags", "metadata", "vars", "outcome", "input_messages",
        "expected_messages", "cases", "id", "conversation_id", "inherit_graders", "role", "content",
        "tool_calls", "tool_call_id", "function", "arguments", "type", "value", "text", "weight", "required",
        "systemPrompt", "evalcases", "execution", "evaluators", "evaluator", "dataset", "script", "<<", "str",
        "long", "short", "line", "list", "api_key",
    ]
)  # fmt: skip
WORDS = st.sampled_from(
    [
        "", "user", "system", "assistant", "tool", "text", "file", "image", "rows.jsonl", "rows.csv", "x.txt",
        "agentv-eval-v2", "llm_judge", "code", "{{ a }}", "{{ b }}", "[User]:", "<Attached: x>",
        "data:image/png;base64,AA==", "**/*.md", "!", "[", "/", "..", "../..", "\0", "~", "yes", "1:30",
        "{a,b", "=== x ===",
    ]
)  # fmt: skip
TEXT = st.text(st.characters(codec="utf-8"), max_size=15)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats() | st.integers() | TEXT | WORDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES | TEXT, inner, max_size=5),
    max_leaves=20,
)

HELLO = {"role": "user", "content": "Hello"}
PLACES: dict[str, Callable[[Any], Any]] = {
    "suite": lambda value: value,
    "setting": lambda value: {**(value if isinstance(value, dict) else {"vars": value}), "cases": [{"id": "a"}]},
    "cases": lambda value: {"cases": value},
    "case": lambda value: {"cases": [value, {"id": "a", "input_messages": [HELLO]}]},
    "more of a case": lambda value: {
        "cases": [{"id": "a", "input_messages": [HELLO], **(value if isinstance(value, dict) else {"vars": value})}]
    },
    "messages": lambda value: {"cases": [{"id": "a", "input_messages": value}]},
    "message": lambda value: {"vars": {"a": 1}, "cases": [{"id": "a", "input_messages": [HELLO, value]}]},
    "content": lambda value: {"cases": [{"id": "a", "input_messages": [{"role": "user", "content": value}]}]},
    "segment": lambda value: {"cases": [{"id": "a", "input_messages": [{"role": "user", "content": [value]}]}]},
    "calls": lambda value: {"cases": [{"id": "a", "input_messages": [{"role": "a", "tool_calls": [value]}]}]},
    "grader": lambda value: {"graders": [value], "cases": [{"id": "a", "input_messages": [HELLO], "graders": [value]}]},
    "template": lambda value: {
        "vars": {"a": value}, "outcome": "{{ a }}", "input_messages": [HELLO], "cases": [{"id": "a"}]
    },
    "their case": lambda value: {"evalcases": [value]},
    "their suite": lambda value: {"evalcases": [{"id": "a", "input_messages": [HELLO]}], "evaluators": [value]},
    "their execution": lambda value: {"evalcases": [{"id": "a", "input_messages": [HELLO], "execution": value}]},
    "their evaluator": lambda value: {"evalcases": [{"id": "a", "input_messages": [HELLO], "evaluators": [value]}]},
}  # fmt: skip

fuzz = settings(deadline=None)
much = settings(deadline=None, max_examples=3_000)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("fuzz")
    (root / ".turnwise").mkdir()
    (root / "g.instructions.md").write_text("Be nice.\n")
    (root / "x.txt").write_text("text\n")
    (root / "rows.jsonl").write_text(GOOD_JSONL)
    (root / "rows.csv").write_text(GOOD_CSV)
    return root


def assert_places(diagnostics: list[Diagnostic]) -> None:
    """Every line and column is one that the file has."""
    for found in diagnostics:
        assert found.message
        assert found.code
        assert str(found)
        if found.place.line is not None:
            lines = Path(found.file).read_bytes().decode("utf-8-sig", "replace").split("\n")
            assert 1 <= found.place.line <= len(lines)
            assert (found.place.column or 1) >= 1


def use(suite: Suite) -> None:
    """What a command does with a suite; a case that cannot be made says so and no more."""
    count = 0
    for case in suite.cases:
        count += 1
        found = check_case(case)
        assert_places(found)
        if not has_errors(found):
            assert isinstance(case.conversation.transcript(), str)
            assert isinstance(case.conversation.chat_prompt(), list)
            assert isinstance(case.expected.transcript(), str)
    assert count == len(suite.cases)


def swallow(folder: Path, name: str, data: bytes) -> None:
    """Load and use whatever this is."""
    path = folder / name
    path.write_bytes(data)
    suite, diagnostics = read_suite(path)
    assert_places(diagnostics)
    assert has_errors(diagnostics) is (suite is None)
    file_kind(path)
    if suite is not None:
        use(suite)


@st.composite
def mutated(draw: st.DrawFn, good: str) -> str:
    """A good text with chunks deleted, doubled, moved or put in."""
    text = good
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 40)))
        chunk = text[start:end]
        match draw(st.sampled_from(["delete", "double", "insert", "replace", "move", "cut"])):
            case "delete":
                text = text[:start] + text[end:]
            case "double":
                text = text[:end] + chunk + text[end:]
            case "insert":
                text = text[:start] + draw(FRAGMENTS | TEXT) + text[start:]
            case "replace":
                text = text[:start] + draw(FRAGMENTS | TEXT) + text[end:]
            case "move":
                rest = text[:start] + text[end:]
                to = draw(st.integers(0, len(rest)))
                text = rest[:to] + chunk + rest[to:]
            case _:
                text = text[:start]
    return text


def written(value: Any, style: str) -> bytes:
    if style == "yaml":
        return bytes(yaml.safe_dump(value, allow_unicode=True), "utf-8")
    return json.dumps(value, ensure_ascii=style == "ascii", indent=1).encode("utf-8")


STYLES = st.sampled_from(["yaml", "json", "ascii"])
FILES = st.sampled_from(["s.yaml", "s.json", "s.jsonl", "s.csv"])


def test_the_good_files_are_good(folder: Path) -> None:
    """What is mutated below loads as it stands."""
    for name, text in [("s.yaml", GOOD_YAML), ("s.yaml", GOOD_AGENTV), ("s.jsonl", GOOD_JSONL)]:
        (folder / name).write_text(text)
        suite, diagnostics = read_suite(folder / name)
        assert suite is not None, diagnostics


@fuzz
@given(FILES, st.text(st.characters(codec="utf-8")))
def test_any_text(folder: Path, name: str, text: str) -> None:
    """Arbitrary text is a suite or an error."""
    swallow(folder, name, text.encode("utf-8"))


@fuzz
@given(FILES, st.binary())
def test_any_bytes(folder: Path, name: str, data: bytes) -> None:
    """Arbitrary bytes are a suite or an error."""
    swallow(folder, name, data)


@fuzz
@given(FILES, st.lists(FRAGMENTS | NAMES | WORDS, max_size=12))
def test_any_row_of_fragments(folder: Path, name: str, fragments: list[str]) -> None:
    """Pieces of the syntax in any order are a suite or an error."""
    swallow(folder, name, "".join(fragments).encode("utf-8"))


@settings(fuzz, max_examples=250)
@given(mutated(GOOD_YAML))
def test_mutated_yaml(folder: Path, text: str) -> None:
    """A good suite with slips in it is a suite or an error."""
    swallow(folder, "s.yaml", text.encode("utf-8"))


@fuzz
@given(mutated(GOOD_AGENTV))
def test_mutated_agentv(folder: Path, text: str) -> None:
    """A good AgentV suite with slips in it is a suite or an error."""
    swallow(folder, "s.yaml", text.encode("utf-8"))


@fuzz
@given(mutated(GOOD_JSONL))
def test_mutated_jsonl(folder: Path, text: str) -> None:
    """A good dataset with slips in it is a suite or an error."""
    swallow(folder, "s.jsonl", text.encode("utf-8"))


@fuzz
@given(mutated(GOOD_CSV), st.sampled_from(["{{ q }}", "{{ note }}", "no names"]))
def test_mutated_csv(folder: Path, text: str, template: str) -> None:
    """A good table with slips in it is a suite or an error."""
    (folder / "table.csv").write_bytes(text.encode("utf-8"))
    messages = json.dumps([{"role": "user", "content": template}])
    swallow(folder, "s.yaml", f"cases: table.csv\ninput_messages: {messages}\n".encode())


@pytest.mark.parametrize("place", PLACES)
@settings(fuzz, max_examples=40)
@given(VALUES, STYLES)
def test_any_value_in_any_place(folder: Path, place: str, value: Any, style: str) -> None:
    """Arbitrary data in the place of a suite, a case, a message or a part of one is that thing or an error."""
    swallow(folder, "s.yaml", written(PLACES[place](value), style))


@fuzz
@given(st.lists(VALUES, max_size=4))
def test_any_values_as_rows(folder: Path, values: list[Any]) -> None:
    """Arbitrary data as the lines of a dataset are cases or errors."""
    swallow(folder, "s.jsonl", b"\n".join(json.dumps(value).encode() for value in values))


@fuzz
@given(VALUES | st.dictionaries(st.sampled_from(["allow_paths", "targets", "runs_dir"]), VALUES), STYLES)
def test_any_value_as_config(folder: Path, value: Any, style: str) -> None:
    """Arbitrary data in the place of the config are settings or a `ConfigError`."""
    path = folder / "config.yaml"
    path.write_bytes(written(value, style))
    found: TurnwiseError | None = None
    try:
        read_config(path)
    except ConfigError as error:
        found = error
        assert_places(list(error.diagnostics))
    assert found is None or str(found)


@pytest.mark.slow
@much
@given(mutated(GOOD_YAML))
def test_mutated_yaml_at_length(folder: Path, text: str) -> None:
    """The same for many more slips."""
    swallow(folder, "s.yaml", text.encode("utf-8"))


@pytest.mark.slow
@much
@given(mutated(GOOD_JSONL))
def test_mutated_jsonl_at_length(folder: Path, text: str) -> None:
    """The same for many more slips."""
    swallow(folder, "s.jsonl", text.encode("utf-8"))


@pytest.mark.slow
@pytest.mark.parametrize("place", PLACES)
@settings(deadline=None, max_examples=1_000)
@given(VALUES, STYLES)
def test_any_value_in_any_place_at_length(folder: Path, place: str, value: Any, style: str) -> None:
    """The same for many more values."""
    swallow(folder, "s.yaml", written(PLACES[place](value), style))
