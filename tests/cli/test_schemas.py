"""Editor and loader agree: what a printed schema accepts is loaded, and what it refuses is refused."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import ValidationError

from turnwise.checks.schemas import FORMATS, json_schema
from turnwise.cli.schema import command
from turnwise.diagnostics import Diagnostic
from turnwise.engine.result_format import ResultSpec
from turnwise.errors import ConfigError
from turnwise.graders.diagnose import grader_diagnostics
from turnwise.suite.project import read_config
from turnwise.suite.suite import read_suite
from turnwise.targets.load import read_targets

MESSAGE = {"role": "user", "content": "Hello"}
CASE = {"id": "a", "input_messages": [MESSAGE]}
CALL = {"id": "1", "type": "function", "function": {"name": "look_up", "arguments": "{}"}}

# What the loader refuses beyond the schema: JSON Schema compares no two places of a file, opens no other file and
# compiles no pattern. Of targets it does not read the variables inside free texts. Beside these codes: it knows no
# misspelling, and 2.0 is a whole number to it.
BEYOND_THE_SCHEMA = {"duplicate-id", "file-missing", "unknown-variable", "bad-pattern", "grader-no-value"}


def loader_errors(name: str, data: Any, folder: Path) -> list[Diagnostic]:
    """What the loader has against a file with this content."""
    (folder / ".turnwise").mkdir(exist_ok=True)
    path = folder / f"{name}.yaml"
    path.write_text(json.dumps(data), encoding="utf-8")
    diagnostics: list[Diagnostic] = []
    if name == "suite":
        found, diagnostics = read_suite(path)
        if found is not None:
            diagnostics += [each for case in found.cases for each in grader_diagnostics(case)]
    elif name == "targets":
        _, diagnostics = read_targets(path)
    else:
        try:
            read_config(path)
        except ConfigError as error:
            diagnostics = list(error.diagnostics)
    # A kind that nobody knows may be one of another package, to the schema.
    errors = [diagnostic for diagnostic in diagnostics if diagnostic.severity == "error"]
    return [diagnostic for diagnostic in errors if diagnostic.code != "unknown-grader"]


@cache
def validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(json_schema(name))


def suite(**keys: Any) -> dict[str, Any]:
    return {"cases": [CASE], **keys}


def with_case(**keys: Any) -> dict[str, Any]:
    return {"cases": [{**CASE, **keys}]}


def with_message(**keys: Any) -> dict[str, Any]:
    return with_case(input_messages=[{"role": "user", **keys}])


def with_segment(**keys: Any) -> dict[str, Any]:
    return with_message(content=[keys])


def mock(**keys: Any) -> dict[str, Any]:
    return target("mock", **keys)


def target(provider: str, **keys: Any) -> dict[str, Any]:
    return {"targets": [{"name": "a", "provider": provider, **keys}]}


GOOD: list[tuple[str, Any]] = [
    ("suite", suite()),
    ("suite", suite(target="a")),
    ("suite", suite(targets=["a", "b"])),
    ("suite", suite(target=None, targets=["a"])),
    ("suite", suite(target="a", targets=None)),
    ("suite", suite(guideline_patterns=[])),
    ("suite", suite(guideline_patterns=["**/*.md", "!draft.md", "./a", "/a", "a/", "!/a", ".", "!!"])),
    ("suite", suite(graders=["Is it polite?", {"contains": "a"}, {"type": "contains", "value": "a"}, {"type": "a"}])),
    (
        "suite",
        suite(
            graders=[{"type": "a", "name": "b", "weight": 2, "threshold": 0, "required": True, "when": {"target": "c"}}]
        ),
    ),
    ("suite", suite(metadata={"systemPrompt": 5})),
    ("suite", {"input_messages": [MESSAGE], "cases": [{"id": "a"}, {"id": "b", "input_messages": None}]}),
    ("suite", with_message(content="")),
    ("suite", with_message(content=[])),
    ("suite", with_message(content="a", tool_calls=[])),
    ("suite", with_message(content=None, tool_calls=[CALL])),
    ("suite", with_message(tool_calls=[{"name": "a"}])),
    ("suite", with_message(tool_calls=[{"name": "a", "function": None}])),
    ("suite", with_message(tool_calls=[{"name": "a", "function": "b"}])),
    ("suite", with_segment(type="text", value="a")),
    ("suite", with_segment(type="text", text="")),
    ("suite", with_segment(type="text", text="a", value=None)),
    ("suite", with_case(metadata={"systemPrompt": "a"})),
    ("suite", with_case(metadata={"systemPrompt": None, "other": 5})),
    ("config", {}),
    ("config", {"guideline_patterns": ["**/*.md"], "default_system_prompt": None, "allow_paths": ["../a"]}),
    ("targets", mock()),
    ("targets", mock(response="a")),
    ("targets", mock(response="a", echo=False)),
    ("targets", mock(response=None, echo=True)),
    ("targets", mock(response="a", echo="${{ ECHO }}")),
    ("targets", mock(judge_target="a")),
    ("targets", mock(judge_target=None)),
    ("targets", target("azure", model="m")),
    ("targets", target("azure", model="m", api_key="${{ KEY }}")),
    ("targets", target("azure", model="m", entra_token="${{ TOKEN }}")),
    ("targets", target("azure", model="m", api_key=None, entra_token="${{ TOKEN }}")),
    ("targets", target("azure", model="m", api_key="${{ KEY }}", entra_token=None)),
    ("targets", target("cli", command="agent {PROMPT}")),
    ("targets", target("cli", command=["agent", "{PROMPT}"], recipe=None)),
    ("targets", target("cli", recipe="aider")),
    ("targets", target("cli", recipe="${{ RECIPE }}", command=None)),
    *[
        ("targets", target("http", url="http://h", answer_pointer=text))
        for text in ("", "/", "/a/0", "${{ POINTER }}", None)
    ],
    *[
        ("targets", target("python", function=text))
        for text in ("a:b", "größe.b_1:C.d", "${{ FUNCTION }}", "a:${{ B }}")
    ],
]
BAD: list[tuple[str, Any]] = [
    ("suite", []),
    ("suite", None),
    ("suite", {}),
    ("suite", {"cases": []}),
    ("suite", {"cases": None}),
    ("suite", {"cases": {"a": CASE}}),
    ("suite", {"cases": [None]}),
    ("suite", {"cases": ""}),
    ("suite", {"cases": "x.xlsx"}),
    ("suite", {"cases": "x.csv.gz"}),
    ("suite", {"cases": "xcsv"}),
    ("suite", {"cases": [{"id": "a"}]}),
    ("suite", {"cases": [{"id": "a", "input_messages": None}]}),
    ("suite", {"input_messages": None, "cases": [{"id": "a"}]}),
    ("suite", {"input_messages": [], "cases": [{"id": "a"}]}),
    ("suite", suite(target="a", targets=["b"])),
    ("suite", suite(targets=[])),
    ("suite", suite(extra=1)),
    *[("suite", suite(guideline_patterns=[pattern])) for pattern in ("", "!", "/", "./", "!./", "!/", "//", ".//")],
    ("suite", suite(graders=[{}])),
    ("suite", suite(graders=[""])),
    ("suite", suite(graders=[5])),
    ("suite", suite(graders=[{"a": 1, "b": 2}])),
    ("suite", suite(graders=[{"type": ""}])),
    ("suite", suite(graders=[{"type": 5}])),
    ("suite", suite(graders=[{"type": None, "contains": "a"}])),
    ("suite", suite(graders=[{"type": "a", "when": 5}])),
    ("suite", with_message()),
    ("suite", with_message(content=None)),
    ("suite", with_message(content=5)),
    ("suite", with_message(tool_calls=[])),
    ("suite", with_message(content=None, tool_calls=None)),
    ("suite", with_message(tool_calls=[{}])),
    ("suite", with_message(content="a", tool_calls=[{"name": ""}])),
    ("suite", with_message(content="a", tool_calls=[CALL, {"function": {}}])),
    ("suite", with_message(tool_calls=[{"name": "a", "function": {"arguments": "{}"}}])),
    ("suite", with_message(tool_calls=[{"function": {"name": 5}}])),
    ("suite", with_message(tool_calls=["a"])),
    ("suite", with_case(expected_messages=[{"role": "assistant"}])),
    ("suite", with_segment(type="text")),
    ("suite", with_segment(type="text", value=None)),
    ("suite", with_segment(type="text", value="a", text="b")),
    ("suite", with_segment(typ="text", value="a")),
    ("suite", with_segment(type="file", value="")),
    ("suite", with_case(metadata={"systemPrompt": 5})),
    ("suite", with_case(metadata={"systemPrompt": ["a"]})),
    ("config", []),
    ("config", {"guideline_patterns": [""]}),
    ("config", {"guideline_patterns": ["!./"]}),
    ("config", {"guideline_patterns": "**"}),
    ("config", {"allow_paths": [""]}),
    ("config", {"extra": 1}),
    ("targets", {}),
    ("targets", {"targets": []}),
    ("targets", mock(response="a", echo=True)),
    ("targets", mock(response="", echo=True)),
    ("targets", mock(script=[])),
    ("targets", mock(extra=1)),
    ("targets", mock(judge_target="${{ NAME }}")),
    ("targets", mock(name="a ${{ NAME }}")),
    ("targets", target("azure", model="m", api_key="${{ KEY }}", entra_token="${{ TOKEN }}")),
    ("targets", target("cli")),
    ("targets", target("cli", command=None)),
    ("targets", target("cli", command=None, recipe=None)),
    ("targets", target("cli", command="agent", recipe="aider")),
    ("targets", target("cli", command=["agent"], recipe="${{ RECIPE }}")),
    *[("targets", target("http", url="http://h", answer_pointer=text)) for text in ("a", "a/b", " /a", "$", "#/a")],
    *[("targets", target("cli", recipe="aider", answer_pointer=text)) for text in ("a", "$.a")],
    *[
        ("targets", target("python", function=text))
        for text in ("", "a", "a.b", "a:", ":b", "a b:c", "a:b:c", "a..b:c", ".a:b", "a:1", "1a:b", "a:b.")
    ],
]


@pytest.mark.parametrize(("name", "data"), GOOD)
def test_what_the_loader_takes_the_schema_accepts(name: str, data: Any, tmp_path: Path) -> None:
    """A good file has no error in the editor either."""
    assert loader_errors(name, data, tmp_path) == []
    assert list(validator(name).iter_errors(data)) == []


@pytest.mark.parametrize(("name", "data"), BAD)
def test_what_the_loader_refuses_the_schema_refuses(name: str, data: Any, tmp_path: Path) -> None:
    """A bad file is known to be bad while it is being written."""
    assert loader_errors(name, data, tmp_path)
    assert not validator(name).is_valid(data)


@pytest.mark.parametrize(
    ("data", "code"),
    [
        ({"cases": [CASE, CASE]}, "duplicate-id"),
        ({"cases": "missing.csv"}, "file-missing"),
        (suite(vars={}, outcome="{{ city }}"), "unknown-variable"),
        (suite(guideline_patterns=["{a,b}" * 20]), "bad-pattern"),
        (suite(graders=[{"type": "a", "wieght": 2}]), "unknown-key"),
        (suite(trials=2.0), "wrong-type"),
    ],
)
def test_what_only_the_loader_can_refuse(data: Any, code: str, tmp_path: Path) -> None:
    """The exceptions, all of them: what no schema can say is said by `turnwise validate`."""
    assert [error.code for error in loader_errors("suite", data, tmp_path)] == [code]
    assert validator("suite").is_valid(data)


@pytest.mark.parametrize("file", ["rows.jsonl", "rows.NDJSON", "rows.Csv", "data/.csv"])
def test_a_dataset_is_known_by_its_ending(file: str, tmp_path: Path) -> None:
    """`cases` may name a `.jsonl`, `.ndjson` or `.csv` file in letters of either case; only the loader looks for it."""
    data = suite(cases=file)
    assert [error.code for error in loader_errors("suite", data, tmp_path)] == ["file-missing"]
    assert validator("suite").is_valid(data)


@pytest.mark.parametrize(("case", "good"), [(CASE, True), ({"id": "a"}, True), ({**CASE, "metadata": 5}, False)])
def test_a_case_alone_may_lack_messages(case: Any, good: bool) -> None:
    """A line of a dataset has the messages of its suite where it has none of its own."""
    assert validator("case").is_valid(case) == good


@pytest.mark.parametrize(
    ("grader", "code", "path", "hint"),
    [
        ({"type": "a", "wieght": 2}, "unknown-key", "graders[0].wieght", "did you mean `weight`?"),
        ({"type": "a", "Weight": 2}, "unknown-key", "graders[0].Weight", "did you mean `weight`?"),
        ({"type": "a", "treshold": 1}, "unknown-key", "graders[0].treshold", "did you mean `threshold`?"),
        ({"type": "a", "require": True}, "unknown-key", "graders[0].require", "did you mean `required`?"),
        ({"type": "a", "whenn": "b"}, "unknown-key", "graders[0].whenn", "did you mean `when`?"),
        ({"typ": "contains", "value": "a"}, "grader-form", "graders[0]", "did you mean `type`?"),
        ({"a": 1, "b": 2}, "grader-form", "graders[0]", "write two graders, or `type: kind` and its settings"),
    ],
)
def test_a_misspelt_key_of_a_grader_is_named(grader: Any, code: str, path: str, hint: str, tmp_path: Path) -> None:
    """A grader takes the keys of its kind, but not one that is nearly a key of all graders."""
    (found,) = loader_errors("suite", suite(graders=[grader]), tmp_path)
    assert (found.code, found.path, found.hint) == (code, path, hint)


@pytest.mark.parametrize("key", ["value", "values", "prompt", "command", "model", "then", "tags", "t" * 1000])
def test_a_grader_takes_the_keys_of_its_kind(key: str, tmp_path: Path) -> None:
    """A key that resembles no common one is the business of the grader's kind."""
    assert loader_errors("suite", suite(graders=[{"type": "a", key: 1}]), tmp_path) == []


