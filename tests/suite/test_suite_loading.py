"""Suites in: every field, what goes before what, and every problem of a file that is not well formed."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import turnwise
from turnwise.conversation import File
from turnwise.diagnostics import Diagnostic
from turnwise.errors import ConfigError, SuiteError
from turnwise.suite.format import LongGrader
from turnwise.suite.reading import MAX_DOCUMENT_BYTES
from turnwise.suite.suite import Suite, read_suite

HELLO = "input_messages: [{role: user, content: Hello}]"


@pytest.fixture(autouse=True)
def _project(tmp_path: Path) -> None:
    (tmp_path / ".turnwise").mkdir()


def load(folder: Path, text: str | bytes, name: str = "suite.yaml") -> Suite:
    path = folder / name
    path.write_bytes(text.encode("utf-8") if isinstance(text, str) else text)
    return turnwise.load_suite(path)


def problems(folder: Path, text: str | bytes, name: str = "suite.yaml") -> list[Diagnostic]:
    """The diagnostics of a suite that must not load."""
    path = folder / name
    path.write_bytes(text.encode("utf-8") if isinstance(text, str) else text)
    suite, diagnostics = read_suite(path)
    assert suite is None
    return diagnostics


def spots(diagnostics: list[Diagnostic]) -> list[tuple[str, int | None]]:
    return [(diagnostic.code, diagnostic.place.line) for diagnostic in diagnostics]


FULL = """\
$schema: ../schemas/suite.schema.json
name: weather
description: Small talk about the weather.
target: main
system_prompt: Be brief.
guideline_patterns: ["rules/**"]
graders:
  - Mentions rain
  - contains: umbrella
  - {type: llm_judge, name: kind, weight: 2, threshold: 0.5, required: true, target: judge, extra: {a: 1}}
threshold: 0.8
trials: 3
tags: [smoke, weather]
metadata: {owner: me}
cases:
  - id: rain
    conversation_id: c1
    outcome: Says that it will rain.
    input_messages:
      - {role: user, content: Will it rain?, name: ann}
    expected_messages:
      - {role: assistant, content: Yes.}
    system_prompt: Be long.
    target: other
    graders: [{equals: "Yes."}]
    threshold: 0.1
    trials: 1
    tags: [rain, smoke]
    metadata: {level: 1}
  - id: minimal
    input_messages:
      - {role: user, content: Hello}
"""


def test_every_field_of_a_suite_is_read(tmp_path: Path) -> None:
    """All settings of the suite itself arrive as written."""
    suite = load(tmp_path, FULL)
    assert suite.name == "weather"
    assert suite.spec.description == "Small talk about the weather."
    assert suite.spec.target == "main"
    assert suite.spec.system_prompt == "Be brief."
    assert suite.spec.threshold == 0.8
    assert suite.spec.trials == 3
    assert suite.spec.tags == ["smoke", "weather"]
    assert suite.spec.metadata == {"owner": "me"}
    assert suite.guidelines.patterns == ("rules/**",)
    assert suite.warnings == ()
    assert suite.dataset is None
    assert suite.spec.graders is not None
    line, short, long = suite.spec.graders
    assert line == "Mentions rain"
    assert short == {"contains": "umbrella"}
    assert isinstance(long, LongGrader)
    assert (long.type, long.name, long.weight, long.required, long.target) == ("llm_judge", "kind", 2, True, "judge")
    assert long.model_extra == {"extra": {"a": 1}}


def test_every_field_of_a_case_is_read_and_goes_before_the_suites(tmp_path: Path) -> None:
    """A case's own settings win; tags are added up, the suite's first, each once."""
    case = load(tmp_path, FULL).cases[0]
    assert case.id == "rain"
    assert case.conversation_id == "c1"
    assert case.outcome == "Says that it will rain."
    assert list(case.input_messages) == [{"role": "user", "content": "Will it rain?", "name": "ann"}]
    assert list(case.expected_messages) == [{"role": "assistant", "content": "Yes."}]
    assert case.system_prompt == "Be long."
    assert case.target == "other"
    assert case.graders == [{"equals": "Yes."}]
    assert case.threshold == 0.1
    assert case.trials == 1
    assert case.tags == ("smoke", "weather", "rain")
    assert case.metadata == {"level": 1}
    assert case.place.line == 16


def test_a_case_takes_what_it_lacks_from_its_suite(tmp_path: Path) -> None:
    """Only an id and messages are required of a case."""
    suite = load(tmp_path, FULL)
    case = suite.cases[1]
    assert case.system_prompt == "Be brief."
    assert case.target == "main"
    assert case.graders == suite.spec.graders
    assert (case.threshold, case.trials) == (0.8, 3)
    assert case.tags == ("smoke", "weather")
    assert (case.conversation_id, case.outcome) == (None, None)
    assert list(case.expected_messages) == []
    assert case.metadata == {}


def test_only_cases_are_required_of_a_suite(tmp_path: Path) -> None:
    """A suite of one bare case loads; its name is the file's."""
    suite = load(tmp_path, f"cases: [{{id: a, {HELLO}}}]", "greeting.yaml")
    case = suite.cases[0]
    assert suite.name == "greeting"
    assert (case.target, case.system_prompt, case.threshold, case.trials) == (None, None, None, None)
    assert list(case.graders) == []
    assert case.tags == ()