@pytest.mark.parametrize(
    ("segment", "hint"),
    [
        ({"typ": "text", "value": "a"}, "did you mean `type` instead of `typ`?"),
        ({"value": "a"}, "add `type: …` here"),
    ],
)
def test_a_segment_without_its_type(segment: Any, hint: str, tmp_path: Path) -> None:
    """A segment whose `type` is misspelt is told the right spelling."""
    (found,) = loader_errors("suite", with_segment(**segment), tmp_path)
    assert (found.code, found.message, found.hint) == ("missing-key", "`type` is missing", hint)


FULL: dict[str, Any] = {
    "name": "full",
    "description": "Everything that a suite may hold.",
    "target": "a",
    "system_prompt": "Be brief.",
    "guideline_patterns": ["**/*.md", "!draft.md"],
    "graders": ["Is it polite?", {"contains": "a"}, {"type": "llm_judge", "weight": 0.5, "prompt": "Well?"}],
    "threshold": 0.5,
    "trials": 2,
    "tags": ["a"],
    "metadata": {"owner": "b", "systemPrompt": "c"},
    "vars": {"city": "Oslo"},
    "outcome": "An answer.",
    "input_messages": [MESSAGE],
    "expected_messages": [{"role": "assistant", "content": ["Hi", {"type": "text", "text": "!"}]}],
    "cases": [
        {
            "id": "a",
            "conversation_id": "c",
            "input_messages": [
                {"role": "user", "name": "Ann", "content": [{"type": "text", "value": "In {{ city }}?"}]},
                {"role": "assistant", "tool_calls": [CALL, {"name": "look_up"}]},
                {"role": "tool", "tool_call_id": "1", "content": "Yes."},
                {"role": "user", "content": [{"type": "file", "value": "a.md"}, {"type": "image", "value": "a.png"}]},
            ],
            "graders": [{"type": "contains", "value": "a", "required": True}],
            "inherit_graders": True,
            "metadata": {"systemPrompt": "d"},
        },
        {"id": "b", "system_prompt": "e", "vars": {"city": "Bergen"}, "trials": 1, "threshold": 1},
    ],
}
VALUES = [None, True, 0, 5, 0.5, -1.5, "", "text", "./", [], ["text"], [None], {}, {"type": "text"}, {"name": "a"}]
KEYS = [
    "extra", "type", "value", "text", "role", "content", "tool_calls", "name", "function", "id", "target", "targets",
    "input_messages", "graders", "metadata", "systemPrompt", "weight", "when", "vars", "cases",
]  # fmt: skip


def containers(value: Any) -> Iterator[Any]:
    """Every list and mapping in a value, itself first."""
    if isinstance(value, dict | list):
        yield value
        for item in value.values() if isinstance(value, dict) else value:
            yield from containers(item)


def mutate(data: Any, draw: st.DrawFn) -> None:
    """Change one place of a value: drop it, give it another value, empty it, or put a key beside it."""
    holder = draw(st.sampled_from(list(containers(data))))
    places = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
    change = draw(st.sampled_from(["drop", "change", "empty", "add"] if places else ["add"]))
    value = copy.deepcopy(draw(st.sampled_from(VALUES)))
    if change == "add" and isinstance(holder, dict):
        holder[draw(st.sampled_from(KEYS))] = value
    elif change == "add":
        holder.append(value)
    else:
        place = draw(st.sampled_from(places))
        if change == "drop":
            del holder[place]
        else:
            holder[place] = value if change == "change" else type(holder[place])()


@st.composite
def mutants(draw: st.DrawFn) -> Any:
    """A large or a small suite with one, two or three changes."""
    data = copy.deepcopy(draw(st.sampled_from([FULL, suite(target="a")])))
    for _ in range(draw(st.integers(1, 3))):
        mutate(data, draw)
    return data


def is_beyond_the_schema(error: Diagnostic) -> bool:
    misspelt = error.code == "unknown-key" and "graders[" in (error.path or "")
    return misspelt or error.code in BEYOND_THE_SCHEMA


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("mutants")