@pytest.mark.parametrize(
    ("own", "kinds"),
    [
        ("", ["a", "b"]),
        ("graders: [{equals: c}]", ["c"]),
        ("graders: []", []),
        ("graders: [{equals: c}], inherit_graders: true", ["a", "b", "c"]),
        ("graders: [], inherit_graders: true", ["a", "b"]),
        ("inherit_graders: true", ["a", "b"]),
        ("graders: [{equals: c}], inherit_graders: false", ["c"]),
    ],
)
def test_own_graders_replace_the_suites_unless_inherited(tmp_path: Path, own: str, kinds: list[str]) -> None:
    """A case's graders replace the suite's; with `inherit_graders` they follow after them."""
    extra = f", {own}" if own else ""
    suite = load(tmp_path, f"graders: [{{equals: a}}, {{equals: b}}]\ncases: [{{id: x, {HELLO}{extra}}}]")
    assert list(suite.cases[0].graders) == [{"equals": kind} for kind in kinds]


def test_a_threshold_of_zero_is_a_setting(tmp_path: Path) -> None:
    """0 is a value of its own, not the absence of one."""
    suite = load(tmp_path, f"threshold: 0.9\ncases: [{{id: x, {HELLO}, threshold: 0}}]")
    assert suite.cases[0].threshold == 0


def test_several_targets(tmp_path: Path) -> None:
    """`targets` names several; a case may still be for one of its own."""
    suite = load(tmp_path, f"targets: [a, b]\ncases: [{{id: x, {HELLO}}}, {{id: y, {HELLO}, target: c}}]")
    assert suite.spec.targets == ["a", "b"]
    assert [case.target for case in suite.cases] == [None, "c"]


def test_target_and_targets_exclude_each_other(tmp_path: Path) -> None:
    """Which one would be meant is not guessed."""
    assert spots(problems(tmp_path, f"target: a\ntargets: [b]\ncases: [{{id: x, {HELLO}}}]")) == [("two-targets", 2)]


@pytest.mark.parametrize(
    ("suite_prompt", "own", "expected"),
    [
        (None, "", None),
        ("S", "", "S"),
        ("S", "system_prompt: C", "C"),
        ("S", "metadata: {systemPrompt: M}", "M"),
        ("S", "system_prompt: C, metadata: {systemPrompt: M}", "C"),
        (None, "metadata: {systemPrompt: M}", "M"),
    ],
)
def test_system_prompt_precedence(tmp_path: Path, suite_prompt: str | None, own: str, expected: str | None) -> None:
    """The case's `system_prompt` goes first, then its `metadata.systemPrompt`, then the suite's."""
    header = f"system_prompt: {suite_prompt}\n" if suite_prompt else ""
    case = load(tmp_path, f"{header}cases: [{{id: x, {HELLO}{', ' + own if own else ''}}}]").cases[0]
    assert case.system_prompt == expected
    first = case.conversation.chat_prompt()[0]
    assert first == ({"role": "system", "content": expected} if expected else {"role": "user", "content": "Hello"})


def test_two_system_prompts_are_warned_about(tmp_path: Path) -> None:
    """Both given: the suite loads, with a warning at the one that is not used."""
    text = f"cases:\n- id: x\n  {HELLO}\n  system_prompt: C\n  metadata:\n    systemPrompt: M\n"
    (warning,) = load(tmp_path, text).warnings
    assert (warning.severity, warning.code, warning.place.line, warning.case_id) == (
        "warning", "two-system-prompts", 6, "x",
    )  # fmt: skip


def test_an_explicit_system_message_replaces_every_prompt(tmp_path: Path) -> None:
    """A message of the role `system` is the system text, whatever is configured."""
    text = """\
system_prompt: S
cases:
  - id: x
    system_prompt: C
    input_messages: [{role: system, content: Own}, {role: user, content: Hello}]
"""
    prompt = load(tmp_path, text).cases[0].conversation.chat_prompt()
    assert prompt == [{"role": "system", "content": "Own"}, {"role": "user", "content": "Hello"}]


def test_messages_of_the_suite_stand_in_for_those_of_a_case(tmp_path: Path) -> None:
    """A suite's messages and outcome are templates; a case's own go first, an empty list included."""
    text = """\
input_messages: [{role: user, content: "Where is {{ city }}?"}]
expected_messages: [{role: assistant, content: "{{ country }}"}]
outcome: Names {{ country }}.
cases:
  - id: oslo
    vars: {city: Oslo, country: Norway}
  - id: own
    vars: {country: Chad}
    input_messages: [{role: user, content: Hi}]
    expected_messages: []
    outcome: Greets.
"""
    oslo, own = load(tmp_path, text).cases
    assert list(oslo.input_messages) == [{"role": "user", "content": "Where is Oslo?"}]
    assert list(oslo.expected_messages) == [{"role": "assistant", "content": "Norway"}]
    assert oslo.outcome == "Names Norway."
    assert list(own.input_messages) == [{"role": "user", "content": "Hi"}]
    assert list(own.expected_messages) == []
    assert own.outcome == "Greets."


@pytest.mark.parametrize("name", ["suite.json", "suite.yaml"])
def test_a_json_suite(tmp_path: Path, name: str) -> None:
    """JSON is read as JSON, whatever the file is called."""
    case = {"id": "x", "input_messages": [{"role": "user", "content": "yes"}]}
    suite = load(tmp_path, json.dumps({"name": "😀", "cases": [case]}), name)
    assert suite.name == "😀"
    assert suite.cases[0].conversation.chat_prompt() == [{"role": "user", "content": "yes"}]


def test_flow_yaml_that_is_no_json(tmp_path: Path) -> None:
    """A YAML file may start with a brace without being JSON."""
    suite = load(tmp_path, "{name: flow, cases: [{id: x, input_messages: [{role: user, content: no}]}]}")
    assert suite.name == "flow"
    assert suite.cases[0].input_messages[0]["content"] == "no"


def test_a_dataset_is_a_suite_of_its_own(tmp_path: Path) -> None:
    """A JSONL file can be loaded directly; the suite has its name and no settings."""
    row = '{"id": "%s", "input_messages": [{"role": "user", "content": "Hi"}]}\n'
    suite = load(tmp_path, row % "a" + row % "b", "rows.jsonl")
    assert (suite.name, len(suite.cases)) == ("rows", 2)
    assert [case.id for case in suite.cases] == ["a", "b"]
    assert suite.dataset == tmp_path / "rows.jsonl"


@pytest.mark.parametrize(
    ("patterns", "guidelines"),
    [
        (None, ["g.instructions.md"]),
        ('["*.txt"]', ["n.txt"]),
        ("[]", []),
        ('["*.md", "*.txt", "!g.*"]', ["n.txt"]),
    ],
)
def test_guideline_patterns_of_a_suite(tmp_path: Path, patterns: str | None, guidelines: list[str]) -> None:
    """A suite's patterns replace the default ones; an empty list means that there are no guidelines."""
    (tmp_path / "g.instructions.md").write_text("rule")
    (tmp_path / "n.txt").write_text("note")
    header = f"guideline_patterns: {patterns}\n" if patterns else ""
    text = f"""{header}cases:
  - id: x
    input_messages:
      - role: user
        content: [Hello, {{type: file, value: g.instructions.md}}, {{type: file, value: n.txt}}]
"""
    conversation = load(tmp_path, text).cases[0].conversation
    attached = [part.written for part in conversation.messages[0].parts if isinstance(part, File) and part.guideline]
    assert attached == guidelines