def test_the_full_suite_is_good(tmp_path: Path) -> None:
    """The mutations start from a file that both accept."""
    assert loader_errors("suite", FULL, tmp_path) == []
    assert list(validator("suite").iter_errors(FULL)) == []


@given(data=mutants())
@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_loader_and_schema_agree_on_mutants(data: Any, folder: Path) -> None:
    """However a suite is damaged, both accept it or both refuse it, but for what no schema can say."""
    errors = loader_errors("suite", data, folder)
    if validator("suite").is_valid(data):
        assert [error for error in errors if not is_beyond_the_schema(error)] == []
    else:
        assert errors, list(validator("suite").iter_errors(data))


RESULT: dict[str, Any] = {
    "schema_version": 1, "run_id": "r", "suite": "a.yaml", "case_id": "a", "conversation_id": None, "target": "gpt",
    "variant": None, "trial": 1, "status": "passed", "score": 1.0, "threshold": 0.5, "grades": [], "answer": "Hi",
    "output_messages": [{"role": "assistant", "content": "Hi"}], "finish_reason": "stop",
    "raw_request": {"question": "Hello", "guidelines": [], "chat_prompt": [MESSAGE], "messages": [], "rewrites": []},
    "usage": {
        "input_tokens": 3, "output_tokens": 1, "cached_input_tokens": None, "cache_write_tokens": None,
        "reasoning_tokens": None,
    },
    "cost_usd": 0.5, "paid": True, "latency_ms": 12.5, "first_token_ms": None, "attempts": 1, "error": None,
    "started_at": "2026-11-16T09:00:00+00:00", "finished_at": "2026-11-16T09:00:01+00:00",
}  # fmt: skip
NO_KEY = {key: value for key, value in RESULT.items() if key != "cost_usd"}


@pytest.mark.parametrize(
    ("line", "good"),
    [
        (RESULT, True),
        ({**RESULT, "status": "error", "answer": None, "usage": None, "cost_usd": None, "score": None}, True),
        (NO_KEY, False),
        ({**RESULT, "extra": 1}, False),
        ({**RESULT, "status": "great"}, False),
        ({**RESULT, "score": 1.5}, False),
        ({**RESULT, "trial": 0}, False),
        ({**RESULT, "schema_version": 2}, False),
    ],
)
def test_the_schema_of_a_result_is_that_of_its_lines(line: dict[str, Any], good: bool) -> None:
    """A program that reads results.jsonl by the schema sees what the model of the format sees."""
    assert validator("result").is_valid(line) == good
    if good:
        assert ResultSpec.model_validate(line).case_id == "a"
    else:
        with pytest.raises(ValidationError):
            ResultSpec.model_validate(line)


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_can_be_printed(name: str) -> None:
    """The command prints each schema, and each is a schema."""
    done = CliRunner().invoke(command, [name])
    assert done.exit_code == 0
    printed = json.loads(done.output)
    assert printed == validator(name).schema
    Draft202012Validator.check_schema(printed)