@pytest.mark.parametrize("start", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("name", ["s.yaml", "s.json", "s.jsonl"])
def test_byte_order_mark_and_windows_line_ends(tmp_path: Path, name: str, start: bytes, end: bytes) -> None:
    """A byte-order mark and CRLF change nothing of what is read."""
    texts = {
        "s.yaml": b"cases:\n- id: x\n  input_messages:\n  - role: user\n    content: |-\n      one\n      two\n",
        "s.json": b'{"cases": [\n{"id": "x", "input_messages": [\n{"role": "user", "content": "one\\ntwo"}]}]}\n',
        "s.jsonl": b'{"id": "x", "input_messages": [{"role": "user", "content": "one\\ntwo"}]}\n\n',
    }
    suite = load(tmp_path, start + texts[name].replace(b"\n", end), name)
    assert [case.conversation.chat_prompt() for case in suite.cases] == [[{"role": "user", "content": "one\ntwo"}]]


def test_cases_can_be_counted_indexed_and_walked_twice(tmp_path: Path) -> None:
    """The cases of a suite are a sequence, as often as asked for."""
    cases = load(tmp_path, f"cases: [{{id: a, {HELLO}}}, {{id: b, {HELLO}}}]").cases
    assert len(cases) == 2
    assert (cases[0].id, cases[1].id, cases[-1].id, cases[-2].id) == ("a", "b", "b", "a")
    assert [case.id for case in cases] == [case.id for case in cases] == ["a", "b"]
    for index in (2, -3):
        with pytest.raises(IndexError):
            cases[index]


def test_words_that_yaml_1_1_would_change_stay_text(tmp_path: Path) -> None:
    """`content: yes` is the text "yes", through the whole way to the prompt."""
    suite = load(
        tmp_path, "cases: [{id: on, input_messages: [{role: user, content: yes}, {role: user, content: 1:30}]}]"
    )
    case = suite.cases[0]
    assert case.id == "on"
    assert [message["content"] for message in case.conversation.chat_prompt()] == ["yes", "1:30"]


def test_anchors_and_merge_keys_work_in_suites(tmp_path: Path) -> None:
    """What repeats can be written once, wherever the format has a place for it."""
    text = """\
metadata:
  shared: &ask {role: user, content: Hello}
cases:
  - &first
    id: a
    outcome: Greets.
    input_messages: [*ask]
  - <<: *first
    id: b
"""
    suite = load(tmp_path, text)
    assert [(case.id, case.outcome) for case in suite.cases] == [("a", "Greets."), ("b", "Greets.")]
    assert list(suite.cases[1].input_messages) == [{"role": "user", "content": "Hello"}]


def test_every_problem_is_said_at_once(tmp_path: Path) -> None:
    """Not only the first: the suite's own problems and those of every case, each at its line."""
    text = """\
name: 5
treshold: 0.5
cases:
  - id: a
    input_messages: []
  - input_messages: [{role: user, content: Hello}]
  - id: c
    input_messages:
      - {role: user}
      - {role: user, content: [{type: vidoe, value: x}]}
  - text
"""
    found = problems(tmp_path, text)
    assert sorted(spots(found), key=lambda spot: spot[1] or 0) == [
        ("wrong-type", 1), ("unknown-key", 2), ("empty", 5), ("missing-key", 6), ("no-content", 9),
        ("unknown-type", 10), ("wrong-type", 11),
    ]  # fmt: skip
    assert {diagnostic.file for diagnostic in found} == {str(tmp_path / "suite.yaml")}
    assert [diagnostic.case_id for diagnostic in found if diagnostic.place.line in (9, 10)] == ["c", "c"]


def test_a_wrong_header_gives_no_false_problems_of_cases(tmp_path: Path) -> None:
    """Cases that lean on the suite's messages and variables are not blamed for a slip elsewhere in it."""
    text = """\
descripton: typo
vars: {city: Oslo}
input_messages: [{role: user, content: Hello}]
cases:
  - id: a
  - id: b
    vars: {x: 1}
    outcome: "{{ city }} {{ x }}"
"""
    assert spots(problems(tmp_path, text)) == [("unknown-key", 1)]


def test_duplicate_ids_name_the_first_line(tmp_path: Path) -> None:
    """Each repetition of an id is an error that says where it stood first."""
    text = f"cases:\n- id: a\n  {HELLO}\n- id: b\n  {HELLO}\n- id: a\n  {HELLO}\n- id: a\n  {HELLO}\n"
    found = problems(tmp_path, text)
    assert spots(found) == [("duplicate-id", 6), ("duplicate-id", 8)]
    assert all("'a'" in diagnostic.message and "line 2" in diagnostic.message for diagnostic in found)


@pytest.mark.parametrize(
    ("text", "code", "line", "column"),
    [
        (b"", "wrong-type", 1, 1),
        (b"- a\n", "wrong-type", 1, 1),
        (b"just text", "wrong-type", 1, 1),
        (b"[]", "wrong-type", 1, 1),
        (b"name: x\n", "missing-key", 1, 1),
        (b"cases:\n", "wrong-type", 1, 7),
        (b"name: x\ncases: 5\n", "wrong-type", 2, 8),
        (b"cases: {a: 1}\n", "wrong-type", 1, 8),
        (b"cases: []\n", "empty", 1, 8),
        (b"name: x\ncases: rows.txt\n", "bad-dataset", 2, 8),
        (b"cases: rows.jsonl\n", "file-missing", 1, 8),
        (b"name: \xff\n", "not-utf8", 1, 7),
        (b"a: 1\nn\xc3\xa9: \xe9\n", "not-utf8", 2, 5),
        (b"\xff\xfen\x00", "not-utf8", 1, 1),
        (b"name: x\nn: \xc3\xa9\x00\n", "nul-byte", 2, 5),
        (b"a: 1\na: 2\n", "duplicate-key", 2, 1),
        (b'{"a": 1, "a": 2}', "duplicate-key", 1, 10),
        (b"cases: [\n", "bad-yaml", 2, 1),
    ],
)
def test_a_file_that_is_no_suite_gets_one_error(tmp_path: Path, text: bytes, code: str, line: int, column: int) -> None:
    """One clear error, with the file, the line and the column."""
    (found,) = problems(tmp_path, text)
    assert (found.severity, found.code) == ("error", code)
    assert (found.place.line, found.place.column) == (line, column)
    assert found.file == str(tmp_path / "suite.yaml")


def test_a_broken_json_file_is_said_in_terms_of_json(tmp_path: Path) -> None:
    """What is called .json is not tried as YAML."""
    (found,) = problems(tmp_path, '{"cases": [\n  {"id": "x",}\n]}', "suite.json")
    assert (found.code, found.place.line) == ("bad-json", 2)


@pytest.mark.parametrize("name", ["gone.yaml", "gone.jsonl", "gone.csv", "no/such/folder.yaml"])
def test_a_file_that_is_not_there(tmp_path: Path, name: str) -> None:
    """A missing file is an error of the suite, not of the program."""
    suite, (found,) = read_suite(tmp_path / name)
    assert suite is None
    assert found.code in ("file-missing", "file-unreadable")
    assert found.file.endswith(name)


@pytest.mark.parametrize("name", ["folder.yaml", "folder.jsonl", "folder.csv"])
def test_a_folder_in_the_place_of_a_file(tmp_path: Path, name: str) -> None:
    """A folder cannot be read as a suite."""
    (tmp_path / name).mkdir()
    suite, (found,) = read_suite(tmp_path / name)
    assert (suite, found.code) == (None, "file-unreadable")


def test_symbolic_links_in_a_circle(tmp_path: Path) -> None:
    """A link that leads to itself is said in words."""
    os.symlink("b.yaml", tmp_path / "a.yaml")
    os.symlink("a.yaml", tmp_path / "b.yaml")
    suite, (found,) = read_suite(tmp_path / "a.yaml")
    assert (suite, found.code) == (None, "file-unreadable")
    assert "circle" in found.message


def test_a_huge_document_is_refused(tmp_path: Path) -> None:
    """A document beyond what a person writes is refused, with the advice to use a dataset."""
    path = tmp_path / "suite.yaml"
    with open(path, "wb") as stream:
        stream.truncate(MAX_DOCUMENT_BYTES + 1)
    suite, (found,) = read_suite(path)
    assert (suite, found.code) == (None, "too-large")
    assert ".jsonl" in (found.hint or "")


@pytest.mark.parametrize(
    ("setting", "code"),
    [
        ("threshold: 1.1", "out-of-range"),
        ("threshold: -0.1", "out-of-range"),
        ("threshold: .nan", "bad-number"),
        ("threshold: '0.5'", "wrong-type"),
        ("threshold: true", "wrong-type"),
        ("trials: 0", "out-of-range"),
        ("trials: 1.5", "wrong-type"),
        ("trials: true", "wrong-type"),
        ("tags: a", "wrong-type"),
        ("tags: ['']", "empty"),
        ("tags: [5]", "wrong-type"),
        ("metadata: [1]", "wrong-type"),
        ("vars: text", "wrong-type"),
        ("target: ''", "empty"),
        ("targets: []", "empty"),
        ("name: ''", "empty"),
        ("guideline_patterns: ['']", "bad-pattern"),
        ("guideline_patterns: '*'", "wrong-type"),
        ("graders: [{a: 1, b: 2}]", "grader-form"),
        ("graders: [{}]", "grader-form"),
        ("graders: [5]", "grader-form"),
        ("graders: ['']", "empty"),
        ("graders: [{type: ''}]", "empty"),
        ("graders: [{type: x, weight: 0}]", "out-of-range"),
        ("graders: [{type: x, weight: .inf}]", "bad-number"),
        ("graders: [{type: x, threshold: 2}]", "out-of-range"),
        ("system_prompt: 5", "wrong-type"),
    ],
)
def test_settings_of_the_wrong_kind(tmp_path: Path, setting: str, code: str) -> None:
    """Nothing is converted silently: a setting of the wrong type or range is one error at its place."""
    (found,) = problems(tmp_path, f"{setting}\ncases: [{{id: x, {HELLO}}}]")
    assert (found.code, found.place.line) == (code, 1)


def test_a_setting_of_null_is_no_setting(tmp_path: Path) -> None:
    """`key:` with nothing after it is the same as leaving it out."""
    suite = load(tmp_path, f"name:\ntarget: ~\ngraders: null\ncases: [{{id: x, {HELLO}, outcome: }}]")
    assert suite.name == "suite"
    assert suite.cases[0].target is None


def test_load_suite_raises_all_that_is_wrong(tmp_path: Path) -> None:
    """The API raises one error that holds every diagnostic and reads as `file:line:column`."""
    path = tmp_path / "suite.yaml"
    path.write_text("nmae: x\ncases: [{id: x}]\n")
    with pytest.raises(SuiteError) as caught:
        turnwise.load_suite(str(path))
    assert [diagnostic.code for diagnostic in caught.value.diagnostics] == ["unknown-key", "missing-key"]
    assert f"{path}:1:1: error: unknown key `nmae`" in str(caught.value)


def test_a_broken_config_is_an_error_of_its_own(tmp_path: Path) -> None:
    """A suite in a project whose config is wrong does not load, and the config is named."""
    (tmp_path / ".turnwise" / "config.yaml").write_text("guidline_patterns: []\n")
    (tmp_path / "suite.yaml").write_text(f"cases: [{{id: x, {HELLO}}}]")
    with pytest.raises(ConfigError) as caught:
        turnwise.load_suite(tmp_path / "suite.yaml")
    assert caught.value.diagnostics[0].file.endswith("config.yaml")


def test_the_text_may_come_from_elsewhere(tmp_path: Path) -> None:
    """A name and a folder can stand in for the path's own, as for standard input."""
    (tmp_path / "notes.txt").write_text("note")
    spool = tmp_path / "spool"
    spool.mkdir()
    path = spool / "x.yaml"
    path.write_text("cases: [{id: x, input_messages: [{role: user, content: [{type: file, value: notes.txt}]}]}]")
    suite, diagnostics = read_suite(path, file="<stdin>", folder=tmp_path)
    assert diagnostics == []
    assert suite is not None
    assert suite.file == "<stdin>"
    assert suite.cases[0].conversation.transcript() == "=== notes.txt ===\nnote"
